//! The starts that wait for dependencies, by dependency, so that a change of a dependency finds them.

use std::{collections::BTreeSet, sync::Arc};

use dayshift_workload::{Dependency, WaitingStart};

use crate::{
    ids::Id,
    object::{DependencyWait, Object},
    store::Store,
};

/// The starts that wait for dependencies. The wait of each start is also stored in its object.
#[derive(Default)]
pub(super) struct Dependencies {
    /// Each dependency for which a start waits, with its namespace.
    needed_by: BTreeSet<(Arc<str>, Dependency, Id)>,
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
        self.needed_by.iter().map(|(.., id)| *id).collect()
    }

    /// Records that a start waits. Returns `false` if the same start was waiting before.
    pub(super) fn begin_wait(
        &mut self,
        id: Id,
        object: &mut Object,
        waiting: &WaitingStart,
    ) -> bool {
        let before = self.cancel(id, object);
        for one in &waiting.needed {
            let namespace = Arc::clone(&object.name().namespace);
            self.needed_by.insert((namespace, one.clone(), id));
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

    /// Removes the wait of an object, if it waits.
    pub(super) fn cancel(&mut self, id: Id, object: &mut Object) -> Option<DependencyWait> {
        let waits = object.start.as_mut()?.dependency_wait.take()?;
        self.waiting -= 1;
        for one in &waits.needed {
            let namespace = Arc::clone(&object.name().namespace);
            self.needed_by.remove(&(namespace, one.clone(), id));
        }
        Some(waits)
    }

    /// The starts that wait for this dependency.
    pub(super) fn waiting_for(&self, namespace: &Arc<str>, needed: &Dependency) -> Vec<Id> {
        let first = (Arc::clone(namespace), needed.clone(), Id::default());
        let later = self.needed_by.range(first..);
        let of_this = later.take_while(|(of, one, _)| of == namespace && one == needed);
        of_this.map(|(.., id)| *id).collect()
    }

    /// Removes a dependency from all waits. Returns the starts that waited only for it. When they are
    /// decided about, all their dependencies are checked again.
    pub(super) fn take_unblocked(
        &mut self,
        namespace: &Arc<str>,
        needed: &Dependency,
        store: &mut Store,
    ) -> Vec<Id> {
        let mut unblocked = self.waiting_for(namespace, needed);
        for id in &unblocked {
            let known = (Arc::clone(namespace), needed.clone(), *id);
            self.needed_by.remove(&known);
        }
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
