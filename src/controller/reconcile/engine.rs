//! The state of a running controller, and its answer to: what is there to do now, and when next?

use std::sync::Arc;

use chrono::{DateTime, TimeDelta, Utc};

use crate::{
    cluster::Writer,
    events::EventText,
    workload::{Decision, EventNote, Kind},
};

use crate::controller::ids::Id;
use crate::controller::objects::entry::Entry;
use crate::controller::objects::index::Index;
use crate::controller::objects::reverts::Reverts;
use crate::controller::objects::work::WorkState;
use crate::controller::retry::backoff::{Backoff, Key};
use crate::controller::retry::notifier::{Notifier, Reason};
use crate::controller::retry::server_health::ServerHealth;
use crate::controller::send::events::Events;
use crate::controller::send::in_flight::Finished;
use crate::controller::send::queues::{Lane, Queues};
use crate::controller::send::revert_notes::RevertNotes;
use crate::controller::send::sender::Sender;
use crate::controller::settings::Settings;
use crate::controller::telemetry::metrics::Telemetry;
use crate::controller::telemetry::published::Publisher;
use crate::controller::telemetry::readiness::Condition;
use crate::controller::time::guarded_clock::GuardedClock;
use crate::controller::time::scheduler::Scheduler;
use crate::controller::watch::resumed::Resumed;
use crate::controller::watch::states::WatchStates;

/// How many boundaries are taken from the scheduler before the next request is sent.
const BATCH: usize = 256;

/// A running controller: what is known, what is due, what waits to be sent and what is under way,
/// each of which keeps its own state.
///
/// Its work comes in four parts: it observes what the watches show (`observe`), decides what is to
/// be done (here), sends it (`dispatch`), and takes in what comes of that (`answers`).
pub(in crate::controller) struct Engine {
    pub(in crate::controller) settings: Settings,
    pub(in crate::controller) telemetry: Arc<Telemetry>,
    pub(in crate::controller) clock: GuardedClock,
    pub(in crate::controller) index: Index,
    pub(in crate::controller) watches: WatchStates,
    pub(super) resumed: Resumed,
    /// The next boundary of each object, or the end of what holds it.
    pub(super) boundaries: Scheduler<Id, DateTime<Utc>>,
    pub(super) queues: Queues,
    pub(super) events: Events,
    pub(super) sender: Sender,
    pub(super) backoff: Backoff,
    pub(super) health: ServerHealth,
    pub(super) notifier: Notifier,
    pub(super) reverts: Reverts,
    pub(super) revert_notes: RevertNotes,
    pub(in crate::controller) publisher: Publisher,
    /// Whether the log says that it is ready.
    pub(super) said_ready: bool,
}

impl Engine {
    /// A controller that knows nothing yet.
    pub(in crate::controller) fn new(
        writer: Writer,
        clock: GuardedClock,
        settings: Settings,
        telemetry: Arc<Telemetry>,
        watches: WatchStates,
        resumed: Resumed,
    ) -> Self {
        let places = settings.max_in_flight.get();
        Self {
            publisher: telemetry.publisher(clock.clock(), &settings),
            clock,
            index: Index::new(&settings),
            watches,
            resumed,
            boundaries: Scheduler::new(),
            queues: Queues::default(),
            events: Events::default(),
            sender: Sender::new(writer, places),
            backoff: Backoff::new(settings.seed),
            health: ServerHealth::default(),
            notifier: Notifier::default(),
            reverts: Reverts::new(settings.revert_window),
            revert_notes: RevertNotes::default(),
            said_ready: false,
            telemetry,
            settings,
        }
    }

    /// The result of the next request that ends; `None` where nothing is under way.
    pub(in crate::controller) async fn next_finished(&mut self) -> Option<Finished> {
        self.sender.next().await
    }

    /// How many requests are under way.
    pub(in crate::controller) fn in_flight(&self) -> usize {
        self.sender.in_flight().len()
    }

    /// Forgets an object, and all that was planned for it.
    pub(in crate::controller) fn remove(&mut self, id: Id) {
        self.index.remove(id);
        self.boundaries.cancel(&id);
        self.backoff.remove(id);
        self.health.remove(id);
        self.notifier.remove(&Key::Object(id));
        self.reverts.remove(id);
    }

    /// These objects need not wait any longer.
    pub(in crate::controller) fn release(&mut self, ids: impl IntoIterator<Item = Id>) {
        for id in ids {
            if let Some(entry) = self.index.get_mut(id) {
                entry.work.release();
            }
            self.reconcile(id);
        }
    }

    /// Decides about an object that nothing is being done about, and queues it or notes when it
    /// is due.
    pub(in crate::controller) fn reconcile(&mut self, id: Id) {
        let Some(entry) = self.index.get_mut(id) else {
            return;
        };
        if entry.work.take_edit() {
            let key = Key::Object(id);
            self.backoff.clear(&key);
            self.notifier.clear(&key, &[Reason::BoundariesSkipped]);
        }
        if self.clock.is_wrong() || entry.work.state() != WorkState::Idle {
            return;
        }
        let now = self.clock.now();
        let decision = self.index.decide(id, now);
        if let Some(Decision::Write(change)) = decision {
            let lane = if change.kind.is_transition() {
                Lane::Transition
            } else {
                Lane::Adoption
            };
            // A boundary that falls due meanwhile goes before what waits less urgently.
            self.set_boundary(id, change.state.next);
            self.enqueue(id, lane);
            return;
        }
        if let Some(entry) = self.index.get_mut(id) {
            entry.work.has_nothing_to_write();
        }
        self.backoff.withdraw(id);
        match decision {
            Some(Decision::Wait { due }) => self.wait(id, due),
            Some(Decision::StopsSoon { due, note }) => {
                self.wait(id, Some(due));
                self.stops_soon(id, now, due, &note);
            }
            Some(Decision::CorrectionLimitReached { due, note }) => {
                self.wait(id, due);
                self.correction_limit_reached(id, &note);
            }
            Some(Decision::Write(_)) | None => {}
        }
    }

    /// Lets a boundary of the object be due then, or none.
    fn set_boundary(&mut self, id: Id, at: Option<DateTime<Utc>>) {
        match at {
            Some(at) => self.boundaries.set(id, at),
            None => self.boundaries.cancel(&id),
        }
    }

    fn enqueue(&mut self, id: Id, lane: Lane) {
        if let Some(entry) = self.index.get_mut(id) {
            let lane = entry.work.lane(lane);
            entry.work.queue(lane);
            let is_retried = entry.work.failures() > 0;
            let (watch, namespace) = (entry.watch, &entry.object().namespace);
            if lane == Lane::Adoption && !self.watches.was_tried(watch) {
                self.queues.hold(watch, namespace, id);
            } else {
                self.queues.push(lane, namespace, id, is_retried);
            }
        }
    }

    fn wait(&mut self, id: Id, due: Option<DateTime<Utc>>) {
        self.set_boundary(id, due);
        if due.is_none() && self.index.get(id).is_some_and(Entry::is_over) {
            self.index.keep_unscheduled(id);
            self.remove(id);
        }
    }

    fn stops_soon(&mut self, id: Id, now: DateTime<Utc>, due: DateTime<Utc>, note: &EventNote) {
        let Some(entry) = self.index.get_mut(id) else {
            return;
        };
        entry.memory.tell_stops_soon(now);
        tracing::info!(kind = %entry.object().kind, object = %entry.object(), %due, "enforce stops it soon");
        self.tell(id, note);
    }

    fn correction_limit_reached(&mut self, id: Id, note: &EventNote) {
        let Some(entry) = self.index.get_mut(id) else {
            return;
        };
        if entry.tell_correction_limit() {
            let object = entry.object();
            let event = EventText::of(note, object, &self.settings.prefix);
            tracing::warn!(kind = %object.kind, %object, "{}", event.text);
            self.announce(id, event);
        }
    }

    /// Does all that can be done now: what is due is queued, what is queued is sent.
    pub(in crate::controller) fn act(&mut self) {
        self.look_at_the_clock();
        let (now, monotonic) = (self.clock.now(), self.clock.monotonic());
        self.sender.move_slow(monotonic);
        self.look_at_resumed();
        if self.clock.is_wrong() {
            return;
        }
        for _ in 0..BATCH {
            let Some((id, at)) = self.boundaries.take_due(now) else {
                break;
            };
            if let Some(entry) = self.index.get_mut(id)
                && entry.work.falls_due(at, monotonic)
            {
                self.backoff.clear(&Key::Object(id));
                self.enqueue(id, Lane::Transition);
            }
        }
        while let Some(id) = self.backoff.take_released(monotonic) {
            self.release([id]);
        }
        self.dispatch();
    }

    /// When there is something to do again, as far as is known now.
    pub(in crate::controller) fn next_wake(&self) -> DateTime<Utc> {
        let (now, monotonic) = (self.clock.now(), self.clock.monotonic());
        let may_act = !self.clock.is_wrong();
        // They are queued with what is sent, and so not before that may go.
        let held = self.backoff.until(&Key::Server);
        let notes = self.revert_notes.next();
        let notes = notes.map(|at| held.map_or(at, |until| at.max(until)));
        let instants = [
            self.events.next(monotonic).filter(|_| may_act),
            self.backoff.next().filter(|_| may_act),
            self.sender.in_flight().next_slow(),
            self.clock.next_probe(),
            self.resumed.next(),
            notes.filter(|_| may_act),
        ];
        instants
            .into_iter()
            .flatten()
            .map(|at| self.clock.wall_time(at))
            .chain(self.boundaries.next().filter(|_| may_act))
            .min()
            .unwrap_or(now + TimeDelta::days(1))
    }

    /// While the clock is wrong nothing is due and nothing is written.
    pub(in crate::controller) fn look_at_the_clock(&mut self) {
        let change = self.clock.look();
        let now = self.clock.now();
        if change.was_set_back {
            // Nothing else would look at it before that time has come again.
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
                "the clock is too far from the API server's: nothing is done until it is right"
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

    pub(in crate::controller) fn reconcile_all(&mut self) {
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
