//! A live view of workloads for commands and dashboards: the objects that the watches of a query have
//! reported. Each part of the query has its own watch, so that an unreadable part does not hide the others.

use std::collections::BTreeMap;

use chrono::{DateTime, TimeDelta, Utc};
use dayshift_cluster::{
    Query,
    clock::Clock,
    decode::WithManagers,
    read::{FindError, Found, MissingWorkload, QueryPart, UnreadablePart},
    watch::{WorkloadEvent, WorkloadEvents, watch},
};
use dayshift_workload::Kind;
use futures::{
    StreamExt as _,
    stream::{self, BoxStream, SelectAll, select_all},
};
use kube::Client;

/// The current state of the watched objects.
#[derive(Debug)]
pub struct LiveView {
    query: Query,
    known: BTreeMap<(String, String, Kind), WithManagers>,
    is_complete: bool,
    outage: Option<FindError>,
    unreadable_parts: Vec<UnreadablePart>,
}

impl LiveView {
    /// An empty view.
    pub const fn new(query: Query) -> Self {
        Self {
            query,
            known: BTreeMap::new(),
            is_complete: false,
            outage: None,
            unreadable_parts: Vec::new(),
        }
    }

    /// Applies events of the watches and the current unreadable parts.
    pub fn update(&mut self, shown: Vec<ViewEvent>, unreadable_parts: Vec<UnreadablePart>) {
        for one in shown {
            match one {
                ViewEvent::Workload(event) => self.observe(event),
                ViewEvent::Unreadable(part) => self.forget(&part),
            }
        }
        self.unreadable_parts = unreadable_parts;
    }

    fn observe(&mut self, event: WorkloadEvent<WithManagers>) {
        if !matches!(event, WorkloadEvent::Interrupted(_)) {
            self.outage = None;
        }
        match event {
            WorkloadEvent::Applied(kind, mut managed) => {
                self.query.trim(&kind, &mut *managed);
                let workload = &managed.workload;
                let (namespace, name) = (workload.namespace(), workload.name());
                let key = (namespace.to_owned(), name.to_owned(), kind);
                self.known.insert(key, *managed);
            }
            WorkloadEvent::Deleted {
                kind,
                namespace,
                name,
            } => {
                self.known.remove(&(namespace, name, kind));
            }
            WorkloadEvent::Complete => self.is_complete = true,
            WorkloadEvent::Interrupted(error) => self.outage = Some(error),
        }
    }

    /// Removes the objects of a part that has become unreadable.
    fn forget(&mut self, part: &QueryPart) {
        self.known
            .retain(|(namespace, name, kind), _| !part.has(kind, namespace, name));
    }

    /// The unreadable parts and their errors.
    pub fn unreadable_parts(&self) -> &[UnreadablePart] {
        &self.unreadable_parts
    }

    /// Records that the server has responded, so there is no outage.
    pub fn answered(&mut self) {
        self.outage = None;
    }

    /// Whether the initial list is complete.
    pub const fn is_complete(&self) -> bool {
        self.is_complete
    }

    /// Why the watch is interrupted; `None` if it is not. During an outage the view can be outdated.
    pub const fn outage(&self) -> Option<&FindError> {
        self.outage.as_ref()
    }

    /// The objects, by namespace, name and kind.
    pub fn workloads(&self) -> impl Iterator<Item = (Kind, &WithManagers)> {
        self.known.iter().map(|((.., kind), it)| (kind.clone(), it))
    }

    /// The objects as the result of the query, with the named objects that do not exist if that is
    /// known.
    pub fn found(&self) -> Found<WithManagers> {
        let mut found = Found {
            workloads: Vec::new(),
            missing: Vec::new(),
        };
        if !self.query.is_by_name() {
            let all = self.known.iter();
            found.workloads = all
                .map(|((.., kind), workload)| (kind.clone(), workload.clone()))
                .collect();
            return found;
        }
        for (part, _) in self.query.parts() {
            let is_unreadable = self
                .unreadable_parts
                .iter()
                .any(|unreadable| unreadable.part == part);
            let (kind, namespace, name) = (part.kind, part.namespace, part.name);
            let key = (
                namespace.unwrap_or_default(),
                name.unwrap_or_default(),
                kind.clone(),
            );
            match self.known.get(&key) {
                Some(managed) => found.workloads.push((kind, managed.clone())),
                None if is_unreadable => {}
                None => found.missing.push(MissingWorkload {
                    kind,
                    namespace: key.0,
                    name: key.1,
                }),
            }
        }
        found
    }
}

/// The delay before an unreadable part is listed again, because the permission might have been granted.
const REJECTED_RETRY: TimeDelta = TimeDelta::seconds(5);

type WatchResult = Result<WorkloadEvent<WithManagers>, FindError>;

/// The watches of a query, one for each part, and their states.
pub struct KindWatches {
    all: SelectAll<BoxStream<'static, (usize, WatchResult)>>,
    parts: Vec<(QueryPart, PartState)>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum PartState {
    Listing,
    Listed,
    Unreadable(FindError),
}

/// An event of the watches of a query.
#[derive(Debug)]
pub enum ViewEvent {
    /// An event of a readable workload.
    Workload(WorkloadEvent<WithManagers>),
    /// A part that has become unreadable.
    Unreadable(QueryPart),
}

impl KindWatches {
    /// Makes the watches. No request is sent before [`Self::next`].
    pub fn new(client: &Client, query: &Query, clock: &Clock) -> Self {
        let each = query.parts().into_iter().enumerate();
        let (parts, watches): (Vec<_>, Vec<_>) = each
            .map(|(at, (part, query))| {
                let watch = restarting_watch(client.clone(), query, clock.clone(), at);
                ((part, PartState::Listing), watch)
            })
            .unzip();
        let all = select_all(watches);
        Self { all, parts }
    }

    /// Waits for events, and returns all that are available.
    ///
    /// # Errors
    /// If a retry cannot help, for example because no part is readable.
    pub async fn next(&mut self) -> Result<Vec<ViewEvent>, FindError> {
        let mut ready = (&mut self.all).ready_chunks(1024);
        let chunk = ready.next().await.unwrap_or_default();
        let mut shown = Vec::with_capacity(chunk.len());
        for (at, seen) in chunk {
            shown.extend(self.handle(at, seen)?);
        }
        Ok(shown)
    }

    fn handle(&mut self, at: usize, seen: WatchResult) -> Result<Vec<ViewEvent>, FindError> {
        let was_listing = self.are_listing();
        let mut shown = Vec::new();
        let mut answers = was_listing;
        match seen {
            Ok(WorkloadEvent::Complete) => {
                self.parts[at].1 = PartState::Listed;
                answers = true;
            }
            Ok(event) => return Ok(vec![ViewEvent::Workload(event)]),
            Err(error) if error.is_refusal() => {
                self.parts[at].1 = PartState::Unreadable(error.clone());
                let unreadable_parts = self.unreadable_parts();
                if unreadable_parts.len() == self.parts.len() {
                    // Return the first error in the order of the query, whichever part failed last.
                    return Err(unreadable_parts
                        .into_iter()
                        .next()
                        .map_or(error, |unreadable| unreadable.error));
                }
                shown.push(ViewEvent::Unreadable(self.parts[at].0.clone()));
            }
            Err(error) => return Err(error),
        }
        if answers && !self.are_listing() {
            shown.push(ViewEvent::Workload(WorkloadEvent::Complete));
        }
        Ok(shown)
    }

    fn are_listing(&self) -> bool {
        let mut parts = self.parts.iter();
        parts.any(|(_, state)| *state == PartState::Listing)
    }

    /// The unreadable parts and their errors.
    pub fn unreadable_parts(&self) -> Vec<UnreadablePart> {
        let unreadable = |(part, state): &(QueryPart, PartState)| match state {
            PartState::Unreadable(error) => Some(UnreadablePart {
                part: part.clone(),
                error: error.clone(),
            }),
            PartState::Listing | PartState::Listed => None,
        };
        self.parts.iter().filter_map(unreadable).collect()
    }
}

/// A watch that lists again [`REJECTED_RETRY`] after it was rejected.
fn restarting_watch(
    client: Client,
    query: Query,
    clock: Clock,
    at: usize,
) -> BoxStream<'static, (usize, WatchResult)> {
    let begun = Some(watch(&client, &query));
    let seen = stream::unfold(begun, move |begun| {
        let (client, query, clock) = (client.clone(), query.clone(), clock.clone());
        async move {
            let mut events: WorkloadEvents<WithManagers> = match begun {
                Some(events) => events,
                None => {
                    clock.sleep_until(clock.now() + REJECTED_RETRY).await;
                    watch(&client, &query)
                }
            };
            let seen = events.next().await?;
            let is_rejected = seen.as_ref().is_err_and(FindError::is_refusal);
            Some((seen, (!is_rejected).then_some(events)))
        }
    });
    seen.map(move |seen| (at, seen)).boxed()
}

/// How often Namespaces are read again. They are not watched.
pub const NAMESPACE_REFRESH: TimeDelta = TimeDelta::seconds(3);

/// How often HPAs are read again. They are not watched.
pub const HPA_REFRESH: TimeDelta = TimeDelta::seconds(30);

/// How often an unreachable server is tried again.
pub const PROBE: TimeDelta = TimeDelta::seconds(3);

/// Smaller differences between two clocks are ignored, because the server's time has a resolution of a
/// second.
const SAME_TIME: TimeDelta = TimeDelta::seconds(2);

/// How far the API server's clock, which schedules follow, is ahead of this one; zero if the difference
/// is negligible.
pub fn clock_ahead(server: DateTime<Utc>, local: DateTime<Utc>) -> TimeDelta {
    let ahead = server - local;
    if ahead.abs() < SAME_TIME {
        TimeDelta::zero()
    } else {
        ahead
    }
}

#[cfg(test)]
mod tests {
    use dayshift_workload::Prefix;
    use serde_json::{Map, json};

    use super::*;

    /// One user could otherwise exhaust the memory of a dashboard that all users share.
    #[test]
    fn large_annotations_of_other_programs_are_not_kept() {
        let annotations: Map<_, _> = (0..60)
            .map(|number| (format!("example.com/a{number}"), json!("x".repeat(4_000))))
            .collect();
        let object = json!({
            "metadata": {"name": "web", "namespace": "dev", "uid": "u", "annotations": annotations},
            "spec": {"replicas": 1},
        });
        let managed: WithManagers = serde_json::from_value(object).unwrap();
        let kinds = [Kind::DEPLOYMENT];
        let mut view = LiveView::new(Query::all(&kinds, &[], None).reading(&Prefix::default()));
        view.observe(WorkloadEvent::Applied(Kind::DEPLOYMENT, Box::new(managed)));
        assert_eq!(view.workloads().count(), 1);
        let bytes = format!("{view:?}").len();
        assert!(bytes < 10_000, "{bytes}");
    }
}
