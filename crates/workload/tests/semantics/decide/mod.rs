//! The rules by which an object is started and stopped, one test a rule.
//!
//! - `overrides/`: `pause`, `wake-until` and `sleep-until`
//! - `corrections/`: what is put back while the schedule says stopped
//! - `memory/`: what the labels remember
//!
//! 2026-11-20 is a Friday. The zone is UTC unless a test says otherwise.
#![allow(clippy::unwrap_used, clippy::panic)]

mod boundaries;
mod calendars;
mod causes;
mod corrections;
mod costly;
mod counts;
mod held_down;
mod kinds;
mod memory;
pub(crate) mod object;
mod overdue;
mod overrides;
mod refusals;
mod scale;
