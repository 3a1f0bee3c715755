//! What there is to say of a schedule, wherever it stands, and the right lines to show beside it.

mod calendars;
mod either_day;
pub(crate) mod examples;
pub(crate) mod repair;
pub(crate) mod schedule_finding;
pub(crate) mod schedule_rules;
mod ties;
pub(crate) mod times;
mod treated;
mod unmeant;
