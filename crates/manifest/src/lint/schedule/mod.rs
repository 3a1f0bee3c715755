//! What there is to say of a schedule, wherever it stands, and the right lines to show beside it.

mod calendars;
mod either_day;
pub(in crate::lint) mod examples;
pub(in crate::lint) mod repair;
pub(in crate::lint) mod schedule_finding;
pub(in crate::lint) mod schedule_rules;
mod ties;
pub(in crate::lint) mod times;
mod treated;
mod unmeant;
