//! What is due when: boundaries by the wall clock, retries by time that no step touches.

use chrono::{DateTime, Utc};
use tokio::time::Instant;

use crate::controller::ids::Id;
use crate::controller::reconcile::scheduler::Scheduler;

/// When each object is looked at again.
#[derive(Default)]
pub(in crate::controller) struct Due {
    /// The next boundary of each object, or the end of what holds it.
    boundaries: Scheduler<Id, DateTime<Utc>>,
    /// The next try of each object that backs off.
    retries: Scheduler<Id, Instant>,
}

impl Due {
    /// Lets a boundary of the object be due then, or none.
    pub(in crate::controller) fn set_boundary(&mut self, id: Id, at: Option<DateTime<Utc>>) {
        match at {
            Some(at) => self.boundaries.set(id, at),
            None => self.boundaries.cancel(id),
        }
    }

    /// Lets the object be tried again then.
    pub(in crate::controller) fn set_retry(&mut self, id: Id, at: Instant) {
        self.retries.set(id, at);
    }

    /// Lets nothing of the object be due.
    pub(in crate::controller) fn cancel(&mut self, id: Id) {
        self.boundaries.cancel(id);
        self.retries.cancel(id);
    }

    /// Takes one object whose boundary is due, and the boundary.
    pub(in crate::controller) fn take_boundary(
        &mut self,
        now: DateTime<Utc>,
    ) -> Option<(Id, DateTime<Utc>)> {
        self.boundaries.take_due(now)
    }

    /// Takes one object that is to be tried again.
    pub(in crate::controller) fn take_retry(&mut self, now: Instant) -> Option<Id> {
        self.retries.take_due(now).map(|(id, _)| id)
    }

    /// The soonest boundary of all.
    pub(in crate::controller) fn next_boundary(&self) -> Option<DateTime<Utc>> {
        self.boundaries.next()
    }

    /// The soonest retry of all.
    pub(in crate::controller) fn next_retry(&self) -> Option<Instant> {
        self.retries.next()
    }
}
