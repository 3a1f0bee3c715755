//! The Services of namespaces, as far as it matters whether a request to them wakes something.
//!
//! EndpointSlices, as far as it matters whether their Service is ready.

use std::{collections::BTreeMap, time::Duration};

use dayshift_workload::{ServicePort, ServiceSpec};
use futures::future::join_all;
use k8s_openapi::api::{
    core::v1::Service,
    discovery::v1::{Endpoint, EndpointSlice},
};
use kube::{Api, Client, Error};
use tokio::time::timeout;

use crate::read::{list::listed, query::Query};

/// The longest wait for all of them: their use is not worth more.
const PATIENCE: Duration = Duration::from_secs(5);

/// The Services of the namespaces of a query, as far as they may be read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Services {
    /// By namespace; `None` where they are not known.
    known: Option<BTreeMap<Box<str>, ByName>>,
    forbidden: Option<String>,
}

type ByName = BTreeMap<Box<str>, ServiceSpec>;

impl Services {
    /// Reads them with the rights of the user. If the server does not answer in 5 s, they are not known.
    pub async fn find(client: &Client, query: &Query) -> Self {
        let namespaces = query.namespaces();
        let apis: Vec<Api<Service>> = match &*namespaces {
            [] => vec![Api::all(client.clone())],
            several => several
                .iter()
                .map(|it| Api::namespaced(client.clone(), it))
                .collect(),
        };
        let lists = apis.iter().map(|api| listed(api, None));
        let Ok(lists) = timeout(PATIENCE, join_all(lists)).await else {
            return Self::default();
        };
        let mut all = Self {
            known: Some(BTreeMap::new()),
            forbidden: None,
        };
        for list in lists {
            match list {
                Ok(found) => found.iter().for_each(|it| all.put(it)),
                Err(error) => {
                    let forbidden = match error {
                        Error::Api(status) if status.code == 403 => Some(status.message),
                        _ => None,
                    };
                    return Self {
                        known: None,
                        forbidden,
                    };
                }
            }
        }
        all
    }

    fn put(&mut self, service: &Service) {
        let meta = &service.metadata;
        if let (Some(known), Some(namespace), Some(name)) =
            (&mut self.known, &meta.namespace, &meta.name)
        {
            let of_namespace = known.entry(namespace.as_str().into()).or_default();
            of_namespace.insert(name.as_str().into(), service_spec(service));
        }
    }

    /// Those of a namespace, by name; `None` where they are not known.
    pub fn of(&self, namespace: &str) -> Option<impl Iterator<Item = (&str, &ServiceSpec)>> {
        let of_namespace = self.known.as_ref()?.get(namespace);
        let all = of_namespace.into_iter().flatten();
        Some(all.map(|(name, it)| (&**name, it)))
    }

    /// The words of the API server where they may not be listed.
    pub fn forbidden(&self) -> Option<&str> {
        self.forbidden.as_deref()
    }
}

/// What there is to know of a Service.
pub fn service_spec(service: &Service) -> ServiceSpec {
    let Some(spec) = &service.spec else {
        return ServiceSpec::default();
    };
    let ports = spec.ports.iter().flatten();
    ServiceSpec {
        is_external_name: spec.type_.as_deref() == Some("ExternalName"),
        is_headless: spec.cluster_ip.as_deref() == Some("None"),
        selector: spec.selector.clone().unwrap_or_default(),
        ports: ports
            .map(|it| ServicePort {
                name: it.name.as_deref().unwrap_or_default().into(),
                number: it.port,
                protocol: it.protocol.as_deref().map(Into::into),
            })
            .collect(),
    }
}

/// The label by which a slice says whose it is.
pub const SERVICE_LABEL: &str = "kubernetes.io/service-name";

/// The label by which a slice says who writes it.
pub const MANAGED_BY: &str = "endpointslice.kubernetes.io/managed-by";

/// The slices of Services, but for those of `dayshift activator`, as a label selector.
pub const OTHERS_SLICES: &str =
    "kubernetes.io/service-name,endpointslice.kubernetes.io/managed-by!=dayshift";

/// A slice of a Service.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServiceSlice {
    /// Its namespace.
    pub namespace: Box<str>,
    /// Its name.
    pub name: Box<str>,
    /// The Service's name.
    pub service: Box<str>,
    /// Whether one of its endpoints is ready.
    pub is_ready: bool,
}

impl ServiceSlice {
    /// `None` where it is of no Service.
    pub fn of(slice: &EndpointSlice) -> Option<Self> {
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

/// Whether an endpoint is ready. Unknown is ready, as the API's documentation says.
pub fn is_ready(endpoint: &Endpoint) -> bool {
    let conditions = endpoint.conditions.as_ref();
    conditions.and_then(|it| it.ready).unwrap_or(true)
}

/// The root of the API of EndpointSlices.
pub(crate) const SLICES_ROOT: &str = "/apis/discovery.k8s.io/v1/";
