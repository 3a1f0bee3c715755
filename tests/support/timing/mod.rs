//! Waiting in real time, on machines that may stand still.

pub(super) mod retry;
pub(super) mod stall_detector;
pub(super) mod wait;
