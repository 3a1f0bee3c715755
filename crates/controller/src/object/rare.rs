//! The parts of an object's state that few objects have, such as a patch without a response or a stop notice.

use std::{sync::Arc, time::Duration};

use chrono::{DateTime, TimeDelta, Utc};
use dayshift_cluster::decode::Version;
use dayshift_workload::{Change, ChangeKind, Key, Replicas, WorkloadRef};

use crate::{ids::Id, object::reported::Reported};

/// State that few objects have. It is boxed, to save memory.
#[derive(Default)]
pub(crate) struct Rare {
    /// A patch without a response, which might have taken effect.
    pub(crate) unconfirmed: Option<SentPatch>,
    /// The reports that were made about the object.
    pub(crate) reported: Reported,
    /// The next stop, for which a notice will be sent.
    pub(crate) stop_group: Option<Arc<StopGroup>>,
    /// The last stop for which a notice was sent.
    pub(crate) stop_reported: Option<DateTime<Utc>>,
    /// The elapsed time of the last edit, if the wall clock was wrong at that time.
    pub(crate) seen_elapsed: Option<Duration>,
    /// Annotations that a dry run has removed in memory, with their values.
    pub(crate) expired: Vec<(Key, Box<str>)>,
}

/// A patch that was sent.
pub(crate) struct SentPatch {
    pub(crate) id: Id,
    pub(crate) object: WorkloadRef,
    /// The count before the patch.
    pub(crate) from: Replicas,
    /// Whether the patch changes a state label.
    pub(crate) changes_labels: bool,
    pub(crate) known: KnownVersions,
    pub(crate) change: Change,
    /// When it was sent, by the wall clock.
    pub(crate) at: DateTime<Utc>,
    /// When it was sent, by the elapsed time.
    pub(crate) elapsed: Duration,
}

/// The versions that were known when a write was sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct KnownVersions {
    /// The version of the object that the write is for.
    pub(crate) object: Version,
    /// The newest version in the watch of the object.
    pub(crate) newest: Version,
}

/// A count that dayshift has set, which is checked for reverts.
pub(crate) struct SetCount {
    pub(crate) by: ChangeKind,
    pub(crate) from: Replicas,
    pub(crate) to: Replicas,
    /// The label `last` that was set with the count.
    pub(crate) last: Option<i64>,
    /// When the patch was sent.
    pub(crate) at: Duration,
}

/// Identifies the objects of one namespace that stop at the same time and have the same notice period.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct StopGroup {
    pub(crate) stop: DateTime<Utc>,
    pub(crate) namespace: Arc<str>,
    /// How long before the stop the notice is sent.
    pub(crate) notice: TimeDelta,
}
