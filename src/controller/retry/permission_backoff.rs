//! Kinds and namespaces for which a permission is missing: one object after the other asks whether it
//! is back, and the rest wait for the answer.

use std::{
    collections::{BTreeSet, HashMap},
    sync::Arc,
    time::Duration,
};

use tokio::time::Instant;

use crate::workload::{Kind, WorkloadRef};

use crate::controller::ids::Id;

/// What a permission is given for.
type Scope = (Kind, Arc<str>);

/// Who waits for a permission, by kind and namespace.
#[derive(Debug, Default)]
pub(in crate::controller) struct PermissionBackoff {
    waiting: HashMap<Scope, Waiting>,
    /// Those that were let through while others were refused: a Role may name objects, and what it
    /// names does not wait for what it does not.
    granted: BTreeSet<Id>,
    /// When the user was told last that it is missing.
    told: HashMap<Scope, Instant>,
}

/// For how long it is not told again: an Event lives for an hour (`--event-ttl` of the API server).
const TOLD_FOR: Duration = Duration::from_secs(60 * 60);

#[derive(Debug)]
struct Waiting {
    asker: Id,
    refusals: u32,
    /// In order, so that what follows from one run follows from the next.
    others: BTreeSet<Id>,
}

impl Waiting {
    /// The next one asks in its turn: what holds for one of them need not hold for all.
    fn pass_on(&mut self) {
        let mut later = self.others.range(self.asker..);
        if let Some(next) = later.next().or(self.others.first()).copied() {
            self.others.remove(&next);
            self.others.insert(self.asker);
            self.asker = next;
        }
    }
}

impl PermissionBackoff {
    /// Notes that a patch of this object was forbidden. Returns who asks next for its kind and
    /// namespace, and how often they were refused, if that was the one that asked; none if this
    /// object is to wait for another.
    pub(in crate::controller) fn refused(
        &mut self,
        object: &WorkloadRef,
        id: Id,
    ) -> Option<(Id, u32)> {
        self.granted.remove(&id);
        let Some(waiting) = self.waiting.get_mut(&scope(object)) else {
            let waiting = Waiting {
                asker: id,
                refusals: 1,
                others: BTreeSet::new(),
            };
            self.waiting.insert(scope(object), waiting);
            return Some((id, 1));
        };
        if waiting.asker == id {
            waiting.refusals = waiting.refusals.saturating_add(1);
            waiting.pass_on();
            return Some((waiting.asker, waiting.refusals));
        }
        waiting.others.insert(id);
        None
    }

    /// Whether the user may be told on this object that it is missing; then it is taken to be told
    /// for its kind and namespace.
    pub(in crate::controller) fn may_tell(&mut self, object: &WorkloadRef, now: Instant) -> bool {
        self.told.retain(|_, told| now < *told + TOLD_FOR);
        let is_told = self.told.contains_key(&scope(object));
        if !is_told {
            self.told.insert(scope(object), now);
        }
        !is_told
    }

    /// Whether this object is to wait, for another asks for its kind and namespace; it is noted,
    /// then.
    pub(in crate::controller) fn must_wait(&mut self, object: &WorkloadRef, id: Id) -> bool {
        if self.waiting.is_empty() || self.granted.contains(&id) {
            return false;
        }
        let waiting = self.waiting.get_mut(&scope(object));
        let waiting = waiting.filter(|it| it.asker != id);
        waiting.map(|it| it.others.insert(id)).is_some()
    }

    /// Notes that a patch of this object was not forbidden; returns those that waited for it.
    pub(in crate::controller) fn is_over(&mut self, object: &WorkloadRef, id: Id) -> BTreeSet<Id> {
        if self.waiting.is_empty() || self.granted.contains(&id) {
            return BTreeSet::new();
        }
        let Some(waiting) = self.waiting.remove(&scope(object)) else {
            return BTreeSet::new();
        };
        self.granted.insert(id);
        self.told.remove(&scope(object));
        let mut released = waiting.others;
        released.insert(waiting.asker);
        released.remove(&id);
        released
    }

    /// Whether no permission is missing, as far as is known.
    pub(in crate::controller) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// Notes that an object is not known any more.
    pub(in crate::controller) fn gone(&mut self, id: Id) {
        self.granted.remove(&id);
    }

    /// Notes that an object asks no more; returns those that waited for its answer.
    pub(in crate::controller) fn forget(&mut self, id: Id) -> BTreeSet<Id> {
        for waiting in self.waiting.values_mut() {
            waiting.others.remove(&id);
        }
        let of = self.waiting.iter().find(|(_, it)| it.asker == id);
        let scope = of.map(|(scope, _)| scope.clone());
        let waiting = scope.and_then(|scope| self.waiting.remove(&scope));
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
        assert_eq!(backoff.refused(&web("dev"), 1), Some((1, 1)));
        assert!(!backoff.must_wait(&stateful, 2));
        assert_eq!(backoff.refused(&stateful, 2), Some((2, 1)));
        assert_eq!(backoff.is_over(&stateful, 2), BTreeSet::new());
        assert!(backoff.must_wait(&web("dev"), 3));
    }

    #[test]
    fn one_asks_at_a_time_and_the_others_wait_for_its_answer() {
        let mut backoff = PermissionBackoff::default();
        assert_eq!(backoff.refused(&web("dev"), 1), Some((1, 1)));
        assert_eq!(backoff.refused(&web("dev"), 2), None);
        assert_eq!(backoff.refused(&web("test"), 3), Some((3, 1)));
        assert!(backoff.must_wait(&web("dev"), 4) && !backoff.must_wait(&web("dev"), 1));
        assert!(!backoff.must_wait(&web("prod"), 5));
        for (asks, next) in [(1, 2), (2, 4), (4, 1)] {
            let (asker, _) = backoff.refused(&web("dev"), asks).unwrap();
            assert_eq!(asker, next, "in turn");
        }
        assert_eq!(backoff.forget(2), BTreeSet::new(), "it asked nothing");
        assert_eq!(backoff.is_over(&web("dev"), 1), BTreeSet::from([4]));
        assert_eq!(backoff.is_over(&web("dev"), 1), BTreeSet::new());
        assert_eq!(backoff.forget(3), BTreeSet::new(), "nobody waited");
    }

    /// The Role names the first alone.
    #[test]
    fn what_is_granted_by_name_does_not_wait_for_what_is_not() {
        let mut backoff = PermissionBackoff::default();
        assert_eq!(backoff.refused(&web("dev"), 2), Some((2, 1)));
        assert!(backoff.must_wait(&web("dev"), 1));
        assert_eq!(backoff.refused(&web("dev"), 2), Some((1, 2)));
        assert_eq!(backoff.is_over(&web("dev"), 1), BTreeSet::from([2]));
        assert_eq!(backoff.refused(&web("dev"), 2), Some((2, 1)));
        assert!(!backoff.must_wait(&web("dev"), 1));
        assert_eq!(backoff.is_over(&web("dev"), 1), BTreeSet::new(), "no news");
        assert_eq!(backoff.refused(&web("dev"), 1), None, "it is taken away");
        assert!(backoff.must_wait(&web("dev"), 1));
    }

    #[test]
    fn who_asks_and_goes_lets_the_others_ask() {
        let mut backoff = PermissionBackoff::default();
        for id in 1..=3 {
            backoff.refused(&web("dev"), id);
        }
        assert_eq!(backoff.forget(1), BTreeSet::from([2, 3]));
        assert_eq!(backoff.refused(&web("dev"), 2), Some((2, 1)));
    }
}
