//! The times of the controller: whether its clock is right, a queue of due work, and delays after failures.
//! Reads no clock.

pub(crate) mod backoff;
pub(crate) mod guard;
pub(crate) mod scheduler;
