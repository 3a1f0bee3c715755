//! When work on each object is due.

use std::sync::Arc;

use chrono::{DateTime, Utc};
use dayshift_cluster::{delays::Delays, write::Unavailable};
use tokio::time::Instant;

use crate::{
    ids::Id,
    objects::entry::Entry,
    queue::{
        lanes::{Lane, Lanes},
        work::HeldBy,
    },
    retry::{
        backoff::{Backoff, Key},
        room::Room,
    },
    send::{in_flight::InFlight, places::Places},
    time::scheduler::Scheduler,
};

/// The objects with planned work.
///
/// An object waits here for its boundary, then in a lane for a place, and after a failure for the
/// end of its hold. Its [`Work`](super::work::Work) says where it stands.
pub(crate) struct WorkQueue {
    /// The next boundary of each object, or the end of what holds it.
    pub(crate) boundaries: Scheduler<Id, DateTime<Utc>>,
    pub(crate) lanes: Lanes,
    pub(crate) backoff: Backoff,
    room: Room,
}

impl WorkQueue {
    /// An empty queue, which sends at most this many starts and stops of a namespace at once.
    pub(crate) fn new(max_in_flight: usize, seed: u64) -> Self {
        Self {
            boundaries: Scheduler::new(),
            lanes: Lanes::default(),
            backoff: Backoff::new(seed),
            room: Room::new(max_in_flight),
        }
    }

    /// Sets the time of an object's next boundary, or clears it.
    pub(crate) fn set_boundary(&mut self, id: Id, at: Option<DateTime<Utc>>) {
        match at {
            Some(at) => self.boundaries.set(id, at),
            None => self.boundaries.cancel(&id),
        }
    }

    /// A boundary of an object has fallen due: it goes before any less urgent work, and earlier
    /// refusals do not matter.
    pub(crate) fn fall_due(&mut self, id: Id, entry: &mut Entry, at: DateTime<Utc>, now: Instant) {
        if entry.work.mark_due(at, now) {
            self.backoff.clear(&Key::Object(id));
            self.push(id, entry, Lane::Transition);
        }
    }

    /// Queues an object in a lane, or in the slow one where its last request took too long.
    pub(crate) fn push(&mut self, id: Id, entry: &mut Entry, lane: Lane) {
        let lane = entry.work.lane(lane);
        entry.work.queue(lane);
        let is_retried = entry.work.failures() > 0;
        self.lanes
            .push(lane, &entry.object().namespace, id, is_retried);
    }

    /// Queues an adoption once the first list of its watch has ended, so as not to slow the list
    /// down.
    pub(crate) fn push_after_list(&mut self, id: Id, entry: &mut Entry) {
        entry.work.queue(Lane::Adoption);
        let namespace = &entry.object().namespace;
        self.lanes.hold(entry.watch, namespace, id);
    }

    /// Takes the next object of a lane that may be sent now.
    pub(crate) fn pop(&mut self, lane: Lane, in_flight: &InFlight, now: Instant) -> Option<Id> {
        if self.is_held(now) {
            return None;
        }
        let is_busy = self.lanes.has_transitions();
        let places = Places::of(in_flight, lane, self.room.size(), is_busy);
        if !places.is_one_free() {
            return None;
        }
        let may = |namespace: &Arc<str>| places.is_one_free_for(namespace);
        self.lanes.pop(lane, may)
    }

    /// Whether sending is stopped, because the server is away or too busy.
    pub(crate) fn is_held(&self, now: Instant) -> bool {
        self.backoff.is_held(&Key::Server, now)
    }

    /// Whether the permission allows a patch of an object now; otherwise the object waits.
    pub(crate) fn admit(&mut self, id: Id, entry: &mut Entry) -> bool {
        let admits = self.backoff.admit(entry.object(), id);
        if !admits {
            entry.work.hold_back(HeldBy::Permission, 0);
        }
        admits
    }

    /// There is nothing to write to an object.
    pub(crate) fn rest(&mut self, id: Id, entry: &mut Entry) {
        entry.work.clear_failures();
        self.backoff.withdraw(id);
    }

    /// Whether the user has edited an object since the last call, so that the cause of a failure
    /// may be gone.
    pub(crate) fn take_edit(&mut self, id: Id, entry: &mut Entry) -> bool {
        let is_edited = entry.work.take_edit();
        if is_edited {
            self.backoff.clear(&Key::Object(id));
        }
        is_edited
    }

    /// A write to an object has succeeded.
    pub(crate) fn succeeded(&mut self, id: Id, entry: &mut Entry) {
        entry.work.succeeded();
        self.backoff.clear(&Key::Object(id));
    }

    /// A write to an object has failed and is tried again later. Returns how many failed in a row.
    pub(crate) fn failed(
        &mut self,
        id: Id,
        entry: &mut Entry,
        delays: &Delays,
        now: Instant,
    ) -> u32 {
        let key = Key::Object(id);
        self.backoff.fail(key.clone(), delays, None, now);
        let failures = self.backoff.failures(&key);
        entry.work.hold_back(HeldBy::Failure, failures);
        failures
    }

    /// The permission to patch an object is missing, so that of all objects of its kind and
    /// namespace. Returns how many times in a row.
    pub(crate) fn forbidden(&mut self, id: Id, entry: &mut Entry, now: Instant) -> u32 {
        let failures = self.backoff.forbid(entry.object(), id, now);
        entry.work.hold_back(HeldBy::Permission, failures);
        failures
    }

    /// The server has answered.
    pub(crate) fn server_answered(&mut self, now: Instant) {
        self.room.answered();
        self.backoff.succeed(&Key::Server, now);
    }

    /// The server has failed: stops sending for a while. Requests that were under way together fail
    /// together: returns false if this is no new failure.
    pub(crate) fn server_failed(&mut self, why: &Unavailable, now: Instant) -> bool {
        let is_news = self
            .backoff
            .fail(Key::Server, &Delays::SERVER, why.retry_after, now);
        if is_news {
            self.room.failed(why.kind);
        }
        is_news
    }

    /// Removes all planned work on an object.
    pub(crate) fn remove(&mut self, id: Id) {
        self.boundaries.cancel(&id);
        self.backoff.remove(id);
    }
}
