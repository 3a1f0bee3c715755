//! What a watch has shown so far.
//!
//! A watch for each kind, or for each name, so that what may not be read hides nothing else.
//!
//! What whoever follows a cluster asks of it beside the watches, and how often.

use std::collections::BTreeMap;

use chrono::{DateTime, TimeDelta, Utc};
use dayshift_workload::Kind;
use futures::{
    StreamExt as _,
    stream::{self, BoxStream, SelectAll, select_all},
};
use kube::Client;

use dayshift_cluster::{
    Query,
    clock::Clock,
    decode::WithManagers,
    read::{FindError, Found, MissingWorkload, QueryPart, UnreadablePart},
    watch::{WorkloadEvent, WorkloadEvents, watch},
};

/// What a watch has shown so far: the objects as they are now.
#[derive(Debug)]
pub struct LiveView {
    query: Query,
    known: BTreeMap<(String, String, Kind), WithManagers>,
    is_complete: bool,
    outage: Option<FindError>,
    refused: Vec<UnreadablePart>,
}

impl LiveView {
    /// Nothing yet.
    pub const fn new(query: Query) -> Self {
        Self {
            query,
            known: BTreeMap::new(),
            is_complete: false,
            outage: None,
            refused: Vec::new(),
        }
    }

    /// Takes in what the watches show, and what they may not show now.
    pub fn take_in(&mut self, shown: Vec<ViewEvent>, refused: Vec<UnreadablePart>) {
        for one in shown {
            match one {
                ViewEvent::Workload(event) => self.observe(event),
                ViewEvent::Unreadable(part) => self.forget(&part),
            }
        }
        self.refused = refused;
    }

    fn observe(&mut self, event: WorkloadEvent<WithManagers>) {
        if !matches!(event, WorkloadEvent::Interrupted(_)) {
            self.outage = None;
        }
        match event {
            WorkloadEvent::Is(kind, managed) => {
                let workload = &managed.workload;
                let (namespace, name) = (workload.namespace(), workload.name());
                let key = (namespace.to_owned(), name.to_owned(), kind);
                self.known.insert(key, *managed);
            }
            WorkloadEvent::Gone {
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

    /// Forgets what may not be read any more.
    fn forget(&mut self, part: &QueryPart) {
        self.known
            .retain(|(namespace, name, kind), _| !part.has(*kind, namespace, name));
    }

    /// What may not be read now, and why.
    pub fn refused(&self) -> &[UnreadablePart] {
        &self.refused
    }

    /// The server has answered: nothing is known to be wrong with it.
    pub fn answered(&mut self) {
        self.outage = None;
    }

    /// Whether all has been shown that there was at first.
    pub const fn is_complete(&self) -> bool {
        self.is_complete
    }

    /// Why the watch is broken now, if it is: then what is known may be old.
    pub const fn outage(&self) -> Option<&FindError> {
        self.outage.as_ref()
    }

    /// The objects as they are now, by namespace, name and kind.
    pub fn workloads(&self) -> impl Iterator<Item = (Kind, &WithManagers)> {
        self.known.iter().map(|((.., kind), it)| (*kind, it))
    }

    /// The objects as they are now, and those that were named and are not there, as far as that may
    /// be known.
    pub fn found(&self) -> Found<WithManagers> {
        let mut found = Found {
            workloads: Vec::new(),
            missing: Vec::new(),
        };
        if !self.query.is_by_name() {
            let all = self.known.iter();
            found.workloads = all.map(|((.., kind), it)| (*kind, it.clone())).collect();
            return found;
        }
        for (part, _) in self.query.parts() {
            let is_refused = self.refused.iter().any(|it| it.part == part);
            let (kind, namespace, name) = (part.kind, part.namespace, part.name);
            let key = (
                namespace.unwrap_or_default(),
                name.unwrap_or_default(),
                kind,
            );
            match self.known.get(&key) {
                Some(managed) => found.workloads.push((kind, managed.clone())),
                None if is_refused => {}
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

/// How long after a refusal a kind is asked for again: somebody may have given the permission.
const AGAIN: TimeDelta = TimeDelta::seconds(5);

type WatchResult = Result<WorkloadEvent<WithManagers>, FindError>;

/// The watches of a query, and how far each of them is.
pub struct KindWatches {
    all: SelectAll<BoxStream<'static, (usize, WatchResult)>>,
    parts: Vec<(QueryPart, PartState)>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum PartState {
    Listing,
    Listed,
    Refused(FindError),
}

/// What a watch has shown.
#[derive(Debug)]
pub enum ViewEvent {
    /// Something of the objects that may be seen.
    Workload(WorkloadEvent<WithManagers>),
    /// These may not be seen now.
    Unreadable(QueryPart),
}

impl KindWatches {
    /// Those of a query; nothing is asked before [`Self::next`].
    pub fn of(client: &Client, query: &Query, clock: &Clock) -> Self {
        let each = query.parts().into_iter().enumerate();
        let (parts, watches): (Vec<_>, Vec<_>) = each
            .map(|(at, (part, query))| {
                let watch = again_and_again(client.clone(), query, clock.clone(), at);
                ((part, PartState::Listing), watch)
            })
            .unzip();
        let all = select_all(watches);
        Self { all, parts }
    }

    /// What has been shown by now, of which there is something.
    ///
    /// # Errors
    /// What no new try can fix, such as a refusal of everything.
    pub async fn next(&mut self) -> Result<Vec<ViewEvent>, FindError> {
        let mut ready = (&mut self.all).ready_chunks(1024);
        let chunk = ready.next().await.unwrap_or_default();
        let mut shown = Vec::with_capacity(chunk.len());
        for (at, seen) in chunk {
            shown.extend(self.take_in(at, seen)?);
        }
        Ok(shown)
    }

    fn take_in(&mut self, at: usize, seen: WatchResult) -> Result<Vec<ViewEvent>, FindError> {
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
                self.parts[at].1 = PartState::Refused(error.clone());
                let refused = self.refused();
                if refused.len() == self.parts.len() {
                    // Whichever came last, it is the same each time.
                    return Err(refused.into_iter().next().map_or(error, |it| it.error));
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

    /// What may not be read now, and why.
    pub fn refused(&self) -> Vec<UnreadablePart> {
        let refused = |(part, state): &(QueryPart, PartState)| match state {
            PartState::Refused(error) => Some(UnreadablePart {
                part: part.clone(),
                error: error.clone(),
            }),
            PartState::Listing | PartState::Listed => None,
        };
        self.parts.iter().filter_map(refused).collect()
    }
}

/// A watch that is begun anew, from its list, some time after it was refused.
fn again_and_again(
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
                    clock.sleep_until(clock.now() + AGAIN).await;
                    watch(&client, &query)
                }
            };
            let seen = events.next().await?;
            let is_refused = seen.as_ref().is_err_and(FindError::is_refusal);
            Some((seen, (!is_refused).then_some(events)))
        }
    });
    seen.map(move |seen| (at, seen)).boxed()
}

/// How often the Namespaces are read again, which are not watched.
pub const NAMESPACE_REFRESH: TimeDelta = TimeDelta::seconds(3);

/// How often the HPAs are read again, which are not watched.
pub const HPA_REFRESH: TimeDelta = TimeDelta::seconds(30);

/// How often a server that broke off is asked whether it is back.
pub const PROBE: TimeDelta = TimeDelta::seconds(3);

/// Where two clocks differ by less, they are taken to agree: the server tells its time to a second.
const SAME_TIME: TimeDelta = TimeDelta::seconds(2);

/// How far the API server's clock, by which schedules are followed, is ahead of this one; zero where
/// they agree.
pub fn clock_ahead(there: DateTime<Utc>, here: DateTime<Utc>) -> TimeDelta {
    let ahead = there - here;
    if ahead.abs() < SAME_TIME {
        TimeDelta::zero()
    } else {
        ahead
    }
}
