//! The start of one object: its dependencies, its start slot, and whether it becomes ready.

use std::time::Duration;

use chrono::{DateTime, Utc};
use dayshift_workload::{Dependency, UnreadyDependency};

/// The start of one object; an object that is neither waiting nor starting has none.
#[derive(Debug, Default)]
pub(crate) struct StartState {
    /// The dependencies that it waits for.
    pub(crate) dependency_wait: Option<DependencyWait>,
    /// How its wait ended, until it is carried out.
    pub(crate) ended_wait: Option<EndedWait>,
    pub(crate) slot: Option<Slot>,
    /// Its number in the queue for a start slot.
    pub(crate) queued: Option<u64>,
    /// When this process sent the start, until the object is ready.
    pub(crate) sent: Option<Duration>,
}

impl StartState {
    /// Whether there is nothing to keep.
    pub(crate) const fn is_empty(&self) -> bool {
        self.dependency_wait.is_none()
            && self.ended_wait.is_none()
            && self.slot.is_none()
            && self.queued.is_none()
            && self.sent.is_none()
    }
}

/// A start that waits for its dependencies.
#[derive(Debug)]
pub(crate) struct DependencyWait {
    /// When the start became due.
    pub(crate) due: DateTime<Utc>,
    /// The dependencies that were not ready at the last check.
    pub(crate) needed: Vec<Dependency>,
}

/// A start that waits no longer, and is not carried out yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct EndedWait {
    /// When the start became due.
    pub(crate) due: DateTime<Utc>,
    /// When its wait ended, if it has waited.
    pub(crate) ended: Option<DateTime<Utc>>,
    /// The dependencies that are not ready.
    pub(crate) without: Vec<UnreadyDependency>,
}

/// A start slot: one of the workloads that may be starting at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Slot {
    /// A start that has waited for it, and should be decided about once more.
    Granted,
    /// A start that is not carried out yet.
    Start,
    /// A workload that is not ready yet.
    Workload,
}
