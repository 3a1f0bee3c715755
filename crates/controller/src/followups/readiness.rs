//! Measures how long started objects take to become ready, and reports those that are not ready in
//! time: with one read, to find the reason, and one Event.

use std::{sync::Arc, time::Duration};

use chrono::{DateTime, TimeDelta, Utc};
use dayshift_cluster::{decode::WithManagers, write::ReadError};
use dayshift_schedule::Direction;
use dayshift_workload::{ReadyForm, WorkloadRef, events::EventText};

use crate::{
    clock::{
        guard::Now,
        timers::{Timer, Timers},
    },
    events::Events,
    ids::Id,
    object::Object,
    outbox::fair_queue::FairQueue,
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
    waiting: FairQueue<NotReady>,
    telemetry: Arc<Telemetry>,
}

impl ReadinessTracker {
    /// Creates the component without objects.
    pub(crate) fn new(telemetry: Arc<Telemetry>) -> Self {
        Self {
            waiting: FairQueue::default(),
            telemetry,
        }
    }

    /// Records a transition by a patch that was sent at `sent`.
    pub(crate) fn record_transition(
        id: Id,
        object: &mut Object,
        timers: &mut Timers,
        direction: Direction,
        sent: Duration,
    ) {
        timers.cancel(Timer::ReadyBy(id));
        let shows_readiness = object.name().kind.ready_form() != ReadyForm::Nowhere;
        if direction == Direction::Up && shows_readiness {
            object.start().sent = Some(sent);
        } else if let Some(start) = &mut object.start {
            start.sent = None;
            object.free_start();
        }
    }

    /// Applies the readiness of an object: measures its start, or sets the timer of its deadline.
    pub(crate) fn observe(&self, id: Id, object: &mut Object, timers: &mut Timers, now: Now) {
        if object.observed.is_ready() == Some(true) {
            let start = object.start.as_mut();
            if let Some(sent) = start.and_then(|start| start.sent.take()) {
                object.free_start();
                let took = TimeDelta::from_std(now.since(sent)).unwrap_or(TimeDelta::MAX);
                let kind = &object.name().kind;
                self.telemetry.starts.record_ready(kind, took);
            }
        } else if let Some(due) = ready_due(object).filter(|due| *due > now.wall) {
            // An object whose deadline has passed was already queued or reported.
            timers.set(Timer::ReadyBy(id), due);
        }
    }

    /// Queues an object to be read if its deadline is `at` and it is not ready.
    pub(crate) fn queue_if_due(&mut self, id: Id, object: &Object, at: DateTime<Utc>) {
        if ready_due(object) == Some(at) {
            let object = object.name().clone();
            let namespace = object.namespace.clone();
            self.waiting.push(&namespace, NotReady { id, object });
        }
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
