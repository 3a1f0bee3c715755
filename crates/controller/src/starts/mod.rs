//! What is started: what it waits for, whether it becomes ready, and when.

pub(super) mod metrics;
pub(super) mod started;
pub(super) mod starting;
pub(super) mod wait_notices;
pub(super) mod waits;
