//! The Jobs of a stopped CronJob: decoding, and the guarded patch that suspends or resumes one.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use dayshift_workload::{Job, JobChange, Prefix};
use serde::{Deserialize, de::IgnoredAny};
use serde_json::{Value, json};

use crate::write::patch::Operations;

pub(super) fn jobs_path(namespace: &str) -> String {
    format!("{JOBS_ROOT}namespaces/{namespace}/jobs")
}

/// Makes the patch for a change, with tests of everything that the decision depends on.
pub(super) fn job_patch(
    job: &Job,
    change: JobChange,
    cron_job: &str,
    prefix: &Prefix,
) -> Operations {
    const MAP: [&str; 2] = ["metadata", "labels"];
    const SUSPEND: [&str; 2] = ["spec", "suspend"];
    let mut patch = Operations::default();
    patch.test(&["metadata", "uid"], json!(&*job.uid));
    patch.test(&SUSPEND, json!(job.suspend));
    let name = prefix.suspended_by();
    let label = [MAP[0], MAP[1], &name];
    if job.has_labels {
        patch.test(&label, json!(job.suspended_by));
    } else {
        patch.test(&MAP, Value::Null);
    }
    match change {
        JobChange::Suspend => {
            patch.put_value(&SUSPEND, Some(json!(true)));
            if job.has_labels {
                patch.put(&label, Some(cron_job));
            } else {
                patch.put_value(&MAP, Some(json!({ name: cron_job })));
            }
        }
        JobChange::Resume => {
            patch.put_value(&SUSPEND, Some(json!(false)));
            patch.put(&label, None);
        }
        JobChange::Release => patch.put(&label, None),
    }
    patch
}

/// The API path of the group of Jobs.
pub(crate) const JOBS_ROOT: &str = "/apis/batch/v1/";

/// A decoded Job.
#[derive(Clone, Deserialize)]
pub(crate) struct RawJob {
    metadata: JobMeta,
    #[serde(default)]
    spec: JobSpec,
    #[serde(default)]
    status: JobStatus,
}

#[derive(Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
struct JobMeta {
    name: Box<str>,
    uid: Box<str>,
    creation_timestamp: String,
    deletion_timestamp: Option<IgnoredAny>,
    labels: Option<BTreeMap<String, Box<str>>>,
    #[serde(default)]
    owner_references: Vec<JobOwner>,
}

#[derive(Clone, Deserialize)]
struct JobOwner {
    uid: Box<str>,
    #[serde(default)]
    controller: bool,
}

#[derive(Clone, Default, Deserialize)]
struct JobSpec {
    suspend: Option<bool>,
}

#[derive(Clone, Default, Deserialize)]
struct JobStatus {
    conditions: Option<Vec<JobCondition>>,
}

#[derive(Clone, Deserialize)]
struct JobCondition {
    #[serde(rename = "type")]
    kind: String,
    status: String,
}

impl RawJob {
    /// The part of a Job that decisions need. `suspended_by` is the name of the label that records who
    /// suspended it.
    pub(crate) fn job(self, suspended_by: &str) -> Job {
        let meta = self.metadata;
        let has_labels = meta.labels.is_some();
        let mut labels = meta.labels.unwrap_or_default();
        let mut owners = meta.owner_references.into_iter();
        let mut conditions = self.status.conditions.iter().flatten();
        Job {
            name: meta.name,
            uid: meta.uid,
            owner: owners.find(|owner| owner.controller).map(|owner| owner.uid),
            // The server always sends a valid time.
            created: meta
                .creation_timestamp
                .parse()
                .unwrap_or(DateTime::<Utc>::MAX_UTC),
            suspend: self.spec.suspend,
            suspended_by: labels.remove(suspended_by),
            has_labels,
            is_finished: meta.deletion_timestamp.is_some() || conditions.any(JobCondition::is_end),
        }
    }
}

impl JobCondition {
    /// Whether the condition means that the Job has ended.
    fn is_end(&self) -> bool {
        matches!(&*self.kind, "Complete" | "Failed") && self.status == "True"
    }
}
