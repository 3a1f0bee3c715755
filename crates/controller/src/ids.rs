//! Numbers of objects and watches inside a controller.

/// An object, while it is known.
pub(super) type Id = u64;

/// The watch that an event comes from.
pub(super) type WatchId = usize;
