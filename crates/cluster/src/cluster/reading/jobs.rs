//! Jobs, as far as something is decided from them.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use dayshift_workload::Job;
use serde::{Deserialize, de::IgnoredAny};

/// The root of the API of Jobs.
pub(crate) const JOBS_ROOT: &str = "/apis/batch/v1/";

/// A Job as it is read.
#[derive(Clone, Deserialize)]
pub(crate) struct RawJob {
    metadata: Meta,
    #[serde(default)]
    spec: Spec,
    #[serde(default)]
    status: Status,
}

#[derive(Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Meta {
    name: Box<str>,
    uid: Box<str>,
    creation_timestamp: String,
    deletion_timestamp: Option<IgnoredAny>,
    labels: Option<BTreeMap<String, Box<str>>>,
    #[serde(default)]
    owner_references: Vec<OwnerReference>,
}

#[derive(Clone, Deserialize)]
struct OwnerReference {
    uid: Box<str>,
    #[serde(default)]
    controller: bool,
}

#[derive(Clone, Default, Deserialize)]
struct Spec {
    suspend: Option<bool>,
}

#[derive(Clone, Default, Deserialize)]
struct Status {
    conditions: Option<Vec<Condition>>,
}

#[derive(Clone, Deserialize)]
struct Condition {
    #[serde(rename = "type")]
    kind: String,
    status: String,
}

impl RawJob {
    /// What is decided from, with the text of this label.
    pub(crate) fn job(self, suspended_by: &str) -> Job {
        let meta = self.metadata;
        let has_labels = meta.labels.is_some();
        let mut labels = meta.labels.unwrap_or_default();
        let mut owners = meta.owner_references.into_iter();
        let mut conditions = self.status.conditions.iter().flatten();
        Job {
            name: meta.name,
            uid: meta.uid,
            owner: owners.find(|it| it.controller).map(|it| it.uid),
            // The server always writes one that can be read.
            created: meta
                .creation_timestamp
                .parse()
                .unwrap_or(DateTime::<Utc>::MAX_UTC),
            suspend: self.spec.suspend,
            suspended_by: labels.remove(suspended_by),
            has_labels,
            is_finished: meta.deletion_timestamp.is_some() || conditions.any(Condition::is_end),
        }
    }
}

impl Condition {
    /// Whether it says that the Job has ended.
    fn is_end(&self) -> bool {
        matches!(&*self.kind, "Complete" | "Failed") && self.status == "True"
    }
}
