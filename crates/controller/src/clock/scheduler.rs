//! A priority queue of items by the instant at which each is due.

use std::{
    cmp::Reverse,
    collections::{BinaryHeap, HashMap},
    hash::Hash,
};

/// Items by the instant at which each is due. Each item has at most one instant.
///
/// A map contains the current instant of each item, and a heap contains the order. If an item is moved
/// or canceled, its old entry remains in the heap until it is at the top. The heap is rebuilt when most
/// entries are stale. [`Self::set`] and [`Self::take_due`] take amortized O(log n), and [`Self::next`]
/// takes O(1).
#[derive(Clone, Debug)]
pub struct Scheduler<Item, Instant> {
    heap: BinaryHeap<Reverse<(Instant, Item)>>,
    due: HashMap<Item, Instant>,
}

impl<Item: Clone + Eq + Hash + Ord, Instant: Copy + Ord> Scheduler<Item, Instant> {
    /// Creates an empty scheduler.
    pub fn new() -> Self {
        Self {
            heap: BinaryHeap::new(),
            due: HashMap::new(),
        }
    }

    /// Sets the instant of an item, or changes it.
    pub fn set(&mut self, item: Item, at: Instant) {
        if self.due.insert(item.clone(), at) == Some(at) {
            return;
        }
        self.heap.push(Reverse((at, item)));
        self.drop_stale();
        if self.heap.len() > 2 * self.due.len() + 64 {
            self.heap = self
                .due
                .iter()
                .map(|(item, at)| Reverse((*at, item.clone())))
                .collect();
        }
    }

    /// Removes an item.
    pub fn cancel(&mut self, item: &Item) {
        if self.due.remove(item).is_some() {
            self.drop_stale();
        }
    }

    /// The earliest instant of all items.
    pub fn next(&self) -> Option<Instant> {
        self.heap.peek().map(|Reverse((at, _))| *at)
    }

    /// Takes the item with the earliest instant, if it is due at `now`.
    pub fn take_due(&mut self, now: Instant) -> Option<(Item, Instant)> {
        self.heap.peek().filter(|Reverse((at, _))| *at <= now)?;
        let Reverse((at, item)) = self.heap.pop()?;
        self.due.remove(&item);
        self.drop_stale();
        Some((item, at))
    }

    /// The instant of an item; `None` if it is not set.
    pub fn get(&self, item: &Item) -> Option<Instant> {
        self.due.get(item).copied()
    }

    /// The number of items.
    pub fn len(&self) -> usize {
        self.due.len()
    }

    /// Whether there are no items.
    pub fn is_empty(&self) -> bool {
        self.due.is_empty()
    }

    fn drop_stale(&mut self) {
        while let Some(Reverse((at, item))) = self.heap.peek()
            && self.due.get(item) != Some(at)
        {
            self.heap.pop();
        }
    }
}

impl<Item: Clone + Eq + Hash + Ord, Instant: Copy + Ord> Default for Scheduler<Item, Instant> {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drain(scheduler: &mut Scheduler<u32, i64>, now: i64) -> Vec<u32> {
        std::iter::from_fn(|| scheduler.take_due(now))
            .map(|(item, _)| item)
            .collect()
    }

    #[test]
    fn due_items_are_taken_in_the_order_of_their_instants() {
        let mut scheduler = Scheduler::new();
        for (item, at) in [(1, 30), (2, 10), (3, 20), (4, 40)] {
            scheduler.set(item, at);
        }
        assert_eq!(scheduler.next(), Some(10));
        assert_eq!(drain(&mut scheduler, 30), [2, 3, 1]);
        assert_eq!((scheduler.next(), scheduler.len()), (Some(40), 1));
    }

    #[test]
    fn an_item_that_was_moved_is_due_only_once() {
        let mut scheduler = Scheduler::new();
        for at in [10, 20, 10, 30, 10] {
            scheduler.set(7, at);
        }
        assert_eq!(drain(&mut scheduler, 99), [7]);
        scheduler.set(7, 10);
        scheduler.set(7, 50);
        scheduler.set(8, 20);
        scheduler.cancel(&8);
        assert_eq!(drain(&mut scheduler, 49), [0; 0]);
        assert_eq!(scheduler.next(), Some(50));
    }

    #[test]
    fn stale_entries_do_not_accumulate() {
        let mut scheduler = Scheduler::new();
        for at in 0..100_000 {
            scheduler.set(1, at);
            scheduler.set(2, -at);
        }
        assert!(scheduler.heap.len() < 100, "{}", scheduler.heap.len());
        assert_eq!(drain(&mut scheduler, i64::MAX), [2, 1]);
    }
}
