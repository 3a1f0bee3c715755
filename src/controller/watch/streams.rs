//! The watches: one stream of events for every kind in all namespaces that are looked at.

use std::pin::Pin;

use futures::{Stream, StreamExt as _, stream::select_all};
use kube::{Client, api::WatchParams};

use crate::{
    cluster::{NamespaceMeta, Reflector, ReflectorEvent, Workload},
    workload::Kind,
};

use crate::controller::ids::WatchId;
use crate::controller::settings::{Scope, Watched};

/// What a watch tells.
pub(in crate::controller) enum Event {
    /// Of the objects of a kind.
    Workload(Kind, ReflectorEvent<Workload>),
    /// Of the Namespaces.
    Namespace(ReflectorEvent<NamespaceMeta>),
}

pub(in crate::controller) type Watches = Pin<Box<dyn Stream<Item = (WatchId, Event)> + Send>>;

/// Watches everything in scope, for ever.
pub(in crate::controller) fn workloads(client: &Client, scope: &Scope, seed: u64) -> Watches {
    let watches = scope.watches().enumerate().map(|(id, (what, namespace))| {
        let random = fastrand::Rng::with_seed(seed.wrapping_add(id as u64));
        let client = client.clone();
        match what {
            Watched::Namespaces => {
                let selectors = namespaces_in(scope, namespace);
                Reflector::of_namespaces(client, selectors, random)
                    .into_stream()
                    .map(move |event| (id, Event::Namespace(event)))
                    .boxed()
            }
            Watched::Kind(kind) => {
                Reflector::of_kind(client, kind, namespace, workloads_in(scope), random)
                    .into_stream()
                    .map(move |event| (id, Event::Workload(kind, event)))
                    .boxed()
            }
        }
    });
    Box::pin(select_all(watches))
}

/// Which workloads are asked for.
fn workloads_in(scope: &Scope) -> WatchParams {
    let mut selectors = WatchParams::default();
    if let Some(labels) = &scope.selector {
        selectors = selectors.labels(labels);
    }
    but_for(scope, "metadata.namespace", selectors)
}

/// Which Namespaces are asked for: one, or all.
fn namespaces_in(scope: &Scope, namespace: Option<&str>) -> WatchParams {
    let mut selectors = WatchParams::default();
    if let Some(labels) = &scope.namespace_selector {
        selectors = selectors.labels(labels);
    }
    match namespace {
        Some(name) => selectors.fields(&format!("metadata.name={name}")),
        None => but_for(scope, "metadata.name", selectors),
    }
}

fn but_for(scope: &Scope, field: &str, selectors: WatchParams) -> WatchParams {
    let excluded = scope.excluded_namespaces.iter();
    let excluded: Vec<_> = excluded.map(|name| format!("{field}!={name}")).collect();
    if excluded.is_empty() {
        selectors
    } else {
        selectors.fields(&excluded.join(","))
    }
}
