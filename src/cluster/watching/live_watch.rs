//! Looking on at live workloads.

use std::{collections::BTreeSet, fmt::Debug, pin::Pin};

use futures::{
    Stream, StreamExt as _,
    stream::{self, select_all},
};
use kube::{Client, Resource, api::WatchParams};

use crate::cluster::reading::find::FindError;
use crate::cluster::reading::query::Query;
use crate::cluster::reading::view::WorkloadView;
use crate::cluster::watching::error::WatchError;
use crate::cluster::watching::event::ReflectorEvent;
use crate::cluster::watching::reflector::Reflector;
use crate::workload::Kind;

/// What happens to workloads.
pub type WatchEvents<D> = Pin<Box<dyn Stream<Item = Result<WatchEvent<D>, FindError>> + Send>>;

/// One thing seen of a workload.
#[derive(Clone, Debug)]
pub enum WatchEvent<D> {
    /// It is so, at first or after a change.
    Is(Kind, Box<D>),
    /// It has been deleted, or is no longer among what is asked for; also where that happened while the
    /// watch was broken.
    Gone {
        /// Its kind.
        kind: Kind,
        /// Its namespace.
        namespace: String,
        /// Its name.
        name: String,
    },
    /// All that is there at first has been seen. A watch that was broken and begins anew says
    /// again what there is, and this.
    Complete,
    /// The watch is broken for now, for this reason, and tries again.
    Interrupted(FindError),
}

/// Watches the workloads that are asked for: what is there first, then each change. A watch that
/// fails begins anew after a pause. What no new try is likely to mend is an error each time; where
/// it names a kind, the others are watched all the same.
pub fn watch<D: WorkloadView>(client: &Client, query: &Query) -> WatchEvents<D> {
    let watches = query.parts().into_iter().map(|(part, query)| {
        let selectors = WatchParams::default();
        let selectors = match (&part.name, query.selector()) {
            (Some(name), _) => selectors.fields(&format!("metadata.name={name}")),
            (None, Some(selector)) => selectors.labels(selector),
            (None, None) => selectors,
        };
        let namespace = part.namespace.as_deref();
        events(client, part.kind, namespace, selectors, query.place())
    });
    complete_together(watches.collect())
}

/// All of them as one, which is complete once each has been, or has failed for good.
fn complete_together<D: Send + 'static>(watches: Vec<WatchEvents<D>>) -> WatchEvents<D> {
    let mut waiting: BTreeSet<usize> = (0..watches.len()).collect();
    let each = watches.into_iter().enumerate();
    let all = select_all(each.map(|(at, watch)| watch.map(move |event| (at, event)).boxed()));
    Box::pin(all.flat_map(move |(at, event)| {
        let is_complete = matches!(event, Ok(WatchEvent::Complete));
        let ends = (is_complete || event.is_err()) && waiting.remove(&at);
        let are_complete = (is_complete || ends) && waiting.is_empty();
        let event = (!is_complete).then_some(event);
        let complete = are_complete.then_some(Ok(WatchEvent::Complete));
        stream::iter(event.into_iter().chain(complete))
    }))
}

fn events<D: WorkloadView>(
    client: &Client,
    kind: Kind,
    namespace: Option<&str>,
    selectors: WatchParams,
    place: String,
) -> WatchEvents<D> {
    let random = fastrand::Rng::new();
    let watch = Reflector::of_kind(client.clone(), kind, namespace, selectors, random);
    let mut known = Known::default();
    Box::pin(watch.into_stream().flat_map(move |event| {
        let seen = match event {
            ReflectorEvent::Opened { .. } => Vec::new(),
            ReflectorEvent::Init => {
                known.listed.clear();
                Vec::new()
            }
            ReflectorEvent::InitApply(it) | ReflectorEvent::Apply(it) => {
                known.listed.insert(name(&it));
                known.all.insert(name(&it));
                vec![Ok(WatchEvent::Is(kind, Box::new(it)))]
            }
            ReflectorEvent::Delete(it) => {
                known.all.remove(&name(&it));
                vec![Ok(gone(kind, name(&it)))]
            }
            ReflectorEvent::Done => {
                let vanished = known
                    .take_vanished()
                    .into_iter()
                    .map(|it| Ok(gone(kind, it)));
                vanished.chain([Ok(WatchEvent::Complete)]).collect()
            }
            ReflectorEvent::Failed(error) if error.is_expired() => Vec::new(),
            ReflectorEvent::Failed(error) => vec![match for_good(error, kind, &place) {
                Ok(error) => Err(error),
                Err(error) => Ok(WatchEvent::Interrupted(error)),
            }],
        };
        stream::iter(seen)
    }))
}

/// The objects that a watch has shown, by namespace and name.
#[derive(Default)]
struct Known {
    all: BTreeSet<(String, String)>,
    /// Those that it has shown since it began anew.
    listed: BTreeSet<(String, String)>,
}

impl Known {
    /// What the list does not show that has just ended.
    fn take_vanished(&mut self) -> Vec<(String, String)> {
        let vanished = self.all.difference(&self.listed).cloned().collect();
        self.all.clone_from(&self.listed);
        vanished
    }
}

fn name<D: Resource>(object: &D) -> (String, String) {
    let meta = object.meta();
    (
        meta.namespace.clone().unwrap_or_default(),
        meta.name.clone().unwrap_or_default(),
    )
}

fn gone<D>(kind: Kind, (namespace, name): (String, String)) -> WatchEvent<D> {
    WatchEvent::Gone {
        kind,
        namespace,
        name,
    }
}

/// The failure of a watch: `Ok` where it will fail the next time too.
fn for_good(error: WatchError, kind: Kind, place: &str) -> Result<FindError, FindError> {
    match FindError::sort(error.verb, kind, place, error.error) {
        error @ (FindError::Forbidden { .. }
        | FindError::NotServed { .. }
        | FindError::Unauthorized(_)) => Ok(error),
        error @ (FindError::Refused(_) | FindError::Unavailable(_)) => Err(error),
    }
}
