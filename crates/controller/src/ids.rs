//! Numbers of objects, watches and requests inside a controller.

use std::fmt;

/// An object, while it is known. Numbers rise in the order in which objects are first seen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Id(u32);

impl Id {
    #[cfg(test)]
    pub(crate) const fn new(number: u32) -> Self {
        Self(number)
    }

    /// The next number; after the last one, the first again.
    pub(crate) const fn next(self) -> Self {
        Self(self.0.wrapping_add(1))
    }

    /// Which of this many shards it belongs to.
    pub(crate) fn shard(self, shards: usize) -> usize {
        usize::try_from(self.0).unwrap_or_default() % shards
    }
}

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The watch that an event comes from.
pub(crate) type WatchId = usize;

/// A request in flight. Numbers are never used again.
pub(crate) type RequestId = u64;
