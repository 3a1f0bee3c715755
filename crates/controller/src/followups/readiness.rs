//! Measures how long started objects take to become ready, and reports those that are not ready in
//! time: with one read, to find the reason, and one Event.

use std::{sync::Arc, time::Duration};

use chrono::{DateTime, TimeDelta, Utc};
use dayshift_cluster::{decode::WithManagers, write::ReadError};
use dayshift_schedule::Direction;
use dayshift_workload::{ReadyForm, WorkloadRef, events::EventText};

use crate::{
    clock::{guard::Now, scheduler::Scheduler},
    events::Events,
    ids::Id,
    object::Object,
    outbox::fair_queue::FairQueue,
    store::Store,
    telemetry::metrics::Telemetry,
};

/// An object that is not ready in time, which will be read to find the reason.
#[derive(Clone, Debug)]
pub(crate) struct NotReady {
    pub(crate) id: Id,
    pub(crate) object: WorkloadRef,
}

/// The objects that are not ready in time and will be read.
///
/// The deadline of each object follows from its labels, so a restarted controller knows it too. A
/// controller that starts after the deadline does not report the object.
pub(crate) struct ReadinessTracker {
    /// When each started object should be ready.
    due: Scheduler<Id, DateTime<Utc>>,
    waiting: FairQueue<NotReady>,
    telemetry: Arc<Telemetry>,
}

impl ReadinessTracker {
    /// Creates the component without objects.
    pub(crate) fn new(telemetry: Arc<Telemetry>) -> Self {
        Self {
            due: Scheduler::new(),
            waiting: FairQueue::default(),
            telemetry,
        }
    }

    /// Records a transition by a patch that was sent at `sent`.
    pub(crate) fn record_transition(
        &mut self,
        id: Id,
        object: &mut Object,
        direction: Direction,
        sent: Duration,
    ) {
        self.due.cancel(&id);
        let shows_readiness = object.name().kind.ready_form() != ReadyForm::Nowhere;
        if direction == Direction::Up && shows_readiness {
            object.start().sent = Some(sent);
        } else if let Some(start) = &mut object.start {
            start.sent = None;
            object.free_start();
        }
    }

    /// Applies the readiness of an object: measures its start, or stores its deadline.
    pub(crate) fn observe(&mut self, id: Id, object: &mut Object, now: Now) {
        if object.observed.is_ready() == Some(true) {
            let start = object.start.as_mut();
            if let Some(sent) = start.and_then(|start| start.sent.take()) {
                object.free_start();
                let took = TimeDelta::from_std(now.since(sent)).unwrap_or(TimeDelta::MAX);
                let kind = &object.name().kind;
                self.telemetry.record_ready(kind, took);
            }
        } else if let Some(due) = ready_due(object).filter(|due| *due > now.wall) {
            // An object whose deadline has passed was already queued or reported.
            self.due.set(id, due);
        }
    }

    /// When the next deadline is.
    pub(crate) fn next(&self) -> Option<DateTime<Utc>> {
        self.due.next()
    }

    /// Queues one object to be read whose deadline has passed. Returns `false` if there is none.
    pub(crate) fn queue_due(&mut self, store: &Store, now: Now) -> bool {
        let Some((id, at)) = self.due.take_due(now.wall) else {
            return false;
        };
        if let Some(object) = store.get(id).filter(|object| ready_due(object) == Some(at)) {
            let object = object.name().clone();
            let namespace = object.namespace.clone();
            self.waiting.push(&namespace, NotReady { id, object });
        }
        true
    }

    /// Forgets an object.
    pub(crate) fn remove(&mut self, id: Id) {
        self.due.cancel(&id);
    }

    /// Takes the next object to read. Namespaces take turns.
    pub(crate) fn pop(&mut self) -> Option<NotReady> {
        self.waiting.pop(|_| true)
    }

    /// Reports that an object is not ready, with the reason if the read has shown it.
    pub(crate) fn finish(
        not_ready: &NotReady,
        result: &Result<WithManagers, ReadError>,
        known: Option<&Object>,
        events: &mut Events,
        now: Now,
    ) {
        let object = &not_ready.object;
        let why = match result {
            Ok(managed) if managed.workload.uid() != &*object.uid => return,
            Ok(managed) => managed.health_problem(),
            Err(ReadError::Gone) => return,
            Err(error) => {
                tracing::debug!(kind = %object.kind, %object, %error, "cannot read why it is not ready");
                None
            }
        };
        let Some(known) = known.filter(|known| ready_due(known).is_some()) else {
            return;
        };
        let within = known.parsed.ready_within();
        let event = EventText::not_ready(&known.observed, within, why, events.prefix());
        tracing::warn!(kind = %object.kind, %object, "{}", event.text);
        events.announce(object, event, now);
    }
}

/// The time by which a started object should be ready; `None` if it is ready or was not started.
fn ready_due(object: &Object) -> Option<DateTime<Utc>> {
    object.observed.ready_due(object.parsed.ready_within())
}
