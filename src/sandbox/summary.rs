//! What a run comes to.

use chrono::{DateTime, TimeDelta, Utc};

use super::{requests::Requests, usage::Usage};

/// What a run comes to.
#[derive(Clone, Debug, PartialEq)]
pub struct Summary {
    /// When it began.
    pub from: DateTime<Utc>,
    /// When it ended, or was stopped.
    pub until: DateTime<Utc>,
    /// Every workload with a schedule, by namespace and name.
    pub usages: Vec<(String, Usage)>,
    /// The latest that a transition came after its boundary.
    pub lateness: TimeDelta,
    /// How often a schedule was refused.
    pub refusals: usize,
    /// What the scaler asked the API for.
    pub requests: Requests,
}
