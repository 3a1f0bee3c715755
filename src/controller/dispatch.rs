//! Sending what waits.

use std::sync::Arc;

use tokio::time::timeout;

use crate::{
    cluster::{AnnounceError, FailureKind, Unavailable},
    workload::{Change, Decision},
};

use super::{
    engine::Engine,
    events::{self, PendingEvent},
    in_flight::{Finished, Patched, Sent, unless_given_up},
    index::Id,
    outcome::Outcome,
    queue::Lane,
    work::WorkState,
};

/// How many requests of a lane may be under way: of all namespaces, and of each.
#[derive(Clone, Copy)]
struct Places {
    all: usize,
    each: usize,
}

impl Places {
    /// No namespace takes more than three of four.
    const fn shared(all: usize) -> Self {
        Self {
            all,
            each: all - all / 4,
        }
    }
}

impl Engine {
    /// Sends what waits, as far as each lane has places.
    pub(super) fn dispatch(&mut self) {
        if !self.backpressure.is_over(self.clock.monotonic()) {
            return;
        }
        for lane in [Lane::Transition, Lane::Slow, Lane::Adoption] {
            while self.in_flight.taken(lane) < self.places(lane).all {
                let Some(id) = self.next_in(lane) else { break };
                self.send_next(id, lane);
            }
        }
        self.dispatch_events();
    }

    /// How many requests of a lane may be under way now. Adoptions take few places while starts
    /// and stops wait, but never none: another namespace's may go on for ever.
    fn places(&self, lane: Lane) -> Places {
        let room = self.backpressure.room();
        match lane {
            Lane::Transition => Places {
                all: room + room / 4,
                each: room,
            },
            Lane::Slow => Places::shared(room),
            Lane::Adoption if self.queues.has_transitions() => Places::shared((room / 8).max(1)),
            Lane::Adoption => Places::shared((room / 2).max(1)),
            Lane::Event => Places::shared(self.events.places()),
        }
    }

    /// The next object in a lane, of a namespace that has not too many places already.
    fn next_in(&mut self, lane: Lane) -> Option<Id> {
        let places = self.places(lane);
        let in_flight = &self.in_flight;
        let may = |namespace: &str| in_flight.taken_by(lane, namespace) < places.each;
        self.queues.pop(lane, may)
    }

    /// Decides about an object anew, as late as can be, and sends what comes of it.
    fn send_next(&mut self, id: Id, lane: Lane) {
        let Some(entry) = self.index.get_mut(id) else {
            return;
        };
        if entry.work.state != WorkState::Queued(lane) {
            return; // It has moved to another lane since.
        }
        entry.work.state = WorkState::Idle;
        let Some(Decision::Write(change)) = self.index.decide(id, self.clock.now()) else {
            self.reconcile(id);
            return;
        };
        if self.settings.dry_run {
            self.pretend(id, change);
        } else {
            self.send_change(id, lane, change);
        }
    }

    fn pretend(&mut self, id: Id, change: Change) {
        if let Some(action) = change.kind.action() {
            self.telemetry.transition(action, Outcome::DryRun);
        }
        self.log_would(id, &change);
        self.index.pretend(id, &change);
        if let Some(note) = change.note {
            self.announce(id, note);
        }
        self.reconcile(id);
    }

    fn send_change(&mut self, id: Id, lane: Lane, change: Change) {
        let (now, monotonic) = (self.clock.now(), self.clock.monotonic());
        let Some(entry) = self.index.get_mut(id) else {
            return;
        };
        let namespace = entry.object().namespace.clone();
        if self.permissions.must_wait(&entry.observed.object, id) {
            entry.work.state = WorkState::WaitingForPermission;
            return;
        }
        entry.work.state = WorkState::InFlight;
        let boundary = change.boundary.map(|boundary| boundary.at);
        let skips = entry.work.skips_to(boundary, monotonic);
        let sent = Sent {
            id,
            observed: Arc::new(entry.observed.clone()),
            known: entry.version,
            change,
            at: now,
        };
        if skips {
            self.skipped(id);
        }
        let writer = self.writer.clone();
        self.in_flight
            .send(lane, &namespace, monotonic, |registration| async move {
                let patch = writer.patch(&sent.observed, &sent.change);
                let result = unless_given_up(registration, patch).await;
                Finished::Patched(Box::new(Patched { sent, result }))
            });
    }

    /// Reads an object that is no longer what it was.
    pub(super) fn send_read(&mut self, id: Id) {
        let monotonic = self.clock.monotonic();
        let Some(entry) = self.index.get_mut(id) else {
            return;
        };
        entry.work.state = WorkState::InFlight;
        let (object, known) = (entry.object().clone(), entry.version);
        let lane = if entry.work.is_slow {
            Lane::Slow
        } else {
            Lane::Transition
        };
        let namespace = object.namespace.clone();
        let writer = self.writer.clone();
        self.in_flight
            .send(lane, &namespace, monotonic, |registration| async move {
                let result = unless_given_up(registration, writer.read(&object)).await;
                Finished::Read {
                    id,
                    known,
                    result: Box::new(result),
                }
            });
    }

    fn dispatch_events(&mut self) {
        let now = self.clock.monotonic();
        self.events.set_busy(now, self.queues.has_transitions());
        while self.in_flight.taken(Lane::Event) < self.places(Lane::Event).all {
            let places = self.places(Lane::Event);
            let in_flight = &self.in_flight;
            let may = |namespace: &str| in_flight.taken_by(Lane::Event, namespace) < places.each;
            let Some(event) = self.events.pop(now, may) else {
                break;
            };
            self.send_event(event);
        }
    }

    fn send_event(&mut self, event: PendingEvent) {
        let writer = self.writer.clone();
        let namespace = event.object.namespace.clone();
        let now = self.clock.monotonic();
        self.in_flight
            .send(Lane::Event, &namespace, now, |_| async move {
                let answer = writer.announce(&event.object, &event.note, event.at);
                let result = timeout(events::TIMEOUT, answer).await.unwrap_or_else(|_| {
                    Err(AnnounceError::Unavailable(Unavailable {
                        reason: format!("no answer within {} s", events::TIMEOUT.as_secs()),
                        retry_after: None,
                        kind: FailureKind::TimedOut,
                    }))
                });
                Finished::Announced {
                    event: Box::new(event),
                    result,
                }
            });
    }
}
