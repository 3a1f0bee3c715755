//! The watched workloads, Namespaces, Services and EndpointSlices.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    mem,
    net::IpAddr,
    sync::Arc,
};

use dayshift_cluster::{
    decode::{StartFailure, WithPodLabels},
    read::{EndpointSlice, NamespaceMeta, ObservedNamespace, Service},
    watch::{ObjectName, ReflectorEvent},
};
use dayshift_workload::{
    Annotations, Dependency, DependencyKind, Inputs, Key, Kind, Label, Observed, Prefix,
    RecordedDefaults, Replicas,
};

use crate::{
    memory_budget::MemoryBudget,
    service::{PodName, ServiceInfo, ServiceName, SliceInfo},
};

/// The maximum size of the pod labels of a workload. A workload with more is ignored, so that a tenant cannot
/// fill the memory of the activator.
const MAX_LABELS: usize = 8 * 1024;

/// The approximate size of a workload without its annotations and labels, in bytes.
const WORKLOAD: usize = 768;

/// The approximate size of a recorded schedule without its values, in bytes.
const NAMED_SCHEDULE: usize = 768;

/// An event of a watch, by kind of object.
pub(crate) enum WatchEvent {
    Workload(Kind, Box<ReflectorEvent<WithPodLabels>>),
    Namespace(ReflectorEvent<NamespaceMeta>),
    Service(Box<ReflectorEvent<Service>>),
    Slice(ReflectorEvent<EndpointSlice>),
}

/// The number of a watch.
pub(crate) type WatchId = usize;

/// The workloads of one namespace by kind and name.
type NamespaceWorkloads = HashMap<(Kind, Arc<str>), KnownWorkload>;

type PodLabels = BTreeMap<String, String>;

struct KnownWorkload {
    observed: Observed,
    /// The named schedules and the team's defaults that it uses, as the controller has recorded them: the
    /// activator reads neither.
    recorded: Option<Box<RecordedDefaults>>,
    labels: PodLabels,
    failure: Option<Box<StartFailure>>,
}

/// The observed objects, by kind.
pub(crate) struct ClusterIndex {
    prefix: Prefix,
    workloads: HashMap<Arc<str>, NamespaceWorkloads>,
    namespaces: HashMap<Arc<str>, Arc<Annotations>>,
    services: BTreeMap<ServiceName, ServiceInfo>,
    slices: BTreeMap<ServiceName, BTreeMap<Box<str>, SliceInfo>>,
    /// The Service of each slice.
    services_of_slices: HashMap<ObjectName, ServiceName>,
    budget: MemoryBudget,
    /// The namespaces with objects that are ignored because of the budget, until they are logged.
    over_budget: BTreeSet<Arc<str>>,
    /// The namespaces with objects that were ignored since the last list, and the size of the smallest.
    ignored: HashMap<Arc<str>, usize>,
    /// Watches whose initial list is not complete.
    unlisted: BTreeSet<WatchId>,
    /// The namespaces with events since [`Self::take_changed`].
    changed: BTreeSet<Arc<str>>,
}

/// A workload with `wake-on-request`, its own or inherited from its Namespace.
pub(crate) struct WakeableWorkload<'i> {
    pub(crate) observed: Observed,
    /// The labels of its pods.
    pub(crate) labels: &'i BTreeMap<String, String>,
    /// Why its start fails.
    pub(crate) failure: Option<&'i StartFailure>,
}

impl ClusterIndex {
    pub(crate) fn new(prefix: Prefix, watches: usize) -> Self {
        Self {
            prefix,
            workloads: HashMap::new(),
            namespaces: HashMap::new(),
            services: BTreeMap::new(),
            slices: BTreeMap::new(),
            services_of_slices: HashMap::new(),
            budget: MemoryBudget::for_objects(),
            over_budget: BTreeSet::new(),
            ignored: HashMap::new(),
            unlisted: (0..watches).collect(),
            changed: BTreeSet::new(),
        }
    }

    /// Whether all initial lists are complete.
    pub(crate) fn is_complete(&self) -> bool {
        self.unlisted.is_empty()
    }

    /// Whether an event was observed since [`Self::take_changed`].
    pub(crate) fn has_changed(&self) -> bool {
        !self.changed.is_empty()
    }

    /// The namespaces with events since the last call.
    pub(crate) fn take_changed(&mut self) -> BTreeSet<Arc<str>> {
        mem::take(&mut self.changed)
    }

    /// The namespaces with workloads that have dayshift annotations.
    pub(crate) fn namespaces(&self) -> BTreeSet<Arc<str>> {
        self.workloads.keys().cloned().collect()
    }

    /// Applies an event. Returns the error if the watch failed.
    pub(crate) fn observe(&mut self, watch: WatchId, event: WatchEvent) -> Option<String> {
        match event {
            WatchEvent::Workload(kind, event) => {
                self.apply(watch, *event, |index, name, object| match object {
                    Some(object) => index.set_workload(&kind, &name, object),
                    None => index.remove_workload(&kind, &name),
                })
            }
            WatchEvent::Namespace(event) => {
                self.apply(watch, event, |index, name, object| match object {
                    Some(object) => index.set_namespace(&object),
                    None => index.remove_namespace(&name.name),
                })
            }
            WatchEvent::Service(event) => self.apply(watch, *event, |index, name, object| {
                match object.as_ref().map(ServiceInfo::from_object) {
                    Some(Some((name, known))) => index.set_service(name, known),
                    Some(None) => {}
                    None => index.remove_service(&name),
                }
            }),
            WatchEvent::Slice(event) => {
                self.apply(watch, event, |index, name, object| match object {
                    Some(object) => index.set_slice(&name, &object),
                    None => index.remove_slice(&name),
                })
            }
        }
    }

    fn apply<D>(
        &mut self,
        watch: WatchId,
        event: ReflectorEvent<D>,
        set: impl FnOnce(&mut Self, ObjectName, Option<D>),
    ) -> Option<String> {
        match event {
            ReflectorEvent::Opened { .. } | ReflectorEvent::Init => {}
            ReflectorEvent::Failed(error) => return Some(error.to_string()),
            ReflectorEvent::Applied { name, object, .. } => {
                self.changed.insert(Arc::clone(namespace_of(&name)));
                set(self, name, Some(object));
            }
            ReflectorEvent::Deleted { name, .. } => {
                self.changed.insert(Arc::clone(namespace_of(&name)));
                set(self, name, None);
            }
            ReflectorEvent::Listed { .. } => {
                self.unlisted.remove(&watch);
            }
        }
        None
    }

    /// The namespaces of which objects were ignored since the last call, because of the memory budget.
    pub(crate) fn take_over_budget(&mut self) -> BTreeSet<Arc<str>> {
        mem::take(&mut self.over_budget)
    }

    /// Whether an object of this size can be added.
    fn fits(&mut self, namespace: &Arc<str>, size: usize) -> bool {
        let fits = self.budget.add(namespace, size);
        if !fits {
            self.over_budget.insert(Arc::clone(namespace));
            let smallest = self.ignored.entry(Arc::clone(namespace)).or_insert(size);
            *smallest = size.min(*smallest);
        }
        fits
    }

    /// Whether an object that was ignored for lack of memory would fit now. Then everything should be listed
    /// again.
    pub(crate) fn misses_objects(&self) -> bool {
        let mut ignored = self.ignored.iter();
        ignored.any(|(namespace, size)| self.budget.room(namespace) >= *size)
    }

    /// Everything is listed again.
    pub(crate) fn forget_ignored(&mut self) {
        self.ignored.clear();
    }

    fn set_workload(&mut self, kind: &Kind, name: &ObjectName, object: WithPodLabels) {
        self.remove_workload(kind, name);
        let WithPodLabels {
            workload,
            labels,
            failure,
        } = object;
        // Most workloads have no dayshift annotations.
        if !workload.concerns(&self.prefix) {
            return;
        }
        let (observed, recorded) = needed(workload.observe(kind, &self.prefix));
        if labels_size(&labels) > MAX_LABELS {
            tracing::debug!(object = %observed.object, "its pod labels are too long");
            return;
        }
        let known = KnownWorkload {
            observed,
            recorded,
            labels,
            failure,
        };
        if self.fits(&name.namespace, known.size()) {
            let in_namespace = self.workloads.entry(Arc::clone(&name.namespace));
            let key = (kind.clone(), Arc::clone(&name.name));
            in_namespace.or_default().insert(key, known);
        }
    }

    fn remove_workload(&mut self, kind: &Kind, name: &ObjectName) {
        let Some(in_namespace) = self.workloads.get_mut(&name.namespace) else {
            return;
        };
        if let Some(known) = in_namespace.remove(&(kind.clone(), Arc::clone(&name.name))) {
            self.budget.release(&name.namespace, known.size());
        }
        if in_namespace.is_empty() {
            self.workloads.remove(&name.namespace);
        }
    }

    fn set_namespace(&mut self, object: &NamespaceMeta) {
        let observed = ObservedNamespace::new(object, &self.prefix);
        self.remove_namespace(&observed.name);
        let annotations = known_keys(&observed.annotations);
        let namespace = Arc::from(&*observed.name);
        if !annotations.is_empty() && self.fits(&namespace, namespace_size(&annotations)) {
            self.namespaces.insert(namespace, Arc::new(annotations));
        }
    }

    fn remove_namespace(&mut self, namespace: &str) {
        if let Some(known) = self.namespaces.remove(namespace) {
            self.budget.release(namespace, namespace_size(&known));
        }
    }

    fn set_service(&mut self, name: ServiceName, known: ServiceInfo) {
        self.remove_service(&name);
        if self.fits(&name.namespace, known.size()) {
            self.services.insert(name, known);
        }
    }

    fn remove_service(&mut self, name: &ServiceName) {
        if let Some(known) = self.services.remove(name) {
            self.budget.release(&name.namespace, known.size());
        }
    }

    fn set_slice(&mut self, object_name: &ObjectName, object: &EndpointSlice) {
        // Its Service can change, because that is a label.
        self.remove_slice(object_name);
        let Some((service, name, known)) = SliceInfo::from_object(object) else {
            tracing::debug!(slice = %object_name, "an EndpointSlice of no Service");
            return;
        };
        if self.fits(&service.namespace, known.size()) {
            let slice = object_name.clone();
            self.services_of_slices.insert(slice, service.clone());
            self.slices.entry(service).or_default().insert(name, known);
        }
    }

    fn remove_slice(&mut self, name: &ObjectName) {
        let Some(service) = self.services_of_slices.remove(name) else {
            return;
        };
        let Some(slices) = self.slices.get_mut(&service) else {
            return;
        };
        if let Some(known) = slices.remove(&*name.name) {
            self.budget.release(&name.namespace, known.size());
        }
        if slices.is_empty() {
            self.slices.remove(&service);
        }
    }

    /// The workloads of a namespace with state labels and `wake-on-request`.
    pub(crate) fn wakeable_workloads(
        &self,
        namespace: &str,
    ) -> impl Iterator<Item = WakeableWorkload<'_>> {
        let in_namespace = self.workloads.get(namespace).into_iter();
        in_namespace.flat_map(HashMap::values).filter_map(|known| {
            known.observed.labels.text(Label::State)?;
            let inputs = self.inputs(known);
            inputs.text(Key::WakeOnRequest)?;
            let observed = Observed {
                inputs,
                ..known.observed.clone()
            };
            Some(WakeableWorkload {
                observed,
                labels: &known.labels,
                failure: known.failure.as_deref(),
            })
        })
    }

    /// The inputs of a workload with the annotations of its Namespace.
    fn inputs(&self, known: &KnownWorkload) -> Inputs {
        let namespace = &*known.observed.object.namespace;
        let annotations = self.namespaces.get(namespace);
        let inputs = known.observed.inputs.clone();
        match &known.recorded {
            None => inputs.with_defaults(annotations.cloned()),
            Some(recorded) => recorded.given_to(inputs, namespace, annotations),
        }
    }

    /// A dependency that is a workload and has dayshift annotations.
    pub(crate) fn workload(&self, namespace: &str, needed: &Dependency) -> Option<&Observed> {
        Some(&self.known(namespace, needed)?.observed)
    }

    fn known(&self, namespace: &str, needed: &Dependency) -> Option<&KnownWorkload> {
        // A Service cannot be woken.
        let DependencyKind::Workload(kind) = &needed.kind else {
            return None;
        };
        let key = (kind.clone(), (&*needed.name).into());
        self.workloads.get(namespace)?.get(&key)
    }

    /// Whether the workload is stopped and cannot be woken by a request.
    pub(crate) fn stays_stopped(&self, namespace: &str, needed: &Dependency) -> bool {
        let Some(known) = self.known(namespace, needed) else {
            return false;
        };
        let inputs = self.inputs(known);
        stays_stopped(&Observed {
            inputs,
            ..known.observed.clone()
        })
    }

    pub(crate) fn service(&self, name: &ServiceName) -> Option<&ServiceInfo> {
        self.services.get(name)
    }

    pub(crate) fn services_in(
        &self,
        namespace: &Arc<str>,
    ) -> impl Iterator<Item = (&ServiceName, &ServiceInfo)> {
        let namespace = namespace.clone();
        let from = self.services.range(first_of(&namespace)..);
        from.take_while(move |(name, _)| name.namespace == namespace)
    }

    pub(crate) fn slices_of(&self, service: &ServiceName) -> impl Iterator<Item = &SliceInfo> {
        self.slices
            .get(service)
            .into_iter()
            .flat_map(BTreeMap::values)
    }

    /// The ready addresses of a Service.
    pub(crate) fn ready_of(&self, service: &ServiceName) -> BTreeMap<IpAddr, PodName> {
        let slices = self.slices_of(service).filter(|slice| !slice.is_ours);
        let all = slices.flat_map(|slice| &*slice.ready);
        all.map(|(address, pod)| (*address, pod.clone())).collect()
    }

    /// The activator's EndpointSlices with their Services and names.
    pub(crate) fn ours(&self) -> impl Iterator<Item = (&ServiceName, &Box<str>, &SliceInfo)> {
        let all = self.slices.iter();
        let all = all.flat_map(|(service, slices)| {
            slices
                .iter()
                .map(move |(name, slice)| (service, name, slice))
        });
        all.filter(|(.., slice)| slice.is_ours)
    }

    /// The ports in the activator's EndpointSlices of a Service.
    pub(crate) fn our_ports(&self, service: &ServiceName) -> BTreeMap<Box<str>, u16> {
        let ours = self.slices_of(service).filter(|slice| slice.is_ours);
        let ports = ours.flat_map(|slice| &slice.ports);
        ports
            .map(|(port, (number, _))| (port.clone(), *number))
            .collect()
    }

    pub(crate) fn slice_named(&self, service: &ServiceName, name: &str) -> Option<&SliceInfo> {
        self.slices.get(service)?.get(name)
    }
}

/// The namespace of an object, or the object itself if it is a Namespace.
fn namespace_of(name: &ObjectName) -> &Arc<str> {
    match &*name.namespace {
        "" => &name.name,
        _ => &name.namespace,
    }
}

/// The least name of an object in a namespace.
pub(crate) fn first_of(namespace: &Arc<str>) -> ObjectName {
    ObjectName {
        namespace: Arc::clone(namespace),
        name: "".into(),
    }
}

/// The workload without texts that neither a wake nor the guard of its patch needs.
fn needed(observed: Observed) -> (Observed, Option<Box<RecordedDefaults>>) {
    let recorded = observed.recorded_defaults().map(Box::new);
    let inputs = &observed.inputs;
    let own = Arc::new(known_keys(inputs.own()));
    let inputs = Inputs::from_own(own)
        .with_counts(inputs.counts())
        .with_volumes(inputs.volumes());
    let observed = Observed {
        inputs,
        error: None,
        inherited: None,
        ..observed
    };
    (observed, recorded)
}

/// The annotations without unknown names.
fn known_keys(annotations: &Annotations) -> Annotations {
    let texts = Key::ALL
        .into_iter()
        .filter_map(|key| Some((key, annotations.text(key)?.to_owned())));
    Annotations::from_texts(texts)
}

fn texts_size(annotations: &Annotations) -> usize {
    let texts = Key::ALL.into_iter().filter_map(|key| annotations.text(key));
    texts.map(str::len).sum()
}

/// The approximate size of a Namespace's annotations in bytes.
fn namespace_size(annotations: &Annotations) -> usize {
    WORKLOAD + texts_size(annotations)
}

fn labels_size(labels: &PodLabels) -> usize {
    labels
        .iter()
        .map(|(key, value)| key.len() + value.len())
        .sum()
}

impl KnownWorkload {
    /// The approximate size in bytes.
    fn size(&self) -> usize {
        let failure = self.failure.as_ref();
        let failure = failure.map_or(0, |failure| failure.reason.len() + failure.message.len());
        let labels = labels_size(&self.labels) + 64 * self.labels.len();
        let recorded = self.recorded.as_ref();
        let recorded = recorded.map_or(0, |recorded| {
            let sizes = recorded.values().map(texts_size);
            sizes.map(|size| size + NAMED_SCHEDULE).sum()
        });
        WORKLOAD + texts_size(self.observed.inputs.own()) + recorded + labels + failure
    }
}

/// Whether the workload has no replicas and no `wake-on-request`.
pub(crate) fn stays_stopped(observed: &Observed) -> bool {
    observed.replicas == Replicas::ZERO && observed.inputs.text(Key::WakeOnRequest).is_none()
}

#[cfg(test)]
mod tests {
    use dayshift_cluster::watch::ObjectName;
    use serde_json::{Value, json};

    use super::*;
    use crate::test_cluster::{Cluster, name};

    #[test]
    fn annotations_above_the_limit_of_an_object_are_not_kept() {
        let mut cluster = Cluster::new();
        for number in 0..1_700 {
            // Each annotation is shorter than 4 kB, and the workload has 40 kB of them.
            let mut annotations = json!({"dayshift/wake-on-request": "2h"});
            for key in Key::ALL.iter().take(9) {
                annotations[format!("dayshift/{}", key.name())] = json!("x".repeat(4_000));
            }
            cluster.workload_named(&format!("w{number}"), "stopped", 0, annotations);
        }
        assert_eq!(cluster.index.workloads["dev"].len(), 1_700);
        let mut kept = cluster.index.workloads["dev"].values();
        assert!(kept.all(|workload| texts_size(workload.observed.inputs.own()) == 0));
        assert!(cluster.index.take_over_budget().is_empty());
    }

    #[test]
    fn namespace_that_exceeds_its_memory_budget_ignores_its_newest_objects() {
        let mut cluster = Cluster::new().asleep().with_service();
        for number in 0..1_700 {
            let annotations =
                json!({"dayshift/wake-on-request": "2h", "dayshift/reason": "x".repeat(4_000)});
            cluster.workload_named(&format!("w{number}"), "stopped", 0, annotations);
        }
        let kept = cluster.index.workloads["dev"].len();
        assert!((500..1_000).contains(&kept), "{kept}");
        assert_eq!(cluster.index.take_over_budget(), ["dev".into()].into());
        // The first workload and its Service are still covered.
        assert_eq!(cluster.desired().routes.len(), 1);
        cluster.slice("prod", "web", &["10.0.0.1"], 80);
        let other = name("prod", "web");
        let known = cluster.index.slices_of(&other).count();
        assert_eq!(known, 1, "another namespace");
    }

    #[test]
    fn texts_that_no_wake_needs_are_not_kept() {
        let mut cluster = Cluster::new();
        let annotations = json!({
            "dayshift/wake-on-request": "2h", "dayshift/unknown": "x", "dayshift/error": "y", "dayshift/inherited": "z",
        });
        cluster.workload("stopped", 0, annotations);
        let KnownWorkload { observed, .. } =
            cluster.index.workloads["dev"].values().next().unwrap();
        assert_eq!(observed.inputs.own().unknown(), []);
        assert_eq!((&observed.error, &observed.inherited), (&None, &None));
    }

    /// The controller records the values of named schedules on the workload.
    #[test]
    fn named_schedule_can_wake_on_request() {
        let values = json!({"wake-on-request": "2h", "hours": "09:00-19:00"});
        let inherited = |from: Value| {
            let mut inherited = from;
            inherited["schedules"] = json!({"office": values});
            inherited.to_string()
        };
        for (own, namespace, inherited, expected) in [
            (
                Some("office"),
                None,
                inherited(json!({"from": "schedule"})),
                1,
            ),
            (
                None,
                Some("office"),
                inherited(json!({"from": "Namespace", "schedule": "office"})),
                1,
            ),
            (
                None,
                None,
                inherited(json!({"from": "scaler", "schedule": "office"})),
                1,
            ),
            // Another name has been written since.
            (
                Some("night"),
                None,
                inherited(json!({"from": "schedule"})),
                0,
            ),
        ] {
            let mut cluster = Cluster::new();
            let mut annotations = json!({"dayshift/inherited": inherited});
            if let Some(name) = own {
                annotations["dayshift/schedule"] = name.into();
            }
            if let Some(name) = namespace {
                cluster.namespace(json!({"dayshift/schedule": name}));
            }
            cluster.workload("stopped", 0, annotations);
            let wakeable = cluster.index.wakeable_workloads("dev").count();
            assert_eq!(wakeable, expected, "{own:?} {namespace:?}");
        }
    }

    #[test]
    fn slice_that_moves_to_another_service_leaves_the_first() {
        let mut cluster = Cluster::new();
        let slice = |service: &str| {
            json!({
                "metadata": {"name": "s", "namespace": "dev", "labels": {"kubernetes.io/service-name": service}},
                "addressType": "IPv4", "ports": [{"name": "http", "port": 80}],
                "endpoints": [{"addresses": ["10.0.0.1"], "targetRef": {"kind": "Pod", "name": "p"}}],
            })
        };
        for service in ["web", "db", "web"] {
            cluster.observe_slice(slice(service));
            for known in ["web", "db"] {
                let slices = cluster.index.slices_of(&name("dev", known)).count();
                assert_eq!(
                    slices,
                    usize::from(known == service),
                    "{known} of {service}"
                );
            }
        }
        cluster.index.remove_slice(&ObjectName {
            namespace: "dev".into(),
            name: "s".into(),
        });
        assert_eq!(cluster.index.slices.len(), 1, "only the activator's own");
    }

    #[test]
    fn objects_that_were_ignored_are_missed_when_their_namespace_has_room_again() {
        let mut cluster = Cluster::new();
        let long = json!({"dayshift/wake-on-request": "2h", "dayshift/reason": "x".repeat(4_000)});
        for number in 0..1_700 {
            cluster.workload_named(&format!("w{number}"), "stopped", 0, long.clone());
        }
        assert!(!cluster.index.misses_objects(), "there is no room");
        // Some of the kept ones get shorter.
        for name in ["w0", "w1"] {
            let short = json!({"dayshift/wake-on-request": "2h"});
            cluster.workload_named(name, "stopped", 0, short);
        }
        assert!(cluster.index.misses_objects());
        // The new list shows all of them.
        let before = cluster.index.workloads["dev"].len();
        cluster.index.forget_ignored();
        for number in 2..1_700 {
            cluster.workload_named(&format!("w{number}"), "stopped", 0, long.clone());
        }
        assert!(!cluster.index.misses_objects());
        assert!(cluster.index.workloads["dev"].len() > before, "{before}");
    }
}
