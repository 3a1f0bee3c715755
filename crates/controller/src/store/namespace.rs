//! The state of one namespace: its Namespace object, the objects in it by name, and its EndpointSlices.
//! Objects without a schedule are stored here in a compact form.

use std::{collections::HashMap, sync::Arc};

use chrono::DateTime;
use dayshift_cluster::{
    Workload, decode::Version, read::ObservedTeamDefaults, watch::ObjectSource,
};
use dayshift_workload::{
    Annotations, CountField, CountKind, Footprint, Inputs, Kind, Labels, Observed, Readiness,
    Replicas, VolumeRetention, WorkloadRef,
};

use crate::{
    ids::{Id, WatchId},
    store::slices::Slices,
};

/// The watch from which an observation comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ObservationOrigin {
    pub(crate) watch: WatchId,
    /// The epoch of the watch. Its lists are newer than responses of earlier epochs.
    pub(crate) epoch: u32,
    pub(crate) source: ObjectSource,
}

impl ObservationOrigin {
    pub(super) fn is_list(self) -> bool {
        self.source == ObjectSource::List
    }
}

/// One namespace. An empty one is removed from [`Namespaces`](super::namespaces::Namespaces).
#[derive(Default)]
pub(crate) struct Namespace {
    /// The Namespace object, if Namespaces are watched.
    pub(super) record: Option<NamespaceRecord>,
    /// The team's defaults, if there are any or there were some a moment ago.
    pub(super) team: Option<Box<TeamRecord>>,
    objects: Vec<(Kind, HashMap<Arc<str>, NamedObject>)>,
    /// The number of scheduled objects.
    scheduled: usize,
    pub(super) slices: Slices,
}

/// A Namespace object, whose annotations are defaults for the objects in it.
pub(crate) struct NamespaceRecord {
    pub(super) uid: Box<str>,
    pub(super) annotations: Arc<Annotations>,
    /// The defaults for the objects in it: the annotations, the team's defaults, and the default schedule of
    /// the controller.
    pub(super) defaults: Option<Arc<Annotations>>,
    pub(super) version: Version,
    pub(super) watch: WatchId,
    /// Whether it is being deleted.
    pub(super) is_terminating: bool,
    /// Whether it was deleted, and no new Namespace with the same name was observed since.
    pub(super) is_gone: bool,
    /// Why the annotations are invalid. It was reported.
    pub(super) error: Option<String>,
}

impl NamespaceRecord {
    /// Whether it exists and has invalid annotations.
    pub(super) const fn is_invalid(&self) -> bool {
        self.error.is_some() && !self.is_gone
    }
}

/// The ConfigMap of a team. A change is applied at once if the last one was applied long enough ago.
#[derive(Default)]
pub(crate) struct TeamRecord {
    /// The newest observation; `None` if it was deleted.
    pub(super) observed: Option<ObservedTeamDefaults>,
    /// The values in effect. Empty if there are none.
    pub(super) applied: Arc<Annotations>,
    /// The defaults for the objects if the Namespace is not watched.
    pub(super) defaults: Option<Arc<Annotations>>,
    /// Why the values in effect are invalid. It was reported.
    pub(super) error: Option<String>,
    /// Whether a change was applied so recently that the next one waits.
    pub(super) is_settling: bool,
}

impl TeamRecord {
    /// Whether the newest observation is in effect.
    pub(super) fn is_up_to_date(&self) -> bool {
        let observed = self.observed.as_ref();
        match observed.map(|observed| &observed.annotations) {
            Some(annotations) => *annotations == *self.applied,
            None => self.applied.is_empty(),
        }
    }

    /// The UID of the ConfigMap; empty if it does not exist.
    pub(super) fn uid(&self) -> &str {
        self.observed.as_ref().map_or("", |observed| &observed.uid)
    }
}

/// The object to which a name belongs.
pub(crate) enum NamedObject {
    /// An object with a schedule or state labels.
    Scheduled(Id),
    /// Any other object. There can be many, so only a few values are stored.
    Unscheduled(Box<UnscheduledObject>),
}

/// An object without a schedule: the values that are needed if its Namespace gets a schedule, or if a
/// start depends on it.
pub(crate) struct UnscheduledObject {
    uid: Uid,
    version: Version,
    /// `None` for [`CountField::Present`].
    count_field: Option<Box<CountField>>,
    replicas: Replicas,
    footprint: Footprint,
    readiness: Readiness,
    /// When it was created, in seconds since 1970. They last until 2106.
    created: u32,
    volumes: VolumeRetention,
    counts: CountKind,
    has_labels: bool,
    has_annotations: bool,
    deleting: bool,
}

/// A UID. API servers use UUIDs, which are stored as numbers in half the memory of their text.
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

/// Parses a UUID in the usual form: lowercase, with four dashes.
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
    /// Converts an object without annotations or labels of dayshift.
    pub(super) fn from_workload(kind: &Kind, workload: &Workload) -> Self {
        let (replicas, count_field) = workload.count(kind);
        let spec = workload.spec();
        Self {
            uid: Uid::new(workload.uid()),
            version: workload.version(),
            count_field: boxed(count_field),
            replicas,
            footprint: Footprint::from_spec(kind, spec),
            readiness: workload.readiness(kind),
            created: u32::try_from(workload.created()).unwrap_or_default(),
            volumes: spec.volumes(),
            counts: spec.counts(kind),
            has_labels: workload.has_labels(),
            has_annotations: workload.has_annotations(),
            deleting: workload.is_deleting(),
        }
    }

    /// Converts an observed object, after the last annotation or label of dayshift was removed.
    pub(super) fn from_observed(observed: &Observed, version: Version) -> Self {
        Self {
            uid: Uid::new(&observed.object.uid),
            version,
            count_field: boxed(observed.count_field.clone()),
            replicas: observed.replicas,
            footprint: observed.footprint,
            readiness: observed.readiness,
            created: u32::try_from(observed.created.timestamp()).unwrap_or_default(),
            volumes: observed.inputs.volumes(),
            counts: observed.inputs.counts(),
            has_labels: observed.has_labels,
            has_annotations: observed.has_annotations,
            deleting: observed.deleting,
        }
    }

    /// Whether this object is newer than the same object in a watch event.
    pub(super) fn is_newer_than(&self, workload: &Workload) -> bool {
        self.uid == Uid::new(workload.uid()) && workload.version().is_before(self.version)
    }

    /// The count and the readiness; `None` if the object is being deleted.
    pub(super) fn count(&self) -> Option<(Replicas, Readiness)> {
        (!self.deleting).then_some((self.replicas, self.readiness))
    }

    /// Converts back to an observation.
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
            created: DateTime::from_timestamp(self.created.into(), 0).unwrap_or_default(),
            // The next watch event shows it.
            revision: None,
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

/// Allocates memory only for the few count fields that are not [`CountField::Present`].
fn boxed(field: CountField) -> Option<Box<CountField>> {
    (field != CountField::Present).then(|| Box::new(field))
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
        let is_team_invalid = self.team.as_ref().is_some_and(|team| team.error.is_some());
        is_team_invalid
            || self
                .record
                .as_ref()
                .is_some_and(NamespaceRecord::is_invalid)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_of_a_uid_is_preserved_exactly() {
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
