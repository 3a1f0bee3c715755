//! A watch that the server has granted.

use std::time::Duration;

use kube::Resource;
use tokio::time::Instant;

use crate::cluster::watching::answer::EventLines;
use crate::cluster::watching::error::WatchError;

/// The bookmark that marks the end of the list.
pub(super) const INITIAL_EVENTS_END: &str = "k8s.io/initial-events-end";

/// A watch that the server has granted.
pub(super) struct Open {
    pub(super) events: EventLines,
    pub(super) since: Instant,
    /// The requested life of the watch.
    pub(super) life: Duration,
    /// The version of its last event; `None` during the list.
    pub(super) version: Option<String>,
    /// Whether it has told anything.
    pub(super) has_told: bool,
    /// Whether the last event could not be read.
    pub(super) is_broken: bool,
}

impl Open {
    /// Notes that this was told; whether it is a change, and not one of what there is.
    pub(super) fn advance(&mut self, object: &impl Resource) -> Result<bool, WatchError> {
        let version = given(object.meta().resource_version.clone())?;
        let is_change = self.version.is_some();
        self.version = is_change.then_some(version);
        Ok(is_change)
    }
}

/// The version in an event. A watch that continued without one would miss changes.
pub(super) fn given(version: Option<String>) -> Result<String, WatchError> {
    let version = version.filter(|it| !it.is_empty());
    version.ok_or_else(|| WatchError::no_version("watch"))
}
