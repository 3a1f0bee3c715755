//! Starts that wait for other objects to be ready.

use std::{
    collections::{BTreeSet, HashMap},
    sync::Arc,
};

use chrono::{DateTime, Utc};

use crate::controller::ids::Id;
use crate::workload::{Lack, Needed, Waiting};

/// Starts that wait, and those whose wait is over until they are carried out.
#[derive(Default)]
pub(in crate::controller) struct Waits {
    waiting: HashMap<Id, Start>,
    over: HashMap<Id, Over>,
    /// What they wait for, by namespace.
    named: HashMap<Arc<str>, HashMap<Needed, Named>>,
}

/// A start that waits.
struct Start {
    namespace: Arc<str>,
    due: DateTime<Utc>,
    /// All that is named, whether it is waited for or not.
    needed: Box<[Needed]>,
}

/// A start that waits no longer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::controller) struct Over {
    /// When the start fell due.
    pub(in crate::controller) due: DateTime<Utc>,
    /// When its wait ended, where it has waited.
    pub(in crate::controller) ended: Option<DateTime<Utc>>,
    /// What is not ready.
    pub(in crate::controller) without: Vec<Lack>,
}

/// Something that a start names.
#[derive(Default)]
struct Named {
    by: BTreeSet<Id>,
    /// Whether it is waited for, as it was seen last.
    holds: bool,
}

impl Waits {
    /// How many starts wait.
    pub(in crate::controller) fn count(&self) -> usize {
        self.waiting.len()
    }

    /// All starts that wait.
    pub(in crate::controller) fn ids(&self) -> BTreeSet<Id> {
        self.waiting.keys().copied().collect()
    }

    /// A start waits; whether that is news.
    pub(in crate::controller) fn wait(
        &mut self,
        id: Id,
        namespace: &Arc<str>,
        needed: &[Needed],
        waiting: &Waiting,
    ) -> bool {
        let before = self.remove_waiting(id);
        self.over.remove(&id);
        let of_namespace = self.named.entry(Arc::clone(namespace)).or_default();
        for one in needed {
            let named = of_namespace.entry(one.clone()).or_default();
            named.by.insert(id);
            named.holds = waiting.needed.contains(one);
        }
        let start = Start {
            namespace: Arc::clone(namespace),
            due: waiting.due,
            needed: needed.into(),
        };
        self.waiting.insert(id, start);
        before.is_none_or(|it| it.due != waiting.due)
    }

    /// A start that fell due then, and may have waited for a place, is to be carried out now, without
    /// what is not ready.
    pub(in crate::controller) fn end(
        &mut self,
        id: Id,
        (due, now): (DateTime<Utc>, DateTime<Utc>),
        for_place: bool,
        without: Vec<Lack>,
    ) {
        let has_waited = self.remove_waiting(id).is_some() || for_place;
        let ended = has_waited.then_some(now);
        if has_waited || !without.is_empty() {
            let over = Over {
                due,
                ended,
                without,
            };
            self.over.insert(id, over);
        }
    }

    /// How the wait of a start has ended that is not carried out yet.
    pub(in crate::controller) fn over(&self, id: Id) -> Option<&Over> {
        self.over.get(&id)
    }

    /// Forgets the start of an object that is not to be started now.
    pub(in crate::controller) fn remove(&mut self, id: Id) {
        self.remove_waiting(id);
        self.over.remove(&id);
    }

    fn remove_waiting(&mut self, id: Id) -> Option<Start> {
        let start = self.waiting.remove(&id)?;
        if let Some(of_namespace) = self.named.get_mut(&start.namespace) {
            for one in &start.needed {
                if let Some(named) = of_namespace.get_mut(one) {
                    named.by.remove(&id);
                }
            }
            of_namespace.retain(|_, named| !named.by.is_empty());
            if of_namespace.is_empty() {
                self.named.remove(&start.namespace);
            }
        }
        Some(start)
    }

    /// Whether a start waits that names this object.
    pub(in crate::controller) fn names(&self, namespace: &str, needed: &Needed) -> bool {
        let of_namespace = self.named.get(namespace);
        of_namespace.is_some_and(|it| it.contains_key(needed))
    }

    /// Notes whether an object is waited for as it is now. Returns the starts that may be carried out,
    /// where it was and is no longer.
    pub(in crate::controller) fn take_freed(
        &mut self,
        namespace: &str,
        needed: &Needed,
        holds: bool,
    ) -> Vec<Id> {
        let Some(of_namespace) = self.named.get_mut(namespace) else {
            return Vec::new();
        };
        let Some(named) = of_namespace.get_mut(needed) else {
            return Vec::new();
        };
        let held = std::mem::replace(&mut named.holds, holds);
        if holds || !held {
            return Vec::new();
        }
        let of_namespace = &self.named[namespace];
        let is_held = |one: &Needed| of_namespace.get(one).is_some_and(|it| it.holds);
        let is_free = |id: &Id| {
            let start = self.waiting.get(id);
            start.is_some_and(|it| !it.needed.iter().any(is_held))
        };
        let by = &of_namespace[needed].by;
        by.iter().copied().filter(is_free).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::Kind;

    fn needed(name: &str) -> Needed {
        Needed::workload(Kind::STATEFUL_SET, name)
    }

    fn waiting(names: &[Needed]) -> Waiting {
        Waiting {
            due: DateTime::UNIX_EPOCH,
            until: DateTime::UNIX_EPOCH,
            look: DateTime::UNIX_EPOCH,
            needed: names.to_vec(),
        }
    }

    #[test]
    fn a_start_is_free_once_nothing_of_what_it_names_is_waited_for() {
        let mut waits = Waits::default();
        let dev: Arc<str> = "dev".into();
        let both = [needed("db"), needed("cache")];
        assert!(waits.wait(1, &dev, &both, &waiting(&both)));
        assert!(!waits.wait(1, &dev, &both, &waiting(&both)));
        waits.wait(2, &dev, &both[..1], &waiting(&both[..1]));
        assert_eq!(waits.take_freed("dev", &both[0], true), [0; 0]);
        assert_eq!(waits.take_freed("test", &both[0], false), [0; 0]);
        assert_eq!(waits.take_freed("dev", &both[0], false), [2]);
        assert_eq!(waits.take_freed("dev", &both[1], false), [1]);
        let now = DateTime::UNIX_EPOCH;
        waits.end(2, (now, now), false, Vec::new());
        assert!(waits.over(2).is_some_and(|it| it.ended.is_some()));
        waits.end(3, (now, now), false, Vec::new());
        assert!(waits.over(3).is_none());
        for id in [1, 2] {
            waits.remove(id);
        }
        assert!(waits.waiting.is_empty() && waits.over.is_empty() && waits.named.is_empty());
    }
}
