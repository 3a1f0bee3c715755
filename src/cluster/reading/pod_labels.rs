//! A workload with the labels of its pods.

use std::{borrow::Cow, collections::BTreeMap};

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::{Resource, core::DynamicResourceScope};
use serde::Deserialize;
use serde_json::Value;

use crate::cluster::spec::Spec;
use crate::cluster::workload::{Meta, Workload};
use crate::workload::Kind;

/// A workload and the labels that its pods get, by which Services select them. The controller needs
/// none and does not pay for them.
#[derive(Clone, Debug, Deserialize)]
#[serde(from = "Raw")]
pub struct WithPodLabels {
    /// The workload.
    pub workload: Workload,
    /// The labels of its pod template; none where its kind has no such template.
    pub labels: BTreeMap<String, String>,
}

#[derive(Deserialize)]
struct Raw {
    metadata: Meta,
    #[serde(default)]
    spec: Value,
}

impl From<Raw> for WithPodLabels {
    fn from(raw: Raw) -> Self {
        let labels = &raw.spec["template"]["metadata"]["labels"];
        let labels = BTreeMap::deserialize(labels).unwrap_or_default();
        let spec = Spec::deserialize(&raw.spec).unwrap_or_default();
        Self {
            workload: Workload::new(raw.metadata, spec, Default::default()),
            labels,
        }
    }
}

impl Resource for WithPodLabels {
    type DynamicType = Kind;
    type Scope = DynamicResourceScope;

    fn kind(kind: &Kind) -> Cow<'_, str> {
        Workload::kind(kind)
    }

    fn group(kind: &Kind) -> Cow<'_, str> {
        Workload::group(kind)
    }

    fn version(kind: &Kind) -> Cow<'_, str> {
        <Workload as Resource>::version(kind)
    }

    fn plural(kind: &Kind) -> Cow<'_, str> {
        Workload::plural(kind)
    }

    fn meta(&self) -> &ObjectMeta {
        self.workload.meta()
    }

    fn meta_mut(&mut self) -> &mut ObjectMeta {
        self.workload.meta_mut()
    }
}
