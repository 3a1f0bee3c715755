//! One namespace: its Namespace object, and the names of the objects in it.

use std::{collections::HashMap, sync::Arc};

use dayshift_cluster::{Workload, decode::Version};
use dayshift_workload::{
    Annotations, CountField, CountKind, Footprint, Inputs, Kind, Labels, Observed, Readiness,
    Replicas, VolumeRetention, WorkloadRef,
};

use crate::{
    ids::{Id, WatchId},
    store::slices::Slices,
};

/// How a watch shows an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct WatchSource {
    pub(crate) watch: WatchId,
    /// How often the watch has failed: its lists are newer than responses of earlier epochs.
    pub(crate) epoch: u32,
    /// Whether it comes from a list, which counts whatever was known before. A newer version than a
    /// change may be known already.
    pub(crate) in_list: bool,
}

/// One namespace. One without any content takes no memory.
#[derive(Default)]
pub(crate) struct Namespace {
    /// Its Namespace object, if it is watched.
    pub(super) own: Option<NamespaceRecord>,
    objects: Vec<(Kind, HashMap<Arc<str>, NamedObject>)>,
    /// How many of the objects are scheduled.
    scheduled: usize,
    pub(super) slices: Slices,
}

/// A Namespace object, whose annotations are defaults for the objects in it.
pub(crate) struct NamespaceRecord {
    pub(super) uid: Box<str>,
    pub(super) annotations: Arc<Annotations>,
    /// The defaults for the objects in it: its annotations, or those and the default schedule.
    pub(super) in_force: Option<Arc<Annotations>>,
    pub(super) version: Version,
    pub(super) watch: WatchId,
    /// Whether it was deleted, and no other of its name was seen since.
    pub(super) is_gone: bool,
    /// Its problems, which are reported once.
    pub(super) reported: Option<String>,
}

impl NamespaceRecord {
    /// Whether it exists and has annotations that are rejected.
    pub(super) const fn is_invalid(&self) -> bool {
        self.reported.is_some() && !self.is_gone
    }
}

/// The object of a name: one of the two, never both.
pub(crate) enum NamedObject {
    /// It has a schedule, or state labels.
    Scheduled(Id),
    /// Everything else. Such objects may outnumber all others, so as little as possible is kept.
    Unscheduled(Box<UnscheduledObject>),
}

/// An object without a schedule: the little that is needed when its Namespace gets one, or a start
/// waits for it.
pub(crate) struct UnscheduledObject {
    uid: Uid,
    version: Version,
    /// `None` for a plain count.
    count_field: Option<Box<CountField>>,
    replicas: Replicas,
    footprint: Footprint,
    readiness: Readiness,
    volumes: VolumeRetention,
    counts: CountKind,
    has_labels: bool,
    has_annotations: bool,
    deleting: bool,
}

/// A UID, which takes half the memory if it is a UUID, as every API server makes it.
#[derive(Debug, PartialEq, Eq)]
enum Uid {
    Uuid([u8; 16]),
    Text(Box<str>),
}

impl Uid {
    fn new(text: &str) -> Self {
        match parse_uuid(text) {
            Some(number) => Self::Uuid(number.to_be_bytes()),
            None => Self::Text(text.into()),
        }
    }

    fn text(&self) -> Arc<str> {
        match self {
            Self::Uuid(bytes) => {
                let digits = format!("{:032x}", u128::from_be_bytes(*bytes));
                let parts = [0..8, 8..12, 12..16, 16..20, 20..32].map(|part| &digits[part]);
                parts.join("-").into()
            }
            Self::Text(text) => (&**text).into(),
        }
    }
}

/// The number of a UUID, written as usual: lowercase, with four dashes.
fn parse_uuid(text: &str) -> Option<u128> {
    if text.len() != 36 {
        return None;
    }
    let mut number: u128 = 0;
    for (position, byte) in text.bytes().enumerate() {
        let digit = match (position, byte) {
            (8 | 13 | 18 | 23, b'-') => continue,
            (8 | 13 | 18 | 23, _) => return None,
            (_, b'0'..=b'9') => byte - b'0',
            (_, b'a'..=b'f') => byte - b'a' + 10,
            _ => return None,
        };
        number = number << 4 | u128::from(digit);
    }
    Some(number)
}

impl UnscheduledObject {
    /// An object without any key of ours.
    pub(super) fn from_workload(kind: &Kind, workload: &Workload) -> Self {
        let (replicas, count_field) = workload.count(kind);
        Self {
            uid: Uid::new(workload.uid()),
            version: workload.version(),
            count_field: boxed(count_field),
            replicas,
            footprint: workload.footprint(kind),
            readiness: workload.readiness(kind),
            volumes: workload.volumes(),
            counts: workload.counts(kind),
            has_labels: workload.has_labels(),
            has_annotations: workload.has_annotations(),
            deleting: workload.is_deleting(),
        }
    }

    /// An object whose last key of ours was removed.
    pub(super) fn from_observed(observed: &Observed, version: Version) -> Self {
        Self {
            uid: Uid::new(&observed.object.uid),
            version,
            count_field: boxed(observed.count_field.clone()),
            replicas: observed.replicas,
            footprint: observed.footprint,
            readiness: observed.readiness,
            volumes: observed.inputs.volumes(),
            counts: observed.inputs.counts(),
            has_labels: observed.has_labels,
            has_annotations: observed.has_annotations,
            deleting: observed.deleting,
        }
    }

    /// Whether this object is newer, so that a change of it is late.
    pub(super) fn is_newer_than(&self, workload: &Workload) -> bool {
        self.uid == Uid::new(workload.uid()) && workload.version().is_before(self.version)
    }

    /// Its count, and how much of it is ready; `None` if it is being deleted.
    pub(super) fn count(&self) -> Option<(Replicas, Readiness)> {
        (!self.deleting).then_some((self.replicas, self.readiness))
    }

    /// The object as it was observed.
    fn into_observed(
        self,
        kind: &Kind,
        namespace: Arc<str>,
        name: Arc<str>,
    ) -> (Observed, Version) {
        let count_field = self.count_field.map_or(CountField::Present, |field| *field);
        let observed = Observed {
            object: WorkloadRef {
                kind: kind.clone(),
                namespace,
                name,
                uid: self.uid.text(),
            },
            replicas: self.replicas,
            footprint: self.footprint,
            readiness: self.readiness,
            count_field,
            inputs: Inputs::default()
                .with_counts(self.counts)
                .with_volumes(self.volumes),
            labels: Labels::default(),
            error: None,
            override_began: None,
            inherited: None,
            has_labels: self.has_labels,
            has_annotations: self.has_annotations,
            deleting: self.deleting,
        };
        (observed, self.version)
    }
}

/// Nearly all counts are plain: the others take memory of their own.
fn boxed(field: CountField) -> Option<Box<CountField>> {
    (field != CountField::Present).then(|| Box::new(field))
}

impl Namespace {
    /// The object of that name.
    pub(super) fn get(&self, kind: &Kind, name: &str) -> Option<&NamedObject> {
        self.of_kind(kind)?.get(name)
    }

    fn of_kind(&self, kind: &Kind) -> Option<&HashMap<Arc<str>, NamedObject>> {
        let mut kinds = self.objects.iter();
        kinds.find(|(of, _)| *of == *kind).map(|(_, names)| names)
    }

    /// The scheduled object of that name.
    pub(super) fn id(&self, kind: &Kind, name: &str) -> Option<Id> {
        match self.get(kind, name)? {
            NamedObject::Scheduled(id) => Some(*id),
            NamedObject::Unscheduled(_) => None,
        }
    }

    /// Gives a name to a scheduled object, in place of any before.
    pub(super) fn insert(&mut self, kind: &Kind, name: &Arc<str>, id: Id) {
        self.scheduled += 1;
        self.set(kind, name, NamedObject::Scheduled(id));
    }

    /// Gives a name to an object without a schedule, in place of any before.
    pub(super) fn insert_unscheduled(
        &mut self,
        kind: &Kind,
        name: &Arc<str>,
        plain: UnscheduledObject,
    ) {
        let mut kinds = self.objects.iter_mut();
        let names = kinds.find(|(of, _)| *of == *kind).map(|(_, names)| names);
        if let Some(NamedObject::Unscheduled(known)) = names.and_then(|names| names.get_mut(name)) {
            **known = plain;
            return;
        }
        self.set(kind, name, NamedObject::Unscheduled(Box::new(plain)));
    }

    fn set(&mut self, kind: &Kind, name: &Arc<str>, known: NamedObject) {
        let at = self.objects.iter().position(|(of, _)| *of == *kind);
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

    /// Removes a name, if `is_it` holds for its object.
    pub(super) fn remove(
        &mut self,
        kind: &Kind,
        name: &str,
        is_it: impl FnOnce(&NamedObject) -> bool,
    ) {
        let Some(at) = self.objects.iter().position(|(of, _)| *of == *kind) else {
            return;
        };
        let names = &mut self.objects[at].1;
        if !names.get(name).is_some_and(is_it) {
            return;
        }
        let removed = names.remove(name);
        if names.is_empty() {
            self.objects.swap_remove(at);
        }
        self.forget(removed.as_ref());
    }

    /// Takes out all objects without a schedule, in order of kind and name.
    pub(super) fn take_unscheduled(&mut self, namespace: &Arc<str>) -> Vec<(Observed, Version)> {
        let mut taken = Vec::new();
        for (kind, names) in &mut self.objects {
            let plain = names.extract_if(|_, known| matches!(known, NamedObject::Unscheduled(_)));
            taken.extend(plain.filter_map(|(name, known)| match known {
                NamedObject::Unscheduled(plain) => Some((kind.clone(), name, plain)),
                NamedObject::Scheduled(_) => None,
            }));
        }
        self.objects.retain(|(_, names)| !names.is_empty());
        taken.sort_by(|(kind, name, _), (other, other_name, _)| {
            (kind, name).cmp(&(other, other_name))
        });
        let observed = |(kind, name, plain): (Kind, Arc<str>, Box<UnscheduledObject>)| {
            plain.into_observed(&kind, Arc::clone(namespace), name)
        };
        taken.into_iter().map(observed).collect()
    }

    /// The scheduled objects, in the order in which they were first seen.
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

    /// Whether any object in it is scheduled.
    pub(super) const fn has_scheduled(&self) -> bool {
        self.scheduled > 0
    }

    /// Whether there is nothing to keep.
    pub(super) fn is_empty(&self) -> bool {
        self.own.is_none() && self.objects.is_empty() && self.slices.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_uid_is_kept_to_the_letter() {
        for text in [
            "00000000-0000-0000-0000-000000000000",
            "0b0e7a5c-5a1f-4f0e-9f6b-0123456789ab",
            "ffffffff-ffff-ffff-ffff-ffffffffffff",
            "0B0E7A5C-5A1F-4F0E-9F6B-0123456789AB",
            "0b0e7a5c5a1f4f0e9f6b0123456789ab",
            "0b0e7a5c-5a1f-4f0e-9f6b-0123456789abc",
            "0b0e7a5c-5a1f-4f0e-9f6b0-123456789ab",
            "web",
            "",
        ] {
            assert_eq!(&*Uid::new(text).text(), text);
        }
        let uuid = Uid::new("0b0e7a5c-5a1f-4f0e-9f6b-0123456789ab");
        assert!(matches!(uuid, Uid::Uuid(_)));
    }
}
