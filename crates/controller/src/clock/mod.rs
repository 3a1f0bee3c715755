//! Whether the clock is right, and what is due.

pub(crate) mod guard;
pub(crate) mod scheduler;
pub(crate) mod timers;
