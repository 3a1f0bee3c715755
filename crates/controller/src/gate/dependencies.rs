//! The starts that wait for dependencies, by dependency, so that a change of a dependency finds them.

use std::{
    collections::{BTreeSet, HashMap},
    sync::Arc,
};

use chrono::{DateTime, Utc};
use dayshift_workload::{Dependency, UnreadyDependency, WaitingStart};

use crate::{
    ids::Id,
    object::{DependencyWait, EndedWait, Object, work::WaitReason},
    store::Store,
};

/// The starts that wait for dependencies. The wait of each start is also stored in its object.
#[derive(Default)]
pub(super) struct Dependencies {
    /// The waiting starts by namespace and dependency.
    needed_by: HashMap<Arc<str>, HashMap<Dependency, BTreeSet<Id>>>,
    /// The number of waiting starts.
    waiting: usize,
}

impl Dependencies {
    /// The number of waiting starts.
    pub(super) const fn waiting(&self) -> usize {
        self.waiting
    }

    /// All waiting starts.
    pub(super) fn ids(&self) -> BTreeSet<Id> {
        let all = self.needed_by.values().flat_map(HashMap::values);
        all.flatten().copied().collect()
    }

    /// Records that a start waits. Returns `false` if the same start was waiting before.
    pub(super) fn begin_wait(
        &mut self,
        id: Id,
        object: &mut Object,
        waiting: &WaitingStart,
    ) -> bool {
        let before = self.cancel(id, object);
        let needed_by = self
            .needed_by
            .entry(Arc::clone(&object.name().namespace))
            .or_default();
        for one in &waiting.needed {
            needed_by.entry(one.clone()).or_default().insert(id);
        }
        self.waiting += 1;
        let start = object.start();
        start.ended_wait = None;
        start.dependency_wait = Some(DependencyWait {
            due: waiting.due,
            needed: waiting.needed.clone(),
        });
        before.is_none_or(|before| before.due != waiting.due)
    }

    /// Records that the wait of a start ends at `now`, without the dependencies that are not ready. The
    /// start became due at `due`, and `reason` is the last reason why it could wait.
    pub(super) fn end_wait(
        &mut self,
        id: Id,
        object: &mut Object,
        (due, now): (DateTime<Utc>, DateTime<Utc>),
        reason: WaitReason,
        without: Vec<UnreadyDependency>,
    ) {
        let has_waited = self.cancel(id, object).is_some() || reason == WaitReason::Slot;
        if has_waited || !without.is_empty() {
            object.start().ended_wait = Some(EndedWait {
                due,
                ended: has_waited.then_some(now),
                without,
            });
        }
    }

    /// Removes the wait of an object, if it waits.
    pub(super) fn cancel(&mut self, id: Id, object: &mut Object) -> Option<DependencyWait> {
        let waits = object.start.as_mut()?.dependency_wait.take()?;
        self.waiting -= 1;
        let namespace = &object.name().namespace;
        if let Some(needed_by) = self.needed_by.get_mut(namespace) {
            for one in &waits.needed {
                if let Some(ids) = needed_by.get_mut(one) {
                    ids.remove(&id);
                    if ids.is_empty() {
                        needed_by.remove(one);
                    }
                }
            }
            if needed_by.is_empty() {
                self.needed_by.remove(namespace);
            }
        }
        Some(waits)
    }

    /// Whether a start waits for this dependency.
    pub(super) fn has_waiting_start(&self, namespace: &str, needed: &Dependency) -> bool {
        let needed_by = self.needed_by.get(namespace);
        needed_by.is_some_and(|needed_by| needed_by.contains_key(needed))
    }

    /// Removes a dependency from all waits. Returns the starts that waited only for it. When they are
    /// decided about, all their dependencies are checked again.
    pub(super) fn take_unblocked(
        &mut self,
        namespace: &str,
        needed: &Dependency,
        store: &mut Store,
    ) -> Vec<Id> {
        let needed_by = self.needed_by.get_mut(namespace);
        let ids = needed_by.and_then(|needed_by| needed_by.remove(needed));
        let mut unblocked = Vec::from_iter(ids.unwrap_or_default());
        unblocked.retain(|id| {
            let object = store.get_unpublished(*id);
            let start = object.and_then(|object| object.start.as_mut());
            let Some(waits) = start.and_then(|start| start.dependency_wait.as_mut()) else {
                return false;
            };
            waits.needed.retain(|one| one != needed);
            waits.needed.is_empty()
        });
        unblocked
    }
}
