//! What the API knows of a kind that it serves.

use std::{borrow::Cow, time::Duration};

use serde_json::Value;

use crate::cause::Cause;

/// One kind: where it is served and what the server does to its objects.
#[derive(Clone, Debug)]
pub(crate) struct Resource {
    /// The index of its table in the store. Custom kinds get theirs from the server that serves them.
    pub index: usize,
    pub group: Cow<'static, str>,
    /// The group that a refusal of an invalid object names.
    pub error_group: Cow<'static, str>,
    pub version: Cow<'static, str>,
    pub kind: Cow<'static, str>,
    pub plural: Cow<'static, str>,
    /// What kubectl calls it too; empty where it has no shorter name.
    pub short_name: &'static str,
    pub namespaced: bool,
    /// Whether it is defined by a CustomResourceDefinition: the server knows none of its members.
    pub custom: bool,
    /// What is wrong with an object's name.
    pub check_name: fn(name: &str) -> Vec<String>,
    /// What a field selector may ask for.
    pub fields: &'static [&'static str],
    /// What `metadata.generation` counts; `None` where there is none.
    pub generation: Option<Generation>,
    /// How long an object lives.
    pub lifetime: Option<Duration>,
    /// Refuses members of types that the kind does not have and drops those that it does not know,
    /// besides those of `metadata`; `old` is what is changed by a patch.
    pub decode: fn(object: &mut Value, old: Option<&Value>) -> Result<(), String>,
    /// What the server fills in before validation; `old` is absent on creation.
    pub complete: fn(new: &mut Value, old: Option<&Value>),
    /// What the server refuses, besides bad metadata.
    pub check: fn(new: &Value, old: Option<&Value>, causes: &mut Vec<Cause>),
    /// The members besides `metadata` of the empty object that a bookmark carries.
    pub empty: &'static str,
}

/// What `metadata.generation` counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Generation {
    /// Changes of the spec.
    Spec,
    /// Changes of the spec or of the annotations.
    SpecAndAnnotations,
    /// Changes of all that is neither metadata nor status.
    AllButStatus,
}

impl Resource {
    /// The group, version, plural and kind.
    pub(crate) fn id(&self) -> (&str, &str, &str, &str) {
        (&self.group, &self.version, &self.plural, &self.kind)
    }

    /// `apps/v1`, or `v1` for the core group.
    pub(crate) fn api_version(&self) -> String {
        if self.group.is_empty() {
            self.version.clone().into_owned()
        } else {
            format!("{}/{}", self.group, self.version)
        }
    }

    /// `deployments.apps`, as messages name it.
    pub(crate) fn qualified(&self) -> String {
        if self.group.is_empty() {
            self.plural.clone().into_owned()
        } else {
            format!("{}.{}", self.plural, self.group)
        }
    }

    /// The key an object is stored under; etcd's order is the order of these texts.
    pub(crate) fn key(&self, namespace: &str, name: &str) -> String {
        if self.namespaced {
            format!("{namespace}/{name}")
        } else {
            name.to_owned()
        }
    }
}
