//! Services and EndpointSlices, down to what the activator reads.

use std::{collections::BTreeMap, fmt, net::IpAddr, sync::Arc};

use dayshift_cluster::read::{MANAGED_BY, SERVICE_LABEL, is_ready, service_spec};
use dayshift_workload::ServiceSpec;
use k8s_openapi::api::{
    core::v1::Service,
    discovery::v1::{Endpoint, EndpointSlice},
};

/// The name of a Service.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ServiceName {
    /// Its namespace.
    pub namespace: Arc<str>,
    /// Its name there.
    pub name: Arc<str>,
}

impl fmt::Display for ServiceName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.namespace, self.name)
    }
}

/// Whose slices are the activator's.
pub(crate) const MANAGER: &str = "dayshift";

/// A family of addresses: the `addressType` of a slice.
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

/// A Service, as far as it matters who stands in for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ServiceInfo {
    pub(crate) uid: Box<str>,
    pub(crate) spec: ServiceSpec,
    /// Its TCP ports: name and `appProtocol`.
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
        let known = Self {
            uid: meta.uid.as_deref().unwrap_or_default().into(),
            ports: ports.collect(),
            spec: known,
            families,
        };
        Some((name, known))
    }
}

/// A pod that a slice names.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct PodName {
    pub(crate) namespace: Box<str>,
    pub(crate) name: Box<str>,
    pub(crate) uid: Box<str>,
}

/// The slice that stands in for a Service: what is written, and what is seen of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct StandInSlice {
    pub(crate) service: ServiceName,
    pub(crate) service_uid: Box<str>,
    pub(crate) family: Family,
    /// The ports of the Service: on which port the activator listens for each, and `appProtocol`.
    pub(crate) ports: BTreeMap<Box<str>, (u16, Option<Box<str>>)>,
    /// The activator's own pods.
    pub(crate) pods: BTreeMap<IpAddr, PodName>,
    /// Whether they are ready, or terminating: so that they get nothing but what nobody else can.
    pub(crate) is_ready: bool,
}

/// A slice of somebody.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SliceInfo {
    pub(crate) uid: Box<str>,
    /// Whether it is one of the activator's.
    pub(crate) is_ours: bool,
    pub(crate) family: Option<Family>,
    /// Ports by name.
    pub(crate) ports: BTreeMap<Box<str>, u16>,
    /// Addresses that are ready, and their pods.
    pub(crate) ready: BTreeMap<IpAddr, PodName>,
    /// What it says, where it is one of the activator's and nobody has changed it.
    pub(crate) stand_in: Option<StandInSlice>,
}

impl SliceInfo {
    /// The slice of a Service; `None` for what is of none.
    pub(crate) fn from_object(slice: &EndpointSlice) -> Option<(ServiceName, Box<str>, Self)> {
        let meta = &slice.metadata;
        let label = |name: &str| meta.labels.as_ref().and_then(|labels| labels.get(name));
        let service = ServiceName {
            namespace: meta.namespace.as_deref()?.into(),
            name: label(SERVICE_LABEL)?.as_str().into(),
        };
        let is_ours = label(MANAGED_BY).is_some_and(|manager| manager == MANAGER);
        let family = Family::named(&slice.address_type);
        let mut ports = BTreeMap::new();
        let mut protocols = BTreeMap::new();
        for port in slice.ports.iter().flatten() {
            let name: Box<str> = port.name.clone().unwrap_or_default().into();
            let is_tcp = port
                .protocol
                .as_deref()
                .is_none_or(|protocol| protocol == "TCP");
            let number = port.port.and_then(|number| u16::try_from(number).ok());
            if let Some(number) = number.filter(|_| is_tcp) {
                ports.insert(name.clone(), number);
                protocols.insert(name, port.app_protocol.clone().map(Into::into));
            }
        }
        let mut known = Self {
            uid: meta.uid.as_deref().unwrap_or_default().into(),
            is_ours,
            family,
            ready: BTreeMap::new(),
            stand_in: None,
            ports,
        };
        let mut all = BTreeMap::new();
        let mut shapes = Vec::new();
        for endpoint in slice.endpoints.iter().flatten() {
            let shape = shape(endpoint);
            let pod = pod_of(endpoint);
            for address in endpoint
                .addresses
                .iter()
                .filter_map(|address| address.parse().ok())
            {
                if let Some(pod) = &pod {
                    all.insert(address, pod.clone());
                    if shape == READY {
                        known.ready.insert(address, pod.clone());
                    }
                }
            }
            shapes.push(shape);
        }
        let owner = meta.owner_references.iter().flatten().next();
        // A slice without pods says of none whether it is ready.
        let is_ready = shapes.first().is_some_and(|shape| *shape == READY);
        let expected = if is_ready { READY } else { STANDING_BY };
        if let (true, Some(family)) = (
            is_ours && shapes.iter().all(|shape| *shape == expected),
            family,
        ) {
            let ports = known.ports.iter();
            known.stand_in = Some(StandInSlice {
                service: service.clone(),
                service_uid: owner.map_or("", |owner| &owner.uid).into(),
                family,
                ports: ports
                    .map(|(name, port)| {
                        let protocol = protocols.get(name).cloned().flatten();
                        (name.clone(), (*port, protocol))
                    })
                    .collect(),
                pods: all,
                is_ready,
            });
        }
        Some((service, meta.name.as_deref()?.into(), known))
    }
}

/// Whether an endpoint is ready, serving and terminating.
type EndpointConditions = (bool, bool, bool);

const READY: EndpointConditions = (true, true, false);
/// What a proxy takes where nothing is ready (KEP-1669), and nobody else.
const STANDING_BY: EndpointConditions = (false, true, true);

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
    is_pod.then(|| PodName {
        namespace: target.namespace.as_deref().unwrap_or_default().into(),
        name: target.name.as_deref().unwrap_or_default().into(),
        uid: target.uid.as_deref().unwrap_or_default().into(),
    })
}

impl StandInSlice {
    /// Its name, which begins with the Service's: ingress-nginx takes no other.
    pub(crate) fn name(&self) -> String {
        let family = match self.family {
            Family::V4 => "",
            Family::V6 => "-ipv6",
        };
        format!("{}-dayshift{family}", self.service.name)
    }

    /// The whole object, as it is applied.
    pub(crate) fn object(&self) -> serde_json::Value {
        let (ready, serving, terminating) = if self.is_ready { READY } else { STANDING_BY };
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
