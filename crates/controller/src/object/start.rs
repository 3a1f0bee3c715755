//! The state of one object's start: the wait for dependencies, the start slot, and the time until it is
//! ready. The rules are in `gate` and `followups::readiness`.

use std::time::Duration;

use chrono::{DateTime, Utc};
use dayshift_workload::{Dependency, UnreadyDependency};

/// The state of a start. An object that is neither waiting nor starting has none.
#[derive(Debug, Default)]
pub(crate) struct StartState {
    /// The wait for dependencies, while it lasts.
    pub(crate) dependency_wait: Option<DependencyWait>,
    /// The result of the wait, until the start is made.
    pub(crate) ended_wait: Option<EndedWait>,
    pub(crate) slot: Option<Slot>,
    /// The number of its entry in the queue for a start slot.
    pub(crate) queued: Option<u64>,
    /// When this process sent the start. Removed when the object is ready.
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

/// The result of a wait that has ended, for a start that was not made yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct EndedWait {
    /// When the start became due.
    pub(crate) due: DateTime<Utc>,
    /// When the wait ended; `None` if the start did not wait.
    pub(crate) ended: Option<DateTime<Utc>>,
    /// The dependencies that were not ready when the wait ended.
    pub(crate) without: Vec<UnreadyDependency>,
}

/// The holder of a start slot, of which there are `--max-starting`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Slot {
    /// A start that has waited for the slot and should be decided about again.
    Granted,
    /// A start that was not made yet.
    Start,
    /// A workload that was started and is not ready yet.
    Workload,
}
