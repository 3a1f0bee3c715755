//! The state of a running controller. It answers two questions: what is there to do now, and when
//! next?

use std::sync::Arc;

use chrono::{DateTime, TimeDelta, Utc};
use dayshift_cluster::Writer;
use dayshift_workload::{Dependency, Kind};
use tokio::time::Instant;

use crate::{
    ids::Id,
    jobs::cron_jobs::CronJobs,
    notices::due::Notices,
    objects::index::Index,
    queue::{lanes::Lane, work_queue::WorkQueue},
    report::reporter::Reporter,
    retry::{backoff::Key, server_health::ServerHealth},
    reverts::lookups::Reverts,
    send::sender::Sender,
    settings::Settings,
    starts::{started::Starts, starting::Starting, wait_notices::WaitNotices, waits::Waits},
    telemetry::{
        metrics::Telemetry, object_log::log_ready, published::Publisher, readiness::Condition,
    },
    time::guarded_clock::GuardedClock,
    watch::states::WatchStates,
};

/// How much is taken from a scheduler before the next request is sent.
pub(super) const BATCH: usize = 256;

/// A running controller: the known objects, due and queued work, and requests in flight, each of
/// which keeps its own state.
///
/// Its work has four parts: it observes the watches (`observe`), decides (`decide`), sends
/// (`dispatch`), and takes in the answers (`answers`).
pub(crate) struct Engine {
    pub(crate) settings: Settings,
    pub(crate) telemetry: Arc<Telemetry>,
    pub(crate) clock: GuardedClock,
    pub(crate) index: Index,
    pub(crate) watches: WatchStates,
    pub(super) queue: WorkQueue,
    pub(crate) sender: Sender,
    pub(super) health: ServerHealth,
    pub(super) reporter: Reporter,
    pub(super) reverts: Reverts,
    pub(super) starts: Starts,
    pub(super) waits: Waits,
    pub(super) starting: Starting,
    pub(super) wait_notices: WaitNotices,
    pub(super) notices: Notices,
    pub(super) cron_jobs: CronJobs,
    pub(crate) publisher: Publisher,
    /// Whether the log has reported readiness.
    pub(super) has_logged_ready: bool,
}

impl Engine {
    /// A controller without knowledge.
    pub(crate) fn new(
        writer: Writer,
        clock: GuardedClock,
        settings: Settings,
        telemetry: Arc<Telemetry>,
        watches: WatchStates,
    ) -> Self {
        let places = settings.max_in_flight.get();
        Self {
            publisher: telemetry.publisher(clock.clock(), &settings),
            reporter: Reporter::new(&settings, Arc::clone(&telemetry), clock.clock().clone()),
            clock,
            index: Index::new(&settings),
            watches,
            queue: WorkQueue::new(places, settings.seed),
            sender: Sender::new(writer, places),
            health: ServerHealth::default(),
            reverts: Reverts::new(settings.revert_window),
            starts: Starts::new(Arc::clone(&telemetry)),
            waits: Waits::default(),
            // A dry run starts nothing that could become ready.
            starting: Starting::new(settings.max_starting.filter(|_| !settings.dry_run)),
            wait_notices: WaitNotices::default(),
            notices: Notices::default(),
            cron_jobs: CronJobs::new(settings.seed, Arc::clone(&telemetry)),
            has_logged_ready: false,
            telemetry,
            settings,
        }
    }

    /// Forgets an object, and all planned work on it.
    pub(crate) fn remove(&mut self, id: Id) {
        let object = self.index.get(id).map(|it| it.object().clone());
        self.index.remove(id);
        self.queue.remove(id);
        self.health.remove(id);
        self.reporter.remove(id);
        self.reverts.remove(id);
        self.starts.remove(id);
        self.waits.remove(id);
        self.starting.remove(id);
        if let Some(object) = object {
            self.look_at_waits(&object.namespace, &Dependency::from_workload(&object));
        }
        self.notices.remove(id);
        self.cron_jobs.remove(id);
    }

    /// Makes one pass: queues due work, and sends queued work.
    pub(crate) fn act(&mut self) {
        self.look_at_the_clock();
        let (now, monotonic) = (self.clock.now(), self.clock.monotonic());
        self.sender.in_flight.move_slow(monotonic);
        if let Some(question) = self.index.history.take_question(monotonic) {
            self.sender.ask_the_version(question);
        }
        if self.clock.is_wrong() {
            return;
        }
        if self.send_first(now, monotonic) {
            return;
        }
        for _ in 0..BATCH {
            if !self.take_due(now, monotonic) {
                break;
            }
        }
        while let Some(id) = self.queue.backoff.take_released(monotonic) {
            self.release([id]);
        }
        self.call_starts(now);
        self.tell_waits(now);
        self.reporter.events.forget_expired(monotonic);
        self.dispatch();
        // Behind everything that is due: thousands may have been started at one instant.
        self.dispatch_not_ready(now);
        self.tell_stops(now);
    }

    /// Sends the first of the boundaries that are due, where nothing like it is in flight: it is on
    /// its way before the others are looked at. Returns whether it was sent.
    fn send_first(&mut self, now: DateTime<Utc>, monotonic: Instant) -> bool {
        let sent = |engine: &Self| engine.sender.in_flight.taken(Lane::Transition);
        if sent(self) > 0 || !self.take_due(now, monotonic) {
            return false;
        }
        self.dispatch();
        sent(self) > 0
    }

    /// Queues one object whose boundary is due. Returns whether there was one.
    fn take_due(&mut self, now: DateTime<Utc>, monotonic: Instant) -> bool {
        let due = self.queue.boundaries.take_due(now);
        if let Some((id, at)) = due
            && let Some(entry) = self.index.get_mut(id)
        {
            self.queue.fall_due(id, entry, at, monotonic);
        }
        due.is_some()
    }

    /// When the next pass is needed, as far as is known now.
    pub(crate) fn next_wake(&self) -> DateTime<Utc> {
        let (now, monotonic) = (self.clock.now(), self.clock.monotonic());
        let may_act = !self.clock.is_wrong();
        // They are queued when work is sent, so not before sending is allowed.
        let held = self.queue.backoff.until(&Key::Server);
        let notes = self.reverts.notes.next();
        let notes = notes.map(|at| held.map_or(at, |until| at.max(until)));
        let instants = [
            self.reporter.events.next(monotonic).filter(|_| may_act),
            self.queue.backoff.next().filter(|_| may_act),
            self.sender.in_flight.next_slow(),
            self.clock.next_probe(),
            self.index.history.next_question(),
            notes.filter(|_| may_act),
            self.cron_jobs.next().filter(|_| may_act),
        ];
        instants
            .into_iter()
            .flatten()
            .map(|at| self.clock.wall_time(at))
            .chain(self.queue.boundaries.next().filter(|_| may_act))
            .chain(self.starts.next().filter(|_| may_act))
            .chain(self.starting.next(now).filter(|_| may_act))
            .chain(self.wait_notices.next().filter(|_| may_act))
            .chain(self.notices.next().filter(|_| may_act))
            .min()
            .unwrap_or(now + TimeDelta::days(1))
    }

    /// Publishes the lengths of the queues, and the objects that have changed.
    pub(crate) fn publish(&mut self) {
        let (now, monotonic) = (self.clock.now(), self.clock.monotonic());
        self.telemetry.acted(monotonic);
        self.telemetry.set(
            Condition::Permitted,
            self.queue.backoff.has_every_permission(),
        );
        for (lane, depth) in self.queue.lanes.depths() {
            self.telemetry.queue_depth(lane, depth);
        }
        self.telemetry
            .queue_depth("event", self.reporter.events.len());
        let next = self.queue.boundaries.next();
        self.telemetry.next_boundary(next);
        let waiting = self.waits.count() + self.starting.waiting();
        self.telemetry.starts.waiting(waiting);
        self.telemetry
            .invalid_namespaces(self.index.namespaces.invalid());
        self.index.publish(&self.publisher, now, monotonic);
        let is_ready = self.telemetry.is_ready() && !self.index.has_unpublished();
        if !self.has_logged_ready && is_ready {
            self.has_logged_ready = true;
            let objects = Arc::clone(self.publisher.objects());
            log_ready(objects, next, &self.settings);
        }
    }

    /// While the clock is wrong nothing is due and nothing is written.
    pub(crate) fn look_at_the_clock(&mut self) {
        let change = self.clock.look();
        let now = self.clock.now();
        if change.was_set_back {
            // Nothing else would decide about them until that time has come again.
            self.index.refresh_memories(now);
            self.reconcile_all();
        }
        let Some(skew) = self.clock.skew().map(TimeDelta::as_seconds_f64) else {
            return;
        };
        self.telemetry.clock_skew(skew);
        if change.has_turned && self.clock.is_wrong() {
            self.telemetry.set(Condition::Clock, false);
            tracing::error!(
                skew,
                "the clock is too far from the API server's: dayshift does nothing until it is \
                    right"
            );
        } else if change.has_turned {
            self.telemetry.set(Condition::Clock, true);
            tracing::info!(skew, "the clock is right again");
            self.index.redate_observations(now, self.clock.monotonic());
            self.index.refresh_memories(now);
            self.reconcile_all();
        }
        if self.clock.take_probe() {
            self.ask_the_time();
        }
    }

    pub(crate) fn reconcile_all(&mut self) {
        for id in self.index.ids() {
            self.reconcile(id);
        }
    }

    fn ask_the_time(&mut self) {
        let scope = &self.settings.scope;
        let is_known = |kind: &&Kind| !kind.version().is_empty();
        if let Some(kind) = scope.kinds.iter().find(is_known) {
            let namespace = scope.namespaces.first().cloned();
            self.sender.ask_the_time(*kind, namespace);
        }
    }
}
