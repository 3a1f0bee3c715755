//! The queues of objects that wait for a slot, and the requests in flight. Each priority class has a
//! queue and slots of its own, and namespaces take turns in each queue.

use std::{collections::HashMap, sync::Arc};

use crate::{
    ids::{Id, WatchId},
    object::{Object, work::Class},
    outbox::fair_queue::{Attempt, FairQueue},
};

pub(crate) mod fair_queue;
pub(crate) mod flight;

/// The objects that wait for a slot. An object that moves to another class remains in its old queue
/// too, so the caller of [`Self::pop`] has to check the current class.
#[derive(Debug, Default)]
pub(crate) struct Outbox {
    transitions: FairQueue<Id>,
    slow: FairQueue<Id>,
    adoptions: FairQueue<Id>,
    /// Adoptions that wait for the first list of their watch, so that they do not delay the list.
    after_list: HashMap<WatchId, Vec<(Arc<str>, Id)>>,
}

impl Outbox {
    /// Whether a request about an object can be sent without queuing: its class has a free slot and an
    /// empty queue.
    pub(crate) fn may_go(
        &self,
        class: Class,
        namespace: &str,
        slots: &Slots,
        window: usize,
    ) -> bool {
        let limits = limits(class, window, self.waiting_transitions());
        self.queue(class).is_empty() && slots.has_free_slot_for(class, limits, namespace)
    }

    /// Queues an object. A retry also lets newer objects of its namespace pass ([`FairQueue`]).
    pub(crate) fn push(&mut self, id: Id, object: &mut Object, class: Class) {
        object.work.mark_queued(class);
        let attempt = match object.work.failures() {
            0 => Attempt::First,
            _ => Attempt::Retry,
        };
        let namespace = &object.observed.object.namespace;
        self.queue_mut(class).queue(namespace, id, attempt);
    }

    /// Queues an adoption that waits until the first list of its watch is complete or has failed.
    pub(crate) fn push_after_list(&mut self, id: Id, object: &mut Object) {
        object.work.mark_queued(Class::Adoption);
        let waiting = self.after_list.entry(object.watch).or_default();
        waiting.push((object.name().namespace.clone(), id));
    }

    /// Queues the adoptions that waited for the first list of a watch.
    pub(crate) fn release(&mut self, watch: WatchId) {
        for (namespace, id) in self.after_list.remove(&watch).unwrap_or_default() {
            self.adoptions.push(&namespace, id);
        }
    }

    /// Takes the next object of a class, if there is a free slot for it.
    pub(crate) fn pop(&mut self, class: Class, slots: &Slots, window: usize) -> Option<Id> {
        let limits = limits(class, window, self.waiting_transitions());
        if !slots.has_free_slot(class, limits) {
            return None;
        }
        let may = |namespace: &Arc<str>| slots.has_free_slot_for(class, limits, namespace);
        self.queue_mut(class).pop(may)
    }

    /// Whether a start or a stop waits.
    pub(crate) const fn has_transitions(&self) -> bool {
        !self.transitions.is_empty()
    }

    /// Whether starts or stops wait, for [`limits`].
    pub(crate) const fn waiting_transitions(&self) -> WaitingTransitions {
        match self.has_transitions() {
            true => WaitingTransitions::Some,
            false => WaitingTransitions::None,
        }
    }

    /// The length of each queue, and the name of its class in the metrics.
    pub(crate) fn depths(&self) -> [(&'static str, usize); 3] {
        let after_list: usize = self.after_list.values().map(Vec::len).sum();
        [
            ("transition", self.transitions.len()),
            ("slow", self.slow.len()),
            ("adoption", self.adoptions.len() + after_list),
        ]
    }

    /// The queue of a class. Only the classes of writes have a queue here; the components that send other
    /// requests have queues of their own.
    const fn queue(&self, class: Class) -> &FairQueue<Id> {
        match class {
            Class::Transition => &self.transitions,
            Class::Slow => &self.slow,
            _ => &self.adoptions,
        }
    }

    const fn queue_mut(&mut self, class: Class) -> &mut FairQueue<Id> {
        match class {
            Class::Transition => &mut self.transitions,
            Class::Slow => &mut self.slow,
            _ => &mut self.adoptions,
        }
    }
}

/// The numbers of slots of one class: for all namespaces together, and for each namespace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Limits {
    pub(crate) total: usize,
    pub(crate) per_namespace: usize,
}

/// Whether starts or stops wait to be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WaitingTransitions {
    None,
    Some,
}

/// The slots of a class. `window` is the size of the AIMD window.
///
/// While starts and stops wait, adoptions and lookups have few slots, but at least one, because the
/// starts and stops of another namespace might never end. Lookups are also limited because a page of Jobs can
/// have 8 MiB.
pub(crate) const fn limits(class: Class, window: usize, waiting: WaitingTransitions) -> Limits {
    let is_busy = matches!(waiting, WaitingTransitions::Some);
    match class {
        Class::Transition => Limits {
            total: window + window / 4,
            per_namespace: window,
        },
        Class::Slow | Class::Event => shared(window),
        Class::Adoption if is_busy => shared(at_least_one(window / 8)),
        Class::Adoption => shared(at_least_one(window / 2)),
        Class::Managers | Class::NotReady if is_busy => unshared(1),
        // A namespace can use only one of them, and its list of Jobs can be long.
        Class::Jobs if is_busy => unshared(2),
        Class::Managers | Class::Jobs | Class::NotReady => unshared(4),
        Class::Server => unshared(usize::MAX),
    }
}

/// Limits each namespace to three quarters of the slots.
const fn shared(total: usize) -> Limits {
    Limits {
        total,
        per_namespace: total - total / 4,
    }
}

const fn unshared(total: usize) -> Limits {
    Limits {
        total,
        per_namespace: total,
    }
}

const fn at_least_one(slots: usize) -> usize {
    if slots == 0 { 1 } else { slots }
}

/// The slots that are taken, in total and by each namespace.
#[derive(Debug, Default)]
pub(crate) struct Slots {
    taken: SlotCounts,
    taken_by: HashMap<Arc<str>, SlotCounts>,
}

type SlotCounts = [usize; Class::COUNT];

impl Slots {
    /// The number of slots of a class that are taken.
    pub(crate) const fn taken(&self, class: Class) -> usize {
        self.taken[class as usize]
    }

    /// The number of slots of a class that a namespace has taken.
    fn taken_by(&self, class: Class, namespace: &str) -> usize {
        let taken = self.taken_by.get(namespace);
        taken.map_or(0, |taken| taken[class as usize])
    }

    /// Whether a slot is free for at least some namespaces.
    pub(crate) const fn has_free_slot(&self, class: Class, limits: Limits) -> bool {
        self.taken(class) < limits.total
    }

    /// Whether a slot is free for this namespace.
    pub(crate) fn has_free_slot_for(&self, class: Class, limits: Limits, namespace: &str) -> bool {
        self.has_free_slot(class, limits) && self.taken_by(class, namespace) < limits.per_namespace
    }

    pub(super) fn take(&mut self, class: Class, namespace: &Arc<str>) {
        self.taken[class as usize] += 1;
        if let Some(taken) = self.taken_by.get_mut(namespace) {
            taken[class as usize] += 1;
        } else {
            let mut taken = SlotCounts::default();
            taken[class as usize] = 1;
            self.taken_by.insert(namespace.clone(), taken);
        }
    }

    pub(super) fn free(&mut self, class: Class, namespace: &Arc<str>) {
        self.taken[class as usize] -= 1;
        if let Some(taken) = self.taken_by.get_mut(namespace) {
            taken[class as usize] -= 1;
            if *taken == SlotCounts::default() {
                self.taken_by.remove(namespace);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn adoptions_and_lookups_have_few_slots_while_starts_and_stops_wait() {
        for (class, free, busy) in [
            (Class::Transition, (40, 32), (40, 32)),
            (Class::Slow, (32, 24), (32, 24)),
            (Class::Adoption, (16, 12), (4, 3)),
            (Class::Managers, (4, 4), (1, 1)),
            (Class::Jobs, (4, 4), (2, 2)),
            (Class::NotReady, (4, 4), (1, 1)),
        ] {
            let all = [
                (WaitingTransitions::None, free),
                (WaitingTransitions::Some, busy),
            ];
            for (waiting, (total, per_namespace)) in all {
                let expected = Limits {
                    total,
                    per_namespace,
                };
                assert_eq!(
                    limits(class, 32, waiting),
                    expected,
                    "{class:?} {waiting:?}"
                );
            }
        }
        assert_eq!(
            limits(Class::Adoption, 1, WaitingTransitions::Some).total,
            1,
            "there is at least one slot"
        );
    }

    #[test]
    fn no_namespace_takes_all_slots() {
        let (dev, ops): (Arc<str>, Arc<str>) = ("dev".into(), "ops".into());
        let mut slots = Slots::default();
        let limits = limits(Class::Transition, 4, WaitingTransitions::None);
        for _ in 0..4 {
            assert!(slots.has_free_slot_for(Class::Transition, limits, &dev));
            slots.take(Class::Transition, &dev);
        }
        assert!(!slots.has_free_slot_for(Class::Transition, limits, &dev));
        assert!(slots.has_free_slot_for(Class::Transition, limits, &ops));
        slots.take(Class::Transition, &ops);
        assert!(!slots.has_free_slot(Class::Transition, limits));
        for _ in 0..4 {
            slots.free(Class::Transition, &dev);
        }
        slots.free(Class::Transition, &ops);
        assert!(slots.taken_by.is_empty() && slots.taken(Class::Transition) == 0);
    }
}
