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

    /// Replaces an object of `old` bytes by one of `new` bytes. If the new one exceeds a bound, only the old
    /// one is released, and the result is false.
    pub(crate) fn replace(&mut self, namespace: &Arc<str>, old: usize, new: usize) -> bool {
        let of_namespace = self.by_namespace.get(namespace).copied();
        let others = of_namespace.unwrap_or_default().saturating_sub(old);
        self.all = self.all.saturating_sub(old);
        let free = MAX_ALL.saturating_sub(self.all);
        let fits = others + new <= MAX_OF_NAMESPACE.min(free);
        let kept = if fits { new } else { 0 };
        self.all += kept;
        match others + kept {
            0 => self.by_namespace.remove(namespace),
            bytes => self.by_namespace.insert(Arc::clone(namespace), bytes),
        };
        fits
    }

    /// Releases an object.
    pub(crate) fn release(&mut self, namespace: &Arc<str>, bytes: usize) {
        self.replace(namespace, bytes, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn namespace_over_its_budget_does_not_reduce_that_of_others() {
        let mut budget = MemoryBudget::default();
        let [greedy, team] = ["greedy", "team"].map(Arc::from);
        let kept = (0..1_700).filter(|_| budget.replace(&greedy, 0, 8 << 10));
        assert_eq!(kept.count(), 512);
        assert!(budget.replace(&team, 0, 8 << 10));
        // A larger version of an object is not kept, and a smaller one is.
        assert!(!budget.replace(&greedy, 8 << 10, 9 << 10));
        assert!(budget.replace(&greedy, 0, 7 << 10));
    }

    #[test]
    fn many_namespaces_leave_memory_to_a_new_one() {
        let mut budget = MemoryBudget::default();
        for number in 0..1_000 {
            let namespace = Arc::from(format!("ns-{number}"));
            while budget.replace(&namespace, 0, 64 << 10) {}
        }
        assert!(budget.all <= MAX_ALL, "{}", budget.all);
        let bytes: usize = budget.by_namespace.values().sum();
        assert_eq!(bytes, budget.all);
    }

    #[test]
    fn released_objects_occupy_no_memory() {
        let mut budget = MemoryBudget::default();
        let team = Arc::from("team");
        assert!(budget.replace(&team, 0, 100));
        budget.release(&team, 100);
        assert_eq!((budget.all, budget.by_namespace.len()), (0, 0));
    }
}
