//! The numbers by which a controller identifies objects, watches and requests.

use std::fmt;

/// The number of an object in the store. Numbers increase in the order of first observation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Id(u32);

impl Id {
    #[cfg(test)]
    pub(crate) const fn new(number: u32) -> Self {
        Self(number)
    }

    pub(crate) const MAX: Self = Self(u32::MAX);

    /// The next number. Wraps around after the largest one.
    pub(crate) const fn next(self) -> Self {
        Self(self.0.wrapping_add(1))
    }

    /// The index of its shard, of this many shards.
    pub(crate) fn shard(self, shards: usize) -> usize {
        usize::try_from(self.0).unwrap_or_default() % shards
    }
}

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The position of a watch in [`Scope::watches`](crate::settings::Scope::watches).
pub(crate) type WatchId = usize;

/// The number of a request. Numbers are never reused.
pub(crate) type RequestId = u64;
