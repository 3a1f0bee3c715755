//! Jobs of a CronJob that is stopped: their list, and a guarded patch of each.

use dayshift_workload::{Job, JobChange, Prefix};
use http::Request;
use kube::core::ObjectList;
use serde_json::{Value, json};

use crate::cluster::{
    reading::{
        jobs::{JOBS_ROOT, RawJob},
        view::PAGE,
    },
    writing::{
        error::{FailureKind, PatchError, ReadError},
        guard::Operations,
        writer::{Writer, malformed},
    },
};

impl Writer {
    /// The Jobs of a namespace, in pages. A page that is too large to be read is asked for with a tenth of
    /// its objects.
    ///
    /// # Errors
    /// Where the server is absent or unwilling.
    pub async fn jobs(&self, namespace: &str) -> Result<Vec<Job>, ReadError> {
        let suspended_by = self.prefix().suspended_by();
        let mut jobs = Vec::new();
        let (mut limit, mut rest) = (PAGE, String::new());
        loop {
            let uri = format!("{}?limit={limit}{rest}", path(namespace));
            let answer = match self.send(Request::get(uri), Vec::new()).await {
                Err(why) if why.kind == FailureKind::TooLarge && limit > 1 => {
                    limit = limit.div_ceil(10);
                    continue;
                }
                answer => answer?.body(ReadError::sort)?,
            };
            let page: ObjectList<RawJob> = serde_json::from_slice(&answer).map_err(malformed)?;
            jobs.extend(page.items.into_iter().map(|it| it.job(&suspended_by)));
            match page.metadata.continue_.filter(|it| !it.is_empty()) {
                // The server's own token: characters of base64url alone.
                Some(token) => rest = format!("&continue={token}"),
                None => return Ok(jobs),
            }
        }
    }

    /// Makes a change of a Job, for the CronJob with this UID, if it still is as it was seen.
    ///
    /// # Errors
    /// As for [`Writer::patch`].
    pub async fn patch_job(
        &self,
        namespace: &str,
        job: &Job,
        change: JobChange,
        cron_job: &str,
    ) -> Result<(), PatchError> {
        let uri = format!("{}/{}", path(namespace), job.name);
        let patch = job_patch(job, change, cron_job, self.prefix());
        self.patched(uri, &patch.into_patch()).await?;
        Ok(())
    }
}

fn path(namespace: &str) -> String {
    format!("{JOBS_ROOT}namespaces/{namespace}/jobs")
}

/// The change, and tests of all that it was decided from.
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
