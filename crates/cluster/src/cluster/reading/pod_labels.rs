//! A workload with the labels of its pods.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

use crate::cluster::bounded_value::BoundedValue;
use crate::cluster::spec::Spec;
use crate::cluster::workload::{Meta, Workload, resource_of_workload};

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
    spec: BoundedValue,
}

impl From<Raw> for WithPodLabels {
    fn from(raw: Raw) -> Self {
        let BoundedValue(spec) = raw.spec;
        let counts = Spec::deserialize(&spec).unwrap_or_default();
        Self {
            workload: Workload::new(raw.metadata, counts, Default::default()),
            labels: pod_labels(&spec),
        }
    }
}

/// The labels of the pod template of such a `spec`.
pub(super) fn pod_labels(spec: &Value) -> BTreeMap<String, String> {
    let labels = &spec["template"]["metadata"]["labels"];
    BTreeMap::deserialize(labels).unwrap_or_default()
}

resource_of_workload!(WithPodLabels);
