//! [`Resource`], the description of a served kind.

use std::{borrow::Cow, time::Duration};

use serde_json::Value;

use crate::cause::Cause;

pub(crate) type CheckName = fn(name: &str) -> Vec<String>;
pub(crate) type DecodeObject = fn(object: &mut Value, old: Option<&Value>) -> Result<(), String>;
pub(crate) type CompleteObject = fn(new: &mut Value, old: Option<&Value>);
pub(crate) type CheckObject = fn(new: &Value, old: Option<&Value>, causes: &mut Vec<Cause>);

/// A kind: its names, and the functions that process its objects.
#[derive(Clone, Debug)]
pub(crate) struct Resource {
    /// The index of its table in the store.
    pub index: usize,
    pub group: Cow<'static, str>,
    pub version: Cow<'static, str>,
    pub kind: Cow<'static, str>,
    pub plural: Cow<'static, str>,
    /// The short name in kubectl, or empty.
    pub short_name: &'static str,
    /// Whether a CustomResourceDefinition defines it, so that the server knows none of its fields.
    pub custom: bool,
    /// The errors of a name.
    pub check_name: CheckName,
    /// The changes that `metadata.generation` counts.
    pub generation: Option<Generation>,
    /// Rejects fields with a wrong type and drops unknown ones, except in `metadata`. `old` is the object
    /// before a patch.
    pub decode: DecodeObject,
    /// Sets defaults before validation. `old` is absent for a creation.
    pub complete: CompleteObject,
    /// Validates everything except metadata.
    pub check: CheckObject,
    /// The fields besides `metadata` of the empty object in a bookmark.
    pub empty: &'static str,
}

/// The changes that `metadata.generation` counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Generation {
    Spec,
    SpecAndAnnotations,
    /// All changes except those of metadata and status.
    AllButStatus,
}

impl Resource {
    pub(crate) fn namespaced(&self) -> bool {
        self.kind != "Namespace"
    }

    fn is_event(&self) -> bool {
        self.kind == "Event" && !self.custom
    }

    /// The group in the error for an invalid object.
    pub(crate) fn error_group(&self) -> &str {
        if self.is_event() { "" } else { &self.group }
    }

    /// The lifetime of objects.
    pub(crate) fn lifetime(&self) -> Option<Duration> {
        self.is_event().then_some(Duration::from_secs(3600))
    }

    /// The supported field selectors.
    pub(crate) fn fields(&self) -> [&'static str; 2] {
        let second = if self.namespaced() {
            "metadata.namespace"
        } else {
            "status.phase"
        };
        ["metadata.name", second]
    }

    /// The group, version, plural and kind.
    pub(crate) fn id(&self) -> (&str, &str, &str, &str) {
        (&self.group, &self.version, &self.plural, &self.kind)
    }

    /// For example `apps/v1`, or `v1` in the core group.
    pub(crate) fn api_version(&self) -> String {
        if self.group.is_empty() {
            self.version.clone().into_owned()
        } else {
            format!("{}/{}", self.group, self.version)
        }
    }

    /// For example `deployments.apps`, as in messages.
    pub(crate) fn qualified(&self) -> String {
        if self.group.is_empty() {
            self.plural.clone().into_owned()
        } else {
            format!("{}.{}", self.plural, self.group)
        }
    }

    /// The key in the store. Lists are sorted by it, as in etcd.
    pub(crate) fn key(&self, namespace: &str, name: &str) -> String {
        if self.namespaced() {
            format!("{namespace}/{name}")
        } else {
            name.to_owned()
        }
    }
}
