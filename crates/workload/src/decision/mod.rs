//! The decision for one object: [`decide`](decide::decide) and its types.
//!
//! `docs/concepts/behavior.md` describes the rules for users.

pub(super) mod change;
pub(super) mod context;
pub(super) mod decide;
pub(super) mod memory;
pub(super) mod observer;
pub(super) mod scheduled;
pub(super) mod start_wait;
pub(super) mod timer;
