//! Objects that were started, until they are ready or should be: if they are not, one read and one
//! Event.

use std::{collections::VecDeque, sync::Arc, time::Duration};

use chrono::{DateTime, TimeDelta, Utc};
use dayshift_cluster::{decode::WithManagers, write::ReadError};
use dayshift_workload::{ReadyForm, WorkloadRef, events::EventText};

use crate::{
    clock::{
        guard::Now,
        timers::{Timer, Timers},
    },
    events::Events,
    ids::Id,
    object::Object,
    telemetry::metrics::Telemetry,
};

/// An object that is not ready and should be, to be read for the reason.
#[derive(Clone, Debug)]
pub(crate) struct NotReady {
    pub(crate) id: Id,
    pub(crate) object: WorkloadRef,
}

/// Objects that were started, until they are ready or should be.
///
/// By when each should be ready is in its labels: a controller that restarts knows it, too, and one
/// that starts after that time does not report it a second time.
pub(crate) struct Readiness {
    waiting: VecDeque<NotReady>,
    telemetry: Arc<Telemetry>,
}

impl Readiness {
    /// None yet.
    pub(crate) const fn new(telemetry: Arc<Telemetry>) -> Self {
        Self {
            waiting: VecDeque::new(),
            telemetry,
        }
    }

    /// A transition was made, by a patch that was sent then.
    pub(crate) fn transitioned(
        id: Id,
        object: &mut Object,
        timers: &mut Timers,
        is_start: bool,
        sent: Duration,
    ) {
        timers.cancel(Timer::ReadyBy(id));
        let shows_readiness = object.name().kind.ready_form() != ReadyForm::Nowhere;
        if is_start && shows_readiness {
            object.start().sent = Some(sent);
        } else if let Some(start) = &mut object.start {
            start.sent = None;
            object.free_start();
        }
    }

    /// Applies how much of an object is ready.
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
            // One that is due already was queued, or was reported.
            timers.set(Timer::ReadyBy(id), due);
        }
    }

    /// An object should be ready by now: queues it to be read for the reason, if it is not.
    pub(crate) fn due(&mut self, id: Id, object: &Object, at: DateTime<Utc>) {
        if ready_due(object) == Some(at) {
            let object = object.name().clone();
            self.waiting.push_back(NotReady { id, object });
        }
    }

    /// Takes the next object to read.
    pub(crate) fn pop(&mut self) -> Option<NotReady> {
        self.waiting.pop_front()
    }

    /// Reports why an object is not ready, if that is known now.
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
        let event = EventText::not_ready(&known.observed, within, why);
        tracing::warn!(kind = %object.kind, %object, "{}", event.text);
        events.announce(object, event, now);
    }
}

/// By when an object should be ready.
fn ready_due(object: &Object) -> Option<DateTime<Utc>> {
    object.observed.ready_due(object.parsed.ready_within())
}
