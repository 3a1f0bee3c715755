//! The kinds the API serves. Another kind is another line of [`RESOURCES`].

use std::time::Duration;

use serde_json::Value;

use super::status::Cause;
use super::{deployment, event, namespace};

/// One kind: where it is served and what the server does to its objects.
#[derive(Debug)]
pub(super) struct Resource {
    /// Its place in [`RESOURCES`] and in the store.
    pub index: usize,
    pub group: &'static str,
    /// The group that a refusal of an invalid object names.
    pub error_group: &'static str,
    pub version: &'static str,
    pub kind: &'static str,
    pub plural: &'static str,
    pub namespaced: bool,
    /// Whether clients may delete it here. Namespaces need a controller to go away.
    pub deletable: bool,
    /// Whether `metadata.generation` is kept.
    pub generation: bool,
    /// How long an object lives.
    pub lifetime: Option<Duration>,
    /// What the server fills in before validation; `old` is absent on creation.
    pub complete: fn(new: &mut Value, old: Option<&Value>),
    /// What the server refuses, besides bad metadata.
    pub check: fn(new: &Value, old: Option<&Value>, causes: &mut Vec<Cause>),
    /// The members besides `metadata` of the empty object that a bookmark carries.
    pub empty: &'static str,
}

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

    /// `apps/v1`, or `v1` for the core group.
    pub(super) fn api_version(&self) -> String {
        if self.group.is_empty() {
            self.version.to_owned()
        } else {
            format!("{}/{}", self.group, self.version)
        }
    }

    /// `deployments.apps`, as messages name it.
    pub(super) fn qualified(&self) -> String {
        if self.group.is_empty() {
            self.plural.to_owned()
        } else {
            format!("{}.{}", self.plural, self.group)
        }
    }

    /// The key an object is stored under; etcd's order is the order of these texts.
    pub(super) fn key(&self, namespace: &str, name: &str) -> String {
        if self.namespaced {
            format!("{namespace}/{name}")
        } else {
            name.to_owned()
        }
    }
}
