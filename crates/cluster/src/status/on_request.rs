//! What requests to the Services of a workload come to.

use dayshift_workload::{Key, Kind, Observed, Prefix, RequestCoverage};

use super::workload_status::WorkloadStatus;
use crate::cluster::{NamespaceDefaults, Services, WithManagers};

/// Whether it asks to be woken by requests, by its own annotation or its Namespace's.
pub fn asks_for_wakes(
    kind: Kind,
    managed: &WithManagers,
    defaults: &NamespaceDefaults,
    prefix: &Prefix,
) -> bool {
    asks(&defaults.applied(managed.workload.observe(kind, prefix)))
}

fn asks(observed: &Observed) -> bool {
    observed.inputs.text(Key::WakeOnRequest).is_some()
}

/// What requests come to, where it asks for them and the Services are known.
pub(super) fn coverage(
    observed: &Observed,
    managed: &WithManagers,
    services: &Services,
) -> Option<RequestCoverage> {
    let services = services.of(&observed.object.namespace)?;
    asks(observed).then(|| RequestCoverage::new(&managed.pod_labels, services))
}

impl WorkloadStatus {
    /// The Services to which a request wakes it, where there are any: `Service web, Service api`.
    pub fn woken_by(&self) -> Option<String> {
        let services = self.on_request.as_ref()?.services.iter();
        let names: Vec<_> = services.map(|it| format!("Service {it}")).collect();
        (!names.is_empty()).then(|| names.join(", "))
    }
}
