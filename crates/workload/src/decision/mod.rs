//! What to do with an object now: [`decide`](decide::decide), and all that it rests on.
//!
//! `docs/schedules/behaviour.md` has the rules, as a user reads them.

pub(super) mod adoption;
pub(super) mod change;
pub(super) mod context;
pub(super) mod counts;
pub(super) mod decide;
pub(super) mod event_note;
pub(super) mod memory;
pub(super) mod next_stop;
pub(super) mod scheduled;
pub(super) mod start_wait;
pub(super) mod upkeep;
pub(super) mod vain_wait;
