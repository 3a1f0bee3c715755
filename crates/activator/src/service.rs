//! Services and EndpointSlices, reduced to the fields that the activator uses, with limits on their size.

use std::{collections::BTreeMap, net::IpAddr, sync::Arc};

use chrono::{DateTime, Utc};
use dayshift_cluster::{
    read::{EndpointSlice, MANAGED_BY, MAX_PORTS, SERVICE_LABEL, Service, is_ready, service_spec},
    watch::ObjectName,
};
use dayshift_workload::ServiceSpec;
use k8s_openapi::{api::discovery::v1::Endpoint, apimachinery::pkg::apis::meta::v1::Time};

/// The namespace and the name of a Service.
pub type ServiceName = ObjectName;

/// Whether this is a Service of Kubernetes itself, which is never covered.
pub(crate) fn is_of_kubernetes(service: &ServiceName) -> bool {
    service.namespace.starts_with("kube-")
        || (&*service.namespace, &*service.name) == ("default", "kubernetes")
}

/// The value of `managed-by` in the activator's EndpointSlices.
pub(crate) const MANAGER: &str = "dayshift";

/// The `addressType` of an EndpointSlice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Family {
    V4,
    V6,
}

impl Family {
    pub(crate) const ALL: [Self; 2] = [Self::V4, Self::V6];

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::V4 => "IPv4",
            Self::V6 => "IPv6",
        }
    }

    fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|family| family.name() == name)
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ServiceInfo {
    pub(crate) uid: Box<str>,
    pub(crate) created: Option<DateTime<Utc>>,
    pub(crate) spec: ServiceSpec,
    /// The names and `appProtocol`s of the TCP ports.
    pub(crate) ports: BTreeMap<Box<str>, Option<Box<str>>>,
    pub(crate) families: Vec<Family>,
}

impl ServiceInfo {
    pub(crate) fn from_object(service: &Service) -> Option<(ServiceName, Self)> {
        let meta = &service.metadata;
        let name = ServiceName {
            namespace: meta.namespace.as_deref()?.into(),
            name: meta.name.as_deref()?.into(),
        };
        let known = service_spec(service);
        let spec = service.spec.as_ref();
        let protocols = spec
            .and_then(|spec| spec.ports.as_ref())
            .into_iter()
            .flatten();
        let tcp = known
            .ports
            .iter()
            .zip(protocols)
            .filter(|(port, _)| port.is_tcp());
        let ports = tcp.map(|(known, port)| {
            (
                known.name.clone(),
                port.app_protocol.clone().map(Into::into),
            )
        });
        let families = spec
            .and_then(|spec| spec.ip_families.as_ref())
            .into_iter()
            .flatten();
        let mut families: Vec<_> = families.filter_map(|name| Family::named(name)).collect();
        if families.is_empty() {
            families = Family::ALL.to_vec();
        }
        let ports = ports.collect();
        let known = Self {
            uid: meta.uid.as_deref().unwrap_or_default().into(),
            created: meta.creation_timestamp.as_ref().and_then(created),
            ports,
            spec: known,
            families,
        };
        Some((name, known))
    }

    /// The approximate size in bytes.
    pub(crate) fn size(&self) -> usize {
        let texts = self.spec.selector.iter();
        let selector: usize = texts.map(|(key, value)| key.len() + value.len() + 64).sum();
        let ports = self.spec.ports.iter().map(|port| 64 + port.name.len());
        let tcp = self.ports.iter();
        let tcp = tcp.map(|(name, protocol)| {
            64 + name.len() + protocol.as_ref().map_or(0, |name| name.len())
        });
        512 + selector + ports.sum::<usize>() + tcp.sum::<usize>()
    }
}

fn created(time: &Time) -> Option<DateTime<Utc>> {
    time.0.to_string().parse().ok()
}

/// The maximum number of ready addresses of a slice. Further ones are ignored. Kubernetes writes at most 100 to a
/// slice.
const MAX_READY: usize = 100;

/// The maximum lengths of a pod's name and UID. Nothing validates the `targetRef` in a slice.
const MAX_POD_NAME: usize = 253;
const MAX_UID: usize = 64;

/// The `targetRef` of an endpoint.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct PodName {
    pub(crate) namespace: Box<str>,
    pub(crate) name: Box<str>,
    pub(crate) uid: Box<str>,
}

/// The number and the `appProtocol` for each Service port.
pub(crate) type SlicePorts = BTreeMap<Box<str>, (u16, Option<Box<str>>)>;

/// The EndpointSlice that the activator writes for a Service.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FallbackSlice {
    pub(crate) service: ServiceName,
    pub(crate) service_uid: Box<str>,
    pub(crate) family: Family,
    /// The activator's ports.
    pub(crate) ports: SlicePorts,
    /// The pods of the activator.
    pub(crate) pods: BTreeMap<IpAddr, PodName>,
    /// If false, the endpoints are `terminating`: proxies use them only if no other endpoint is ready.
    pub(crate) is_ready: bool,
}

/// An observed EndpointSlice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SliceInfo {
    pub(crate) uid: Box<str>,
    /// Whether it has the activator's `managed-by` label.
    pub(crate) is_ours: bool,
    pub(crate) family: Option<Family>,
    pub(crate) ports: SlicePorts,
    pub(crate) ready: Arc<BTreeMap<IpAddr, PodName>>,
    /// The content if the activator wrote it and no other client changed it.
    pub(crate) fallback: Option<FallbackSlice>,
}

impl SliceInfo {
    /// `None` if the slice belongs to no Service.
    pub(crate) fn from_object(slice: &EndpointSlice) -> Option<(ServiceName, Box<str>, Self)> {
        let meta = &slice.metadata;
        let label = |name: &str| meta.labels.as_ref().and_then(|labels| labels.get(name));
        let service = ServiceName {
            namespace: meta.namespace.as_deref()?.into(),
            name: label(SERVICE_LABEL)?.as_str().into(),
        };
        let is_ours = label(MANAGED_BY).is_some_and(|manager| manager == MANAGER);
        let family = Family::named(&slice.address_type);
        let mut ports = SlicePorts::new();
        for port in slice.ports.iter().flatten().take(MAX_PORTS) {
            let name: Box<str> = port.name.clone().unwrap_or_default().into();
            let is_tcp = port
                .protocol
                .as_deref()
                .is_none_or(|protocol| protocol == "TCP");
            let number = port.port.and_then(|number| u16::try_from(number).ok());
            if let Some(number) = number.filter(|_| is_tcp) {
                ports.insert(name, (number, port.app_protocol.clone().map(Into::into)));
            }
        }
        let mut known = Self {
            uid: meta.uid.as_deref().unwrap_or_default().into(),
            is_ours,
            family,
            ready: Arc::default(),
            fallback: None,
            ports,
        };
        let (mut all, mut ready_pods) = (BTreeMap::new(), BTreeMap::new());
        let mut shapes = Vec::new();
        for endpoint in slice.endpoints.iter().flatten() {
            let shape = shape(endpoint);
            let pod = pod_of(endpoint);
            // All addresses of an endpoint belong to the same pod, and clients use the first.
            let address = endpoint.addresses.first();
            let address = address.and_then(|address| address.parse().ok());
            if let Some(address) = address
                && all.len() < MAX_READY
                && let Some(pod) = &pod
            {
                all.insert(address, pod.clone());
                if shape == READY {
                    ready_pods.insert(address, pod.clone());
                }
            }
            shapes.push(shape);
        }
        known.ready = Arc::new(ready_pods);
        let owner = meta.owner_references.iter().flatten().next();
        // Without endpoints, readiness is unknown.
        let is_ready = shapes.first().is_some_and(|shape| *shape == READY);
        let expected = if is_ready { READY } else { TERMINATING };
        if let (true, Some(family)) = (
            is_ours && shapes.iter().all(|shape| *shape == expected),
            family,
        ) {
            known.fallback = Some(FallbackSlice {
                service: service.clone(),
                service_uid: owner.map_or("", |owner| &owner.uid).into(),
                family,
                ports: known.ports.clone(),
                pods: all,
                is_ready,
            });
        }
        Some((service, meta.name.as_deref()?.into(), known))
    }

    /// The approximate size in bytes.
    pub(crate) fn size(&self) -> usize {
        let pods = |pods: &BTreeMap<IpAddr, PodName>| -> usize {
            let texts = pods.values();
            let texts = texts.map(|pod| 128 + pod.namespace.len() + pod.name.len() + pod.uid.len());
            texts.sum()
        };
        let ports = self.ports.iter().map(|(name, (_, protocol))| {
            64 + name.len() + protocol.as_ref().map_or(0, |name| name.len())
        });
        let ports: usize = ports.sum();
        let fallback = self.fallback.as_ref();
        let fallback = fallback.map_or(0, |fallback| ports + pods(&fallback.pods));
        512 + ports + pods(&self.ready) + fallback
    }
}

/// Ready, serving and terminating.
type EndpointConditions = (bool, bool, bool);

const READY: EndpointConditions = (true, true, false);
/// Proxies use such endpoints only if none is ready (KEP-1669).
const TERMINATING: EndpointConditions = (false, true, true);

fn shape(endpoint: &Endpoint) -> EndpointConditions {
    let conditions = endpoint.conditions.clone().unwrap_or_default();
    let ready = is_ready(endpoint);
    (
        ready,
        conditions.serving.unwrap_or(ready),
        conditions.terminating.unwrap_or(false),
    )
}

fn pod_of(endpoint: &Endpoint) -> Option<PodName> {
    let target = endpoint.target_ref.as_ref()?;
    let is_pod = target.kind.as_deref() == Some("Pod");
    let name = target.name.as_deref().unwrap_or_default();
    let namespace = target.namespace.as_deref().unwrap_or_default();
    let uid = target.uid.as_deref().unwrap_or_default();
    let is_short = name.len() <= MAX_POD_NAME && namespace.len() <= MAX_UID && uid.len() <= MAX_UID;
    (is_pod && is_short).then(|| PodName {
        namespace: namespace.into(),
        name: name.into(),
        uid: uid.into(),
    })
}

impl FallbackSlice {
    /// Ingress-nginx requires that the name begins with the name of the Service.
    pub(crate) fn name(&self) -> String {
        let family = match self.family {
            Family::V4 => "",
            Family::V6 => "-ipv6",
        };
        format!("{}-dayshift{family}", self.service.name)
    }

    /// The complete object for server-side apply.
    pub(crate) fn object(&self) -> serde_json::Value {
        let (ready, serving, terminating) = if self.is_ready { READY } else { TERMINATING };
        let endpoint = |(address, pod): (&IpAddr, &PodName)| {
            serde_json::json!({
                "addresses": [address],
                "conditions": {"ready": ready, "serving": serving, "terminating": terminating},
                "targetRef": {
                    "kind": "Pod", "namespace": pod.namespace, "name": pod.name, "uid": pod.uid,
                },
            })
        };
        let port = |name: &str, port: u16, protocol: Option<&str>| {
            let mut object = serde_json::json!({"name": name, "port": port, "protocol": "TCP"});
            if let Some(protocol) = protocol {
                object["appProtocol"] = protocol.into();
            }
            object
        };
        let ports = self.ports.iter();
        let ports: Vec<_> = ports
            .map(|(name, (number, protocol))| port(name, *number, protocol.as_deref()))
            .collect();
        serde_json::json!({
            "apiVersion": "discovery.k8s.io/v1",
            "kind": "EndpointSlice",
            "metadata": {
                "name": self.name(),
                "namespace": &*self.service.namespace,
                "labels": {SERVICE_LABEL: &*self.service.name, MANAGED_BY: MANAGER},
                "ownerReferences": [{
                    "apiVersion": "v1", "kind": "Service",
                    "name": &*self.service.name, "uid": self.service_uid,
                }],
            },
            "addressType": self.family.name(),
            "ports": ports,
            "endpoints": self.pods.iter().map(endpoint).collect::<Vec<_>>(),
        })
    }
}
