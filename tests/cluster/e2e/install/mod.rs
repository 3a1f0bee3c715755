//! The Helm chart, with the real Helms, its own tests by helm-unittest, and the components for
//! kustomize.

mod kustomize;
mod manifests;
mod releases;
mod rendered;
mod units;
mod values;

use crate::support::Story;

pub(crate) fn stories() -> Vec<Story> {
    [
        releases::stories(),
        manifests::stories(),
        kustomize::stories(),
        values::stories(),
        units::stories(),
    ]
    .concat()
}
