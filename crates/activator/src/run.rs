//! The loop of the activator.

use std::{mem, sync::Arc, time::Duration};

use chrono::{DateTime, SecondsFormat, Utc};
use dayshift_cluster::{
    Writer,
    clock::Clock,
    watch::{Reflector, WatchSet},
    write::{EventObject, PatchError},
};
use dayshift_workload::events::EventText;
use futures::{StreamExt as _, stream::FuturesUnordered};
use kube::{Client, api::WatchParams};
use tokio::{
    sync::{mpsc, watch},
    time::{Instant, MissedTickBehavior, interval},
};

use crate::{
    connection::ConnectionContext,
    desired::DesiredState,
    index::{ClusterIndex, WatchEvent, WatchId},
    limits::ConnectionLimits,
    listeners::Listeners,
    pods::PodVerifier,
    routes::Routes,
    settings::Settings,
    telemetry::Telemetry,
    wakes::{StartDurations, Wake, Wakes},
    writes::{SliceWrite, SliceWrites},
};

/// How many events are taken in before anything follows from them.
const MAX_EVENTS: usize = 500;

/// How many requests for a wake wait to be heard.
const MAX_REQUESTS: usize = 1000;

/// How often is looked again without an event: what failed may be tried again.
const TICK: Duration = Duration::from_millis(500);

/// How long new connections are still taken after a shutdown: proxies may not have heard of it.
const LAME: Duration = Duration::from_secs(5);

/// Stands in for the Services of stopped workloads that ask for it until `shutdown`, then lets what is
/// open go on, for [`Settings::drain`] at most.
pub async fn run(
    client: Client,
    clock: Clock,
    settings: Settings,
    telemetry: Arc<Telemetry>,
    shutdown: impl Future<Output = ()>,
) {
    let watches = watches(&client, &settings);
    let count = watches.len();
    let mut events = watches.ready_chunks(MAX_EVENTS);
    let settings = Arc::new(settings);
    let (routes_in, routes) = watch::channel(Arc::<Routes>::default());
    let (requests_in, mut requests) = mpsc::channel(MAX_REQUESTS);
    let took = StartDurations::default();
    let shared = ConnectionContext {
        routes,
        requests: requests_in,
        places: ConnectionLimits::new(settings.max_connections, settings.max_per_service),
        pods: PodVerifier::new(client.clone()),
        took: took.clone(),
        telemetry: Arc::clone(&telemetry),
        settings: Arc::clone(&settings),
        clock: clock.clone(),
    };
    let writer = Writer::for_activator(client, settings.prefix.clone(), settings.instance.clone());
    let mut activator = Activator {
        index: ClusterIndex::new(settings.prefix.clone(), count),
        cover: DesiredState::default(),
        listeners: Listeners::default(),
        wakes: Wakes::new(took, settings.seed),
        writes: SliceWrites::new(settings.seed),
        looked_at: None,
        is_leaving: false,
        shared,
    };
    let mut waking = FuturesUnordered::new();
    let mut writing = FuturesUnordered::new();
    let mut telling = FuturesUnordered::new();
    let mut tick = interval(TICK);
    tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
    tokio::pin!(shutdown);
    let mut leaving: Option<Instant> = None;
    let mut is_news = true;
    loop {
        if mem::take(&mut is_news) {
            activator.look(&routes_in);
        }
        waking.extend(
            activator
                .due_wakes()
                .into_iter()
                .map(|wake| carry_out(&writer, wake)),
        );
        writing.extend(
            activator
                .due_writes()
                .into_iter()
                .map(|write| send(&writer, write)),
        );
        if let Some(since) = leaving {
            let open = activator.shared.places.taken();
            let is_over = since.elapsed() > LAME && open == 0;
            if is_over || since.elapsed() > settings.drain {
                tracing::info!(open, "ends");
                return;
            }
        }
        tokio::select! {
            () = &mut shutdown, if leaving.is_none() => {
                leaving = Some(Instant::now());
                activator.is_leaving = true;
                tracing::info!(open = activator.shared.places.taken(), "shutting down");
            }
            Some(some) = events.next() => {
                some.into_iter().for_each(|event| activator.observe(event));
                is_news = true;
            }
            Some(request) = requests.recv() => activator.wakes.ask(request),
            Some((wake, result)) = waking.next() => {
                activator.woken(&wake, &result);
                if result.is_ok() {
                    telling.push(announce(&writer, &clock, wake));
                }
            }
            Some(()) = telling.next() => {}
            Some((write, result)) = writing.next() => {
                telemetry.slice_written(activator.writes.finished(write, result));
            }
            _ = tick.tick() => is_news = true,
        }
    }
}

async fn carry_out(writer: &Writer, wake: Wake) -> (Wake, Result<(), PatchError>) {
    let result = writer.wake(&wake.target.observed, &wake.annotations).await;
    (wake, result)
}

async fn send(writer: &Writer, write: SliceWrite) -> (SliceWrite, Result<(), PatchError>) {
    let result = write.send(writer).await;
    (write, result)
}

/// Tells of a wake by an Event.
async fn announce(writer: &Writer, clock: &Clock, wake: Wake) {
    let until = wake.until.to_rfc3339_opts(SecondsFormat::Secs, true);
    let needed_by = wake.needed_by.as_ref().map(ToString::to_string);
    let request = wake.request.words();
    let event = EventText::woken_by_request(&request, &until, needed_by.as_deref(), &wake.without);
    let object = EventObject::from(&wake.target.observed.object);
    if let Err(error) = writer.announce(&object, &event, clock.now()).await {
        tracing::debug!(%object, %error, "cannot send an Event");
    }
}

/// Watches everything that the settings name.
fn watches(client: &Client, settings: &Settings) -> WatchSet<WatchEvent> {
    let mut watches = WatchSet::new();
    let namespaces: Vec<Option<&str>> = match &*settings.namespaces {
        [] => vec![None],
        some => some.iter().map(|namespace| Some(&**namespace)).collect(),
    };
    let slices = |watches: &mut WatchSet<WatchEvent>, namespace: Option<&str>| {
        let (client, namespace) = (client.clone(), namespace.map(str::to_owned));
        let random = random(settings, watches.len());
        let reflector = move || {
            let all = WatchParams::default();
            Reflector::for_slices(client.clone(), namespace.as_deref(), all, random())
        };
        watches.add(reflector, WatchEvent::Slice);
    };
    for namespace in namespaces {
        for kind in settings.kinds.iter().copied() {
            let (client, namespace) = (client.clone(), namespace.map(str::to_owned));
            let random = random(settings, watches.len());
            let reflector = move || {
                let all = WatchParams::default();
                Reflector::for_kind(client.clone(), kind, namespace.as_deref(), all, random())
            };
            watches.add(reflector, move |event| WatchEvent::Workload(kind, event));
        }
        let random = random(settings, watches.len());
        let (client, name) = (client.clone(), namespace.map(str::to_owned));
        watches.add(
            move || Reflector::for_services(client.clone(), name.as_deref(), random()),
            |event| WatchEvent::Service(Box::new(event)),
        );
        slices(&mut watches, namespace);
    }
    let own = &*settings.service.namespace;
    if settings.namespaces.is_empty() {
        let (client, random) = (client.clone(), random(settings, watches.len()));
        watches.add(
            move || Reflector::for_namespaces(client.clone(), WatchParams::default(), random()),
            WatchEvent::Namespace,
        );
    } else if settings.namespaces.iter().all(|namespace| namespace != own) {
        slices(&mut watches, Some(own));
    }
    watches
}

/// The jitter of the watch with this number.
fn random(settings: &Settings, watch: usize) -> impl Fn() -> fastrand::Rng + Send + 'static {
    let seed = settings.seed.wrapping_add(1 + watch as u64);
    move || fastrand::Rng::with_seed(seed)
}

struct Activator {
    index: ClusterIndex,
    cover: DesiredState,
    listeners: Listeners,
    wakes: Wakes,
    writes: SliceWrites,
    /// How many events there had been when the cover was made.
    looked_at: Option<u64>,
    is_leaving: bool,
    shared: ConnectionContext,
}

impl Activator {
    fn observe(&mut self, (watch, event): (WatchId, WatchEvent)) {
        if let Some(error) = self.index.observe(watch, event) {
            tracing::warn!(error, "a watch is broken; it is tried again");
        }
    }

    /// What should be, from what is known by now.
    fn look(&mut self, routes: &watch::Sender<Arc<Routes>>) {
        if !self.index.is_complete() {
            return;
        }
        let now = self.shared.clock.now();
        let changes = Some(self.index.changes());
        if self.looked_at != changes || self.cover.changes_at.is_some_and(|at| at <= now) {
            self.looked_at = changes;
            self.cover(now);
        }
        let are_open = self.listeners.follow(&self.cover.routes, &self.shared);
        routes.send_if_modified(|known| {
            let is_new = **known != self.cover.routes;
            if is_new {
                *known = Arc::new(self.cover.routes.clone());
            }
            is_new
        });
        self.wakes.note(&self.cover.routes);
        let telemetry = &self.shared.telemetry;
        telemetry.set_services(self.cover.routes.len());
        telemetry.set_open(self.shared.places.taken());
        telemetry.set_ready(are_open && !self.is_leaving);
    }

    /// Makes the cover anew, which takes some milliseconds for a thousand workloads.
    fn cover(&mut self, now: DateTime<Utc>) {
        let cover = DesiredState::new(&self.index, &self.shared.settings, now);
        let known = mem::replace(&mut self.cover, cover).not_covered;
        for (service, why) in &self.cover.not_covered {
            if known.get(service) != Some(why) {
                tracing::warn!(%service, "nobody can stand in for this Service: {}", why.reason());
            }
        }
    }

    fn due_wakes(&mut self) -> Vec<Wake> {
        let now = self.shared.clock.now();
        self.wakes.due(&self.cover, &self.shared.settings, now)
    }

    fn due_writes(&mut self) -> Vec<SliceWrite> {
        match self.index.is_complete() {
            true => self.writes.due(&self.index, &self.cover),
            false => Vec::new(),
        }
    }

    fn woken(&mut self, wake: &Wake, result: &Result<(), PatchError>) {
        self.wakes.finished(wake, result);
        let object = &wake.target.observed.object;
        let telemetry = &self.shared.telemetry;
        match result {
            Ok(()) => {
                telemetry.woken(&object.namespace);
                let needed_by = wake.needed_by.as_ref().map(tracing::field::display);
                tracing::info!(%object, until = %wake.until, needed_by, "{} wakes it", wake.request.words());
                for one in &wake.without {
                    tracing::warn!(%object, "it is woken and needs {one}");
                }
            }
            Err(PatchError::Conflict) => {
                tracing::debug!(%object, "somebody else has changed it meanwhile");
            }
            Err(error) => {
                telemetry.not_woken();
                tracing::warn!(%object, %error, "cannot wake it");
            }
        }
    }
}
