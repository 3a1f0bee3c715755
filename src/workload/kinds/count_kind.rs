//! What the count of a kind means.

use crate::workload::keys::{Key, PAUSED_REPLICAS};
use crate::workload::replicas::Replicas;

/// What the count of a kind means, and so which counts a user may ask for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CountKind {
    /// How many replicas run: any number.
    #[default]
    Replicas,
    /// The least that an autoscaler leaves: 1 or more.
    Minimum,
    /// 0 where it is suspended, else 1.
    Suspend,
    /// 0 where it is paused at a count, which `stop-replicas` says, else 1.
    Pause,
}

impl CountKind {
    /// Whether there is only on and off. A 0 is then always somebody's wish: nothing else makes one.
    pub const fn is_switch(self) -> bool {
        matches!(self, Self::Suspend | Self::Pause)
    }

    /// Where an object holds it, as the tokens of a JSON pointer.
    pub const fn path(self) -> &'static [&'static str] {
        match self {
            Self::Replicas => &["spec", "replicas"],
            Self::Minimum => &["spec", "minReplicas"],
            Self::Suspend => &["spec", "suspend"],
            Self::Pause => &["metadata", "annotations", PAUSED_REPLICAS],
        }
    }

    /// The same as a JSON pointer (RFC 6901): `/spec/replicas`.
    pub fn pointer(self) -> String {
        let tokens = self.path().iter();
        tokens
            .map(|token| format!("/{}", token.replace('~', "~0").replace('/', "~1")))
            .collect()
    }

    /// The least count.
    pub const fn least(self) -> Replicas {
        match self {
            Self::Minimum => Replicas::ONE,
            Self::Replicas | Self::Suspend | Self::Pause => Replicas::ZERO,
        }
    }

    /// The count that an object of such a kind has where this one is asked for: what is only on or
    /// off has no larger one than 1, whatever somebody has written into `saved-replicas`.
    pub fn capped(self, count: Replicas) -> Replicas {
        if self.is_switch() {
            count.min(Replicas::ONE)
        } else {
            count
        }
    }

    /// Whether an object of such a kind has a use for a key.
    pub const fn has(self, key: Key) -> bool {
        match self {
            Self::Replicas | Self::Minimum => true,
            Self::Suspend => !matches!(key, Key::Replicas | Key::StopReplicas | Key::Scale),
            Self::Pause => !matches!(key, Key::Replicas | Key::Scale),
        }
    }
}
