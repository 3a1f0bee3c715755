//! The state of one namespace: its Namespace object, the defaults of its team, the objects in it by name,
//! and its EndpointSlices.

use std::{collections::HashMap, mem, sync::Arc};

use dayshift_cluster::{decode::Version, write::EventObject};
use dayshift_workload::{Annotations, Kind, Observed};

use crate::{
    ids::{Id, WatchId},
    store::{slices::Slices, unscheduled::UnscheduledObject},
};

/// One namespace. An empty one is removed from [`Namespaces`](super::namespaces::Namespaces).
#[derive(Default)]
pub(crate) struct Namespace {
    /// The Namespace object, if Namespaces are watched.
    pub(super) record: Option<NamespaceRecord>,
    /// The defaults of its team, if there are any.
    pub(super) team: Option<Box<DefaultsSource>>,
    /// The defaults for the objects in it, from the record, the team, and the default schedule of the
    /// controller. `None` too if there is neither a record nor a team.
    pub(super) defaults: Option<Arc<Annotations>>,
    objects: Vec<(Kind, HashMap<Arc<str>, NamedObject>)>,
    /// The number of scheduled objects.
    scheduled: usize,
    pub(super) slices: Slices,
}

/// A Namespace object, whose annotations are defaults for the objects in it.
pub(crate) struct NamespaceRecord {
    pub(super) source: DefaultsSource,
    pub(super) watch: WatchId,
    /// Whether it is being deleted.
    pub(super) is_terminating: bool,
    /// Whether it was deleted, and no new Namespace with the same name was observed since.
    pub(super) is_gone: bool,
}

/// The annotations of a Namespace, or the keys and values in the ConfigMap of a team.
pub(crate) struct DefaultsSource {
    pub(super) uid: Box<str>,
    pub(super) version: Version,
    pub(super) annotations: Arc<Annotations>,
    /// Why they are invalid. It was reported.
    pub(super) error: Option<String>,
}

impl DefaultsSource {
    /// Sets why the defaults are invalid. Returns the rejection, if it was not reported yet.
    pub(super) fn set_error(
        &mut self,
        error: Option<String>,
        about: EventObject,
    ) -> Option<RejectedDefaults> {
        let reported = mem::replace(&mut self.error, error.clone());
        let error = error.filter(|_| self.error != reported)?;
        Some(RejectedDefaults { about, error })
    }
}

/// The rejected annotations of a Namespace, or the rejected defaults of a team.
pub(crate) struct RejectedDefaults {
    /// The Namespace or the ConfigMap.
    pub(crate) about: EventObject,
    pub(crate) error: String,
}

/// The object to which a name belongs.
pub(crate) enum NamedObject {
    /// An object with a schedule or state labels.
    Scheduled(Id),
    /// Any other object. There can be many, so only a few values are stored.
    Unscheduled(Box<UnscheduledObject>),
}

impl Namespace {
    /// The object with a name.
    pub(super) fn get(&self, kind: &Kind, name: &str) -> Option<&NamedObject> {
        self.of_kind(kind)?.get(name)
    }

    fn of_kind(&self, kind: &Kind) -> Option<&HashMap<Arc<str>, NamedObject>> {
        let mut kinds = self.objects.iter();
        kinds
            .find(|(known, _)| *known == *kind)
            .map(|(_, names)| names)
    }

    /// The id of the scheduled object with a name.
    pub(super) fn id(&self, kind: &Kind, name: &str) -> Option<Id> {
        match self.get(kind, name)? {
            NamedObject::Scheduled(id) => Some(*id),
            NamedObject::Unscheduled(_) => None,
        }
    }

    /// Inserts a scheduled object. Replaces an object with the same name.
    pub(super) fn insert(&mut self, kind: &Kind, name: &Arc<str>, id: Id) {
        self.scheduled += 1;
        self.set(kind, name, NamedObject::Scheduled(id));
    }

    /// Inserts an object without a schedule. Replaces an object with the same name.
    pub(super) fn insert_unscheduled(
        &mut self,
        kind: &Kind,
        name: &Arc<str>,
        unscheduled: UnscheduledObject,
    ) {
        let mut kinds = self.objects.iter_mut();
        let names = kinds
            .find(|(known, _)| *known == *kind)
            .map(|(_, names)| names);
        if let Some(NamedObject::Unscheduled(known)) = names.and_then(|names| names.get_mut(name)) {
            **known = unscheduled;
            return;
        }
        self.set(kind, name, NamedObject::Unscheduled(Box::new(unscheduled)));
    }

    fn set(&mut self, kind: &Kind, name: &Arc<str>, known: NamedObject) {
        let at = self.objects.iter().position(|(known, _)| *known == *kind);
        let at = at.unwrap_or_else(|| {
            self.objects.push((kind.clone(), HashMap::new()));
            self.objects.len() - 1
        });
        let replaced = self.objects[at].1.insert(Arc::clone(name), known);
        self.forget(replaced.as_ref());
    }

    fn forget(&mut self, known: Option<&NamedObject>) {
        self.scheduled -= usize::from(matches!(known, Some(NamedObject::Scheduled(_))));
    }

    /// Removes the object with a name, if it matches the predicate.
    pub(super) fn remove(
        &mut self,
        kind: &Kind,
        name: &str,
        predicate: impl FnOnce(&NamedObject) -> bool,
    ) {
        let Some(at) = self.objects.iter().position(|(known, _)| *known == *kind) else {
            return;
        };
        let names = &mut self.objects[at].1;
        if !names.get(name).is_some_and(predicate) {
            return;
        }
        let removed = names.remove(name);
        if names.is_empty() {
            self.objects.swap_remove(at);
        }
        self.forget(removed.as_ref());
    }

    /// Removes and returns all objects without a schedule, in the order of kind and name.
    pub(super) fn take_unscheduled(&mut self, namespace: &Arc<str>) -> Vec<(Observed, Version)> {
        let mut taken = Vec::new();
        for (kind, names) in &mut self.objects {
            let unscheduled =
                names.extract_if(|_, known| matches!(known, NamedObject::Unscheduled(_)));
            taken.extend(unscheduled.filter_map(|(name, known)| match known {
                NamedObject::Unscheduled(unscheduled) => Some((kind.clone(), name, unscheduled)),
                NamedObject::Scheduled(_) => None,
            }));
        }
        self.objects.retain(|(_, names)| !names.is_empty());
        taken.sort_by(|(kind, name, _), (other, other_name, _)| {
            (kind, name).cmp(&(other, other_name))
        });
        let observed = |(kind, name, unscheduled): (Kind, Arc<str>, Box<UnscheduledObject>)| {
            unscheduled.into_observed(&kind, Arc::clone(namespace), name)
        };
        taken.into_iter().map(observed).collect()
    }

    /// The ids of the scheduled objects, in the order of first observation.
    pub(super) fn ids(&self) -> Vec<Id> {
        let mut ids = Vec::with_capacity(self.scheduled);
        for (_, names) in &self.objects {
            ids.extend(names.values().filter_map(|known| match known {
                NamedObject::Scheduled(id) => Some(*id),
                NamedObject::Unscheduled(_) => None,
            }));
        }
        ids.sort_unstable();
        ids
    }

    /// Whether the annotations of the Namespace or the team's defaults are invalid.
    pub(super) fn is_invalid(&self) -> bool {
        let record = self.record.as_ref().filter(|record| !record.is_gone);
        let mut sources = record
            .map(|record| &record.source)
            .into_iter()
            .chain(self.team.as_deref());
        sources.any(|source| source.error.is_some())
    }

    /// Whether any object in the namespace is scheduled.
    pub(super) const fn has_scheduled(&self) -> bool {
        self.scheduled > 0
    }

    /// Whether the namespace has no content and can be removed.
    pub(super) fn is_empty(&self) -> bool {
        self.record.is_none()
            && self.team.is_none()
            && self.objects.is_empty()
            && self.slices.is_empty()
    }
}
