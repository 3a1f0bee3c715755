//! What objects and watches are called inside a controller.

/// An object, for as long as it is known.
pub(super) type Id = u64;

/// Which of the watches an event comes from.
pub(super) type WatchId = usize;
