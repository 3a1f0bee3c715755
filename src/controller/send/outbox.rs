//! What waits to be sent: objects in lanes, and Events.

use std::sync::Arc;

use tokio::time::Instant;

use crate::controller::ids::{Id, WatchId};
use crate::controller::send::events::{Events, PendingEvent};
use crate::controller::send::in_flight::InFlight;
use crate::controller::send::queue::{Lane, Queues};

/// What waits to be sent, in lanes with places of their own.
pub(in crate::controller) struct Outbox {
    queues: Queues,
    events: Events,
}

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

    /// Whether one more may be under way, of that namespace.
    fn may(self, in_flight: &InFlight, lane: Lane, namespace: &str) -> bool {
        in_flight.taken_by(lane, namespace) < self.each
    }
}

impl Outbox {
    /// Nothing waits yet.
    pub(in crate::controller) fn new() -> Self {
        Self {
            queues: Queues::default(),
            events: Events::new(),
        }
    }

    /// Queues an object behind the others of its namespace in a lane; where its last request has
    /// failed, behind those that come later, too.
    pub(in crate::controller) fn push(
        &mut self,
        lane: Lane,
        namespace: &Arc<str>,
        id: Id,
        has_failed: bool,
    ) {
        self.queues.push(lane, namespace, id, has_failed);
    }

    /// Keeps an adoption back until its watch is released.
    pub(in crate::controller) fn hold(&mut self, watch: WatchId, namespace: &Arc<str>, id: Id) {
        self.queues.hold(watch, namespace, id);
    }

    /// Queues the adoptions that were kept back for a watch.
    pub(in crate::controller) fn release(&mut self, watch: WatchId) {
        self.queues.release(watch);
    }

    /// Queues an Event; false where one has to be dropped for it.
    pub(in crate::controller) fn push_event(&mut self, event: PendingEvent) -> bool {
        self.events.push(event)
    }

    /// The Events that wait, to be told what became of one.
    pub(in crate::controller) const fn events(&mut self) -> &mut Events {
        &mut self.events
    }

    /// Takes the next object of a lane that has a place for it, where so many requests may be under
    /// way in all (`room`).
    pub(in crate::controller) fn pop(
        &mut self,
        lane: Lane,
        in_flight: &InFlight,
        room: usize,
    ) -> Option<Id> {
        let places = self.places(lane, room);
        if in_flight.taken(lane) >= places.all {
            return None;
        }
        let may = |namespace: &str| places.may(in_flight, lane, namespace);
        self.queues.pop(lane, may)
    }

    /// Whether starts and stops wait.
    pub(in crate::controller) fn has_transitions(&self) -> bool {
        self.queues.has_transitions()
    }

    /// Notes whether starts and stops wait, before which Events stand back.
    pub(in crate::controller) fn look_at_transitions(&mut self, now: Instant) {
        self.events.set_busy(now, self.queues.has_transitions());
    }

    /// Takes the next Event that there is a place for.
    pub(in crate::controller) fn pop_event(
        &mut self,
        in_flight: &InFlight,
        now: Instant,
    ) -> Option<PendingEvent> {
        let places = Places::shared(self.events.places());
        if in_flight.taken(Lane::Event) >= places.all {
            return None;
        }
        let may = |namespace: &str| places.may(in_flight, Lane::Event, namespace);
        self.events.pop(now, may)
    }

    /// How many requests of a lane may be under way now. Adoptions take few places while starts
    /// and stops wait, but never none: another namespace's may go on for ever.
    fn places(&self, lane: Lane, room: usize) -> Places {
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

    /// When something can be sent that cannot be now, while nothing is sent at all until `pause`.
    pub(in crate::controller) fn next(
        &self,
        now: Instant,
        pause: Option<Instant>,
    ) -> Option<Instant> {
        let waits = !(self.queues.is_empty() && self.events.len() == 0);
        let pause = pause.filter(|until| waits && *until > now);
        pause.or_else(|| self.events.next(now))
    }

    /// How many wait, by the lane's name in the metrics.
    pub(in crate::controller) fn depths(&self) -> impl Iterator<Item = (&'static str, usize)> {
        let events = ("event", self.events.len());
        self.queues.depths().into_iter().chain([events])
    }
}
