//! The kinds the API serves. Another kind is another line of [`RESOURCES`].

use std::time::Duration;

use super::resource::Resource;
use super::{deployment, event, namespace};

/// The table.
pub(super) static RESOURCES: [Resource; 3] = [
    Resource {
        index: 0,
        group: "",
        error_group: "",
        version: "v1",
        kind: "Namespace",
        plural: "namespaces",
        namespaced: false,
        deletable: false,
        generation: false,
        lifetime: None,
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
        deletable: true,
        generation: true,
        lifetime: None,
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
        deletable: true,
        generation: false,
        lifetime: Some(Duration::from_secs(3600)),
        complete: event::complete,
        check: event::check,
        empty: event::EMPTY,
    },
];

/// The namespaces' own entry.
pub(super) const NAMESPACES: &Resource = &RESOURCES[0];
/// The Deployments' entry.
pub(super) const DEPLOYMENTS: &Resource = &RESOURCES[1];

impl Resource {
    pub(super) fn at(group: &str, version: &str, plural: &str) -> Option<&'static Self> {
        RESOURCES.iter().find(|resource| {
            resource.group == group && resource.version == version && resource.plural == plural
        })
    }

    pub(super) fn is_group(group: &str, version: &str) -> bool {
        RESOURCES
            .iter()
            .any(|resource| resource.group == group && resource.version == version)
    }

    pub(super) fn of_kind(kind: &str) -> Option<&'static Self> {
        RESOURCES.iter().find(|resource| resource.kind == kind)
    }
}
