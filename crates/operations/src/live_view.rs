//! The workloads of a query, with the other objects that explain their statuses.
//!
//! A command reads a [`LiveView`] once. A dashboard and `status --watch` keep one in a [`SharedView`], which a
//! [`Follower`] updates. Each part of the query has a state of its own, so that an unreadable part does not
//! hide the others.

use std::{
    collections::BTreeMap,
    sync::{Mutex, MutexGuard, PoisonError},
};

use chrono::{DateTime, TimeDelta, Utc};
use dayshift_cluster::{
    Query, Workload,
    clock::Clock,
    connect::server_time,
    decode::WithManagers,
    read::{
        Autoscalers, CorrectionLimits, FindError, MissingWorkload, NamespaceDefaults, QueryPart,
        Services, UnreadablePart, WaitingStarts, find_parts, missing_namespaces,
    },
    watch::{WorkloadEvent, WorkloadEvents, watch},
};
use dayshift_workload::{Key, Kind, Observed, Prefix};
use futures::{
    StreamExt as _,
    stream::{self, BoxStream, SelectAll, select_all},
};
use kube::Client;

/// The workloads of a query as they were last read, and the other objects that explain their statuses.
#[derive(Debug)]
pub struct LiveView {
    query: Query,
    pub(crate) prefix: Prefix,
    parts: Vec<LivePart>,
    pub(crate) defaults: NamespaceDefaults,
    pub(crate) autoscalers: Autoscalers,
    pub(crate) services: Services,
    pub(crate) waiting_starts: WaitingStarts,
    pub(crate) correction_limits: CorrectionLimits,
    /// How far the clock of the API server is ahead of the local clock.
    ahead: TimeDelta,
    outage: Option<FindError>,
    version: u64,
}

/// A part of the query, and the workloads in it.
#[derive(Debug)]
struct LivePart {
    part: QueryPart,
    state: PartState,
    /// By `namespace/name`, in the order of the API server.
    workloads: BTreeMap<String, WithManagers>,
}

#[derive(Debug)]
enum PartState {
    Listing,
    Listed,
    Unreadable(FindError),
}

impl LivePart {
    fn insert(&mut self, managed: WithManagers) {
        let path = path(managed.workload.namespace(), managed.workload.name());
        self.workloads.insert(path, managed);
    }
}

fn path(namespace: &str, name: &str) -> String {
    format!("{namespace}/{name}")
}

/// The Events of a controller that statuses need as an explanation.
#[derive(Clone, Copy, Debug)]
pub struct EventNeeds {
    /// Those about starts that wait for a start slot.
    pub waiting_starts: bool,
    /// Those about enforcement that has reached its limit.
    pub correction_limits: bool,
}

impl EventNeeds {
    /// Whether there are any.
    pub const fn any(self) -> bool {
        self.waiting_starts || self.correction_limits
    }
}

impl LiveView {
    /// A view without workloads, whose lists are not complete.
    pub fn new(query: Query, prefix: &Prefix) -> Self {
        let parts = query.parts().iter().map(|part| LivePart {
            part: part.clone(),
            state: PartState::Listing,
            workloads: BTreeMap::new(),
        });
        Self {
            parts: parts.collect(),
            query: query.reading(prefix),
            prefix: prefix.clone(),
            defaults: NamespaceDefaults::default(),
            autoscalers: Autoscalers::default(),
            services: Services::default(),
            waiting_starts: WaitingStarts::default(),
            correction_limits: CorrectionLimits::default(),
            ahead: TimeDelta::zero(),
            outage: None,
            version: 0,
        }
    }

    /// Reads the workloads once, and adds their Namespaces to the known `defaults`.
    ///
    /// # Errors
    /// If the API server cannot be reached or fails, or if no part of the query is readable.
    pub async fn read(
        client: &Client,
        query: Query,
        prefix: &Prefix,
        defaults: NamespaceDefaults,
    ) -> Result<Self, FindError> {
        let mut view = Self::new(query, prefix);
        let (found, defaults) = tokio::join!(
            find_parts(client, &view.query),
            defaults.found(client, &view.query, prefix)
        );
        view.defaults = defaults;
        for (part, result) in view.parts.iter_mut().zip(found?) {
            part.state = match result {
                Ok(workloads) => {
                    workloads.into_iter().for_each(|found| part.insert(found));
                    PartState::Listed
                }
                Err(error) => PartState::Unreadable(error),
            };
        }
        Ok(view)
    }

    /// Reads the clock of the API server, the autoscalers of the workloads, and the Services that might wake
    /// them.
    pub async fn explain(&mut self, client: &Client, clock: &Clock) {
        let (ahead, found) = tokio::join!(
            clock_ahead(client, clock),
            find_scalers(client, &self.query, self.needs())
        );
        self.ahead = ahead.unwrap_or_default();
        (self.autoscalers, self.services) = found;
    }

    /// Reads the Events that statuses need.
    pub async fn read_events(&mut self, client: &Client, needs: EventNeeds) {
        let found = find_events(client, &self.query, needs).await;
        (self.waiting_starts, self.correction_limits) = found;
    }

    /// Reads the autoscalers of the workloads.
    pub async fn read_autoscalers(&mut self, client: &Client) {
        self.autoscalers = Autoscalers::find(client, &self.query).await;
    }

    /// The namespaces of the query that do not exist, if that is known.
    pub async fn missing_namespaces(&self, client: &Client) -> Vec<String> {
        let is_found = |name: &str| {
            let mut workloads = self.workloads();
            workloads.any(|(_, managed)| managed.workload.namespace() == name)
        };
        missing_namespaces(client, &self.query, is_found).await
    }

    /// Removes the other workloads.
    pub fn retain(&mut self, keeps: impl Fn(&Workload) -> bool) {
        for part in &mut self.parts {
            part.workloads.retain(|_, managed| keeps(&managed.workload));
        }
    }

    /// Records an error that ends the watches. The view can be outdated from now on.
    pub fn end(&mut self, error: FindError) {
        self.outage = Some(error);
        self.version += 1;
    }

    fn observe(&mut self, at: usize, event: WatchResult) -> Result<(), FindError> {
        self.version += 1;
        let is_response = match &event {
            Ok(event) => !matches!(event, WorkloadEvent::Interrupted(_)),
            Err(error) => error.is_refusal(),
        };
        if is_response {
            self.outage = None;
        }
        let Some(part) = self.parts.get_mut(at) else {
            return Ok(());
        };
        match event {
            Ok(WorkloadEvent::Applied(kind, mut managed)) => {
                self.query.trim(&kind, &mut *managed);
                part.insert(*managed);
            }
            Ok(WorkloadEvent::Deleted {
                namespace, name, ..
            }) => {
                part.workloads.remove(&path(&namespace, &name));
            }
            Ok(WorkloadEvent::Complete) => part.state = PartState::Listed,
            Ok(WorkloadEvent::Interrupted(error)) => self.outage = Some(error),
            Err(error) if error.is_refusal() => {
                part.state = PartState::Unreadable(error);
                part.workloads.clear();
                let unreadable = self.unreadable_parts();
                if unreadable.len() == self.parts.len() {
                    // The first error in the order of the query, whichever part failed last.
                    let first = unreadable.into_iter().next();
                    return first.map_or(Ok(()), |first| Err(first.error));
                }
            }
            Err(error) => return Err(error),
        }
        Ok(())
    }

    /// Whether to read autoscalers, and Services.
    fn needs(&self) -> (bool, bool) {
        (
            self.workloads().next().is_some(),
            self.observed()
                .any(|observed| has_wake_on_request(&observed)),
        )
    }

    /// A number that grows with each change.
    pub const fn version(&self) -> u64 {
        self.version
    }

    /// The query that selects the workloads.
    pub const fn query(&self) -> &Query {
        &self.query
    }

    /// The inherited annotations.
    pub const fn defaults(&self) -> &NamespaceDefaults {
        &self.defaults
    }

    /// The autoscalers of the workloads, if they were read.
    pub const fn autoscalers(&self) -> &Autoscalers {
        &self.autoscalers
    }

    /// How far the clock of the API server, which schedules follow, is ahead of the local clock.
    pub const fn ahead(&self) -> TimeDelta {
        self.ahead
    }

    /// Whether all lists are complete.
    pub fn is_complete(&self) -> bool {
        let mut parts = self.parts.iter();
        !parts.any(|part| matches!(part.state, PartState::Listing))
    }

    /// Why the view might be outdated; `None` if it is not.
    pub const fn outage(&self) -> Option<&FindError> {
        self.outage.as_ref()
    }

    /// The unreadable parts of the query and their errors.
    pub fn unreadable_parts(&self) -> Vec<UnreadablePart> {
        let unreadable = |live: &LivePart| match &live.state {
            PartState::Unreadable(error) => Some(UnreadablePart {
                part: live.part.clone(),
                error: error.clone(),
            }),
            PartState::Listing | PartState::Listed => None,
        };
        self.parts.iter().filter_map(unreadable).collect()
    }

    /// The workloads: in the order of the query if they were selected by name, otherwise by kind, namespace
    /// and name.
    pub fn workloads(&self) -> impl Iterator<Item = (&Kind, &WithManagers)> {
        self.parts.iter().flat_map(|live| {
            let workloads = live.workloads.values();
            workloads.map(|managed| (&live.part.kind, managed))
        })
    }

    /// The workloads with their inherited annotations.
    pub fn observed(&self) -> impl Iterator<Item = Observed> {
        self.workloads()
            .map(|(kind, managed)| self.observe_workload(kind, managed))
    }

    /// A workload of the view with its inherited annotations.
    pub fn observe_workload(&self, kind: &Kind, managed: &WithManagers) -> Observed {
        let observed = managed.workload.observe(kind, &self.prefix);
        self.defaults.applied(observed)
    }

    /// The workloads that were selected by name and do not exist.
    pub fn missing(&self) -> Vec<MissingWorkload> {
        let missing = |live: &LivePart| match live.state {
            PartState::Listed if live.workloads.is_empty() => Some(MissingWorkload {
                kind: live.part.kind.clone(),
                namespace: live.part.namespace.clone().unwrap_or_default(),
                name: live.part.name.clone()?,
            }),
            _ => None,
        };
        self.parts.iter().filter_map(missing).collect()
    }

    /// A workload, if it is in the view.
    pub(crate) fn find(&self, namespace: &str, kind: &Kind, name: &str) -> Option<&WithManagers> {
        let path = path(namespace, name);
        let mut parts = self
            .parts
            .iter()
            .filter(|live| live.part.has(kind, namespace, name));
        parts.find_map(|live| live.workloads.get(&path))
    }

    /// Whether all objects of a kind in a namespace are in the view.
    pub(crate) fn has_all_of(&self, kind: &Kind, namespace: &str) -> bool {
        let is_of = |part: &QueryPart| {
            let is_in_namespace = part.namespace.as_deref().is_none_or(|own| own == namespace);
            part.kind == *kind && part.name.is_none() && is_in_namespace
        };
        let parts = self.parts.iter();
        let mut parts = parts.filter(|live| is_of(&live.part)).peekable();
        self.query.selector().is_none()
            && parts.peek().is_some()
            && !parts.any(|live| matches!(live.state, PartState::Unreadable(_)))
    }
}

/// Whether the workload has wake-on-request, by its own annotation or an inherited one.
pub(crate) fn has_wake_on_request(observed: &Observed) -> bool {
    observed.inputs.text(Key::WakeOnRequest).is_some()
}

fn update<T: PartialEq>(value: &mut T, found: T, version: &mut u64) {
    if *value != found {
        *value = found;
        *version += 1;
    }
}

/// Reads the autoscalers, and the Services, of a query.
async fn find_scalers(
    client: &Client,
    query: &Query,
    (autoscalers, services): (bool, bool),
) -> (Autoscalers, Services) {
    tokio::join!(
        found_if(autoscalers, Autoscalers::find(client, query)),
        found_if(services, Services::find(client, query))
    )
}

async fn find_events(
    client: &Client,
    query: &Query,
    needs: EventNeeds,
) -> (WaitingStarts, CorrectionLimits) {
    tokio::join!(
        found_if(needs.waiting_starts, WaitingStarts::find(client, query)),
        found_if(
            needs.correction_limits,
            CorrectionLimits::find(client, query)
        )
    )
}

async fn found_if<T: Default>(is_needed: bool, found: impl Future<Output = T>) -> T {
    match is_needed {
        true => found.await,
        false => T::default(),
    }
}

/// Smaller differences between two clocks are ignored, because the server's time has a resolution of a
/// second.
const SAME_TIME: TimeDelta = TimeDelta::seconds(2);

/// How far the API server's clock is ahead of this one, or zero if the difference is negligible. `None` if
/// the API server does not answer.
async fn clock_ahead(client: &Client, clock: &Clock) -> Option<TimeDelta> {
    let here = clock.now();
    let ahead = server_time(client).await? - here;
    Some(match ahead.abs() < SAME_TIME {
        true => TimeDelta::zero(),
        false => ahead,
    })
}

/// A [`LiveView`] that a [`Follower`] updates while others read it.
#[derive(Debug)]
pub struct SharedView(Mutex<LiveView>);

impl SharedView {
    /// Shares a view.
    pub const fn new(view: LiveView) -> Self {
        Self(Mutex::new(view))
    }

    /// The current view. The follower waits while the guard exists.
    pub fn get(&self) -> MutexGuard<'_, LiveView> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reads the clock of the API server and the Namespaces, and begins to watch the workloads.
    pub async fn follow(&self, client: &Client, clock: &Clock) -> Follower<'_> {
        let query = self.get().query.clone();
        let parts = query.parts().iter().enumerate();
        let watches = select_all(parts.map(|part| restarting_watch(client, &query, clock, part)));
        let now = clock.now();
        let mut follower = Follower {
            view: self,
            client: client.clone(),
            clock: clock.clone(),
            query,
            watches,
            probe_at: now,
            defaults_at: now,
            scalers_at: now,
            events_at: now,
        };
        follower.read_time().await;
        follower.read_defaults().await;
        follower
    }
}

type WatchResult = Result<WorkloadEvent<WithManagers>, FindError>;

/// Keeps a [`SharedView`] up to date: watches the workloads, and reads the objects that are not watched from
/// time to time.
pub struct Follower<'v> {
    view: &'v SharedView,
    client: Client,
    clock: Clock,
    query: Query,
    watches: SelectAll<BoxStream<'static, (usize, WatchResult)>>,
    probe_at: DateTime<Utc>,
    defaults_at: DateTime<Utc>,
    scalers_at: DateTime<Utc>,
    events_at: DateTime<Utc>,
}

/// The longest time between two updates.
const TICK: TimeDelta = TimeDelta::seconds(1);

/// How often an unreachable server is tried again.
const PROBE: TimeDelta = TimeDelta::seconds(3);

/// How often Namespaces are read again.
const NAMESPACE_REFRESH: TimeDelta = TimeDelta::seconds(3);

/// How often autoscalers, Services and Events are read again.
const SCALER_REFRESH: TimeDelta = TimeDelta::seconds(30);

impl Follower<'_> {
    /// Waits for changes for at most a second, and updates the view. Changes that arrive together are
    /// applied together.
    ///
    /// # Errors
    /// If a retry cannot help, for example because no part of the query is readable.
    pub async fn update(&mut self) -> Result<(), FindError> {
        let tick = self.clock.now() + TICK;
        let mut ready = (&mut self.watches).ready_chunks(1024);
        let is_idle = tokio::select! {
            events = ready.next() => {
                let mut view = self.view.get();
                for (at, event) in events.unwrap_or_default() {
                    view.observe(at, event)?;
                }
                false
            }
            () = self.clock.doze_until(tick) => true,
        };
        let now = self.clock.now();
        if self.view.get().outage.is_some() {
            // An interruption is shown at least until the next tick.
            if is_idle && now >= self.probe_at {
                self.probe_at = now + PROBE;
                self.read_time().await;
            }
            return Ok(());
        }
        if now >= self.defaults_at {
            self.read_defaults().await;
        }
        if now >= self.scalers_at && self.view.get().is_complete() {
            self.read_scalers().await;
        }
        Ok(())
    }

    /// Whether Events should be read again if a status needs them.
    pub fn are_events_due(&self) -> bool {
        let view = self.view.get();
        self.clock.now() >= self.events_at && view.outage.is_none() && view.is_complete()
    }

    /// Reads the Events that statuses need.
    pub async fn read_events(&mut self, needs: EventNeeds) {
        let (waiting_starts, correction_limits) =
            find_events(&self.client, &self.query, needs).await;
        self.events_at = self.clock.now() + SCALER_REFRESH;
        let view = &mut *self.view.get();
        update(&mut view.waiting_starts, waiting_starts, &mut view.version);
        let (limits, version) = (&mut view.correction_limits, &mut view.version);
        update(limits, correction_limits, version);
    }

    /// Reads the clock of the API server. A response ends an outage.
    async fn read_time(&self) {
        if let Some(ahead) = clock_ahead(&self.client, &self.clock).await {
            let view = &mut *self.view.get();
            view.ahead = ahead;
            update(&mut view.outage, None, &mut view.version);
        }
    }

    async fn read_defaults(&mut self) {
        let prefix = self.view.get().prefix.clone();
        let found = NamespaceDefaults::find(&self.client, &self.query, &prefix).await;
        self.defaults_at = self.clock.now() + NAMESPACE_REFRESH;
        let view = &mut *self.view.get();
        update(&mut view.defaults, found, &mut view.version);
    }

    async fn read_scalers(&mut self) {
        let needs = self.view.get().needs();
        let (autoscalers, services) = find_scalers(&self.client, &self.query, needs).await;
        // Those of the first workload are read at once.
        if needs.0 {
            self.scalers_at = self.clock.now() + SCALER_REFRESH;
        }
        let view = &mut *self.view.get();
        update(&mut view.autoscalers, autoscalers, &mut view.version);
        update(&mut view.services, services, &mut view.version);
    }
}

/// The delay before an unreadable part is listed again, because the permission might have been granted.
const REJECTED_RETRY: TimeDelta = TimeDelta::seconds(5);

/// A watch that lists again [`REJECTED_RETRY`] after it was rejected. Its events have the number of the part.
fn restarting_watch(
    client: &Client,
    query: &Query,
    clock: &Clock,
    (at, part): (usize, &QueryPart),
) -> BoxStream<'static, (usize, WatchResult)> {
    let begun: Option<WorkloadEvents<WithManagers>> = Some(watch(client, query, part));
    let (client, query, clock) = (client.clone(), query.clone(), clock.clone());
    let state = (client, query, clock, part.clone(), begun);
    let seen = stream::unfold(
        state,
        move |(client, query, clock, part, begun)| async move {
            let mut events = match begun {
                Some(events) => events,
                None => {
                    clock.sleep_until(clock.now() + REJECTED_RETRY).await;
                    watch(&client, &query, &part)
                }
            };
            let seen = events.next().await?;
            let is_rejected = seen.as_ref().is_err_and(FindError::is_refusal);
            let rest = (!is_rejected).then_some(events);
            Some(((at, seen), (client, query, clock, part, rest)))
        },
    );
    seen.boxed()
}

#[cfg(test)]
mod tests {
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
        let query = Query::all(&[Kind::DEPLOYMENT], &[], None);
        let mut view = LiveView::new(query, &Prefix::default());
        let event = WorkloadEvent::Applied(Kind::DEPLOYMENT, Box::new(managed));
        view.observe(0, Ok(event)).unwrap();
        assert_eq!(view.workloads().count(), 1);
        let bytes = format!("{view:?}").len();
        assert!(bytes < 10_000, "{bytes}");
    }
}
