//! Whether and when something that has failed is tried again.

pub(super) mod backoff;
pub(super) mod backpressure;
pub(super) mod permission_backoff;
pub(super) mod policy;
