//! What was started: whether it becomes ready, and when.

pub(super) mod metrics;
pub(super) mod started;
