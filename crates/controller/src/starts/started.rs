//! Objects that were started, until they are ready or should be: one read, one Event where they are
//! not.

use std::{
    collections::{HashMap, VecDeque},
    sync::Arc,
};

use chrono::{DateTime, TimeDelta, Utc};
use dayshift_cluster::{decode::WithManagers, write::ReadError};
use dayshift_workload::{ReadyForm, WorkloadRef, events::EventText};
use tokio::time::Instant;

use crate::{
    ids::Id,
    objects::{entry::Entry, index::Index},
    report::reporter::Reporter,
    send::in_flight::NotReady,
    telemetry::metrics::Telemetry,
    time::scheduler::Scheduler,
};

/// How many objects are read at once for why they are not ready.
const PLACES: usize = 4;

/// Objects that were started, until they are ready or should be.
///
/// By when each should be ready is in its labels: a controller that begins later knows it too, and one
/// that begins after that says nothing of it a second time.
pub(crate) struct Starts {
    due: Scheduler<Id, DateTime<Utc>>,
    /// When the starts of this process were sent.
    sent: HashMap<Id, Instant>,
    waiting: VecDeque<NotReady>,
    in_flight: usize,
    telemetry: Arc<Telemetry>,
}

impl Starts {
    /// None yet.
    pub(crate) fn new(telemetry: Arc<Telemetry>) -> Self {
        Self {
            due: Scheduler::new(),
            sent: HashMap::new(),
            waiting: VecDeque::new(),
            in_flight: 0,
            telemetry,
        }
    }

    /// A start of that object was sent then, and carried out.
    pub(crate) fn started(&mut self, id: Id, object: &WorkloadRef, sent: Instant) {
        if object.kind.ready_form() != ReadyForm::Nowhere {
            self.sent.insert(id, sent);
        }
    }

    /// Takes in how much of an object is ready.
    pub(crate) fn observe(&mut self, id: Id, entry: &Entry, now: (DateTime<Utc>, Instant)) {
        let observed = &entry.observed;
        if observed.is_ready() == Some(true) {
            if let Some(sent) = self.sent.remove(&id) {
                let took = TimeDelta::from_std(now.1.saturating_duration_since(sent));
                let took = took.unwrap_or(TimeDelta::MAX);
                self.telemetry.starts.ready(observed.object.kind, took);
            }
        } else if let Some(due) = ready_due(entry).filter(|due| *due > now.0) {
            // One that is due already was taken, or was reported.
            self.due.set(id, due);
        }
    }

    /// When the next object should be ready.
    pub(crate) fn next(&self) -> Option<DateTime<Utc>> {
        self.due.next()
    }

    /// Queues objects that should be ready by now and are not, at most so many, to be read for the
    /// reason.
    pub(crate) fn find_due(&mut self, max: usize, index: &Index, now: DateTime<Utc>) {
        for _ in 0..max {
            let Some((id, due)) = self.due.take_due(now) else {
                break;
            };
            if let Some(entry) = index.get(id)
                && ready_due(entry) == Some(due)
            {
                let object = entry.object().clone();
                self.waiting.push_back(NotReady { id, object });
            }
        }
    }

    /// The next object to read, if there is a place for it: none beside starts and stops.
    pub(crate) fn pop(&mut self, is_busy: bool) -> Option<NotReady> {
        if is_busy || self.in_flight >= PLACES {
            return None;
        }
        let next = self.waiting.pop_front()?;
        self.in_flight += 1;
        Some(next)
    }

    /// One that was read is no longer under way.
    pub(crate) const fn ended(&mut self) {
        self.in_flight = self.in_flight.saturating_sub(1);
    }

    /// The object is stopped, or not known any more.
    pub(crate) fn remove(&mut self, id: Id) {
        self.due.cancel(&id);
        self.sent.remove(&id);
    }

    /// Takes in why an object is not ready, if that is known now, and reports it.
    pub(crate) fn finish(
        &mut self,
        not_ready: &NotReady,
        result: &Result<WithManagers, ReadError>,
        index: &Index,
        reporter: &mut Reporter,
    ) {
        self.ended();
        let object = &not_ready.object;
        let why = match result {
            Ok(managed) if managed.workload.uid() != &*object.uid => return,
            Ok(managed) => managed.complaint(),
            Err(ReadError::Gone) => return,
            Err(error) => {
                tracing::debug!(kind = %object.kind, %object, %error, "cannot read why it is not ready");
                None
            }
        };
        let entry = index.get(not_ready.id);
        let Some(entry) = entry.filter(|it| ready_due(it).is_some()) else {
            return;
        };
        let within = entry.parsed.ready_within();
        let event = EventText::not_ready(&entry.observed, within, why);
        tracing::warn!(kind = %object.kind, %object, "{}", event.text);
        reporter.announce(object, event);
    }
}

/// By when an object should be ready.
fn ready_due(entry: &Entry) -> Option<DateTime<Utc>> {
    entry.observed.ready_due(entry.parsed.ready_within())
}
