//! Services and EndpointSlices, reduced to the fields that wake-on-request and dependencies need.

use std::collections::BTreeMap;

use dayshift_workload::{ServicePort, ServiceSpec};
use futures::future::join_all;
use k8s_openapi::{
    api::{
        core::v1::ServiceSpec as WholeServiceSpec,
        discovery::v1::{Endpoint, EndpointPort},
    },
    apimachinery::pkg::apis::meta::v1::ObjectMeta,
};
use kube::{Client, Error};
use serde::Deserialize;
use tokio::time::timeout;

use crate::{
    decode::{
        metadata::{Part, decode_part, metadata},
        protobuf::CORE_ROOT,
    },
    read::{
        list::{ListError, READ_TIMEOUT, listed},
        query::Query,
    },
};

/// The part of a Service that dayshift reads.
#[derive(Clone, Debug, Deserialize)]
pub struct Service {
    /// The metadata without managed fields.
    #[serde(default, deserialize_with = "metadata")]
    pub metadata: ObjectMeta,
    /// The `spec`.
    pub spec: Option<WholeServiceSpec>,
}

decode_part!(Service);

impl Part for Service {
    const ROOT: &'static str = CORE_ROOT;
    const PLURAL: &'static str = "services";
}

/// The part of an EndpointSlice that dayshift reads.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct EndpointSlice {
    /// The metadata without managed fields.
    #[serde(default, deserialize_with = "metadata")]
    pub metadata: ObjectMeta,
    /// The family of the addresses.
    #[serde(default)]
    pub address_type: String,
    /// The ports.
    pub ports: Option<Vec<EndpointPort>>,
    /// The endpoints.
    pub endpoints: Option<Vec<Endpoint>>,
}

decode_part!(EndpointSlice);

impl Part for EndpointSlice {
    const ROOT: &'static str = SLICES_ROOT;
    const PLURAL: &'static str = "endpointslices";
}

/// The Services in the namespaces of a query, if they are readable.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Services {
    /// By namespace; `None` if the Services are unknown.
    known: Option<BTreeMap<Box<str>, ByName>>,
    error: Option<ListError>,
}

type ByName = BTreeMap<Box<str>, ServiceSpec>;

impl Services {
    /// Reads the Services with the user's permissions, for at most 5 s.
    pub async fn find(client: &Client, query: &Query) -> Self {
        let places = query.places();
        let kept = |service: Service| {
            let spec = service_spec(&service);
            (service.metadata.namespace, service.metadata.name, spec)
        };
        let lists = places
            .iter()
            .map(|place| listed(client, *place, None, kept));
        let Ok(lists) = timeout(READ_TIMEOUT, join_all(lists)).await else {
            return Self::unknown(Some(ListError::TimedOut));
        };
        let mut all = Self {
            known: Some(BTreeMap::new()),
            error: None,
        };
        for list in lists {
            match list {
                Ok(found) => found.into_iter().for_each(|service| all.put(service)),
                Err(error) => {
                    return Self::unknown(match error {
                        Error::Api(status) if status.code == 403 => {
                            Some(ListError::Forbidden(status.message))
                        }
                        _ => None,
                    });
                }
            }
        }
        all
    }

    const fn unknown(error: Option<ListError>) -> Self {
        Self { known: None, error }
    }

    fn put(&mut self, service: (Option<String>, Option<String>, ServiceSpec)) {
        if let (Some(known), (Some(namespace), Some(name), spec)) = (&mut self.known, service) {
            let of_namespace = known.entry(namespace.into()).or_default();
            of_namespace.insert(name.into(), spec);
        }
    }

    /// The Services of a namespace by name; `None` if they are unknown.
    pub fn in_namespace(
        &self,
        namespace: &str,
    ) -> Option<impl Iterator<Item = (&str, &ServiceSpec)>> {
        let of_namespace = self.known.as_ref()?.get(namespace);
        let all = of_namespace.into_iter().flatten();
        Some(all.map(|(name, spec)| (&**name, spec)))
    }

    /// Why the Services are unknown, if the user may not list them or the list takes too long.
    pub const fn error(&self) -> Option<&ListError> {
        self.error.as_ref()
    }
}

/// The maximum number of ports of a Service. Further ones are ignored.
pub const MAX_PORTS: usize = 1_000;

/// The maximum size of a selector in bytes. A Service with a larger one selects nothing.
const MAX_SELECTOR: usize = 8 * 1024;

/// Reduces a Service to the fields that dayshift reads, within limits: any user can write a Service of a megabyte.
pub fn service_spec(service: &Service) -> ServiceSpec {
    let Some(spec) = &service.spec else {
        return ServiceSpec::default();
    };
    let ports = spec.ports.iter().flatten().take(MAX_PORTS);
    let labels = spec.selector.iter().flatten();
    let selector: usize = labels.map(|(key, value)| key.len() + value.len()).sum();
    let selector = Some(&spec.selector).filter(|_| selector <= MAX_SELECTOR);
    ServiceSpec {
        is_external_name: spec.type_.as_deref() == Some("ExternalName"),
        is_headless: spec.cluster_ip.as_deref() == Some("None"),
        has_client_affinity: spec.session_affinity.as_deref() == Some("ClientIP"),
        selector: selector.cloned().flatten().unwrap_or_default(),
        ports: ports
            .map(|port| ServicePort {
                name: port.name.as_deref().unwrap_or_default().into(),
                number: port.port,
                protocol: port.protocol.as_deref().map(Into::into),
            })
            .collect(),
    }
}

/// The label of a slice that names its Service.
pub const SERVICE_LABEL: &str = "kubernetes.io/service-name";

/// The label of a slice that names its writer.
pub const MANAGED_BY: &str = "endpointslice.kubernetes.io/managed-by";

/// A label selector for the slices of Services, except those of `dayshift activator`.
pub const OTHERS_SLICES: &str =
    "kubernetes.io/service-name,endpointslice.kubernetes.io/managed-by!=dayshift";

/// An EndpointSlice of a Service.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServiceSlice {
    /// `metadata.namespace`.
    pub namespace: Box<str>,
    /// `metadata.name`.
    pub name: Box<str>,
    /// The name of the Service.
    pub service: Box<str>,
    /// Whether one of the endpoints is ready.
    pub is_ready: bool,
}

impl ServiceSlice {
    /// Reads a slice; `None` if it belongs to no Service.
    pub fn from_slice(slice: &EndpointSlice) -> Option<Self> {
        let meta = &slice.metadata;
        let service = meta.labels.as_ref()?.get(SERVICE_LABEL)?;
        Some(Self {
            namespace: meta.namespace.as_deref()?.into(),
            name: meta.name.as_deref()?.into(),
            service: service.as_str().into(),
            is_ready: slice.endpoints.iter().flatten().any(is_ready),
        })
    }
}

/// Whether an endpoint is ready. If that is unknown, it counts as ready, as the API documentation
/// recommends.
pub fn is_ready(endpoint: &Endpoint) -> bool {
    let conditions = endpoint.conditions.as_ref();
    conditions
        .and_then(|conditions| conditions.ready)
        .unwrap_or(true)
}

/// The API path of the group of EndpointSlices.
pub(crate) const SLICES_ROOT: &str = "/apis/discovery.k8s.io/v1/";
