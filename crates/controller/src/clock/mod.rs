//! The times of the controller: whether its clock is right, and which work is due. Reads no clock.

pub(crate) mod guard;
pub(crate) mod scheduler;
pub(crate) mod timers;
