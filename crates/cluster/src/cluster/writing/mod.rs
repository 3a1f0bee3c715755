//! The guarded patch, and the only code that sends writes.

pub(super) mod error;
pub(super) mod event_object;
pub(super) mod guard;
pub(super) mod jobs;
pub(super) mod slices;
pub(super) mod writer;
