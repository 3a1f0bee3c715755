//! Waiting in real time, on machines that may stand still.

pub(super) mod pulse;
pub(super) mod retry;
pub(super) mod wait;
