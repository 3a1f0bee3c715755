//! Creates the watches in scope.

use dayshift_cluster::{
    read::OTHERS_SLICES,
    watch::{Reflector, WatchSet},
};
use dayshift_workload::TEAM_CONFIG_MAP;
use kube::{Client, api::WatchParams};

use crate::{
    core::io::WatchInput,
    settings::{Scope, Watched},
};

/// Watches everything in scope. The number of a watch is its position in [`Scope::watches`].
pub(super) fn watch(client: &Client, scope: &Scope, seed: u64) -> WatchSet<WatchInput> {
    let mut watches = WatchSet::new();
    for (id, (watched, namespace)) in scope.watches().enumerate() {
        let client = client.clone();
        let selectors = selectors(scope, &watched, namespace);
        let random = fastrand::Rng::with_seed(seed.wrapping_add(id as u64));
        match watched {
            Watched::Namespaces => watches.add(
                Reflector::for_parts(client, None, selectors, random),
                WatchInput::Namespace,
            ),
            Watched::TeamDefaults => watches.add(
                Reflector::for_parts(client, namespace, selectors, random),
                WatchInput::TeamDefaults,
            ),
            Watched::Kind(kind) => watches.add(
                Reflector::for_kind(client, &kind, namespace, selectors, random),
                move |event| WatchInput::Workload(kind.clone(), event),
            ),
            Watched::Services => watches.add(
                Reflector::for_parts(client, namespace, selectors, random),
                WatchInput::Slice,
            ),
        }
    }
    watches
}

/// The selectors of a watch: for one or all Namespaces, for the ConfigMaps of teams, for the objects of a
/// kind in scope, or for the EndpointSlices of Services that dayshift has not written.
fn selectors(scope: &Scope, watched: &Watched, namespace: Option<&str>) -> WatchParams {
    let (label_selector, field) = match watched {
        Watched::Namespaces => (scope.namespace_selector.clone(), "metadata.name"),
        Watched::TeamDefaults => (None, "metadata.namespace"),
        Watched::Kind(_) => (scope.selector.clone(), "metadata.namespace"),
        Watched::Services => (Some(OTHERS_SLICES.to_owned()), "metadata.namespace"),
    };
    let excluded = scope.excluded_namespaces.iter();
    let excluded = excluded.map(|name| format!("{field}!={name}"));
    // The permission is only for ConfigMaps with this name.
    let name =
        (*watched == Watched::TeamDefaults).then(|| format!("metadata.name={TEAM_CONFIG_MAP}"));
    let excluded: Vec<_> = name.into_iter().chain(excluded).collect();
    let field_selector = match (watched, namespace) {
        (Watched::Namespaces, Some(name)) => Some(format!("{field}={name}")),
        _ => (!excluded.is_empty()).then(|| excluded.join(",")),
    };
    WatchParams {
        label_selector,
        field_selector,
        ..WatchParams::default()
    }
}
