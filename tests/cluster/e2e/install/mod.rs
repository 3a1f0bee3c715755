//! The Helm chart with both real Helms, and the components for kustomize; the chart's own tests by
//! helm-unittest, and all objects validated by kubeconform.

mod json_schema;
mod kustomize;
mod manifests;
mod refused;
mod releases;
mod rendered;
mod rollout;
mod schemas;
mod units;
mod values;

use crate::support::Scenario;

pub(crate) fn scenarios() -> Vec<Scenario> {
    [
        releases::scenarios(),
        rollout::scenarios(),
        manifests::scenarios(),
        kustomize::scenarios(),
        values::scenarios(),
        refused::scenarios(),
        schemas::scenarios(),
        units::scenarios(),
    ]
    .concat()
}
