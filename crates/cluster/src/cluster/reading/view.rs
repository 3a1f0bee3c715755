//! Views of a workload.

use std::fmt::Debug;

use dayshift_workload::Kind;
use kube::{Api, Client, Resource, core::DynamicResourceScope};
use serde::de::DeserializeOwned;

/// How many objects a page of a list has. A page is in memory three times over while it is read, at
/// some 10 kB for each Deployment.
pub(crate) const PAGE: u32 = 100;

/// A view of a live workload: [`Workload`](crate::cluster::Workload), or more of it, such as
/// [`WithManagers`](crate::cluster::WithManagers).
pub trait WorkloadView:
    Resource<DynamicType = Kind, Scope = DynamicResourceScope>
    + Clone
    + Debug
    + DeserializeOwned
    + Send
    + 'static
{
}

impl<D> WorkloadView for D where
    D: Resource<DynamicType = Kind, Scope = DynamicResourceScope>
        + Clone
        + Debug
        + DeserializeOwned
        + Send
        + 'static
{
}

/// The workloads of a kind in one namespace, or in all.
pub(crate) fn api_of<D: WorkloadView>(
    client: &Client,
    kind: Kind,
    namespace: Option<&str>,
) -> Api<D> {
    match namespace {
        Some(namespace) => Api::namespaced_with(client.clone(), namespace, &kind),
        None => Api::all_with(client.clone(), &kind),
    }
}
