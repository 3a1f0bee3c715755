//! Bounds on the memory for observed objects and for request heads, by namespace and in total, so that the users of
//! one namespace cannot use up the memory of the activator.

use std::{
    collections::HashMap,
    ops::Deref,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

/// The maximum for the objects of one namespace in bytes: more than 1,000 workloads with their Services.
const MAX_OF_NAMESPACE: usize = 4 << 20;

/// The maximum for all objects in bytes.
const MAX_ALL: usize = 64 << 20;

/// The maximum for the parts of request heads beyond [`FREE_OF_HEAD`] in bytes.
const MAX_HEADS: usize = 16 << 20;

/// The part of each request head that does not count, in bytes. Most heads are shorter.
const FREE_OF_HEAD: usize = 2 << 10;

/// The unit in which the buffer of a head grows, in bytes.
const HEAD_STEP: usize = 1 << 10;

/// Counts the bytes that are kept. A namespace may have at most as many as are still free, so it always leaves some
/// to every other namespace.
#[derive(Debug)]
pub(crate) struct MemoryBudget {
    max_of_namespace: usize,
    max_all: usize,
    by_namespace: HashMap<Arc<str>, usize>,
    all: usize,
}

impl MemoryBudget {
    /// The budget for observed objects.
    pub(crate) fn for_objects() -> Self {
        Self::new(MAX_OF_NAMESPACE, MAX_ALL)
    }

    fn new(max_of_namespace: usize, max_all: usize) -> Self {
        Self {
            max_of_namespace,
            max_all,
            by_namespace: HashMap::new(),
            all: 0,
        }
    }

    /// The size of the largest object that would fit.
    pub(crate) fn room(&self, namespace: &str) -> usize {
        let used = self
            .by_namespace
            .get(namespace)
            .copied()
            .unwrap_or_default();
        let free = self.max_all.saturating_sub(self.all);
        self.max_of_namespace.min(free).saturating_sub(used)
    }

    /// Adds this many bytes. Returns `false` if it exceeds a bound.
    pub(crate) fn add(&mut self, namespace: &Arc<str>, bytes: usize) -> bool {
        let fits = bytes <= self.room(namespace);
        if fits {
            self.all += bytes;
            *self.by_namespace.entry(Arc::clone(namespace)).or_default() += bytes;
        }
        fits
    }

    /// Releases bytes that were added.
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

/// The memory for request heads. A client can keep a head from ending for as long as its connection lasts.
#[derive(Clone, Debug)]
pub(crate) struct HeadMemory(Arc<Mutex<MemoryBudget>>);

impl Default for HeadMemory {
    fn default() -> Self {
        let budget = MemoryBudget::new(MAX_HEADS, MAX_HEADS);
        Self(Arc::new(Mutex::new(budget)))
    }
}

impl HeadMemory {
    /// An empty buffer for a connection to a Service in this namespace.
    pub(crate) fn buffer(&self, namespace: &Arc<str>) -> HeadBuffer {
        HeadBuffer {
            bytes: Vec::new(),
            counted: 0,
            memory: self.clone(),
            namespace: Arc::clone(namespace),
        }
    }

    fn lock(&self) -> MutexGuard<'_, MemoryBudget> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The first bytes of a client or of a request.
pub(crate) struct HeadBuffer {
    bytes: Vec<u8>,
    /// The bytes in the budget.
    counted: usize,
    memory: HeadMemory,
    namespace: Arc<str>,
}

impl HeadBuffer {
    /// Makes room for further bytes. Returns `false` if they exceed the budget.
    pub(crate) fn reserve(&mut self, more: usize) -> bool {
        let size = (self.bytes.len() + more).next_multiple_of(HEAD_STEP);
        let needed = size.saturating_sub(FREE_OF_HEAD + self.counted);
        let fits = needed == 0 || self.memory.lock().add(&self.namespace, needed);
        if fits {
            self.counted += needed;
            self.bytes.reserve_exact(size - self.bytes.len());
        }
        fits
    }

    /// Appends bytes for which [`Self::reserve`] has made room.
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }
}

impl Deref for HeadBuffer {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.bytes
    }
}

impl Drop for HeadBuffer {
    fn drop(&mut self) {
        if self.counted > 0 {
            self.memory.lock().release(&self.namespace, self.counted);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A buffer of this many bytes, which the client sends one by one, as far as they fit.
    fn head(memory: &HeadMemory, namespace: &Arc<str>, bytes: usize) -> HeadBuffer {
        let mut head = memory.buffer(namespace);
        while head.len() < bytes && head.reserve(1) {
            head.push(b"x");
        }
        head
    }

    #[test]
    fn unfinished_heads_of_one_namespace_leave_memory_to_others() {
        let memory = HeadMemory::default();
        let [greedy, team] = ["greedy", "team"].map(Arc::from);
        let heads: Vec<_> = (0..5_000)
            .map(|_| head(&memory, &greedy, 16 << 10))
            .collect();
        let kept: usize = heads.iter().map(|head| head.bytes.capacity()).sum();
        assert!(kept < 20 << 20, "{kept}");
        assert!(heads.iter().all(|head| head.len() >= FREE_OF_HEAD));
        let others: Vec<_> = (0..200).map(|_| head(&memory, &team, 16 << 10)).collect();
        assert!(others.iter().all(|head| head.len() == 16 << 10));
        drop((heads, others));
        assert_eq!(memory.lock().all, 0);
    }

    #[test]
    fn namespace_over_its_budget_does_not_reduce_that_of_others() {
        let mut budget = MemoryBudget::for_objects();
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
        let mut budget = MemoryBudget::for_objects();
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
        let mut budget = MemoryBudget::for_objects();
        let team = Arc::from("team");
        assert!(budget.add(&team, 100));
        budget.release(&team, 100);
        assert_eq!((budget.all, budget.by_namespace.len()), (0, 0));
    }
}
