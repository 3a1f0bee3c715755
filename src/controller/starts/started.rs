//! Objects that were started, until they are ready or should be.

use std::{
    collections::{HashMap, VecDeque},
    sync::Arc,
};

use chrono::{DateTime, TimeDelta, Utc};
use tokio::time::Instant;

use crate::workload::{ReadyForm, WorkloadRef};

use crate::controller::ids::Id;
use crate::controller::telemetry::metrics::Telemetry;
use crate::controller::time::scheduler::Scheduler;

/// How many objects are read at once for why they are not ready.
const PLACES: usize = 4;

/// Objects that were started, until they are ready or should be.
///
/// By when each should be ready is in its labels: a controller that begins later knows it too, and one
/// that begins after that says nothing of it a second time.
pub(in crate::controller) struct Starts {
    due: Scheduler<Id, DateTime<Utc>>,
    /// When the starts of this process were sent.
    sent: HashMap<Id, Instant>,
    waiting: VecDeque<NotReady>,
    in_flight: usize,
    /// How long a start may take, unless the object says so itself.
    pub(super) within: TimeDelta,
    pub(super) telemetry: Arc<Telemetry>,
}

/// An object that is not ready and should be, to be read for the reason.
#[derive(Clone, Debug)]
pub(in crate::controller) struct NotReady {
    pub(in crate::controller) id: Id,
    pub(in crate::controller) object: WorkloadRef,
}

impl Starts {
    /// None yet. A start may take this long, unless the object says so itself.
    pub(in crate::controller) fn new(within: TimeDelta, telemetry: Arc<Telemetry>) -> Self {
        Self {
            due: Scheduler::new(),
            sent: HashMap::new(),
            waiting: VecDeque::new(),
            in_flight: 0,
            within,
            telemetry,
        }
    }

    /// Takes in by when an object should be ready.
    pub(super) fn look(&mut self, id: Id, due: Option<DateTime<Utc>>, now: DateTime<Utc>) {
        // One that is due already was taken, or was reported.
        if let Some(due) = due.filter(|due| *due > now) {
            self.due.set(id, due);
        }
    }

    /// A start of that object was sent then, and carried out.
    pub(in crate::controller) fn started(&mut self, id: Id, object: &WorkloadRef, sent: Instant) {
        if object.kind.ready_form() != ReadyForm::Nowhere {
            self.sent.insert(id, sent);
        }
    }

    /// How long the start of an object has taken that is ready now, where that is news.
    pub(super) fn take_ready(&mut self, id: Id, now: Instant) -> Option<TimeDelta> {
        let sent = self.sent.remove(&id)?;
        TimeDelta::from_std(now.saturating_duration_since(sent)).ok()
    }

    /// Takes one object that should be ready by now, and when that was.
    pub(super) fn take_due(&mut self, now: DateTime<Utc>) -> Option<(Id, DateTime<Utc>)> {
        self.due.take_due(now)
    }

    /// When the next object should be ready.
    pub(in crate::controller) fn next(&self) -> Option<DateTime<Utc>> {
        self.due.next()
    }

    /// Queues an object to be read for why it is not ready.
    pub(super) fn look_up(&mut self, not_ready: NotReady) {
        self.waiting.push_back(not_ready);
    }

    /// The next object to read, if there is a place for it: none beside starts and stops.
    pub(in crate::controller) fn pop(&mut self, is_busy: bool) -> Option<NotReady> {
        if is_busy || self.in_flight >= PLACES {
            return None;
        }
        let next = self.waiting.pop_front()?;
        self.in_flight += 1;
        Some(next)
    }

    /// One that was read is no longer under way.
    pub(in crate::controller) const fn ended(&mut self) {
        self.in_flight = self.in_flight.saturating_sub(1);
    }

    /// The object is stopped, or not known any more.
    pub(in crate::controller) fn remove(&mut self, id: Id) {
        self.due.cancel(&id);
        self.sent.remove(&id);
    }
}
