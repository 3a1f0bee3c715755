//! Starts that wait for other objects to be ready.

use std::{
    collections::{BTreeSet, HashMap},
    sync::Arc,
};

use chrono::{DateTime, Utc};
use dayshift_workload::{Dependency, UnreadyDependency, WaitingStart};

use crate::ids::Id;

/// Starts that wait, and those whose wait is over until they are carried out.
#[derive(Default)]
pub(crate) struct Waits {
    waiting: HashMap<Id, Start>,
    over: HashMap<Id, Over>,
    /// By namespace, which starts wait for what.
    for_each: HashMap<Arc<str>, HashMap<Dependency, BTreeSet<Id>>>,
}

/// A start that waits.
struct Start {
    namespace: Arc<str>,
    due: DateTime<Utc>,
    /// What it waits for, as it was seen last.
    needed: Vec<Dependency>,
}

/// A start that waits no longer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Over {
    /// When the start fell due.
    pub(crate) due: DateTime<Utc>,
    /// When its wait ended, where it has waited.
    pub(crate) ended: Option<DateTime<Utc>>,
    /// What is not ready.
    pub(crate) without: Vec<UnreadyDependency>,
}

impl Waits {
    /// How many starts wait.
    pub(crate) fn count(&self) -> usize {
        self.waiting.len()
    }

    /// All starts that wait.
    pub(crate) fn ids(&self) -> BTreeSet<Id> {
        self.waiting.keys().copied().collect()
    }

    /// A start waits; whether that is news.
    pub(crate) fn wait(&mut self, id: Id, namespace: &Arc<str>, waiting: &WaitingStart) -> bool {
        let before = self.remove_waiting(id);
        self.over.remove(&id);
        let of_namespace = self.for_each.entry(Arc::clone(namespace)).or_default();
        for one in &waiting.needed {
            of_namespace.entry(one.clone()).or_default().insert(id);
        }
        let start = Start {
            namespace: Arc::clone(namespace),
            due: waiting.due,
            needed: waiting.needed.clone(),
        };
        self.waiting.insert(id, start);
        before.is_none_or(|it| it.due != waiting.due)
    }

    /// A start that fell due then, and may have waited for a place, is to be carried out now, without
    /// what is not ready.
    pub(crate) fn end(
        &mut self,
        id: Id,
        (due, now): (DateTime<Utc>, DateTime<Utc>),
        for_place: bool,
        without: Vec<UnreadyDependency>,
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
    pub(crate) fn over(&self, id: Id) -> Option<&Over> {
        self.over.get(&id)
    }

    /// Forgets the start of an object that is not to be started now.
    pub(crate) fn remove(&mut self, id: Id) {
        self.remove_waiting(id);
        self.over.remove(&id);
    }

    fn remove_waiting(&mut self, id: Id) -> Option<Start> {
        let start = self.waiting.remove(&id)?;
        if let Some(of_namespace) = self.for_each.get_mut(&start.namespace) {
            for one in &start.needed {
                if let Some(ids) = of_namespace.get_mut(one) {
                    ids.remove(&id);
                }
            }
            of_namespace.retain(|_, ids| !ids.is_empty());
            if of_namespace.is_empty() {
                self.for_each.remove(&start.namespace);
            }
        }
        Some(start)
    }

    /// Whether a start waits for this object.
    pub(crate) fn are_for(&self, namespace: &str, needed: &Dependency) -> bool {
        let of_namespace = self.for_each.get(namespace);
        of_namespace.is_some_and(|it| it.contains_key(needed))
    }

    /// Nothing waits for this object any more. Returns the starts that waited for nothing else. What
    /// became unready meanwhile is seen where they are decided about.
    pub(crate) fn take_freed(&mut self, namespace: &str, needed: &Dependency) -> Vec<Id> {
        let of_namespace = self.for_each.get_mut(namespace);
        let mut freed = Vec::from_iter(
            of_namespace
                .and_then(|it| it.remove(needed))
                .unwrap_or_default(),
        );
        freed.retain(|id| {
            let Some(start) = self.waiting.get_mut(id) else {
                return false;
            };
            start.needed.retain(|one| one != needed);
            start.needed.is_empty()
        });
        freed
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dayshift_workload::Kind;

    fn needed(name: &str) -> Dependency {
        Dependency::workload(Kind::STATEFUL_SET, name)
    }

    fn waiting(names: &[Dependency]) -> WaitingStart {
        WaitingStart {
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
        let [db, cache] = ["db", "cache"].map(needed);
        let both = || waiting(&[needed("db"), needed("cache")]);
        assert!(waits.wait(1, &dev, &both()));
        assert!(!waits.wait(1, &dev, &both()));
        waits.wait(2, &dev, &waiting(std::slice::from_ref(&db)));
        assert_eq!(waits.take_freed("test", &db), [0; 0]);
        assert_eq!(waits.take_freed("dev", &db), [2]);
        assert!(!waits.are_for("dev", &db) && waits.are_for("dev", &cache));
        assert_eq!(waits.take_freed("dev", &cache), [1]);
        let now = DateTime::UNIX_EPOCH;
        waits.end(2, (now, now), false, Vec::new());
        assert!(waits.over(2).is_some_and(|it| it.ended.is_some()));
        waits.end(3, (now, now), false, Vec::new());
        assert!(waits.over(3).is_none());
        for id in [1, 2] {
            waits.remove(id);
        }
        assert!(waits.waiting.is_empty() && waits.over.is_empty() && waits.for_each.is_empty());
    }
}
