//! Boundaries: the instants at which a schedule says start, stop or a count.

use std::fmt;

use chrono::{DateTime, Utc};

/// What a schedule says at a boundary.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Action {
    /// Start the workload.
    Start,
    /// Stop the workload.
    Stop,
    /// Set exactly this many replicas.
    Scale(u32),
}

impl Action {
    /// Whether something runs afterwards. Jitter moves only such boundaries, and excepted dates
    /// drop only such boundaries.
    pub const fn brings_up(self) -> bool {
        !matches!(self, Self::Stop | Self::Scale(0))
    }

    /// The count that it sets, if it sets one.
    pub const fn count(self) -> Option<u32> {
        match self {
            Self::Scale(count) => Some(count),
            Self::Start | Self::Stop => None,
        }
    }

    /// The name of the action, whatever its count: `start`, `stop` or `scale`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Start => "start",
            Self::Stop => "stop",
            Self::Scale(_) => "scale",
        }
    }

    /// Of two at the same instant the higher one wins.
    pub(super) const fn rank(self) -> u64 {
        match self {
            Self::Start => u64::MAX,
            Self::Stop => 0,
            Self::Scale(count) => count as u64,
        }
    }
}

impl fmt::Display for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Scale(count) => f.pad(&format!("scale to {count}")),
            Self::Start | Self::Stop => f.pad(self.name()),
        }
    }
}

/// An instant, always a whole second, at which a schedule says start, stop or a count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Boundary {
    /// When it happens; UTC.
    pub at: DateTime<Utc>,
    /// What the schedule says.
    pub action: Action,
}

impl fmt::Display for Boundary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} at {}",
            self.action,
            self.at.format("%Y-%m-%dT%H:%M:%SZ")
        )
    }
}
