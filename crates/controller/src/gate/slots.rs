//! How many workloads may be starting at once (`--max-starting`), and the starts that wait for that.

use std::{
    collections::{BTreeMap, HashMap},
    num::NonZeroUsize,
    sync::Arc,
};

use chrono::{DateTime, TimeDelta, Utc};

use crate::{
    clock::timers::{Timer, Timers},
    ids::Id,
    object::{Object, start::Slot},
    outbox::fair_queue::FairQueue,
    store::{Progress, Store},
};

/// The start slots. A workload that was started has one until it is ready, for as long as its start
/// may take. A free slot goes to a namespace that holds the fewest.
///
/// Nothing of this is stored in the cluster: a controller that restarts counts what the watches show.
pub(super) struct StartSlots {
    max: Option<NonZeroUsize>,
    /// Whether enough is known about the workloads that are starting.
    is_open: bool,
    taken: usize,
    /// How many slots each namespace holds.
    held: HashMap<Arc<str>, usize>,
    /// The starts that a user asks for, which go first among namespaces that hold as many.
    requested: FairQueue<(Id, u64)>,
    scheduled: FairQueue<(Id, u64)>,
    /// How many starts of each namespace wait.
    waiting: BTreeMap<Arc<str>, usize>,
    last_number: u64,
}

/// The outcome when a start asks for a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SlotOutcome {
    /// It has a slot.
    Taken,
    /// It has a slot, for which it has waited.
    TakenAfterWait,
    /// It waits.
    Queued {
        /// Whether it begins to.
        is_new: bool,
    },
}

impl StartSlots {
    /// Nothing is starting yet, and at most so many workloads may be.
    pub(super) fn new(max: Option<NonZeroUsize>) -> Self {
        Self {
            max,
            is_open: false,
            taken: 0,
            held: HashMap::new(),
            requested: FairQueue::new(),
            scheduled: FairQueue::new(),
            waiting: BTreeMap::new(),
            last_number: 0,
        }
    }

    /// How many workloads may be starting; `None` for any number.
    pub(super) const fn max(&self) -> Option<NonZeroUsize> {
        self.max
    }

    /// Everything that is starting was shown, if `is_shown` holds: then starts may have slots.
    pub(super) fn open(&mut self, is_shown: impl FnOnce() -> bool) {
        self.is_open = self.is_open || is_shown();
    }

    /// How many starts wait, by namespace.
    pub(super) const fn waiting(&self) -> &BTreeMap<Arc<str>, usize> {
        &self.waiting
    }

    fn is_one_free(&self) -> bool {
        self.is_open && self.max.is_none_or(|max| self.taken < max.get())
    }

    fn take(&mut self, namespace: &Arc<str>) {
        self.taken += 1;
        *self.held.entry(Arc::clone(namespace)).or_default() += 1;
    }

    /// Takes the next start out of a queue: of the namespaces that hold the fewest slots, one that a
    /// user asks for before those of schedules, and the namespaces in turn.
    fn pop(&mut self) -> Option<(Id, u64)> {
        let held = |namespace: &Arc<str>| self.held.get(namespace).copied().unwrap_or_default();
        let least = |queue: &FairQueue<_>| queue.namespaces().map(held).min();
        let (requested, scheduled) = (least(&self.requested), least(&self.scheduled));
        let least = requested.into_iter().chain(scheduled).min()?;
        let queue = match requested {
            Some(requested) if requested == least => &mut self.requested,
            _ => &mut self.scheduled,
        };
        queue.pop(|namespace| held(namespace) == least)
    }

    /// Takes a slot for a start, or queues it.
    pub(super) fn acquire(
        &mut self,
        id: Id,
        object: &mut Object,
        timers: &mut Timers,
        is_request: bool,
    ) -> SlotOutcome {
        if let Some(slot) = object.start.as_ref().and_then(|start| start.slot) {
            object.start().slot = Some(Slot::Start);
            timers.cancel(Timer::SlotEnds(id));
            return match slot {
                Slot::Granted => SlotOutcome::TakenAfterWait,
                Slot::Start | Slot::Workload => SlotOutcome::Taken,
            };
        }
        if self.is_one_free() && self.waiting.is_empty() {
            self.take(&object.name().namespace);
            object.start().slot = Some(Slot::Start);
            object.is_past_start = false;
            return SlotOutcome::Taken;
        }
        if object.start().queued.is_some() {
            return SlotOutcome::Queued { is_new: false };
        }
        self.last_number += 1;
        object.start().queued = Some(self.last_number);
        let queue = match is_request {
            true => &mut self.requested,
            false => &mut self.scheduled,
        };
        let namespace = &object.name().namespace;
        queue.push(namespace, (id, self.last_number));
        *self.waiting.entry(Arc::clone(namespace)).or_default() += 1;
        SlotOutcome::Queued { is_new: true }
    }

    /// Gives a free slot to the next start that waits. It should be decided about once more.
    pub(super) fn grant(&mut self, store: &mut Store) -> Option<Id> {
        while self.is_one_free() {
            let (id, number) = self.pop()?;
            // One that no longer waits is left in its queue.
            let Some(object) = store.get_unpublished(id) else {
                continue;
            };
            let start = object.start.as_ref();
            if start.is_none_or(|start| start.queued != Some(number)) {
                continue;
            }
            self.leave_queue(object);
            object.start().slot = Some(Slot::Granted);
            object.is_past_start = false;
            self.take(&object.name().namespace);
            return Some(id);
        }
        None
    }

    /// Takes a start out of the queue; returns whether it waited.
    pub(super) fn leave_queue(&mut self, object: &mut Object) -> bool {
        let start = object.start.as_mut();
        if start.and_then(|start| start.queued.take()).is_none() {
            return false;
        }
        let namespace = &object.name().namespace;
        if let Some(count) = self.waiting.get_mut(namespace) {
            *count -= 1;
            if *count == 0 {
                self.waiting.remove(namespace);
            }
        }
        true
    }

    /// Applies how far a workload has come, and how long its start may take.
    pub(super) fn observe(
        &mut self,
        id: Id,
        object: &mut Object,
        timers: &mut Timers,
        within: TimeDelta,
        now: DateTime<Utc>,
    ) {
        let slot = object.start.as_ref().and_then(|start| start.slot);
        let begun = match (Progress::new(object), slot) {
            // A start that was sent late has its whole time from then on.
            (Progress::Starting(since), Some(Slot::Start | Slot::Granted)) => since.max(now),
            (_, Some(Slot::Start | Slot::Granted)) => return,
            (Progress::Stopped, _) => {
                object.is_past_start = false;
                return self.free(id, object, timers);
            }
            (Progress::Starting(_) | Progress::NotReady, Some(Slot::Workload)) => return,
            (Progress::Ready | Progress::NotReady, _) => {
                object.is_past_start = true;
                return self.free(id, object, timers);
            }
            // A wake of a workload that runs anyway is no start.
            (Progress::Starting(_), None) if object.is_past_start => return,
            (Progress::Starting(since), None) => since,
        };
        match begun.checked_add_signed(within).filter(|end| *end > now) {
            Some(end) => {
                if slot.is_none() {
                    self.take(&object.name().namespace);
                }
                object.start().slot = Some(Slot::Workload);
                timers.set(Timer::SlotEnds(id), end);
            }
            None => {
                object.is_past_start = true;
                self.free(id, object, timers);
            }
        }
    }

    /// A start is not carried out for now: gives its slot back.
    pub(super) fn release_slot(&mut self, id: Id, object: &mut Object, timers: &mut Timers) {
        let slot = object.start.as_ref().and_then(|start| start.slot);
        if let Some(Slot::Start | Slot::Granted) = slot {
            self.free(id, object, timers);
        }
    }

    /// Frees the slot of an object, if it has one.
    pub(super) fn free(&mut self, id: Id, object: &mut Object, timers: &mut Timers) {
        let start = object.start.as_mut();
        if start.and_then(|start| start.slot.take()).is_some() {
            self.taken -= 1;
            let namespace = &object.name().namespace;
            if let Some(held) = self.held.get_mut(namespace) {
                *held -= 1;
                if *held == 0 {
                    self.held.remove(namespace);
                }
            }
            timers.cancel(Timer::SlotEnds(id));
        }
    }
}
