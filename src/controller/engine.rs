//! The state of a running controller, and its answer to: what is there to do now, and when next?

use std::{sync::Arc, time::Duration};

use chrono::{DateTime, TimeDelta, Utc};
use kube::Client;
use tokio::time::Instant;

use crate::{
    clock::Clock,
    cluster::Writer,
    workload::{Decision, EventNote, Phase},
};

use super::{
    backpressure::Backpressure,
    entry::{Entry, INVALID, SeenAt},
    events::{Events, PendingEvent},
    in_flight::{Finished, InFlight},
    index::{Id, Index},
    metrics::Telemetry,
    outcome::EventOutcome,
    permission_backoff::PermissionBackoff,
    queue::{Lane, Queues},
    readiness::Condition,
    scheduler::Scheduler,
    settings::Settings,
    skew::{ClockGuard, SharedServerClock},
    watch_states::WatchStates,
    work::WorkState,
};

/// How many boundaries are taken from the scheduler before the next request is sent.
const BATCH: usize = 256;

/// How often the objects are counted at most.
const COUNT_PAUSE: Duration = Duration::from_secs(1);

/// The whole state of a running controller.
pub(super) struct Engine {
    pub(super) clock: Clock,
    pub(super) settings: Settings,
    pub(super) telemetry: Arc<Telemetry>,
    pub(super) writer: Writer,
    pub(super) index: Index,
    pub(super) watches: WatchStates,
    /// The objects that wait to be sent, the Events that do, and what is under way.
    pub(super) queues: Queues,
    pub(super) events: Events,
    pub(super) in_flight: InFlight,
    /// What holds them back: all, the namespaces without permission, single objects.
    pub(super) backpressure: Backpressure,
    pub(super) permissions: PermissionBackoff,
    pub(super) retries: Scheduler<Id, Instant>,
    pub(super) random: fastrand::Rng,
    /// The next boundary of each object, or the end of what holds it.
    pub(super) due: Scheduler<Id, DateTime<Utc>>,
    clock_guard: ClockGuard,
    changed: bool,
    counted: Option<Instant>,
    /// What the clock showed when it was looked at last.
    shown: Option<(DateTime<Utc>, Instant)>,
}

impl Engine {
    pub(super) fn new(
        client: Client,
        clock: Clock,
        settings: Settings,
        telemetry: Arc<Telemetry>,
        server_clock: SharedServerClock,
        watches: WatchStates,
    ) -> Self {
        let places = settings.max_in_flight.get();
        Self {
            writer: Writer::new(client, settings.prefix.clone(), settings.instance.clone()),
            index: Index::new(&settings),
            watches,
            queues: Queues::default(),
            events: Events::new(),
            in_flight: InFlight::new(places),
            backpressure: Backpressure::new(places),
            permissions: PermissionBackoff::default(),
            due: Scheduler::new(),
            retries: Scheduler::new(),
            random: fastrand::Rng::with_seed(settings.seed),
            changed: false,
            counted: None,
            shown: None,
            clock_guard: ClockGuard::new(server_clock, settings.max_clock_skew),
            telemetry,
            settings,
            clock,
        }
    }

    /// When something that is seen now is seen.
    pub(super) fn seen_at(&self) -> SeenAt {
        let monotonic = self.clock.monotonic();
        SeenAt {
            by_clock: self.clock_guard.correct(self.clock.now()),
            unsure: self.clock_guard.is_wrong().then_some(monotonic),
        }
    }

    /// What is known no more needs nothing.
    pub(super) fn forgot(&mut self, ids: impl IntoIterator<Item = Id>) {
        for id in ids {
            self.due.cancel(id);
            self.retries.cancel(id);
            self.changed = true;
            self.pass_on(id);
        }
    }

    pub(super) fn forget(&mut self, id: Id) {
        self.index.forget(id);
        self.forgot([id]);
    }

    /// This object has nothing to ask for: those that waited for its answer ask for themselves.
    fn pass_on(&mut self, id: Id) {
        let waiting = self.permissions.forget(id);
        self.release(waiting);
    }

    /// These objects need not wait any longer.
    pub(super) fn release(&mut self, ids: impl IntoIterator<Item = Id>) {
        for id in ids {
            if let Some(entry) = self.index.get_mut(id)
                && let WorkState::BackingOff(_) | WorkState::WaitingForPermission = entry.work.state
            {
                entry.work.state = WorkState::Idle;
            }
            self.reconcile(id);
        }
    }

    /// Decides about an object that nothing is being done about, and queues it or notes when it
    /// is due.
    pub(super) fn reconcile(&mut self, id: Id) {
        self.changed = true;
        let is_idle = |entry: &Entry| entry.work.state == WorkState::Idle;
        if self.clock_guard.is_wrong() || !self.index.get(id).is_some_and(is_idle) {
            return;
        }
        match self.index.decide(id, self.clock.now()) {
            Some(Decision::Wait { due }) => {
                if let Some(entry) = self.index.get_mut(id) {
                    entry.work.conflicts = 0;
                }
                self.wait(id, due);
            }
            Some(Decision::CorrectionLimitReached { due, note }) => {
                self.wait(id, due);
                self.correction_limit_reached(id, note);
            }
            Some(Decision::Write(change)) => {
                let lane = if change.kind.is_transition() {
                    Lane::Transition
                } else {
                    Lane::Adoption
                };
                // A boundary that falls due meanwhile goes before what waits less urgently.
                self.set_due(id, change.state.next);
                self.enqueue(id, lane);
                return;
            }
            None => {}
        }
        self.pass_on(id);
    }

    fn enqueue(&mut self, id: Id, lane: Lane) {
        if let Some(entry) = self.index.get_mut(id) {
            let lane = if entry.work.is_slow { Lane::Slow } else { lane };
            entry.work.state = WorkState::Queued(lane);
            let (watch, namespace) = (entry.watch, &entry.object().namespace);
            if lane == Lane::Adoption && !self.watches.was_tried(watch) {
                self.queues.hold(watch, namespace, id);
            } else {
                self.queues.push(lane, namespace, id);
            }
        }
    }

    fn set_due(&mut self, id: Id, due: Option<DateTime<Utc>>) {
        match due {
            Some(due) => self.due.set(id, due),
            None => self.due.cancel(id),
        }
    }

    fn wait(&mut self, id: Id, due: Option<DateTime<Utc>>) {
        self.set_due(id, due);
        if due.is_none() && self.index.get(id).is_some_and(Entry::is_over) {
            self.forget(id);
        }
    }

    fn correction_limit_reached(&mut self, id: Id, note: EventNote) {
        let Some(entry) = self.index.get_mut(id) else {
            return;
        };
        if entry.tell_correction_limit() {
            tracing::warn!(kind = %entry.object().kind, object = %entry.object(), "{}", note.text);
            self.announce(id, note);
        }
    }

    /// Queues an Event of an object.
    pub(super) fn announce(&mut self, id: Id, note: EventNote) {
        let Some(entry) = self.index.get(id) else {
            return;
        };
        let object = entry.object().clone();
        if self.settings.dry_run {
            tracing::info!(kind = %object.kind, %object, reason = %note.reason, "would tell: {}", note.text);
            return;
        }
        let event = PendingEvent {
            object,
            note,
            at: self.clock.now(),
            tries: 0,
        };
        if !self.events.push(event) {
            self.telemetry.event(EventOutcome::Dropped);
        }
    }

    /// Does all that can be done now: what is due is queued, what is queued is sent.
    pub(super) fn act(&mut self) {
        self.look_at_the_clock();
        let (now, monotonic) = (self.clock.now(), self.clock.monotonic());
        self.in_flight.move_slow(monotonic);
        if self.clock_guard.is_wrong() {
            return;
        }
        for _ in 0..BATCH {
            let Some((id, at)) = self.due.take_due(now) else {
                break;
            };
            if let Some(entry) = self.index.get_mut(id)
                && entry.work.falls_due(at, monotonic)
            {
                self.enqueue(id, Lane::Transition);
            }
        }
        while let Some((id, _)) = self.retries.take_due(monotonic) {
            self.release([id]);
        }
        self.dispatch();
    }

    /// When there is something to do again, as far as is known now.
    pub(super) fn next_wake(&self) -> DateTime<Utc> {
        let (now, monotonic) = (self.clock.now(), self.clock.monotonic());
        let wall = |at: Instant| {
            now + TimeDelta::from_std(at.saturating_duration_since(monotonic)).unwrap_or_default()
        };
        let may_act = !self.clock_guard.is_wrong();
        let waits = !(self.queues.is_empty() && self.events.len() == 0);
        let pause = self.backpressure.until();
        let pause = pause.filter(|until| may_act && waits && *until > monotonic);
        let events = self.events.next(monotonic);
        let due = self.due.next().filter(|_| may_act);
        let probe = self.clock_guard.next_probe(monotonic);
        let count = self
            .counted
            .filter(|_| self.changed)
            .map(|counted| counted + COUNT_PAUSE);
        [
            pause,
            events.filter(|_| may_act && pause.is_none()),
            self.retries.next().filter(|_| may_act),
            self.in_flight.next_slow(),
            probe,
            count,
        ]
        .into_iter()
        .flatten()
        .map(wall)
        .chain(due)
        .min()
        .unwrap_or(now + TimeDelta::days(1))
    }

    /// Publishes how much is queued and, at most once a second, how many objects are in which
    /// state: counting them costs as much as there are.
    pub(super) fn publish(&mut self) {
        self.telemetry
            .set(Condition::Permitted, self.permissions.is_empty());
        let events = ("event", self.events.len());
        for (lane, depth) in self.queues.depths().into_iter().chain([events]) {
            self.telemetry.queue_depth(lane, depth);
        }
        let now = self.clock.monotonic();
        if self.changed
            && self
                .counted
                .is_none_or(|counted| now >= counted + COUNT_PAUSE)
        {
            self.changed = false;
            self.counted = Some(now);
            self.count_workloads();
            self.telemetry.next_boundary(self.due.next());
        }
    }

    fn count_workloads(&self) {
        let census = self.index.census();
        for phase in Phase::ALL {
            let count = census.get(phase.name()).copied().unwrap_or_default();
            self.telemetry.workloads(phase.name(), count);
        }
        self.telemetry
            .invalid_schedules(census.get(INVALID).copied().unwrap_or_default());
    }

    /// Rule 13: while the clock is wrong nothing is due and nothing is written.
    pub(super) fn look_at_the_clock(&mut self) {
        let (now, monotonic) = (self.clock.now(), self.clock.monotonic());
        let has_turned = self.clock_guard.look(now, monotonic);
        if self.was_set_back(now, monotonic) {
            self.index.look_again(now);
            self.reconcile_all();
        }
        let Some(skew) = self.clock_guard.skew().map(TimeDelta::as_seconds_f64) else {
            return;
        };
        self.telemetry.clock_skew(skew);
        if has_turned && self.clock_guard.is_wrong() {
            self.telemetry.set(Condition::Clock, false);
            tracing::error!(
                skew,
                "the clock is too far from the API server's: nothing is done until it is right"
            );
        } else if has_turned {
            self.telemetry.set(Condition::Clock, true);
            tracing::info!(skew, "the clock is right again");
            self.index.make_sure(now, monotonic);
            self.index.look_again(now);
            self.reconcile_all();
        }
        if self.clock_guard.take_probe(monotonic) {
            self.ask_the_time();
        }
    }

    /// Whether the clock was set back since it was looked at last: then what was done by it may
    /// be from the future, and nothing else would look at it before that has come.
    fn was_set_back(&mut self, now: DateTime<Utc>, monotonic: Instant) -> bool {
        let shown = self.shown.replace((now, monotonic));
        shown.is_some_and(|(before, at)| {
            let gone = TimeDelta::from_std(monotonic - at).unwrap_or_default();
            now - before < gone - TimeDelta::seconds(1)
        })
    }

    fn reconcile_all(&mut self) {
        for id in self.index.ids() {
            self.reconcile(id);
        }
    }

    fn ask_the_time(&mut self) {
        let writer = self.writer.clone();
        let scope = &self.settings.scope;
        let Some(kind) = scope.kinds.first().copied() else {
            return;
        };
        let namespace = scope.namespaces.first().cloned();
        self.in_flight.send_aside(async move {
            Finished::ToldTheTime(writer.ask_the_time(kind, namespace.as_deref()).await)
        });
    }
}
