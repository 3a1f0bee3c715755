//! What is wrong with schedules in files, and what is legal and surely not meant: `dayshift lint`.
//!
//! Pure: sources and an instant give a [`Report`] of [`Finding`]s. How it is shown is the command
//! line's to say; what each [`Rule`] means stands in `docs/lint.md`.

mod calendars;
mod examples;
mod finding;
mod kinds;
mod linter;
mod marks;
mod namespace;
mod neighbours;
mod object;
mod rendered;
mod repair;
mod rule;
mod schedule_finding;
mod schedule_rules;
mod suppression;
mod times;

pub use finding::{Finding, ObjectName, Quoted, Report};
pub use linter::Linter;
pub use neighbours::conflicts;
pub use rule::{Rule, Severity};
