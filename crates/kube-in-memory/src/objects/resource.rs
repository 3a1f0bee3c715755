//! [`Resource`], the description of a served kind.

use std::{borrow::Cow, time::Duration};

use serde_json::Value;

use crate::cause::Cause;

/// A kind: its names, and the functions that process its objects.
#[derive(Clone, Debug)]
pub(crate) struct Resource {
    /// The index of its table in the store.
    pub index: usize,
    pub group: Cow<'static, str>,
    /// The group in the error for an invalid object.
    pub error_group: Cow<'static, str>,
    pub version: Cow<'static, str>,
    pub kind: Cow<'static, str>,
    pub plural: Cow<'static, str>,
    /// The short name in kubectl, or empty.
    pub short_name: &'static str,
    pub namespaced: bool,
    /// Whether a CustomResourceDefinition defines it, so that the server knows none of its fields.
    pub custom: bool,
    /// The errors of a name.
    pub check_name: fn(name: &str) -> Vec<String>,
    /// The supported field selectors.
    pub fields: &'static [&'static str],
    /// The changes that `metadata.generation` counts.
    pub generation: Option<Generation>,
    /// The lifetime of objects.
    pub lifetime: Option<Duration>,
    /// Rejects fields with a wrong type and drops unknown ones, except in `metadata`. `old` is the object
    /// before a patch.
    pub decode: fn(object: &mut Value, old: Option<&Value>) -> Result<(), String>,
    /// Sets defaults before validation. `old` is absent for a creation.
    pub complete: fn(new: &mut Value, old: Option<&Value>),
    /// Validates everything except metadata.
    pub check: fn(new: &Value, old: Option<&Value>, causes: &mut Vec<Cause>),
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
        if self.namespaced {
            format!("{namespace}/{name}")
        } else {
            name.to_owned()
        }
    }
}
