//! The start slots (`--max-starting`), and the starts that wait for one.

use std::{
    collections::{BTreeMap, HashMap},
    num::NonZeroUsize,
    sync::Arc,
};

use chrono::{DateTime, TimeDelta, Utc};
use dayshift_workload::DueStart;

use crate::{
    clock::scheduler::Scheduler,
    ids::Id,
    object::{Object, Slot},
    outbox::fair_queue::FairQueue,
    store::{Progress, Store},
};

/// The start slots. A started workload occupies a slot until it is ready, at most for `ready-within`. A
/// free slot goes to a namespace that occupies the fewest.
///
/// Slots are not stored in the cluster. After a restart, the controller counts the workloads that are
/// starting according to the first lists.
pub(super) struct StartSlots {
    /// The number of slots; `None` for no limit.
    pub(super) max: Option<NonZeroUsize>,
    /// Whether the first lists have shown which workloads are starting. Before, no slot is given.
    is_open: bool,
    taken: usize,
    /// The number of slots that each namespace occupies.
    held: HashMap<Arc<str>, usize>,
    /// The waiting starts that users have requested. They precede scheduled starts if their namespaces
    /// occupy equally many slots.
    requested: FairQueue<(Id, u64)>,
    scheduled: FairQueue<(Id, u64)>,
    /// The number of waiting starts in each namespace.
    waiting: BTreeMap<Arc<str>, usize>,
    last_number: u64,
    /// When each slot of a workload expires.
    pub(super) ends: Scheduler<Id, DateTime<Utc>>,
}

impl StartSlots {
    /// Creates the slots, of which none is taken. `None` for no limit.
    pub(super) fn new(max: Option<NonZeroUsize>) -> Self {
        Self {
            max,
            is_open: false,
            taken: 0,
            held: HashMap::new(),
            requested: FairQueue::default(),
            scheduled: FairQueue::default(),
            waiting: BTreeMap::new(),
            last_number: 0,
            ends: Scheduler::new(),
        }
    }

    /// Allows slots to be given if `is_complete` returns that all first lists have ended.
    pub(super) fn open_if(&mut self, is_complete: impl FnOnce() -> bool) {
        self.is_open = self.is_open || is_complete();
    }

    /// The number of waiting starts by namespace.
    pub(super) const fn waiting(&self) -> &BTreeMap<Arc<str>, usize> {
        &self.waiting
    }

    fn has_free_slot(&self) -> bool {
        self.is_open && self.max.is_none_or(|max| self.taken < max.get())
    }

    fn take(&mut self, namespace: &Arc<str>) {
        self.taken += 1;
        *self.held.entry(Arc::clone(namespace)).or_default() += 1;
    }

    /// Takes the next start from a queue. Namespaces that occupy the fewest slots come first, in turn.
    /// Among them, starts that users have requested precede scheduled ones.
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

    /// Takes a slot for a start, or queues the start and returns `false`.
    pub(super) fn acquire(&mut self, id: Id, object: &mut Object, start: DueStart) -> bool {
        if object.slot().is_some() {
            object.start().slot = Some(Slot::Start);
            self.ends.cancel(&id);
            return true;
        }
        if self.has_free_slot() && self.waiting.is_empty() {
            self.take(&object.name().namespace);
            object.start().slot = Some(Slot::Start);
            object.is_past_start = false;
            return true;
        }
        if object.start().queued.is_none() {
            self.last_number += 1;
            object.start().queued = Some(self.last_number);
            let queue = match start.is_request {
                true => &mut self.requested,
                false => &mut self.scheduled,
            };
            let namespace = &object.name().namespace;
            queue.push(namespace, (id, self.last_number));
            *self.waiting.entry(Arc::clone(namespace)).or_default() += 1;
        }
        false
    }

    /// Gives a free slot to the next waiting start, which should then be decided about again.
    pub(super) fn grant(&mut self, store: &mut Store) -> Option<Id> {
        while self.has_free_slot() {
            let (id, number) = self.pop()?;
            // Starts that no longer wait are still in the queue, and are skipped.
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

    /// Removes a start from the queue for a slot, if it is there.
    pub(super) fn leave_queue(&mut self, object: &mut Object) {
        let start = object.start.as_mut();
        if start.and_then(|start| start.queued.take()).is_none() {
            return;
        }
        let namespace = &object.name().namespace;
        if let Some(count) = self.waiting.get_mut(namespace) {
            *count -= 1;
            if *count == 0 {
                self.waiting.remove(namespace);
            }
        }
    }

    /// Whether a workload without a slot takes one because its labels show that it is starting.
    ///
    /// Users can write these labels. So a start that this process has not sent takes only a free slot for which
    /// no start waits. After a restart, waiting starts get slots only once all first lists have ended.
    fn counts_start(&self, object: &Object) -> bool {
        let start = object.start.as_ref();
        let is_ours = start.is_some_and(|start| start.sent.is_some());
        let has_free_slot = self.max.is_none_or(|max| self.taken < max.get());
        is_ours || has_free_slot && (self.waiting.is_empty() || !self.is_open)
    }

    /// Applies the progress of a workload, which can occupy a slot for the duration `within`.
    pub(super) fn observe(
        &mut self,
        id: Id,
        object: &mut Object,
        within: TimeDelta,
        now: DateTime<Utc>,
    ) {
        let slot = object.slot();
        let begun = match (Progress::new(object), slot) {
            // If the start was sent late, the duration begins at that time.
            (Progress::Starting(_), Some(Slot::Start | Slot::Granted)) => now,
            (_, Some(Slot::Start | Slot::Granted)) => return,
            (Progress::Stopped, _) => {
                object.is_past_start = false;
                if let Some(start) = &mut object.start {
                    start.sent = None;
                }
                return self.free(id, object);
            }
            (Progress::Starting(_) | Progress::NotReady, Some(Slot::Workload)) => return,
            (Progress::Ready | Progress::NotReady, _) => {
                object.is_past_start = true;
                return self.free(id, object);
            }
            // A wake of a running workload takes no slot.
            (Progress::Starting(_), None) if object.is_past_start => return,
            (Progress::Starting(since), None) if self.counts_start(object) => since.min(now),
            (Progress::Starting(_), None) => return,
        };
        match begun.checked_add_signed(within).filter(|end| *end > now) {
            Some(end) => {
                if slot.is_none() {
                    self.take(&object.name().namespace);
                }
                object.start().slot = Some(Slot::Workload);
                self.ends.set(id, end);
            }
            None => {
                object.is_past_start = true;
                self.free(id, object);
            }
        }
    }

    /// Frees the slot of a start that was not made.
    pub(super) fn release_slot(&mut self, id: Id, object: &mut Object) {
        if let Some(Slot::Start | Slot::Granted) = object.slot() {
            self.free(id, object);
        }
    }

    /// Frees the slot of an object, if it has one.
    pub(super) fn free(&mut self, id: Id, object: &mut Object) {
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
            self.ends.cancel(&id);
        }
    }
}
