//! A queue in which namespaces take turns, so that a namespace with many items does not delay others.

use std::{
    collections::{HashMap, VecDeque},
    sync::Arc,
};

use dayshift_cluster::fair_share::fair_share;

/// How many new items of a namespace precede a retry.
const NEW_BEFORE_RETRIED: u8 = 4;

/// Items of many namespaces. Namespaces take turns, so a namespace with thousands of items delays
/// another by one item at a time. Within a namespace, items are in the order of arrival, except that up
/// to four new items precede a retry.
#[derive(Debug)]
pub(crate) struct FairQueue<T> {
    namespaces: HashMap<Arc<str>, Waiting<T>>,
    /// The namespaces with items, the next one first.
    turns: VecDeque<Arc<str>>,
    len: usize,
}

/// Whether an item is new or was sent before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Attempt {
    First,
    Retry,
}

/// The items of one namespace.
#[derive(Debug)]
struct Waiting<T> {
    new: VecDeque<T>,
    retried: VecDeque<T>,
    /// The number of new items taken since the last retry.
    new_since_retry: u8,
}

impl<T> Waiting<T> {
    fn push(&mut self, item: T, attempt: Attempt) {
        let items = match attempt {
            Attempt::First => &mut self.new,
            Attempt::Retry => &mut self.retried,
        };
        items.push_back(item);
    }

    fn pop(&mut self) -> Option<T> {
        let has_retries = !self.retried.is_empty();
        if (!has_retries || self.new_since_retry < NEW_BEFORE_RETRIED)
            && let Some(item) = self.new.pop_front()
        {
            self.new_since_retry += u8::from(has_retries);
            return Some(item);
        }
        self.new_since_retry = 0;
        self.retried.pop_front()
    }

    fn len(&self) -> usize {
        self.new.len() + self.retried.len()
    }
}

impl<T> Default for Waiting<T> {
    fn default() -> Self {
        Self {
            new: VecDeque::new(),
            retried: VecDeque::new(),
            new_since_retry: 0,
        }
    }
}

impl<T> FairQueue<T> {
    /// Adds a new item at the end of its namespace.
    pub(crate) fn push(&mut self, namespace: &Arc<str>, item: T) {
        self.queue(namespace, item, Attempt::First);
    }

    /// Adds an item at the end of its namespace: of the new items, or of the retries.
    pub(crate) fn queue(&mut self, namespace: &Arc<str>, item: T, attempt: Attempt) {
        self.len += 1;
        if let Some(items) = self.namespaces.get_mut(namespace) {
            items.push(item, attempt);
            return;
        }
        let mut items = Waiting::default();
        items.push(item, attempt);
        self.namespaces.insert(namespace.clone(), items);
        self.turns.push_back(namespace.clone());
    }

    /// The namespaces with items.
    pub(crate) fn namespaces(&self) -> impl Iterator<Item = &Arc<str>> {
        self.turns.iter()
    }

    /// Takes the first item of the next namespace that matches the predicate. Other namespaces keep their
    /// turn.
    pub(crate) fn pop(&mut self, predicate: impl Fn(&Arc<str>) -> bool) -> Option<T> {
        let turn = self.turns.iter().position(predicate)?;
        self.take(turn)
    }

    /// Removes the oldest items of the namespaces with the most items, until at most `max` are left.
    /// Returns how many were removed.
    pub(crate) fn shrink_to(&mut self, max: usize) -> usize {
        let before = self.len;
        let lengths = self.namespaces.values().map(Waiting::len);
        let share = fair_share(lengths.collect(), max).max(1);
        for items in self.namespaces.values_mut() {
            while items.len() > share && items.pop().is_some() {
                self.len -= 1;
            }
        }
        while self.len > max && self.take(0).is_some() {}
        before - self.len
    }

    fn take(&mut self, turn: usize) -> Option<T> {
        let namespace = self.turns.remove(turn)?;
        let items = self.namespaces.get_mut(&namespace)?;
        let item = items.pop()?;
        self.len -= 1;
        if items.len() == 0 {
            self.namespaces.remove(&namespace);
        } else {
            self.turns.push_back(namespace);
        }
        Some(item)
    }

    pub(crate) const fn len(&self) -> usize {
        self.len
    }

    pub(crate) const fn is_empty(&self) -> bool {
        self.len == 0
    }
}

impl<T> Default for FairQueue<T> {
    fn default() -> Self {
        Self {
            namespaces: HashMap::new(),
            turns: VecDeque::new(),
            len: 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn queue(items: &[(&str, u32)]) -> FairQueue<u32> {
        let mut queue = FairQueue::default();
        for (namespace, item) in items {
            queue.push(&Arc::from(*namespace), *item);
        }
        queue
    }

    fn drain(queue: &mut FairQueue<u32>) -> Vec<u32> {
        std::iter::from_fn(|| queue.pop(|_| true)).collect()
    }

    #[test]
    fn namespaces_take_turns_and_each_keeps_its_order() {
        let mut fair = queue(&[
            ("a", 1),
            ("a", 2),
            ("a", 3),
            ("b", 11),
            ("c", 21),
            ("b", 12),
        ]);
        assert_eq!(drain(&mut fair), [1, 11, 21, 2, 12, 3]);
        assert!(fair.is_empty() && fair.namespaces.is_empty());
    }

    #[test]
    fn four_new_items_precede_a_retry() {
        let mut fair = FairQueue::default();
        let namespace = Arc::from("a");
        for item in [91, 92, 93] {
            fair.queue(&namespace, item, Attempt::Retry);
        }
        for item in 1..=6 {
            fair.push(&namespace, item);
        }
        assert_eq!(drain(&mut fair), [1, 2, 3, 4, 91, 5, 6, 92, 93]);
        // Without new items, a retry is taken at once.
        fair.queue(&namespace, 94, Attempt::Retry);
        assert_eq!((fair.len(), fair.pop(|_| true)), (1, Some(94)));
    }

    #[test]
    fn a_namespace_that_does_not_match_keeps_its_turn() {
        let mut fair = queue(&[("a", 1), ("b", 11), ("a", 2), ("b", 12)]);
        assert_eq!(fair.pop(|namespace| &**namespace != "a"), Some(11));
        assert_eq!(fair.pop(|_| false), None);
        assert_eq!(drain(&mut fair), [1, 12, 2]);
    }

    #[test]
    fn namespaces_with_the_most_items_lose_their_oldest() {
        let mut fair = queue(&[("a", 1), ("b", 11), ("b", 12), ("b", 13), ("c", 21)]);
        assert_eq!(
            (fair.shrink_to(5), fair.shrink_to(3), fair.len()),
            (0, 2, 3)
        );
        assert_eq!(drain(&mut fair), [1, 13, 21]);
        let mut fair = queue(&[("a", 1), ("b", 11), ("c", 21)]);
        assert_eq!((fair.shrink_to(2), fair.len()), (1, 2));
        assert_eq!(drain(&mut fair), [11, 21]);
    }
}
