//! The rules of starts and stops, with one test for each rule.
//!
//! - `overrides/`: `pause`, `wake-until` and `sleep-until`
//! - `corrections/`: reverting changes of other clients
//! - `memory/`: the state in labels
//!
//! 2026-11-20 is a Friday. The time zone is UTC unless a test sets another one.
#![allow(clippy::unwrap_used, clippy::panic)]

mod adoption_starts;
mod boundaries;
mod calendars;
mod causes;
mod corrections;
mod costly;
mod counts;
mod kinds;
mod memory;
pub(crate) mod object;
mod overdue;
mod overrides;
mod refusals;
mod scale;
mod stop_after;
