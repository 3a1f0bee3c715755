//! Waiting in real time on machines that might stall.

pub(crate) mod processor_waits;
pub(super) mod retry;
pub(crate) mod stall_detector;
pub(super) mod wait;
