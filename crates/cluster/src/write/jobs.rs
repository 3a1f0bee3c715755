//! The Jobs of a stopped CronJob: their list, and the guarded patch that suspends or resumes one.

use std::{collections::BTreeMap, fmt};

use chrono::{DateTime, Utc};
use dayshift_workload::{Job, JobChange, Prefix};
use http::Request;
use kube::core::ObjectList;
use serde::{
    Deserialize, Deserializer,
    de::{IgnoredAny, MapAccess, Visitor},
};
use serde_json::{Value, json};

use crate::{
    decode::kind_api::collection_path,
    read::list::PAGE,
    write::{FailureKind, PatchError, ReadError, Writer, malformed, patch::Operations},
};

impl Writer {
    /// The Jobs of a namespace, in pages.
    pub fn job_pages(&self, namespace: &str) -> JobPages<'_> {
        JobPages {
            writer: self,
            path: jobs_path(namespace),
            limit: PAGE,
            next: Some(String::new()),
        }
    }

    /// Suspends or resumes a Job of a CronJob, or removes only our label, if the Job is still as
    /// observed.
    ///
    /// # Errors
    /// See [`Writer::patch`].
    pub async fn patch_job(
        &self,
        namespace: &str,
        job: &Job,
        change: JobChange,
        cron_job: &str,
    ) -> Result<(), PatchError> {
        let uri = format!("{}/{}", jobs_path(namespace), job.name);
        let patch = job_patch(job, change, cron_job, self.prefix());
        self.patch_path(uri, &patch.into_patch()).await?;
        Ok(())
    }
}

/// The pages of the list of a namespace's Jobs.
pub struct JobPages<'w> {
    writer: &'w Writer,
    path: String,
    limit: u32,
    /// The query for the next page; `None` at the end.
    next: Option<String>,
}

impl<'w> JobPages<'w> {
    /// Reads the next page; `None` at the end. If a page is too large, it is requested again with a tenth of its
    /// size.
    ///
    /// # Errors
    /// If the API server cannot be reached, rejects the request, or no longer has the rest of the list, which
    /// it keeps for some minutes.
    pub async fn next(&mut self) -> Result<Option<Vec<Job>>, ReadError> {
        let Some(rest) = self.next.clone() else {
            return Ok(None);
        };
        let response = loop {
            let uri = format!("{}?limit={}{rest}", self.path, self.limit);
            match self.writer.send(Request::get(uri), Vec::new()).await {
                Err(why) if why.kind == FailureKind::TooLarge && self.limit > 1 => {
                    self.limit = self.limit.div_ceil(10);
                }
                response => break response?.body(ReadError::classify)?,
            }
        };
        let page: ObjectList<RawJob> = serde_json::from_slice(&response).map_err(malformed)?;
        let token = page.metadata.continue_.filter(|token| !token.is_empty());
        // The server's token consists of base64url characters, which need no escaping.
        self.next = token.map(|token| format!("&continue={token}"));
        let suspended_by = self.writer.prefix().suspended_by();
        let jobs = page.items.into_iter().map(|job| job.job(&suspended_by));
        Ok(Some(jobs.collect()))
    }
}

fn jobs_path(namespace: &str) -> String {
    collection_path("/apis/batch/v1/", Some(namespace), "jobs")
}

/// Makes the patch for a change, with tests of everything that the decision depends on.
fn job_patch(job: &Job, change: JobChange, cron_job: &str, prefix: &Prefix) -> Operations {
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
    labels: Option<JobLabels>,
    #[serde(default)]
    owner_references: Vec<JobOwner>,
}

/// The labels of a Job that can be ours, with any prefix: those with this name after it. Users can write any number
/// of labels.
#[derive(Clone, Default)]
struct JobLabels(BTreeMap<String, Box<str>>);

const SUSPENDED_BY: &str = "/suspended-by";

/// The maximum number of labels that are kept.
const MAX_LABELS: usize = 16;

impl<'de> Deserialize<'de> for JobLabels {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(Self::default())
    }
}

impl<'de> Visitor<'de> for JobLabels {
    type Value = Self;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("labels")
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut map: A) -> Result<Self, A::Error> {
        while let Some((name, value)) = map.next_entry::<String, Box<str>>()? {
            if name.ends_with(SUSPENDED_BY) && self.0.len() < MAX_LABELS {
                self.0.insert(name, value);
            }
        }
        Ok(self)
    }
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
            suspended_by: labels.0.remove(suspended_by),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_labels_that_can_be_ours_are_kept() {
        let mut labels: BTreeMap<String, &str> = (0..10_000)
            .flat_map(|number| [format!("l{number}"), format!("p{number}/suspended-by")])
            .map(|name| (name, "7"))
            .collect();
        labels.insert("dayshift/suspended-by".to_owned(), "1");
        let job = json!({
            "metadata": {"name": "report", "uid": "2", "creationTimestamp": "2026-11-20T19:00:00Z", "labels": labels},
        });
        let job: RawJob = serde_json::from_value(job).unwrap();
        let kept = &job.metadata.labels.as_ref().unwrap().0;
        assert_eq!(kept.len(), MAX_LABELS);
        assert_eq!(
            job.job("dayshift/suspended-by").suspended_by.as_deref(),
            Some("1")
        );
    }
}
