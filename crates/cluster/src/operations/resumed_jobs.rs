//! Resuming the Jobs that the stop of a CronJob has suspended, without a controller.

use std::collections::BTreeSet;

use dayshift_workload::{DesiredJobs, Job, JobChange, Observed, may_have_suspended_jobs};
use kube::Client;

use super::{
    restore::{Restore, RestoreError},
    retry::retry,
    selection::Selection,
};
use crate::cluster::{ReadError, Writer};

impl Restore {
    /// Resumes the Jobs that dayshift has suspended for the CronJobs among these workloads. Reports each
    /// namespace, with the Job that was resumed or that could not be, or without one where the Jobs could
    /// not be listed.
    pub async fn resume_jobs(
        &self,
        client: &Client,
        selection: &Selection,
        mut report: impl FnMut(&str, Option<&Job>, Result<(), RestoreError>),
    ) {
        let writer = Writer::of_command(client.clone(), self.prefix.clone());
        let observed = selection.observed.iter();
        let asking: Vec<&Observed> = observed.filter(|it| may_have_suspended_jobs(it)).collect();
        let namespaces: BTreeSet<&str> = asking.iter().map(|it| &*it.object.namespace).collect();
        for namespace in namespaces {
            let jobs = match writer.jobs(namespace).await {
                Ok(jobs) => jobs,
                Err(error) => {
                    report(namespace, None, Err(error.into()));
                    continue;
                }
            };
            let here = asking.iter().map(|it| &it.object);
            let here: Vec<_> = here.filter(|it| *it.namespace == *namespace).collect();
            for job in &jobs {
                let is_owner = |uid: &str| job.owner.as_deref() == Some(uid);
                let Some(owner) = here.iter().find(|it| is_owner(&it.uid)) else {
                    continue;
                };
                match self.job(&writer, namespace, job, &owner.uid).await {
                    Ok(Some(JobChange::Resume)) => report(namespace, Some(job), Ok(())),
                    Ok(_) => {}
                    Err(error) if error.is_of_deleted() => {}
                    Err(error) => report(namespace, Some(job), Err(error)),
                }
            }
        }
    }

    async fn job(
        &self,
        writer: &Writer,
        namespace: &str,
        before: &Job,
        cron_job: &str,
    ) -> Result<Option<JobChange>, RestoreError> {
        let read = async || {
            let mut jobs = writer.jobs(namespace).await?.into_iter();
            jobs.find(|it| it.uid == before.uid).ok_or(ReadError::Gone)
        };
        retry(before, read, async |job| {
            let change = job.change(cron_job, DesiredJobs::Running);
            if let Some(change) = change.filter(|_| !self.dry_run) {
                writer.patch_job(namespace, job, change, cron_job).await?;
            }
            Ok(change)
        })
        .await
    }
}
