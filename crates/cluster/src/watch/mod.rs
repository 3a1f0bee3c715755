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

use std::{collections::BTreeSet, pin::Pin};

use dayshift_workload::Kind;
use futures::{
    Stream, StreamExt as _,
    future::ready,
    stream::{self, select_all},
};
use kube::{Client, api::WatchParams};

use crate::{
    decode::views::WorkloadView,
    read::{list::FindError, query::Query},
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

/// Watches the workloads of a query: first the existing ones, then each change. A failed watch restarts
/// after a pause. An error that a retry is unlikely to fix is returned as `Err` each time; if it names a
/// kind, the other kinds are still watched.
pub fn watch<D: WorkloadView>(client: &Client, query: &Query) -> WorkloadEvents<D> {
    let watches = query.parts().into_iter().map(|(part, query)| {
        let selectors = WatchParams::default();
        let selectors = match (&part.name, query.selector()) {
            (Some(name), _) => selectors.fields(&format!("metadata.name={name}")),
            (None, Some(selector)) => selectors.labels(selector),
            (None, None) => selectors,
        };
        let namespace = part.namespace.as_deref();
        watch_part(client, &part.kind, namespace, selectors, query.place())
    });
    complete_together(watches.collect())
}

/// Merges the watches. The merged watch is complete when each of them has listed its objects or failed
/// permanently.
fn complete_together<D: Send + 'static>(watches: Vec<WorkloadEvents<D>>) -> WorkloadEvents<D> {
    let mut waiting: BTreeSet<usize> = (0..watches.len()).collect();
    let each = watches.into_iter().enumerate();
    let all = select_all(each.map(|(at, watch)| watch.map(move |event| (at, event)).boxed()));
    Box::pin(all.flat_map(move |(at, event)| {
        let is_complete = matches!(event, Ok(WorkloadEvent::Complete));
        let ends = (is_complete || event.is_err()) && waiting.remove(&at);
        let are_complete = (is_complete || ends) && waiting.is_empty();
        let event = (!is_complete).then_some(event);
        let complete = are_complete.then_some(Ok(WorkloadEvent::Complete));
        stream::iter(event.into_iter().chain(complete))
    }))
}

fn watch_part<D: WorkloadView>(
    client: &Client,
    kind: &Kind,
    namespace: Option<&str>,
    selectors: WatchParams,
    place: String,
) -> WorkloadEvents<D> {
    let (random, kind) = (fastrand::Rng::new(), kind.clone());
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
