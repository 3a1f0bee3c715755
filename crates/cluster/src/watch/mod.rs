//! Watches of the API server. [`Reflector`] lists one collection and follows its changes without an end,
//! and [`watch()`] follows the workloads of a query for a command.

mod known_names;
mod reflector;
mod request;
mod watch_set;

pub use self::{
    known_names::ObjectName,
    reflector::{ObjectSource, Reflector, ReflectorEvent},
    request::{Absence, WatchError},
    watch_set::WatchSet,
};

use std::pin::Pin;

use dayshift_workload::Kind;
use futures::{Stream, StreamExt as _, future::ready};
use kube::{Client, api::WatchParams};

use crate::{
    decode::views::WorkloadView,
    read::{
        list::FindError,
        query::{Query, QueryPart, place_of},
    },
};

/// A stream of workload events.
pub type WorkloadEvents<D> =
    Pin<Box<dyn Stream<Item = Result<WorkloadEvent<D>, FindError>> + Send>>;

/// An event about a workload, or about the watch itself.
#[derive(Clone, Debug)]
pub enum WorkloadEvent<D> {
    /// The current state of the object, initially or after a change.
    Applied(Kind, Box<D>),
    /// The object was deleted or left the scope of the watch, perhaps while the watch was interrupted.
    Deleted {
        /// The kind of the object.
        kind: Kind,
        /// The namespace of the object.
        namespace: String,
        /// The name of the object.
        name: String,
    },
    /// The list is complete. If the watch is interrupted and everything is listed again, this event is
    /// repeated.
    Complete,
    /// The watch is interrupted and will be retried.
    Interrupted(FindError),
}

/// Watches the workloads of one part of a query: first the existing ones, then each change. A failed watch
/// restarts after a pause. An error that a retry is unlikely to fix is returned as `Err` each time.
pub fn watch<D: WorkloadView>(
    client: &Client,
    query: &Query,
    part: &QueryPart,
) -> WorkloadEvents<D> {
    let selectors = WatchParams::default();
    let selectors = match (&part.name, query.selector()) {
        (Some(name), _) => selectors.fields(&format!("metadata.name={name}")),
        (None, Some(selector)) => selectors.labels(selector),
        (None, None) => selectors,
    };
    let namespace = part.namespace.as_deref();
    let place = place_of(part.namespace.as_slice());
    let (random, kind) = (fastrand::Rng::new(), part.kind.clone());
    let watch = Reflector::for_kind(client.clone(), &kind, namespace, selectors, random);
    Box::pin(watch.into_stream().filter_map(move |event| {
        let reported = match event {
            ReflectorEvent::Opened { .. } | ReflectorEvent::Init => None,
            ReflectorEvent::Applied { object, .. } => {
                Some(Ok(WorkloadEvent::Applied(kind.clone(), Box::new(object))))
            }
            ReflectorEvent::Deleted { name, .. } => Some(Ok(WorkloadEvent::Deleted {
                kind: kind.clone(),
                namespace: name.namespace.as_ref().to_owned(),
                name: name.name.as_ref().to_owned(),
            })),
            ReflectorEvent::Listed { .. } => Some(Ok(WorkloadEvent::Complete)),
            ReflectorEvent::Failed(error) if error.is_expired() => None,
            ReflectorEvent::Failed(error) => Some(match classify_failure(error, &kind, &place) {
                Ok(error) => Err(error),
                Err(error) => Ok(WorkloadEvent::Interrupted(error)),
            }),
        };
        ready(reported)
    }))
}

/// Classifies the failure of a watch: `Ok` if a retry will fail too.
fn classify_failure(error: WatchError, kind: &Kind, place: &str) -> Result<FindError, FindError> {
    match FindError::classify(error.verb, kind, place, error.error) {
        error @ (FindError::Forbidden { .. }
        | FindError::NotServed { .. }
        | FindError::Unauthorized(_)) => Ok(error),
        error @ (FindError::Rejected(_) | FindError::Unavailable(_)) => Err(error),
    }
}
