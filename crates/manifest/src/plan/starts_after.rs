//! What has to be ready before an object is started.

use dayshift_workload::{Dependency, ScheduleSpec, WorkloadRef};
use serde::Serialize;

/// What has to be ready before its starts.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct StartsAfter {
    /// The objects of its namespace, as kubectl names them: `sts/db`.
    pub objects: Vec<String>,
    /// For how many seconds each start waits for them at most.
    #[serde(rename = "withinSeconds")]
    pub within_seconds: i64,
}

impl StartsAfter {
    /// `None` where nothing has to be.
    pub(super) fn of(spec: &ScheduleSpec, object: &WorkloadRef) -> Option<Self> {
        let after = spec.after.as_ref()?;
        let objects: Vec<_> = after
            .needed_by(object)
            .iter()
            .map(Dependency::to_string)
            .collect();
        (!objects.is_empty()).then(|| Self {
            objects,
            within_seconds: after.within().num_seconds(),
        })
    }
}
