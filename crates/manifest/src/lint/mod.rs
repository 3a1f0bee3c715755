//! What is wrong with schedules in files, and what is legal and surely not meant: `dayshift lint`.
//!
//! Pure: sources and an instant give a [`Report`] of [`Finding`]s. How it is shown is the command
//! line's to say; what each [`LintRule`] means stands in `docs/reference/lint.md`.

mod cron_job;
mod finding;
mod kinds;
mod linter;
mod live;
mod misplaced_keys;
mod namespace;
mod needed;
mod neighbours;
mod object;
mod rendered;
mod rule;
mod schedule;
mod suppression;

pub use finding::{Finding, Report};
pub use linter::Linter;
pub use live::refusals;
pub use rule::LintRule;
