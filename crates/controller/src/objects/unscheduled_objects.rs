//! Objects without a schedule: the little that is needed when their Namespace gets one, or a start waits
//! for them.

use std::{collections::HashMap, sync::Arc};

use dayshift_cluster::{Workload, decode::Version};
use dayshift_workload::{
    CountField, CountKind, Footprint, Inputs, Kind, Labels, Observed, Readiness, Replicas,
    VolumeRetention, WorkloadRef,
};

use crate::ids::WatchId;

/// The objects without a schedule, by namespace, kind and name. They may outnumber all others, so
/// as little as possible is kept of each.
#[derive(Default)]
pub(crate) struct UnscheduledObjects(HashMap<Box<str>, OfNamespace>);

/// Those of one namespace, by kind and name.
type OfNamespace = HashMap<(Kind, Box<str>), UnscheduledObject>;

struct UnscheduledObject {
    uid: Box<str>,
    version: Version,
    count_field: CountField,
    replicas: Replicas,
    footprint: Footprint,
    readiness: Readiness,
    volumes: VolumeRetention,
    counts: CountKind,
    watch: WatchId,
    has_labels: bool,
    has_annotations: bool,
    deleting: bool,
    listed: bool,
}

impl UnscheduledObjects {
    /// Keeps an object without any key of ours.
    pub(crate) fn keep(&mut self, kind: Kind, workload: &Workload, watch: WatchId) {
        let (replicas, count_field) = workload.count(kind);
        let unscheduled = UnscheduledObject {
            uid: workload.uid().into(),
            version: workload.version(),
            count_field,
            replicas,
            footprint: workload.footprint(kind),
            readiness: workload.readiness(kind),
            volumes: workload.volumes(),
            counts: workload.counts(kind),
            watch,
            has_labels: workload.has_labels(),
            has_annotations: workload.has_annotations(),
            deleting: workload.is_deleting(),
            listed: true,
        };
        self.insert(kind, workload.namespace(), workload.name(), unscheduled);
    }

    /// Keeps an object whose last key of ours is gone.
    pub(crate) fn keep_observed(&mut self, observed: &Observed, version: Version, watch: WatchId) {
        let object = &observed.object;
        let unscheduled = UnscheduledObject {
            uid: (&*object.uid).into(),
            version,
            count_field: observed.count_field.clone(),
            replicas: observed.replicas,
            footprint: observed.footprint,
            readiness: observed.readiness,
            volumes: observed.inputs.volumes(),
            counts: observed.inputs.counts(),
            watch,
            has_labels: observed.has_labels,
            has_annotations: observed.has_annotations,
            deleting: observed.deleting,
            listed: true,
        };
        self.insert(object.kind, &object.namespace, &object.name, unscheduled);
    }

    fn insert(&mut self, kind: Kind, namespace: &str, name: &str, unscheduled: UnscheduledObject) {
        let key = (kind, name.into());
        match self.0.get_mut(namespace) {
            Some(of_namespace) => {
                of_namespace.insert(key, unscheduled);
            }
            None => {
                let of_namespace = HashMap::from([(key, unscheduled)]);
                self.0.insert(namespace.into(), of_namespace);
            }
        }
    }

    /// Whether a newer version of an object is known, so that this one is late.
    pub(crate) fn is_late(&self, kind: Kind, workload: &Workload) -> bool {
        let of_namespace = self.0.get(workload.namespace());
        let known = of_namespace.and_then(|it| it.get(&(kind, workload.name().into())));
        known.is_some_and(|it| {
            *it.uid == *workload.uid() && workload.version().is_before(it.version)
        })
    }

    /// How many run of the object of that name, and how many are ready; `None` without one that
    /// stays.
    pub(super) fn count(
        &self,
        kind: Kind,
        namespace: &str,
        name: &str,
    ) -> Option<(Replicas, Readiness)> {
        let of_namespace = self.0.get(namespace)?;
        let it = of_namespace.get(&(kind, name.into()))?;
        (!it.deleting).then_some((it.replicas, it.readiness))
    }

    /// Forgets the object of that name.
    pub(crate) fn forget(&mut self, kind: Kind, namespace: &str, name: &str) {
        if let Some(of_namespace) = self.0.get_mut(namespace) {
            of_namespace.remove(&(kind, name.into()));
            if of_namespace.is_empty() {
                self.0.remove(namespace);
            }
        }
    }

    /// Takes out all objects of a namespace, in order of kind and name.
    pub(crate) fn take(&mut self, namespace: &str) -> Vec<(Observed, Version, WatchId)> {
        let of_namespace = self.0.remove(namespace).unwrap_or_default();
        let mut taken: Vec<_> = of_namespace.into_iter().collect();
        taken.sort_by(|(one, _), (other, _)| one.cmp(other));
        let namespace: Arc<str> = namespace.into();
        let observed = |((kind, name), it): ((Kind, Box<str>), UnscheduledObject)| {
            let observed = Observed {
                object: WorkloadRef {
                    kind,
                    namespace: namespace.clone(),
                    name: name.into(),
                    uid: it.uid.into(),
                },
                replicas: it.replicas,
                footprint: it.footprint,
                readiness: it.readiness,
                count_field: it.count_field,
                inputs: Inputs::default()
                    .with_counts(it.counts)
                    .with_volumes(it.volumes),
                labels: Labels::default(),
                error: None,
                override_began: None,
                inherited: None,
                has_labels: it.has_labels,
                has_annotations: it.has_annotations,
                deleting: it.deleting,
            };
            (observed, it.version, it.watch)
        };
        taken.into_iter().map(observed).collect()
    }

    /// Begins a list: objects that it does not show are gone when it ends.
    pub(crate) fn begin_list(&mut self, watch: WatchId, namespace: Option<&str>) {
        let all = self.in_scope(namespace).into_iter();
        let all = all.flat_map(HashMap::values_mut);
        for it in all.filter(|it| it.watch == watch) {
            it.listed = false;
        }
    }

    /// Ends a list: forgets the objects that it did not show.
    pub(crate) fn end_list(&mut self, watch: WatchId, namespace: Option<&str>) {
        for of_namespace in self.in_scope(namespace) {
            of_namespace.retain(|_, it| it.watch != watch || it.listed);
        }
        match namespace {
            Some(name) if self.0.get(name).is_some_and(HashMap::is_empty) => {
                self.0.remove(name);
            }
            Some(_) => {}
            None => self.0.retain(|_, of_namespace| !of_namespace.is_empty()),
        }
    }

    /// The objects of a namespace, or of each.
    fn in_scope(&mut self, namespace: Option<&str>) -> Vec<&mut OfNamespace> {
        match namespace {
            Some(name) => self.0.get_mut(name).into_iter().collect(),
            None => self.0.values_mut().collect(),
        }
    }
}
