//! Watches of objects that are no workloads, and that every server has.

use k8s_openapi::api::{core::v1::Service, discovery::v1::EndpointSlice};
use kube::{Client, api::WatchParams};

use crate::cluster::watching::reflector::Reflector;
use crate::cluster::watching::request::{Collection, Source};
use crate::cluster::writing::slices::SLICES_ROOT;

impl Reflector<Service> {
    /// A watch of Services, in one namespace or in all.
    pub fn of_services(client: Client, namespace: Option<&str>, random: fastrand::Rng) -> Self {
        let all = Collection::BuiltIn("/api/v1/", "services");
        let source = Source::new(client, all, namespace, WatchParams::default());
        Self::new(source, random)
    }
}

impl Reflector<EndpointSlice> {
    /// A watch of EndpointSlices, in one namespace or in all.
    pub fn of_slices(
        client: Client,
        namespace: Option<&str>,
        selectors: WatchParams,
        random: fastrand::Rng,
    ) -> Self {
        let all = Collection::BuiltIn(SLICES_ROOT, "endpointslices");
        let source = Source::new(client, all, namespace, selectors);
        Self::new(source, random)
    }
}
