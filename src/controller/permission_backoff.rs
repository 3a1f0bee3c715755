//! Namespaces in which a permission is missing: one object asks whether it is back, the others
//! wait for the answer.

use std::collections::{BTreeSet, HashMap};

use super::index::Id;

/// Who waits for a permission, by namespace.
#[derive(Debug, Default)]
pub(super) struct PermissionBackoff(HashMap<Box<str>, Waiting>);

#[derive(Debug)]
struct Waiting {
    asker: Id,
    refusals: u32,
    /// In order, so that what follows from one run follows from the next.
    others: BTreeSet<Id>,
}

impl PermissionBackoff {
    /// Notes that a patch in this namespace was backoff. Returns how often its asker was, if
    /// that is this object; none if it is to wait.
    pub(super) fn refused(&mut self, namespace: &str, id: Id) -> Option<u32> {
        let Some(waiting) = self.0.get_mut(namespace) else {
            let waiting = Waiting {
                asker: id,
                refusals: 1,
                others: BTreeSet::new(),
            };
            self.0.insert(namespace.into(), waiting);
            return Some(1);
        };
        if waiting.asker == id {
            waiting.refusals = waiting.refusals.saturating_add(1);
            return Some(waiting.refusals);
        }
        waiting.others.insert(id);
        None
    }

    /// Whether this object is to wait, for another asks for its namespace; it is noted, then.
    pub(super) fn must_wait(&mut self, namespace: &str, id: Id) -> bool {
        let waiting = self.0.get_mut(namespace).filter(|it| it.asker != id);
        waiting.map(|it| it.others.insert(id)).is_some()
    }

    /// Notes that a patch in this namespace was not forbidden; returns those that waited for it.
    pub(super) fn is_over(&mut self, namespace: &str) -> BTreeSet<Id> {
        let waiting = self.0.remove(namespace);
        waiting.map(|it| it.others).unwrap_or_default()
    }

    /// Whether no permission is missing, as far as is known.
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Notes that an object asks no more; returns those that waited for its answer.
    pub(super) fn forget(&mut self, id: Id) -> BTreeSet<Id> {
        let of = self.0.iter().find(|(_, waiting)| waiting.asker == id);
        match of.map(|(namespace, _)| namespace.clone()) {
            Some(namespace) => self.is_over(&namespace),
            None => BTreeSet::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_asks_and_the_others_wait_for_its_answer() {
        let mut backoff = PermissionBackoff::default();
        assert_eq!(backoff.refused("dev", 1), Some(1));
        assert_eq!(backoff.refused("dev", 2), None);
        assert_eq!(backoff.refused("test", 3), Some(1));
        assert!(backoff.must_wait("dev", 4) && !backoff.must_wait("dev", 1));
        assert!(!backoff.must_wait("prod", 5));
        assert_eq!(backoff.refused("dev", 1), Some(2));
        assert_eq!(backoff.forget(2), BTreeSet::new(), "it asked nothing");
        assert_eq!(backoff.is_over("dev"), BTreeSet::from([2, 4]));
        assert_eq!(backoff.is_over("dev"), BTreeSet::new());
        assert_eq!(backoff.forget(3), BTreeSet::new(), "nobody waited");
    }

    #[test]
    fn who_asks_and_goes_lets_the_others_ask() {
        let mut backoff = PermissionBackoff::default();
        for id in 1..=3 {
            backoff.refused("dev", id);
        }
        assert_eq!(backoff.forget(1), BTreeSet::from([2, 3]));
        assert_eq!(backoff.refused("dev", 2), Some(1));
    }
}
