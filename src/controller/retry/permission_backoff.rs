//! Kinds and namespaces for which a permission is missing: one object asks whether it is back, the
//! others wait for the answer.

use std::{
    collections::{BTreeSet, HashMap},
    sync::Arc,
};

use crate::workload::{Kind, WorkloadRef};

use crate::controller::ids::Id;

/// What a permission is given for.
type Scope = (Kind, Arc<str>);

/// Who waits for a permission, by kind and namespace.
#[derive(Debug, Default)]
pub(in crate::controller) struct PermissionBackoff(HashMap<Scope, Waiting>);

#[derive(Debug)]
struct Waiting {
    asker: Id,
    refusals: u32,
    /// In order, so that what follows from one run follows from the next.
    others: BTreeSet<Id>,
}

impl PermissionBackoff {
    /// Notes that a patch of this object was forbidden. Returns how often the one that asks for its
    /// kind and namespace was, if that is this object; none if it is to wait.
    pub(in crate::controller) fn refused(&mut self, object: &WorkloadRef, id: Id) -> Option<u32> {
        let Some(waiting) = self.0.get_mut(&scope(object)) else {
            let waiting = Waiting {
                asker: id,
                refusals: 1,
                others: BTreeSet::new(),
            };
            self.0.insert(scope(object), waiting);
            return Some(1);
        };
        if waiting.asker == id {
            waiting.refusals = waiting.refusals.saturating_add(1);
            return Some(waiting.refusals);
        }
        waiting.others.insert(id);
        None
    }

    /// Whether this object is to wait, for another asks for its kind and namespace; it is noted,
    /// then.
    pub(in crate::controller) fn must_wait(&mut self, object: &WorkloadRef, id: Id) -> bool {
        if self.0.is_empty() {
            return false;
        }
        let waiting = self.0.get_mut(&scope(object)).filter(|it| it.asker != id);
        waiting.map(|it| it.others.insert(id)).is_some()
    }

    /// Notes that a patch of this object was not forbidden; returns those that waited for it.
    pub(in crate::controller) fn is_over(&mut self, object: &WorkloadRef) -> BTreeSet<Id> {
        if self.0.is_empty() {
            return BTreeSet::new();
        }
        let waiting = self.0.remove(&scope(object));
        waiting.map(|it| it.others).unwrap_or_default()
    }

    /// Whether no permission is missing, as far as is known.
    pub(in crate::controller) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Notes that an object asks no more; returns those that waited for its answer.
    pub(in crate::controller) fn forget(&mut self, id: Id) -> BTreeSet<Id> {
        let of = self.0.iter().find(|(_, waiting)| waiting.asker == id);
        let scope = of.map(|(scope, _)| scope.clone());
        let waiting = scope.and_then(|scope| self.0.remove(&scope));
        waiting.map(|it| it.others).unwrap_or_default()
    }
}

fn scope(object: &WorkloadRef) -> Scope {
    (object.kind, object.namespace.clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn web(namespace: &str) -> WorkloadRef {
        WorkloadRef {
            kind: Kind::Deployment,
            namespace: namespace.into(),
            name: "web".into(),
            uid: "u".into(),
        }
    }

    #[test]
    fn a_permission_is_missing_for_one_kind_alone() {
        let mut backoff = PermissionBackoff::default();
        let stateful = WorkloadRef {
            kind: Kind::StatefulSet,
            ..web("dev")
        };
        assert_eq!(backoff.refused(&web("dev"), 1), Some(1));
        assert!(!backoff.must_wait(&stateful, 2));
        assert_eq!(backoff.refused(&stateful, 2), Some(1));
        assert_eq!(backoff.is_over(&stateful), BTreeSet::new());
        assert!(backoff.must_wait(&web("dev"), 3));
    }

    #[test]
    fn one_asks_and_the_others_wait_for_its_answer() {
        let mut backoff = PermissionBackoff::default();
        assert_eq!(backoff.refused(&web("dev"), 1), Some(1));
        assert_eq!(backoff.refused(&web("dev"), 2), None);
        assert_eq!(backoff.refused(&web("test"), 3), Some(1));
        assert!(backoff.must_wait(&web("dev"), 4) && !backoff.must_wait(&web("dev"), 1));
        assert!(!backoff.must_wait(&web("prod"), 5));
        assert_eq!(backoff.refused(&web("dev"), 1), Some(2));
        assert_eq!(backoff.forget(2), BTreeSet::new(), "it asked nothing");
        assert_eq!(backoff.is_over(&web("dev")), BTreeSet::from([2, 4]));
        assert_eq!(backoff.is_over(&web("dev")), BTreeSet::new());
        assert_eq!(backoff.forget(3), BTreeSet::new(), "nobody waited");
    }

    #[test]
    fn who_asks_and_goes_lets_the_others_ask() {
        let mut backoff = PermissionBackoff::default();
        for id in 1..=3 {
            backoff.refused(&web("dev"), id);
        }
        assert_eq!(backoff.forget(1), BTreeSet::from([2, 3]));
        assert_eq!(backoff.refused(&web("dev"), 2), Some(1));
    }
}
