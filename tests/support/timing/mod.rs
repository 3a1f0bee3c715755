//! Waiting in real time, on machines that may stand still.

pub(crate) mod processor_waits;
pub(super) mod retry;
pub(crate) mod stall_detector;
pub(super) mod wait;
