//! The inputs and effects of the core.

use std::sync::Arc;

use dayshift_cluster::{
    Workload,
    decode::{Version, WithManagers},
    read::NamespaceMeta,
    watch::{ObjectName, WatchError},
    write::{AnnounceError, Patch, PatchError, ReadError},
};
use dayshift_schedule::Calendars;
use dayshift_workload::{Kind, WorkloadRef};
use k8s_openapi::api::discovery::v1::EndpointSlice;

use crate::{
    events::recorder::{EventAttempt, PendingEvent},
    followups::{
        jobs::{JobsPass, JobsPassResult},
        readiness::NotReady,
        reverts::Lookup,
    },
    ids::{Id, RequestId, WatchId},
    object::rare::SentPatch,
    store::history::VersionQuestion,
};

/// What happens outside the core.
#[expect(
    clippy::large_enum_variant,
    reason = "an input is moved once, to where it is applied"
)]
pub(crate) enum Input {
    /// Time has passed.
    Tick,
    /// A watch has shown something.
    Watch(WatchId, WatchInput),
    /// A request has ended.
    Response(RequestId, Response),
    /// The calendars have changed.
    Calendars(Calendars),
    /// The process should end: nothing new is begun.
    Shutdown,
}

/// An event of a watch.
pub(crate) enum WatchInput {
    /// The server has granted the watch.
    Opened {
        /// The version from which it continues, if that is earlier than usual.
        unverified_version: Option<Version>,
    },
    /// A list is complete, with this many objects.
    Listed {
        objects: usize,
    },
    /// The watch is broken. It is tried again.
    Failed(WatchError),
    Workload(Kind, ObjectEvent<Workload>),
    Namespace(ObjectEvent<NamespaceMeta>),
    Slice(ObjectEvent<EndpointSlice>),
}

/// What a watch shows of one object.
pub(crate) enum ObjectEvent<D> {
    /// It is as given.
    Applied {
        name: ObjectName,
        object: D,
        /// Whether it comes from a list.
        in_list: bool,
    },
    /// It is gone: the one with this UID, or whatever its UID was.
    Deleted {
        name: ObjectName,
        uid: Option<String>,
    },
}

/// An effect that the driver carries out.
pub(crate) enum Effect {
    /// Send a request.
    Send(RequestId, Request),
    /// Abort a request: the core does not wait for its response any more.
    Abort(RequestId),
    /// Let the requests so far be written before anything else is done.
    Flush,
    /// List everything again.
    Relist,
    /// The savings of a namespace count for this team from now on, or for none.
    Team {
        namespace: Arc<str>,
        team: Option<Box<str>>,
    },
}

/// A request to the API server.
pub(crate) enum Request {
    /// A guarded patch.
    Patch(WorkloadRef, Patch),
    /// A read of an object that has changed.
    Read(WorkloadRef),
    /// A read of an object with its field managers and its status.
    Managers(WorkloadRef),
    /// An Event.
    Event(Arc<PendingEvent>),
    /// A pass over the Jobs of a namespace.
    Jobs(JobsPass),
    /// A list of at most one object, for the version and the time of the server.
    Version {
        kind: Kind,
        namespace: Option<Box<str>>,
    },
    /// The same, to learn soon whether the server responds at all: a list passes no admission.
    Probe(WorkloadRef),
}

/// The response to a [`Request`].
pub(crate) enum Response {
    Patch(Box<Result<Workload, PatchError>>),
    Read(Box<Result<Workload, ReadError>>),
    Managers(Box<Result<WithManagers, ReadError>>),
    Event(Result<(), AnnounceError>),
    Jobs(Box<JobsPassResult>),
    Version(Result<Version, ReadError>),
}

/// What a request in flight is about. The core remembers it, so that a task has nothing to carry back
/// but the response.
pub(crate) enum Purpose {
    Patch(Box<SentPatch>),
    Read {
        id: Id,
        /// The version that was known when it was sent.
        known: Version,
    },
    Event(EventAttempt),
    /// Which field manager has reverted a count.
    Revert(Box<Lookup>),
    /// Why an object is not ready.
    NotReady(NotReady),
    Jobs,
    /// Whether the server responds.
    Probe,
    /// The time of the server.
    Time,
    /// How far the history of the server is.
    History(VersionQuestion),
}
