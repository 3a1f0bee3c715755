//! The rules by which an object is started and stopped, one test a rule.
//!
//! 2026-11-20 is a Friday. The zone is UTC unless a test says otherwise.
#![allow(clippy::unwrap_used, clippy::panic)]

mod boundaries;
mod causes;
mod counts;
mod ended;
mod enforce;
mod fights;
mod object;
mod outlives;
mod overdue;
mod overrides;
mod pause;
mod refusals;
mod scale;
mod sleep;
mod state;
mod versions;
mod wake;
