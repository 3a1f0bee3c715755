//! EndpointSlices, as far as it matters whether their Service is ready.

use k8s_openapi::api::discovery::v1::{Endpoint, EndpointSlice};

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
