//! Bounds on the memory for observed objects, by namespace and in total, so that the users of one namespace
//! cannot use up the memory of the activator.

use std::{collections::HashMap, sync::Arc};

/// The maximum for the objects of one namespace in bytes: more than 1,000 workloads with their Services.
const MAX_OF_NAMESPACE: usize = 4 << 20;

/// The maximum for all objects in bytes.
const MAX_ALL: usize = 64 << 20;

/// Counts the bytes of the objects that are kept. A namespace may have at most as many as are still free, so
/// it always leaves some to every other namespace.
#[derive(Debug, Default)]
pub(crate) struct MemoryBudget {
    by_namespace: HashMap<Arc<str>, usize>,
    all: usize,
}

impl MemoryBudget {
    /// The size of the largest object that would fit.
    pub(crate) fn room(&self, namespace: &str) -> usize {
        let used = self
            .by_namespace
            .get(namespace)
            .copied()
            .unwrap_or_default();
        let free = MAX_ALL.saturating_sub(self.all);
        MAX_OF_NAMESPACE.min(free).saturating_sub(used)
    }

    /// Adds an object. Returns `false` if it exceeds a bound.
    pub(crate) fn add(&mut self, namespace: &Arc<str>, bytes: usize) -> bool {
        let fits = bytes <= self.room(namespace);
        if fits {
            self.all += bytes;
            *self.by_namespace.entry(Arc::clone(namespace)).or_default() += bytes;
        }
        fits
    }

    /// Releases an object that was added.
    pub(crate) fn release(&mut self, namespace: &str, bytes: usize) {
        self.all -= bytes;
        if let Some(used) = self.by_namespace.get_mut(namespace) {
            *used -= bytes;
            if *used == 0 {
                self.by_namespace.remove(namespace);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn namespace_over_its_budget_does_not_reduce_that_of_others() {
        let mut budget = MemoryBudget::default();
        let [greedy, team] = ["greedy", "team"].map(Arc::from);
        let kept = (0..1_700).filter(|_| budget.add(&greedy, 8 << 10));
        assert_eq!(kept.count(), 512);
        assert!(budget.add(&team, 8 << 10));
        // A larger version of an object is not kept, and a smaller one is.
        budget.release(&greedy, 8 << 10);
        assert!(!budget.add(&greedy, 9 << 10) && budget.add(&greedy, 7 << 10));
    }

    #[test]
    fn many_namespaces_leave_memory_to_a_new_one() {
        let mut budget = MemoryBudget::default();
        for number in 0..1_000 {
            let namespace = Arc::from(format!("ns-{number}"));
            while budget.add(&namespace, 64 << 10) {}
        }
        assert!(budget.all <= MAX_ALL, "{}", budget.all);
        let bytes: usize = budget.by_namespace.values().sum();
        assert_eq!(bytes, budget.all);
    }

    #[test]
    fn released_objects_occupy_no_memory() {
        let mut budget = MemoryBudget::default();
        let team = Arc::from("team");
        assert!(budget.add(&team, 100));
        budget.release(&team, 100);
        assert_eq!((budget.all, budget.by_namespace.len()), (0, 0));
    }
}
