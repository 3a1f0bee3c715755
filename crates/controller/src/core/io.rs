//! The inputs and effects of the core. Requests and responses are data: the driver sends a request in a
//! task, which returns only the number of the request and the response.

use std::sync::Arc;

use dayshift_cluster::{
    Workload,
    decode::{Version, WithManagers},
    read::{EndpointSlice, NamespaceMeta, TeamConfigMap},
    watch::ReflectorEvent,
    write::{AnnounceError, Patch, PatchError, ReadError},
};
use dayshift_schedule::Calendars;
use dayshift_workload::{Kind, NamedSchedules, WorkloadRef};

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

/// An input of the core.
#[expect(clippy::large_enum_variant, reason = "an input is moved only once")]
pub(crate) enum Input {
    /// Time has passed.
    Tick,
    /// An event of a watch.
    Watch(WatchId, WatchInput),
    /// The response to a request.
    Response(RequestId, Response),
    /// The calendars have changed.
    Calendars(Calendars),
    /// The named schedules have changed.
    Schedules(NamedSchedules),
    /// The process should end. Only Events are sent from then on.
    Shutdown,
}

/// An event of a watch.
pub(crate) enum WatchInput {
    Workload(Kind, ReflectorEvent<Workload>),
    Namespace(ReflectorEvent<NamespaceMeta>),
    TeamDefaults(ReflectorEvent<TeamConfigMap>),
    Slice(ReflectorEvent<EndpointSlice>),
}

/// An effect that the driver carries out.
pub(crate) enum Effect {
    /// Send a request.
    Send(RequestId, Request),
    /// Abort a request. The core no longer waits for its response.
    Abort(RequestId),
    /// Write the requests sent so far to the connection before any other work.
    Flush,
    /// List all objects again.
    Relist,
    /// Count the savings of a namespace for this team from now on, or for no team.
    Team {
        namespace: Arc<str>,
        team: Option<Box<str>>,
    },
}

/// A request to the API server.
pub(crate) enum Request {
    /// A guarded patch.
    Patch(WorkloadRef, Patch),
    /// A read of an object, to decide about it again.
    Read(WorkloadRef),
    /// A read of an object with its field managers and its status.
    Managers(WorkloadRef),
    /// An Event.
    Event(Arc<PendingEvent>),
    /// A list of the Jobs of a namespace, and a patch for each that should be suspended or resumed.
    Jobs(JobsPass),
    /// A list of at most one object, for the current resourceVersion and the time of the server.
    Version {
        kind: Kind,
        namespace: Option<Box<str>>,
    },
    /// A list of at most one object with a short timeout. Shows whether the server responds at all,
    /// because no admission webhook can delay a list.
    Probe(WorkloadRef),
}

impl Request {
    /// The namespace of its object; `None` if it is about no object.
    pub(crate) fn namespace(&self) -> Option<&Arc<str>> {
        match self {
            Self::Patch(object, _)
            | Self::Read(object)
            | Self::Managers(object)
            | Self::Probe(object) => Some(&object.namespace),
            Self::Event(event) => Some(&event.object.namespace),
            Self::Jobs(pass) => Some(&pass.namespace),
            Self::Version { .. } => None,
        }
    }
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

/// The purpose of a request in flight. The core stores it until the response arrives.
pub(crate) enum Purpose {
    Patch(Box<SentPatch>),
    Read {
        id: Id,
        /// The version of the object that was known when the read was sent.
        known: Version,
    },
    Event(EventAttempt),
    /// Finds the field manager that has reverted a count.
    Revert(Box<Lookup>),
    /// Finds out why an object is not ready.
    NotReady(NotReady),
    Jobs,
    /// Checks whether the server responds.
    Probe,
    /// Requests the time of the server.
    Time,
    /// Requests the current resourceVersion of the server.
    History(VersionQuestion),
}
