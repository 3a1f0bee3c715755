//! The watched workloads, Namespaces, Services and EndpointSlices.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    net::IpAddr,
    sync::Arc,
};

use dayshift_cluster::{
    decode::WithPodLabels,
    read::{NamespaceMeta, ObservedNamespace},
    watch::{ObjectName, ReflectorEvent},
};
use dayshift_workload::{
    Annotations, Dependency, DependencyKind, Key, Kind, Label, Observed, Prefix, Replicas,
};
use k8s_openapi::api::{core::v1::Service, discovery::v1::EndpointSlice};
use kube::ResourceExt as _;

use crate::service::{PodName, ServiceInfo, ServiceName, SliceInfo};

/// The maximum size of a workload's annotations, and of its pod labels. A larger workload is ignored, so that
/// a tenant cannot fill the memory of the activator.
const MAX_TEXTS: usize = 8 * 1024;

/// An event of a watch, by kind of object.
pub(crate) enum WatchEvent {
    Workload(Kind, ReflectorEvent<WithPodLabels>),
    Namespace(ReflectorEvent<NamespaceMeta>),
    Service(Box<ReflectorEvent<Service>>),
    Slice(ReflectorEvent<EndpointSlice>),
}

/// The number of a watch.
pub(crate) type WatchId = usize;

type WorkloadName = (Kind, Arc<str>, Arc<str>);

type PodLabels = BTreeMap<String, String>;

/// The observed objects, by kind.
pub(crate) struct ClusterIndex {
    prefix: Prefix,
    workloads: HashMap<WorkloadName, (Observed, PodLabels)>,
    namespaces: HashMap<Box<str>, Arc<Annotations>>,
    services: BTreeMap<ServiceName, ServiceInfo>,
    slices: BTreeMap<ServiceName, BTreeMap<Box<str>, SliceInfo>>,
    /// Watches whose initial list is not complete.
    unlisted: BTreeSet<WatchId>,
    changes: u64,
}

/// A workload with `wake-on-request`, its own or inherited from its Namespace.
pub(crate) struct WakeableWorkload<'i> {
    pub(crate) observed: Observed,
    /// The labels of its pods.
    pub(crate) labels: &'i BTreeMap<String, String>,
}

impl ClusterIndex {
    pub(crate) fn new(prefix: Prefix, watches: usize) -> Self {
        Self {
            prefix,
            workloads: HashMap::new(),
            namespaces: HashMap::new(),
            services: BTreeMap::new(),
            slices: BTreeMap::new(),
            unlisted: (0..watches).collect(),
            changes: 0,
        }
    }

    /// Whether all initial lists are complete.
    pub(crate) fn is_complete(&self) -> bool {
        self.unlisted.is_empty()
    }

    /// The number of observed events. While it stays the same, so does the index.
    pub(crate) const fn changes(&self) -> u64 {
        self.changes
    }

    /// Applies an event. Returns the error if the watch failed.
    pub(crate) fn observe(&mut self, watch: WatchId, event: WatchEvent) -> Option<String> {
        self.changes += 1;
        match event {
            WatchEvent::Workload(kind, event) => {
                self.apply(watch, event, |index, name, object| match object {
                    Some(object) => index.set_workload(&kind, &name, &object),
                    None => drop(index.workloads.remove(&workload_name(&kind, &name))),
                })
            }
            WatchEvent::Namespace(event) => {
                self.apply(watch, event, |index, name, object| match object {
                    Some(object) => index.set_namespace(&object),
                    None => drop(index.namespaces.remove(&*name.name)),
                })
            }
            WatchEvent::Service(event) => self.apply(watch, *event, |index, name, object| {
                match object.as_ref().map(ServiceInfo::from_object) {
                    Some(Some((name, known))) => drop(index.services.insert(name, known)),
                    Some(None) => {}
                    None => drop(index.services.remove(&service_name(&name))),
                }
            }),
            WatchEvent::Slice(event) => {
                self.apply(watch, event, |index, name, object| match object {
                    Some(object) => index.set_slice(&object),
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
            ReflectorEvent::Applied { name, object, .. } => set(self, name, Some(object)),
            ReflectorEvent::Deleted { name, .. } => set(self, name, None),
            ReflectorEvent::Listed { .. } => {
                self.unlisted.remove(&watch);
            }
        }
        None
    }

    fn set_workload(&mut self, kind: &Kind, name: &ObjectName, object: &WithPodLabels) {
        let workload = &object.workload;
        let key = workload_name(kind, name);
        // Most workloads have no dayshift annotations.
        let observed = workload.concerns(&self.prefix);
        let observed = observed.then(|| workload.observe(&key.0, &self.prefix));
        let observed = observed.filter(|observed| {
            let is_short = are_short(observed, &object.labels);
            if !is_short {
                tracing::debug!(object = %observed.object, "its annotations or pod labels are too long");
            }
            is_short
        });
        match observed {
            Some(observed) => self
                .workloads
                .insert(key, (observed, object.labels.clone())),
            None => self.workloads.remove(&key),
        };
    }

    fn set_namespace(&mut self, object: &NamespaceMeta) {
        let observed = ObservedNamespace::new(object, &self.prefix);
        let annotations = Arc::new(observed.annotations);
        self.namespaces.insert(observed.name, annotations);
    }

    fn set_slice(&mut self, object: &EndpointSlice) {
        let Some((service, name, known)) = SliceInfo::from_object(object) else {
            tracing::debug!(slice = object.name_any(), "an EndpointSlice of no Service");
            return;
        };
        self.slices.entry(service).or_default().insert(name, known);
    }

    fn remove_slice(&mut self, name: &ObjectName) {
        self.slices.retain(|service, slices| {
            if service.namespace == name.namespace {
                slices.remove(&*name.name);
            }
            !slices.is_empty()
        });
    }

    /// The workloads with state labels and `wake-on-request`.
    pub(crate) fn wakeable_workloads(&self) -> impl Iterator<Item = WakeableWorkload<'_>> {
        self.workloads.values().filter_map(|(observed, labels)| {
            observed.labels.text(Label::State)?;
            let namespace = &*observed.object.namespace;
            let inputs = observed.inputs.clone();
            let inputs = inputs.with_defaults(self.namespaces.get(namespace).cloned());
            inputs.text(Key::WakeOnRequest)?;
            let observed = Observed {
                inputs,
                ..observed.clone()
            };
            Some(WakeableWorkload { observed, labels })
        })
    }

    /// Whether the workload is stopped and cannot be woken by a request.
    pub(crate) fn stays_stopped(&self, namespace: &str, needed: &Dependency) -> bool {
        // A Service cannot be woken.
        let DependencyKind::Workload(kind) = &needed.kind else {
            return false;
        };
        let key = (kind.clone(), namespace.into(), (&*needed.name).into());
        let Some((observed, _)) = self.workloads.get(&key) else {
            return false;
        };
        let defaults = self.namespaces.get(namespace).cloned();
        stays_stopped(&observed.clone().with_defaults(defaults))
    }

    pub(crate) fn service(&self, name: &ServiceName) -> Option<&ServiceInfo> {
        self.services.get(name)
    }

    pub(crate) fn services_in(
        &self,
        namespace: &Arc<str>,
    ) -> impl Iterator<Item = (&ServiceName, &ServiceInfo)> {
        let first = ServiceName {
            namespace: namespace.clone(),
            name: "".into(),
        };
        let namespace = namespace.clone();
        let from = self.services.range(first..);
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
        let all = slices.flat_map(|slice| &slice.ready);
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

    /// The ports in the activator's EndpointSlices.
    pub(crate) fn our_ports(&self) -> BTreeMap<(ServiceName, Box<str>), u16> {
        let ports = self.ours().flat_map(|(service, _, slice)| {
            let ports = slice.ports.iter();
            ports.map(move |(port, number)| ((service.clone(), port.clone()), *number))
        });
        ports.collect()
    }

    pub(crate) fn slice_named(&self, service: &ServiceName, name: &str) -> Option<&SliceInfo> {
        self.slices.get(service)?.get(name)
    }
}

fn workload_name(kind: &Kind, name: &ObjectName) -> WorkloadName {
    (
        kind.clone(),
        Arc::clone(&name.namespace),
        Arc::clone(&name.name),
    )
}

fn service_name(name: &ObjectName) -> ServiceName {
    ServiceName {
        namespace: Arc::clone(&name.namespace),
        name: (&*name.name).into(),
    }
}

fn are_short(observed: &Observed, labels: &PodLabels) -> bool {
    let own = observed.inputs.own();
    let annotations = Key::ALL.into_iter().filter_map(|key| own.text(key));
    let labels = labels.iter().map(|(key, value)| key.len() + value.len());
    annotations.map(str::len).sum::<usize>() <= MAX_TEXTS && labels.sum::<usize>() <= MAX_TEXTS
}

/// Whether the workload has no replicas and no `wake-on-request`.
pub(crate) fn stays_stopped(observed: &Observed) -> bool {
    observed.replicas == Replicas::ZERO && observed.inputs.text(Key::WakeOnRequest).is_none()
}
