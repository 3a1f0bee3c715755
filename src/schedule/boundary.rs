//! The instants at which something is to happen.

use std::fmt;

use chrono::{DateTime, Utc};

/// What a schedule says at a boundary.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Action {
    /// Bring the workload up.
    Start,
    /// Take it down.
    Stop,
}

impl fmt::Display for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Start => "start",
            Self::Stop => "stop",
        })
    }
}

/// An instant, always a whole second, at which a schedule says start or stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Boundary {
    /// When.
    pub at: DateTime<Utc>,
    /// What.
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
