//! The slots of each priority class: how many requests can be in flight, in total and by namespace.

use std::{collections::HashMap, sync::Arc};

use crate::object::work::Class;

/// The numbers of slots of one class: for all namespaces together, and for each namespace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Limits {
    pub(crate) total: usize,
    pub(crate) per_namespace: usize,
}

/// The slots of a class. `window` is the size of the AIMD window, and `is_busy` is whether starts or
/// stops wait.
///
/// While starts and stops wait, adoptions and lookups have few slots, but at least one, because the
/// starts and stops of another namespace might never end. Only reads about readiness have none. Lookups
/// are also limited because a page of Jobs can have 8 MiB.
pub(crate) const fn limits(class: Class, window: usize, is_busy: bool) -> Limits {
    match class {
        Class::Transition => Limits {
            total: window + window / 4,
            per_namespace: window,
        },
        Class::Slow | Class::Event => shared(window),
        Class::Adoption if is_busy => shared(at_least_one(window / 8)),
        Class::Adoption => shared(at_least_one(window / 2)),
        Class::Managers | Class::Jobs if is_busy => unshared(1),
        Class::NotReady if is_busy => unshared(0),
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
            (Class::Jobs, (4, 4), (1, 1)),
            (Class::NotReady, (4, 4), (0, 0)),
        ] {
            for (is_busy, (total, per_namespace)) in [(false, free), (true, busy)] {
                let expected = Limits {
                    total,
                    per_namespace,
                };
                assert_eq!(limits(class, 32, is_busy), expected, "{class:?} {is_busy}");
            }
        }
        assert_eq!(limits(Class::Adoption, 1, true).total, 1, "at least one");
    }

    #[test]
    fn no_namespace_takes_all_slots() {
        let (dev, ops): (Arc<str>, Arc<str>) = ("dev".into(), "ops".into());
        let mut slots = Slots::default();
        let limits = limits(Class::Transition, 4, false);
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
