//! The replicas that `status` counts as stopped.

use dayshift_cluster::{Query, read::NamespaceDefaults};
use dayshift_operations::{
    LiveView,
    status::{DependencyChecks, StatusContext, WorkloadStatus},
};
use dayshift_workload::{ParseContext, Prefix, savings::StoppedCapacity};

use crate::sandbox::Sandbox;

/// `status` does not know the flags of the controller.
pub(crate) fn stopped_by_status(scenario: &Sandbox, query: &Query) -> StoppedCapacity {
    let (prefix, now) = (Prefix::default(), scenario.now());
    scenario.block_on(async {
        let client = scenario.api.client_as("somebody");
        let defaults = NamespaceDefaults::default();
        let live = LiveView::read(&client, query.clone(), &prefix, defaults).await;
        let live = live.unwrap();
        let context = StatusContext {
            live: &live,
            parse_context: &ParseContext::default(),
            now,
            checks: &DependencyChecks::default(),
        };
        let all = live.workloads();
        let all = all.filter_map(|(kind, it)| WorkloadStatus::new(kind, it, &context));
        all.map(|it| it.stopped_capacity).sum()
    })
}
