//! The main loop: it applies watch events, opens ports, and sends patches for wakes and EndpointSlices.

use std::{mem, sync::Arc, time::Duration};

use chrono::{DateTime, SecondsFormat, Utc};
use dayshift_cluster::{
    Writer,
    clock::Clock,
    log_limit::LogLimit,
    watch::{Reflector, WatchSet},
    write::{EventObject, PatchError},
};
use dayshift_workload::events::EventText;
use futures::{FutureExt as _, StreamExt as _, stream::FuturesUnordered};
use kube::{Client, api::WatchParams};
use tokio::{
    sync::{mpsc, watch},
    time::{Instant, MissedTickBehavior, interval, sleep_until},
};

use crate::{
    connection::ConnectionContext,
    descriptors::DescriptorBudget,
    desired::{DesiredState, Problem},
    index::{ClusterIndex, WatchEvent, WatchId},
    limits::ConnectionLimits,
    listeners::Listeners,
    memory_budget::HeadMemory,
    pods::PodVerifier,
    ports::PortTable,
    routes::{ReadySince, Routes},
    service::ServiceName,
    settings::Settings,
    start_times::StartTimes,
    telemetry::Telemetry,
    wakes::{Wake, WakeRequest, Wakes},
    writes::{SliceWrite, SliceWrites},
};

/// The maximum number of events that are applied together.
const MAX_EVENTS: usize = 500;

/// The maximum number of ports that a log line or an Event names.
const MAX_NAMES: usize = 10;

/// The maximum number of log lines about a namespace in a minute.
const MAX_LINES: u32 = 10;

/// The maximum number of queued wake requests. They are applied together, so that many requests to the Services
/// of one namespace do not delay those to others.
const MAX_REQUESTS: usize = 1000;

/// The minimum time between two lists of everything, for objects that were ignored for lack of memory.
const RELIST_INTERVAL: Duration = Duration::from_secs(600);

/// The interval for retries without an event.
const TICK: Duration = Duration::from_millis(500);

/// After an update of the desired state, or of the due wakes, the next one waits for this many times its duration. So
/// frequent edits in one namespace, or requests to its Services, take at most a fifth of the time of the process.
const UPDATE_REST: u32 = 4;

/// How long new connections are accepted after a shutdown, because proxies might not have applied it.
const LAME_DUCK: Duration = Duration::from_secs(5);

/// Runs the activator until `shutdown`. Then open connections continue for at most [`Settings::drain`].
pub async fn run(
    client: Client,
    clock: Clock,
    settings: Settings,
    telemetry: Arc<Telemetry>,
    shutdown: impl Future<Output = ()>,
) {
    let watches = watches(&client, &settings);
    let writer = Writer::for_activator(
        client.clone(),
        settings.prefix.clone(),
        settings.instance.clone(),
    );
    let (routes_in, routes) = watch::channel(Arc::<Routes>::default());
    let (requests_in, mut requests) = mpsc::channel(MAX_REQUESTS);
    let channels = (routes, requests_in);
    let mut activator = Activator::new(client, clock, settings, telemetry, channels, watches.len());
    let clock = activator.shared.clock.clone();
    let mut events = watches.ready_chunks(MAX_EVENTS);
    let mut waking = FuturesUnordered::new();
    let mut writing = FuturesUnordered::new();
    let mut announcing = FuturesUnordered::new();
    let mut tick = interval(TICK);
    tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
    tokio::pin!(shutdown);
    let mut has_events = true;
    let mut has_written = false;
    let mut pace = Pace::new();
    let mut asked = Vec::new();
    loop {
        let updates = has_events && pace.is_due();
        if updates {
            has_events = false;
            let begun = Instant::now();
            activator.update(&routes_in);
            if activator.begins_relist() {
                events.get_mut().relist();
            }
            pace.ran(begun.elapsed());
        }
        let shortages = mem::take(&mut activator.shortages).into_iter();
        announcing.extend(
            shortages.map(|(object, event)| announce(&writer, &clock, object, event).boxed()),
        );
        waking.extend(
            activator
                .due_wakes()
                .into_iter()
                .map(|wake| carry_out(&writer, wake)),
        );
        if updates || mem::take(&mut has_written) {
            let due = activator.due_writes().into_iter();
            writing.extend(due.map(|write| send(&writer, write)));
        }
        if activator.has_ended() {
            return;
        }
        tokio::select! {
            () = &mut shutdown, if activator.leaving_since.is_none() => {
                activator.leaving_since = Some(Instant::now());
                tracing::info!(open = activator.shared.limits.open(), "shutting down");
            }
            Some(some) = events.next() => {
                some.into_iter().for_each(|event| activator.observe(event));
                has_events = true;
            }
            1.. = requests.recv_many(&mut asked, MAX_REQUESTS) => {
                asked.drain(..).for_each(|request| activator.wakes.ask(request));
            }
            Some((wake, result)) = waking.next() => {
                activator.woken(&wake, &result);
                // A wake that is in use is prolonged every few minutes, which is no news.
                let is_news = !wake.is_prolonged() || wake.request.keeps_awake();
                if result.is_ok() && is_news {
                    let (object, event) = wake_event(&wake);
                    announcing.push(announce(&writer, &clock, object, event).boxed());
                }
            }
            Some(()) = announcing.next() => {}
            Some((write, result)) = writing.next() => {
                let is_done = activator.writes.finished(write, result);
                activator.shared.telemetry.slice_written(is_done);
                has_written = true;
            }
            () = sleep_until(pace.next), if has_events => {}
            () = sleep_until(activator.wake_pace.next), if activator.has_wakes => {}
            _ = tick.tick() => has_events = true,
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

fn wake_event(wake: &Wake) -> (EventObject, EventText) {
    let until = wake.until.to_rfc3339_opts(SecondsFormat::Secs, true);
    let needed_by = wake.needed_by.as_ref().map(ToString::to_string);
    let request = format!("{} {}", wake.request.words(), wake.effect());
    let event = EventText::woken_by_request(&request, &until, needed_by.as_deref(), &wake.without);
    (EventObject::from(&wake.target.observed.object), event)
}

async fn announce(writer: &Writer, clock: &Clock, object: EventObject, event: EventText) {
    if let Err(error) = writer.announce(&object, &event, clock.now()).await {
        tracing::debug!(namespace = %object.namespace, name = %object.name, %error, "cannot send an Event");
    }
}

fn watches(client: &Client, settings: &Settings) -> WatchSet<WatchEvent> {
    let mut watches = WatchSet::new();
    let random = |watches: &WatchSet<WatchEvent>| {
        let number = 1 + watches.len() as u64;
        fastrand::Rng::with_seed(settings.seed.wrapping_add(number))
    };
    let slices = |watches: &mut WatchSet<WatchEvent>, namespace: Option<&str>| {
        let (all, random) = (WatchParams::default(), random(watches));
        let reflector = Reflector::for_parts(client.clone(), namespace, all, random);
        watches.add(reflector, WatchEvent::Slice);
    };
    let namespaces: Vec<Option<&str>> = match &*settings.namespaces {
        [] => vec![None],
        some => some.iter().map(|namespace| Some(&**namespace)).collect(),
    };
    for namespace in namespaces {
        for kind in settings.kinds.clone() {
            let (all, random) = (WatchParams::default(), random(&watches));
            let reflector = Reflector::for_kind(client.clone(), &kind, namespace, all, random);
            watches.add(reflector, move |event| {
                WatchEvent::Workload(kind.clone(), Box::new(event))
            });
        }
        let (all, random) = (WatchParams::default(), random(&watches));
        let reflector = Reflector::for_parts(client.clone(), namespace, all, random);
        watches.add(reflector, |event| WatchEvent::Service(Box::new(event)));
        slices(&mut watches, namespace);
    }
    let own = &*settings.service.namespace;
    if settings.namespaces.is_empty() {
        let (all, random) = (WatchParams::default(), random(&watches));
        let reflector = Reflector::for_parts(client.clone(), None, all, random);
        watches.add(reflector, WatchEvent::Namespace);
    } else if settings.namespaces.iter().all(|namespace| namespace != own) {
        slices(&mut watches, Some(own));
    }
    watches
}

/// The time of the next update of the desired state or of the due wakes.
struct Pace {
    next: Instant,
}

impl Pace {
    fn new() -> Self {
        Self {
            next: Instant::now(),
        }
    }

    fn is_due(&self) -> bool {
        Instant::now() >= self.next
    }

    /// An update took this long.
    fn ran(&mut self, took: Duration) {
        self.next = Instant::now() + took * UPDATE_REST;
    }
}

struct Activator {
    index: ClusterIndex,
    desired: DesiredState,
    ports: PortTable,
    listeners: Listeners,
    /// Events about Services that are not covered completely, to be sent.
    shortages: Vec<(EventObject, EventText)>,
    wakes: Wakes,
    wake_pace: Pace,
    /// Whether wakes might be due, but wait for their pace.
    has_wakes: bool,
    writes: SliceWrites,
    /// The number of ports that could not be opened.
    open_failures: usize,
    /// When everything was last listed.
    listed_at: Instant,
    /// When the shutdown began.
    leaving_since: Option<Instant>,
    shared: ConnectionContext,
}

impl Activator {
    /// Creates an activator that has observed nothing yet, with this number of watches.
    fn new(
        client: Client,
        clock: Clock,
        settings: Settings,
        telemetry: Arc<Telemetry>,
        (routes, requests): (watch::Receiver<Arc<Routes>>, mpsc::Sender<WakeRequest>),
        watches: usize,
    ) -> Self {
        let settings = Arc::new(settings);
        let budget = DescriptorBudget::raise();
        let (start_times, logs) = (StartTimes::default(), LogLimit::new(MAX_LINES));
        Self {
            index: ClusterIndex::new(settings.prefix.clone(), watches),
            desired: DesiredState::default(),
            ports: PortTable::new(settings.ports, budget.listeners),
            listeners: Listeners::default(),
            shortages: Vec::new(),
            wakes: Wakes::new(start_times.clone(), settings.seed),
            wake_pace: Pace::new(),
            has_wakes: false,
            writes: SliceWrites::new(logs.clone(), settings.seed),
            open_failures: 0,
            listed_at: Instant::now(),
            leaving_since: None,
            shared: ConnectionContext {
                routes,
                requests,
                limits: ConnectionLimits::new(
                    settings.max_connections.min(budget.connections),
                    settings.max_per_service,
                ),
                ready_since: ReadySince::default(),
                heads: HeadMemory::default(),
                pods: PodVerifier::new(client, logs.clone()),
                logs,
                start_times,
                telemetry,
                settings,
                clock,
            },
        }
    }

    /// Whether the shutdown is complete: no connection is open, or those that are have had enough time.
    fn has_ended(&self) -> bool {
        let Some(since) = self.leaving_since else {
            return false;
        };
        let (passed, open) = (since.elapsed(), self.shared.limits.open());
        let has_ended = (passed > LAME_DUCK && open == 0) || passed > self.shared.settings.drain;
        if has_ended {
            tracing::info!(open, "ends");
        }
        has_ended
    }

    fn observe(&mut self, (watch, event): (WatchId, WatchEvent)) {
        if let Some(error) = self.index.observe(watch, event)
            && let Some(suppressed) = self.shared.logs.allow(&"".into())
        {
            tracing::warn!(error, suppressed, "a watch is broken; it is tried again");
        }
    }

    /// Computes the desired state if necessary, and applies it to listeners and routes.
    fn update(&mut self, routes: &watch::Sender<Arc<Routes>>) {
        for namespace in self.index.take_over_budget() {
            if let Some(suppressed) = self.shared.logs.allow(&namespace) {
                tracing::warn!(
                    %namespace,
                    suppressed,
                    "its workloads, Services and EndpointSlices need too much memory; the newest are ignored"
                );
            }
        }
        if !self.index.is_complete() {
            return;
        }
        let now = self.shared.clock.now();
        if self.index.has_changed() || self.desired.is_due(now) {
            self.compute(now);
        }
        let is_new = **routes.borrow() != self.desired.routes;
        if is_new || self.open_failures > 0 {
            self.open_failures = self.listeners.follow(&self.desired.routes, &self.shared);
        }
        if is_new {
            self.shared.ready_since.note(&self.desired.routes);
            routes.send_replace(Arc::new(self.desired.routes.clone()));
            self.wakes.note(&self.desired.routes);
        }
        let telemetry = &self.shared.telemetry;
        let (services, open) = (self.desired.routes.len(), self.shared.limits.open());
        let ports_missing = self.desired.ports_missing() + self.open_failures;
        telemetry.set_counts(services, open, ports_missing);
        // If one port cannot be opened, the others still serve.
        let can_listen = self.open_failures == 0 || self.listeners.count() > 0;
        telemetry.set_ready(can_listen && self.leaving_since.is_none());
    }

    /// Whether everything should be listed again now, because objects were ignored that would fit.
    fn begins_relist(&mut self) -> bool {
        let begins = self.index.is_complete()
            && self.listed_at.elapsed() >= RELIST_INTERVAL
            && self.index.misses_objects();
        if begins {
            tracing::info!("listing everything again, because namespaces need less memory");
            self.listed_at = Instant::now();
            self.index.forget_ignored();
        }
        begins
    }

    /// Computes the desired state of the namespaces with events, and reports new problems.
    fn compute(&mut self, now: DateTime<Utc>) {
        let known = self.desired.problems.clone();
        let changed = self.index.take_changed();
        let (settings, ports) = (&self.shared.settings, &mut self.ports);
        self.desired
            .update(&self.index, settings, ports, changed, now);
        for (service, problems) in &self.desired.problems {
            let known = known.get(service).map_or(&[][..], Vec::as_slice);
            for problem in problems.iter().filter(|problem| !known.contains(problem)) {
                let Some(suppressed) = self.shared.logs.allow(&service.namespace) else {
                    continue;
                };
                let event = match problem {
                    Problem::NotCovered(why) => {
                        tracing::warn!(%service, suppressed, "cannot stand in for this Service: {}", why.reason());
                        continue;
                    }
                    Problem::WithoutPort(ports) => {
                        let names: Vec<_> =
                            ports.iter().take(MAX_NAMES).map(|port| &**port).collect();
                        let ports = names.join(", ");
                        tracing::warn!(%service, ports, suppressed, "no port is free for this Service");
                        EventText::no_activator_port(&ports)
                    }
                    Problem::TooManyTargets(woken) => {
                        let event = EventText::too_many_wakes(*woken);
                        tracing::warn!(%service, suppressed, "{}", event.text);
                        event
                    }
                };
                self.shortages.push((self.about(service), event));
            }
        }
    }

    /// The Service as the subject of an Event.
    fn about(&self, service: &ServiceName) -> EventObject {
        let uid = self.index.service(service).map(|info| info.uid.clone());
        EventObject {
            api_version: "v1".into(),
            kind: "Service".into(),
            namespace: service.namespace.clone(),
            name: service.name.clone(),
            uid: uid.unwrap_or_default().into(),
        }
    }

    fn due_wakes(&mut self) -> Vec<Wake> {
        self.has_wakes = !self.wake_pace.is_due();
        if self.has_wakes {
            return Vec::new();
        }
        let (begun, now) = (Instant::now(), self.shared.clock.now());
        let due = self.wakes.due(&self.desired, &self.shared.settings, now);
        self.wake_pace.ran(begun.elapsed());
        due
    }

    fn due_writes(&mut self) -> Vec<SliceWrite> {
        match self.index.is_complete() {
            true => self.writes.due(&self.index, &self.desired),
            false => Vec::new(),
        }
    }

    fn woken(&mut self, wake: &Wake, result: &Result<(), PatchError>) {
        self.wakes.finished(wake, result);
        let object = &wake.target.observed.object;
        let telemetry = &self.shared.telemetry;
        match result {
            Ok(()) => {
                match wake.is_prolonged() {
                    true => telemetry.prolonged(),
                    false => telemetry.woken(),
                }
                if let Some(suppressed) = self.shared.logs.allow(&object.namespace) {
                    let needed_by = wake.needed_by.as_ref().map(tracing::field::display);
                    let head = wake.request.head.as_ref();
                    tracing::info!(
                        %object,
                        until = %wake.until,
                        needed_by,
                        host = head.map(|head| &*head.host),
                        path = head.map(|head| &*head.path),
                        suppressed,
                        "{} {}",
                        wake.request.words(),
                        wake.effect()
                    );
                }
                for one in &wake.without {
                    if let Some(suppressed) = self.shared.logs.allow(&object.namespace) {
                        tracing::warn!(%object, suppressed, "it is woken and needs {one}");
                    }
                }
            }
            Err(PatchError::Conflict) => {
                tracing::debug!(%object, "another client has changed it meanwhile");
            }
            Err(error) => {
                telemetry.not_woken();
                if let Some(suppressed) = self.shared.logs.allow(&object.namespace) {
                    tracing::warn!(%object, %error, suppressed, "cannot wake it");
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use dayshift_workload::Prefix;
    use serde_json::Value;
    use tokio::time::advance;
    use tracing::{
        Level, Metadata, Subscriber,
        span::{Attributes, Id, Record},
        subscriber::with_default,
    };

    use super::*;
    use crate::{
        connection_tests::{Fixture, web},
        target::WakeTarget,
        test_cluster::Cluster,
        wakes::WakeRequest,
    };

    /// Counts the log lines that users see by default.
    #[derive(Clone, Default)]
    struct LogLines(Arc<AtomicUsize>);

    impl Subscriber for LogLines {
        fn enabled(&self, metadata: &Metadata<'_>) -> bool {
            *metadata.level() <= Level::INFO
        }

        fn new_span(&self, _: &Attributes<'_>) -> Id {
            Id::from_u64(1)
        }

        fn record(&self, _: &Id, _: &Record<'_>) {}

        fn record_follows_from(&self, _: &Id, _: &Id) {}

        fn event(&self, _: &tracing::Event<'_>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }

        fn enter(&self, _: &Id) {}

        fn exit(&self, _: &Id) {}
    }

    fn activator(index: ClusterIndex, shared: ConnectionContext) -> Activator {
        Activator {
            index,
            desired: DesiredState::default(),
            ports: PortTable::new(shared.settings.ports, usize::MAX),
            listeners: Listeners::default(),
            shortages: Vec::new(),
            wakes: Wakes::new(StartTimes::default(), 1),
            wake_pace: Pace::new(),
            has_wakes: false,
            writes: SliceWrites::new(LogLimit::new(MAX_LINES), 1),
            open_failures: 0,
            listed_at: Instant::now(),
            leaving_since: None,
            shared,
        }
    }

    fn request() -> WakeRequest {
        WakeRequest {
            service: web(),
            port: "http".into(),
            from: [10, 0, 0, 1].into(),
            head: None,
        }
    }

    /// The wakes of many Services with many workloads take tens of milliseconds to compute.
    #[tokio::test(start_paused = true)]
    async fn wakes_by_many_requests_take_at_most_a_fifth_of_the_time() {
        let cluster = Cluster::new().asleep().with_service();
        let desired = cluster.desired();
        let mut activator = activator(cluster.index, Fixture::new(Value::Null).shared);
        activator.desired = desired;
        activator.wake_pace.ran(Duration::from_millis(30));
        for _ in 0..100 {
            activator.wakes.ask(request());
            assert!(activator.due_wakes().is_empty() && activator.has_wakes);
        }
        advance(Duration::from_millis(120)).await;
        assert_eq!(activator.due_wakes().len(), 1);
        assert!(!activator.has_wakes);
    }

    #[tokio::test]
    async fn wakes_of_a_namespace_cause_ten_log_lines_a_minute() {
        let shared = Fixture::new(Value::Null).shared;
        let route = Arc::clone(&shared.routes.borrow()[&web()]);
        let wake = |namespace: &str| {
            let mut target = WakeTarget::clone(&route.targets[0]);
            target.observed.object.namespace = namespace.into();
            Wake {
                target: Arc::new(target),
                request: request(),
                until: DateTime::UNIX_EPOCH,
                annotations: Vec::new(),
                needed_by: None,
                without: vec!["deploy/db, which is paused".to_owned()],
            }
        };
        let mut activator = activator(ClusterIndex::new(Prefix::default(), 0), shared);
        let lines = LogLines::default();
        with_default(lines.clone(), || {
            let mut count = |namespace, wakes| {
                let before = lines.0.load(Ordering::Relaxed);
                let wake = wake(namespace);
                (0..wakes).for_each(|_| activator.woken(&wake, &Ok(())));
                lines.0.load(Ordering::Relaxed) - before
            };
            assert_eq!(count("busy", 1_000), 10);
            assert_eq!(count("team", 1), 2);
        });
    }

    #[tokio::test(start_paused = true)]
    async fn updates_take_at_most_a_fifth_of_the_time() {
        let mut pace = Pace::new();
        assert!(pace.is_due());
        pace.ran(Duration::from_millis(30));
        advance(Duration::from_millis(119)).await;
        assert!(!pace.is_due());
        advance(Duration::from_millis(1)).await;
        assert!(pace.is_due());
    }
}
