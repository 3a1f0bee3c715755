//! The watches: one stream of events for every kind in all namespaces that are looked at.

use std::pin::Pin;

use dayshift_cluster::{
    Workload,
    read::{NamespaceMeta, OTHERS_SLICES},
    watch::{Reflector, ReflectorEvent},
};
use dayshift_workload::Kind;
use futures::{Stream, StreamExt as _, stream::select_all};
use k8s_openapi::api::discovery::v1::EndpointSlice;
use kube::{Client, api::WatchParams};

use crate::{
    ids::WatchId,
    settings::{Scope, Watched},
};

/// An event of a watch.
pub(crate) enum Event {
    /// About an object of a kind.
    Workload(Kind, ReflectorEvent<Workload>),
    /// About a Namespace.
    Namespace(ReflectorEvent<NamespaceMeta>),
    /// Of the EndpointSlices of Services.
    Slice(ReflectorEvent<EndpointSlice>),
}

pub(crate) type Watches = Pin<Box<dyn Stream<Item = (WatchId, Event)> + Send>>;

/// Watches everything in scope, for ever.
pub(crate) fn workloads(client: &Client, scope: &Scope, seed: u64) -> Watches {
    let watches = scope.watches().enumerate().map(|(id, (what, namespace))| {
        let random = fastrand::Rng::with_seed(seed.wrapping_add(id as u64));
        let client = client.clone();
        let selectors = selectors(scope, what, namespace);
        match what {
            Watched::Namespaces => Reflector::of_namespaces(client, selectors, random)
                .into_stream()
                .map(move |event| (id, Event::Namespace(event)))
                .boxed(),
            Watched::Kind(kind) => Reflector::of_kind(client, kind, namespace, selectors, random)
                .into_stream()
                .map(move |event| (id, Event::Workload(kind, event)))
                .boxed(),
            Watched::Services => Reflector::of_slices(client, namespace, selectors, random)
                .into_stream()
                .map(move |event| (id, Event::Slice(event)))
                .boxed(),
        }
    });
    Box::pin(select_all(watches))
}

/// The objects that a watch asks for: one or all Namespaces, the objects of a kind in scope, or all
/// EndpointSlices that others write for Services.
fn selectors(scope: &Scope, what: Watched, namespace: Option<&str>) -> WatchParams {
    let (label_selector, field) = match what {
        Watched::Namespaces => (scope.namespace_selector.clone(), "metadata.name"),
        Watched::Kind(_) => (scope.selector.clone(), "metadata.namespace"),
        Watched::Services => (Some(OTHERS_SLICES.to_owned()), "metadata.namespace"),
    };
    let excluded = scope.excluded_namespaces.iter();
    let excluded: Vec<_> = excluded.map(|name| format!("{field}!={name}")).collect();
    let field_selector = match (what, namespace) {
        (Watched::Namespaces, Some(name)) => Some(format!("{field}={name}")),
        _ => (!excluded.is_empty()).then(|| excluded.join(",")),
    };
    WatchParams {
        label_selector,
        field_selector,
        ..WatchParams::default()
    }
}
