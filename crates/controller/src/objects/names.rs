//! Which object has which name.

use std::collections::HashMap;

use dayshift_workload::{Kind, WorkloadRef};

use crate::ids::Id;

/// The known objects by namespace, kind and name. A namespace without one takes no room.
#[derive(Default)]
pub(super) struct Names(HashMap<Box<str>, NamesInNamespace>);

type NamesInNamespace = HashMap<(Kind, Box<str>), Id>;

impl Names {
    pub(super) fn get(&self, kind: Kind, namespace: &str, name: &str) -> Option<Id> {
        let of_namespace = self.0.get(namespace)?;
        of_namespace.get(&(kind, name.into())).copied()
    }

    /// Gives that object its name, whatever object had it before.
    pub(super) fn insert(&mut self, object: &WorkloadRef, id: Id) {
        let of_namespace = self.0.entry((&*object.namespace).into()).or_default();
        of_namespace.insert((object.kind, (&*object.name).into()), id);
    }

    /// Removes the name of that object, unless another has it by now.
    pub(super) fn remove(&mut self, object: &WorkloadRef, id: Id) {
        let Some(of_namespace) = self.0.get_mut(&*object.namespace) else {
            return;
        };
        let key = (object.kind, (&*object.name).into());
        if of_namespace.get(&key) == Some(&id) {
            of_namespace.remove(&key);
        }
        if of_namespace.is_empty() {
            self.0.remove(&*object.namespace);
        }
    }

    /// Whether any object of that namespace is known.
    pub(super) fn has_any_in(&self, namespace: &str) -> bool {
        self.0.contains_key(namespace)
    }

    /// The objects of a namespace, in the order in which they were first seen.
    pub(super) fn ids_in(&self, namespace: &str) -> Vec<Id> {
        let of_namespace = self.0.get(namespace).into_iter().flatten();
        let mut ids: Vec<Id> = of_namespace.map(|(_, id)| *id).collect();
        ids.sort_unstable();
        ids
    }
}
