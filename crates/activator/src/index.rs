//! What the watches have shown: workloads, Namespaces, Services and slices.

use std::{
    collections::{BTreeMap, HashMap, HashSet},
    net::IpAddr,
    sync::Arc,
};

use dayshift_cluster::{
    decode::WithPodLabels,
    read::{NamespaceMeta, ObservedNamespace},
    watch::ReflectorEvent,
};
use dayshift_workload::{
    Annotations, Dependency, DependencyKind, Key, Kind, Label, Observed, Prefix, Replicas,
};
use k8s_openapi::api::{core::v1::Service, discovery::v1::EndpointSlice};
use kube::ResourceExt as _;

use crate::service::{PodName, ServiceInfo, ServiceName, SliceInfo};

/// An event of one of the watches.
pub(crate) enum WatchEvent {
    Workload(Kind, ReflectorEvent<WithPodLabels>),
    Namespace(ReflectorEvent<NamespaceMeta>),
    Service(Box<ReflectorEvent<Service>>),
    Slice(ReflectorEvent<EndpointSlice>),
}

/// The number of a watch.
pub(crate) type WatchId = usize;

/// An object that is known.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum ObjectKey {
    Workload(Kind, Box<str>, Box<str>),
    Namespace(Box<str>),
    Service(ServiceName),
    Slice(ServiceName, Box<str>),
}

/// The kind of a workload, its namespace and its name.
type WorkloadName = (Kind, Box<str>, Box<str>);

type PodLabels = BTreeMap<String, String>;

/// Everything that is known.
pub(crate) struct ClusterIndex {
    prefix: Prefix,
    workloads: HashMap<WorkloadName, (Observed, PodLabels)>,
    namespaces: HashMap<Box<str>, Arc<Annotations>>,
    services: BTreeMap<ServiceName, ServiceInfo>,
    slices: BTreeMap<ServiceName, BTreeMap<Box<str>, SliceInfo>>,
    watches: Vec<WatchProgress>,
    changes: u64,
}

/// What a watch has listed.
#[derive(Default)]
struct WatchProgress {
    is_complete: bool,
    known: HashSet<ObjectKey>,
    /// What was known before the list that is under way, and has not come again.
    unseen: Option<HashSet<ObjectKey>>,
}

/// A workload with `wake-on-request`, its own or its Namespace's.
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
            watches: (0..watches).map(|_| WatchProgress::default()).collect(),
            changes: 0,
        }
    }

    /// Whether every watch has listed what there is.
    pub(crate) fn is_complete(&self) -> bool {
        self.watches.iter().all(|watch| watch.is_complete)
    }

    /// How many events it has taken in: as long as there are no more, the same is known.
    pub(crate) const fn changes(&self) -> u64 {
        self.changes
    }

    /// Takes in an event; returns why a watch has failed, if it has.
    pub(crate) fn observe(&mut self, watch: WatchId, event: WatchEvent) -> Option<String> {
        self.changes += 1;
        match event {
            WatchEvent::Workload(kind, event) => {
                self.take_in(watch, event, |index, object, is_gone| {
                    index.observe_workload(kind, object, is_gone)
                })
            }
            WatchEvent::Namespace(event) => self.take_in(watch, event, Self::observe_namespace),
            WatchEvent::Service(event) => self.take_in(watch, *event, Self::observe_service),
            WatchEvent::Slice(event) => self.take_in(watch, event, Self::observe_slice),
        }
    }

    fn take_in<D>(
        &mut self,
        watch: WatchId,
        event: ReflectorEvent<D>,
        mut put: impl FnMut(&mut Self, &D, bool) -> Option<ObjectKey>,
    ) -> Option<String> {
        let (object, is_gone) = match event {
            ReflectorEvent::Opened { .. } => return None,
            ReflectorEvent::Failed(error) => return Some(error.to_string()),
            ReflectorEvent::Init => {
                let listed = self.watches.get_mut(watch)?;
                listed.unseen = Some(listed.known.clone());
                return None;
            }
            ReflectorEvent::Done => {
                let listed = self.watches.get_mut(watch)?;
                listed.is_complete = true;
                let unseen = listed.unseen.take().unwrap_or_default();
                for gone in unseen {
                    self.forget(watch, &gone);
                }
                return None;
            }
            ReflectorEvent::InitApply(object) | ReflectorEvent::Apply(object) => (object, false),
            ReflectorEvent::Delete(object) => (object, true),
        };
        let known = put(self, &object, is_gone)?;
        if is_gone {
            self.forget(watch, &known);
            return None;
        }
        let listed = self.watches.get_mut(watch)?;
        if let Some(unseen) = &mut listed.unseen {
            unseen.remove(&known);
        }
        listed.known.insert(known);
        None
    }

    fn forget(&mut self, watch: WatchId, known: &ObjectKey) {
        if let Some(listed) = self.watches.get_mut(watch) {
            listed.known.remove(known);
        }
        match known {
            ObjectKey::Workload(kind, namespace, name) => {
                let key = (*kind, namespace.clone(), name.clone());
                self.workloads.remove(&key);
            }
            ObjectKey::Namespace(name) => {
                self.namespaces.remove(name);
            }
            ObjectKey::Service(name) => {
                self.services.remove(name);
            }
            ObjectKey::Slice(service, name) => self.forget_slice(service, name),
        }
    }

    fn forget_slice(&mut self, service: &ServiceName, name: &str) {
        if let Some(slices) = self.slices.get_mut(service) {
            slices.remove(name);
            if slices.is_empty() {
                self.slices.remove(service);
            }
        }
    }

    fn observe_workload(
        &mut self,
        kind: Kind,
        object: &WithPodLabels,
        is_gone: bool,
    ) -> Option<ObjectKey> {
        let workload = &object.workload;
        let key = (kind, workload.namespace().into(), workload.name().into());
        let known = ObjectKey::Workload(kind, workload.namespace().into(), workload.name().into());
        // Most workloads are none of dayshift's.
        if is_gone || !workload.concerns(&self.prefix) {
            self.workloads.remove(&key);
        } else {
            let observed = workload.observe(kind, &self.prefix);
            let labels = object.labels.clone();
            self.workloads.insert(key, (observed, labels));
        }
        Some(known)
    }

    fn observe_namespace(&mut self, object: &NamespaceMeta, _: bool) -> Option<ObjectKey> {
        let observed = ObservedNamespace::of(object, &self.prefix);
        let annotations = Arc::new(observed.annotations);
        self.namespaces.insert(observed.name.clone(), annotations);
        Some(ObjectKey::Namespace(observed.name))
    }

    fn observe_service(&mut self, object: &Service, _: bool) -> Option<ObjectKey> {
        let (name, known) = ServiceInfo::from_object(object)?;
        self.services.insert(name.clone(), known);
        Some(ObjectKey::Service(name))
    }

    fn observe_slice(&mut self, object: &EndpointSlice, _: bool) -> Option<ObjectKey> {
        let (service, name, known) = SliceInfo::from_object(object).or_else(|| {
            tracing::debug!(slice = object.name_any(), "an EndpointSlice of no Service");
            None
        })?;
        let slices = self.slices.entry(service.clone()).or_default();
        slices.insert(name.clone(), known);
        Some(ObjectKey::Slice(service, name))
    }

    /// The workloads that dayshift schedules and that ask to be woken by a request.
    pub(crate) fn sleepers(&self) -> impl Iterator<Item = WakeableWorkload<'_>> {
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

    /// Whether that workload is stopped, and does not ask to be woken by a request.
    pub(crate) fn stays_stopped(&self, namespace: &str, needed: &Dependency) -> bool {
        // A Service is no workload: nobody wakes it.
        let DependencyKind::Workload(kind) = needed.kind else {
            return false;
        };
        let key = (kind, namespace.into(), needed.name.clone());
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

    /// The activator's slices, each with its namespace and name.
    pub(crate) fn ours(&self) -> impl Iterator<Item = (&ServiceName, &Box<str>, &SliceInfo)> {
        let all = self.slices.iter();
        let all = all.flat_map(|(service, slices)| {
            slices
                .iter()
                .map(move |(name, slice)| (service, name, slice))
        });
        all.filter(|(.., slice)| slice.is_ours)
    }

    /// The ports that were chosen for Services.
    pub(crate) fn our_ports(&self) -> BTreeMap<(ServiceName, Box<str>), u16> {
        let ports = self.ours().flat_map(|(service, _, slice)| {
            let ports = slice.ports.iter();
            ports.map(move |(port, number)| ((service.clone(), port.clone()), *number))
        });
        ports.collect()
    }

    /// A slice of that name, of whatever Service.
    pub(crate) fn slice_named(&self, service: &ServiceName, name: &str) -> Option<&SliceInfo> {
        self.slices.get(service)?.get(name)
    }
}

/// Whether it is stopped, by whomever, and does not ask to be woken by a request.
pub(crate) fn stays_stopped(observed: &Observed) -> bool {
    observed.replicas == Replicas::ZERO && observed.inputs.text(Key::WakeOnRequest).is_none()
}
