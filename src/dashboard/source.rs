//! Where the pages have it from: a cluster that is followed through a client.

use std::{
    convert::Infallible,
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use chrono::{DateTime, TimeDelta, Utc};
use futures::StreamExt as _;
use kube::Client;
use tokio::time::timeout;

use super::view::{Row, View};
use crate::{
    clock::Clock,
    cluster::{
        Autoscalers, FindError, NamespaceDefaults, Query, SeenEvent, WatchEvent, WithManagers,
        events_of, server_time, watch,
    },
    status::{LiveView, WorkloadStatus},
    workload::{Inheritance, ParseContext, Prefix, WorkloadRef, held_down, read},
};

/// What is looked at, and how its annotations are read.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Which workloads.
    pub query: Query,
    /// What stands before the slash of annotations and labels.
    pub prefix: Prefix,
    /// How annotations are read. Its zone is the one of the timeline.
    pub context: ParseContext,
    /// From what workloads inherit.
    pub inheritance: Inheritance,
    /// What the head of each page says of it, such as the server's address.
    pub title: String,
}

/// What has been saved until now.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Saved {
    /// So many replica-hours.
    pub replica_hours: f64,
    /// What would have run without the schedules, in the same unit.
    pub of: f64,
    /// Since then.
    pub since: DateTime<Utc>,
}

/// Says what has been saved until an instant.
type SavedUntil = Box<dyn Fn(DateTime<Utc>) -> Saved + Send + Sync>;

/// A cluster as its pages show it.
pub struct Dashboard {
    pub(super) client: Client,
    pub(super) settings: Settings,
    pub(super) saved: Option<SavedUntil>,
    /// The port that it answers on, where a request must name it.
    pub(super) port: Option<u16>,
    clock: Clock,
    seen: Mutex<Seen>,
}

impl fmt::Debug for Dashboard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let settings = &self.settings;
        f.debug_struct("Dashboard")
            .field("settings", settings)
            .finish_non_exhaustive()
    }
}

#[derive(Debug)]
struct Seen {
    live: LiveView,
    defaults: NamespaceDefaults,
    autoscalers: Autoscalers,
    /// How far the clock of the API server is ahead of this one.
    ahead: TimeDelta,
    /// Why nothing more will be seen.
    ended: Option<FindError>,
    view: Option<Arc<View>>,
}

/// So long a view is good though nothing has changed: its times are told to the second.
const FRESH: TimeDelta = TimeDelta::seconds(1);
const NAMESPACE_REFRESH: TimeDelta = TimeDelta::seconds(3);
const HPA_REFRESH: TimeDelta = TimeDelta::seconds(30);
/// How often a server that broke off is asked whether it is back.
const PROBE: TimeDelta = TimeDelta::seconds(3);
/// So long a page waits for Events.
const EVENTS_TIMEOUT: Duration = Duration::from_secs(5);
/// Where the clocks differ by less, this machine's counts.
const SAME_TIME: TimeDelta = TimeDelta::seconds(2);

impl Dashboard {
    /// One that has seen nothing yet.
    pub fn new(client: Client, clock: Clock, settings: Settings) -> Self {
        let seen = Seen {
            live: LiveView::new(settings.query.clone()),
            defaults: NamespaceDefaults::new(settings.inheritance.clone()),
            autoscalers: Autoscalers::default(),
            ahead: TimeDelta::zero(),
            ended: None,
            view: None,
        };
        Self {
            client,
            settings,
            saved: None,
            port: None,
            clock,
            seen: Mutex::new(seen),
        }
    }

    /// The same with what says how much was saved.
    #[must_use]
    pub fn with_saved(
        self,
        saved: impl Fn(DateTime<Utc>) -> Saved + Send + Sync + 'static,
    ) -> Self {
        let saved: SavedUntil = Box::new(saved);
        Self {
            saved: Some(saved),
            ..self
        }
    }

    /// The same on loopback, where requests must name this port of a loopback address: a page of
    /// somebody else that has its name resolved to this machine is answered nothing.
    #[must_use]
    pub fn on_loopback(self, port: u16) -> Self {
        Self {
            port: Some(port),
            ..self
        }
    }

    /// Follows the cluster, for as long as that is possible.
    ///
    /// # Errors
    /// What no new try can fix, such as a permission that is missing. What was seen is still
    /// shown, and this with it.
    pub async fn follow(&self) -> Result<Infallible, FindError> {
        let ended = self.followed().await;
        if let Err(error) = &ended {
            let mut seen = self.seen();
            seen.ended = Some(error.clone());
            seen.view = None;
        }
        ended
    }

    async fn followed(&self) -> Result<Infallible, FindError> {
        let Settings { query, .. } = &self.settings;
        let (mut namespaces_at, mut hpas_at, mut probe_at) = {
            let now = self.clock.now();
            (now, now, now)
        };
        // Changes that come together are taken in together.
        let mut events = watch::<WithManagers>(&self.client, query).ready_chunks(1024);
        self.ask_time().await;
        loop {
            let now = self.clock.now();
            let outage = self.seen().live.outage().is_some();
            if outage && now >= probe_at {
                probe_at = now + PROBE;
                if self.ask_time().await {
                    let mut seen = self.seen();
                    seen.live.answered();
                    seen.view = None;
                }
            }
            if !outage && now >= namespaces_at {
                self.read_namespaces().await;
                namespaces_at = now + NAMESPACE_REFRESH;
            }
            if !outage && now >= hpas_at && self.seen().live.is_complete() {
                self.read_autoscalers().await;
                hpas_at = now + HPA_REFRESH;
            }
            tokio::select! {
                chunk = events.next() => self.take_in(chunk.unwrap_or_default())?,
                () = self.clock.doze_until(now + FRESH) => {}
            }
        }
    }

    fn take_in(
        &self,
        events: Vec<Result<WatchEvent<WithManagers>, FindError>>,
    ) -> Result<(), FindError> {
        let mut seen = self.seen();
        for event in events {
            seen.live.observe(event?);
        }
        seen.view = None;
        Ok(())
    }

    /// Compares the clocks; whether the server answers.
    async fn ask_time(&self) -> bool {
        let here = self.clock.now();
        let Some(there) = server_time(&self.client).await else {
            return false;
        };
        let ahead = there - here;
        self.seen().ahead = if ahead.abs() < SAME_TIME {
            TimeDelta::zero()
        } else {
            ahead
        };
        true
    }

    async fn read_namespaces(&self) {
        let Settings {
            query,
            prefix,
            inheritance,
            ..
        } = &self.settings;
        let namespace = query.namespace();
        let found = NamespaceDefaults::find(&self.client, namespace, prefix, inheritance).await;
        let mut seen = self.seen();
        if found != seen.defaults {
            seen.defaults = found;
            seen.view = None;
        }
    }

    async fn read_autoscalers(&self) {
        let namespace = self.settings.query.namespace();
        let found = Autoscalers::find(&self.client, namespace).await;
        let mut seen = self.seen();
        seen.autoscalers = found;
        seen.view = None;
    }

    /// What the pages show now.
    pub fn view(&self) -> Arc<View> {
        let here = self.clock.now();
        let mut seen = self.seen();
        let now = here + seen.ahead;
        if let Some(view) = &seen.view
            && (now - view.now).abs() < FRESH
        {
            return view.clone();
        }
        let view = Arc::new(self.view_of(&seen, now));
        seen.view = Some(view.clone());
        view
    }

    fn view_of(&self, seen: &Seen, now: DateTime<Utc>) -> View {
        let Settings {
            prefix, context, ..
        } = &self.settings;
        let row = |(kind, managed): (_, &WithManagers)| {
            let defaults = &seen.defaults;
            let mut status = WorkloadStatus::of(kind, managed, defaults, prefix, context, now)?;
            let object = &status.object;
            let owners = seen
                .autoscalers
                .owners(kind, &object.namespace, &object.name);
            status.owners.extend(owners);
            let observed = defaults.applied(managed.workload.observe(kind, prefix));
            let held_down = held_down(&observed, &read(&observed.inputs, context)).get();
            Some(Row {
                status,
                observed,
                held_down,
            })
        };
        let error = seen.ended.as_ref().or_else(|| seen.live.outage());
        let unreadable = seen.defaults.unreadable();
        // Before all of them are known, nothing is said of any.
        let is_complete = seen.live.is_complete();
        let known = seen.live.workloads().filter(|_| is_complete);
        let rows: Vec<Row> = known.filter_map(row).collect();
        let mut zones = rows.iter().map(|it| it.status.zone);
        let first = zones.next();
        View {
            now,
            zone: first.filter(|first| zones.all(|it| it == *first)),
            rows,
            is_complete,
            outage: error.map(ToString::to_string),
            unseen: unreadable.map(|why| {
                format!(
                    "Namespaces cannot be read, so what workloads inherit from them is not seen: {why}"
                )
            }),
        }
    }

    /// The Events of an object, as far as they can be read in time.
    pub(super) async fn events(&self, object: &WorkloadRef) -> Result<Vec<SeenEvent>, FindError> {
        let events = events_of(&self.client, object);
        timeout(EVENTS_TIMEOUT, events).await.unwrap_or_else(|_| {
            let reason = "the API server does not answer in time".to_owned();
            Err(FindError::Unavailable(reason))
        })
    }

    fn seen(&self) -> MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
