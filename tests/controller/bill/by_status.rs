//! The replicas that `status` counts as stopped.

use dayshift_cluster::{
    Query,
    decode::WithManagers,
    read::{Autoscalers, NamespaceDefaults, Services, WaitingStarts, find},
};
use dayshift_operations::status::{KnownWorkloads, StatusContext, WorkloadStatus};
use dayshift_workload::{ParseContext, Prefix, savings::StoppedCapacity};

use crate::sandbox::Sandbox;

/// `status` does not know the flags of the controller.
pub(crate) fn stopped_by_status(scenario: &Sandbox, query: &Query) -> StoppedCapacity {
    let (prefix, now) = (Prefix::default(), scenario.now());
    scenario.block_on(async {
        let client = scenario.api.client_as("somebody");
        let (found, _) = find::<WithManagers>(&client, query).await.unwrap();
        let all = found.workloads.iter().map(|(kind, it)| (kind.clone(), it));
        let context = StatusContext {
            workloads: &KnownWorkloads::new(query, &[], all),
            defaults: &NamespaceDefaults::find(&client, query, &prefix).await,
            autoscalers: &Autoscalers::default(),
            services: &Services::default(),
            waiting_starts: &WaitingStarts::default(),
            prefix: &prefix,
            parse_context: &ParseContext::default(),
            now,
        };
        let all = found.workloads.iter();
        let all = all.filter_map(|(kind, it)| WorkloadStatus::new(&kind.clone(), it, &context));
        all.map(|it| it.stopped_capacity).sum()
    })
}
