//! What the API knows of a kind that it serves.

use std::time::Duration;

use serde_json::Value;

use super::cause::Cause;

/// One kind: where it is served and what the server does to its objects.
#[derive(Debug)]
pub(super) struct Resource {
    /// Its place in the table of `resources.rs` and in the store.
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

impl Resource {
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
