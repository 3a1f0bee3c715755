//! Checks the clock, and orders the work that becomes due.

pub(crate) mod guard;
pub(crate) mod scheduler;
pub(crate) mod timers;
