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

use crate::support::Story;

pub(crate) fn stories() -> Vec<Story> {
    [
        releases::stories(),
        rollout::stories(),
        manifests::stories(),
        kustomize::stories(),
        values::stories(),
        refused::stories(),
        schemas::stories(),
        units::stories(),
    ]
    .concat()
}
