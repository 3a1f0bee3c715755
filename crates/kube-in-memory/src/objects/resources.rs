//! The kinds the API serves. Another kind is another line of [`RESOURCES`].

use std::time::Duration;

use super::resource::{Generation, Resource};
use super::{autoscaler, cron_job, deployment, event, names, namespace, stateful_set};

/// What a field selector may ask for of most kinds.
const NAMES: [&str; 2] = ["metadata.name", "metadata.namespace"];

/// The table.
pub(crate) static RESOURCES: [Resource; 6] = [
    Resource {
        index: 0,
        group: "",
        error_group: "",
        version: "v1",
        kind: "Namespace",
        plural: "namespaces",
        namespaced: false,
        check_name: names::dns_label,
        fields: &["metadata.name", "status.phase"],
        generation: None,
        lifetime: None,
        decode: |_, _| Ok(()),
        complete: namespace::complete,
        check: namespace::check,
        empty: r#","spec":{},"status":{}"#,
    },
    Resource {
        index: 1,
        group: "apps",
        error_group: "apps",
        version: "v1",
        kind: "Deployment",
        plural: "deployments",
        namespaced: true,
        check_name: names::subdomain,
        fields: &NAMES,
        generation: Some(Generation::SpecAndAnnotations),
        lifetime: None,
        decode: deployment::decode,
        complete: deployment::complete,
        check: deployment::check,
        empty: deployment::EMPTY,
    },
    Resource {
        index: 2,
        group: "events.k8s.io",
        error_group: "",
        version: "v1",
        kind: "Event",
        plural: "events",
        namespaced: true,
        check_name: names::subdomain,
        fields: &NAMES,
        generation: None,
        lifetime: Some(Duration::from_secs(3600)),
        decode: |_, _| Ok(()),
        complete: event::complete,
        check: event::check,
        empty: event::EMPTY,
    },
    Resource {
        index: 3,
        group: "apps",
        error_group: "apps",
        version: "v1",
        kind: "StatefulSet",
        plural: "statefulsets",
        namespaced: true,
        check_name: names::dns_label,
        fields: &NAMES,
        generation: Some(Generation::Spec),
        lifetime: None,
        decode: stateful_set::decode,
        complete: stateful_set::complete,
        check: stateful_set::check,
        empty: stateful_set::EMPTY,
    },
    Resource {
        index: 4,
        group: "batch",
        error_group: "batch",
        version: "v1",
        kind: "CronJob",
        plural: "cronjobs",
        namespaced: true,
        check_name: names::subdomain,
        fields: &NAMES,
        generation: Some(Generation::Spec),
        lifetime: None,
        decode: cron_job::decode,
        complete: cron_job::complete,
        check: cron_job::check,
        empty: cron_job::EMPTY,
    },
    Resource {
        index: 5,
        group: "autoscaling",
        error_group: "autoscaling",
        version: "v2",
        kind: "HorizontalPodAutoscaler",
        plural: "horizontalpodautoscalers",
        namespaced: true,
        check_name: names::subdomain,
        fields: &NAMES,
        generation: None,
        lifetime: None,
        decode: autoscaler::decode,
        complete: autoscaler::complete,
        check: autoscaler::check,
        empty: autoscaler::EMPTY,
    },
];

/// The namespaces' own entry.
pub(crate) const NAMESPACES: &Resource = &RESOURCES[0];
/// The Deployments' entry.
pub(crate) const DEPLOYMENTS: &Resource = &RESOURCES[1];

impl Resource {
    pub(crate) fn at(group: &str, version: &str, plural: &str) -> Option<&'static Self> {
        RESOURCES.iter().find(|resource| {
            resource.group == group && resource.version == version && resource.plural == plural
        })
    }

    pub(crate) fn is_group(group: &str, version: &str) -> bool {
        RESOURCES
            .iter()
            .any(|resource| resource.group == group && resource.version == version)
    }

    pub(crate) fn of_kind(kind: &str) -> Option<&'static Self> {
        RESOURCES.iter().find(|resource| resource.kind == kind)
    }
}
