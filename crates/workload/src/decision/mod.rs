//! What to do with an object now: [`decide`](decide::decide), and all that it rests on.
//!
//! `docs/concepts/behavior.md` has the rules, as a user reads them.

pub(super) mod change;
pub(super) mod context;
pub(super) mod decide;
pub(super) mod memory;
pub(super) mod observer;
pub(super) mod scheduled;
pub(super) mod start_wait;
