//! Restores workloads to their saved counts without a controller, and resumes the Jobs that dayshift has
//! suspended.

use std::{collections::BTreeSet, sync::Arc};

use chrono::{DateTime, Utc};
use dayshift_cluster::{Writer, write::ReadError};
use dayshift_workload::{
    DesiredJobs, Job, JobChange, Observed, Prefix, Replicas, may_have_suspended_jobs, plan_restore,
};
use kube::Client;

use crate::{
    overrides::RequestError,
    selection::{SelectedWorkload, Selection, retry},
};

/// The options of `dayshift restore`.
#[derive(Clone, Debug)]
pub struct Restore {
    /// The prefix of annotations and labels.
    pub prefix: Prefix,
    /// The time of the request.
    pub now: DateTime<Utc>,
    /// If set, nothing is written.
    pub dry_run: bool,
}

/// The counts before and after; `None` if there was nothing to do.
pub type RestoredCounts = Option<(Replicas, Replicas)>;

impl Restore {
    /// Restores the saved count of each workload, and reports the results in the same order.
    pub async fn restore(
        &self,
        client: &Client,
        selection: &Selection,
        mut report: impl FnMut(&Arc<Observed>, Result<RestoredCounts, RequestError>),
    ) {
        let restore = async |writer: &Writer, _: &SelectedWorkload, now: &SelectedWorkload| {
            let observed = &now.observed;
            if let Some(refusal) = observed.missing_definition() {
                return Err(RequestError::MissingKindDefinition(refusal));
            }
            let Some(change) = plan_restore(observed, self.now)? else {
                return Ok(None);
            };
            if !self.dry_run {
                writer.patch(observed, &change).await?;
            }
            Ok(Some((observed.replicas, change.replicas)))
        };
        let report = |before: &SelectedWorkload, answer| report(&before.observed, answer);
        selection
            .for_each(client, &self.prefix, restore, report)
            .await;
    }
}

impl Restore {
    /// Resumes the Jobs that dayshift has suspended for the selected CronJobs. Each report has the
    /// namespace, and the Job unless the Jobs could not be listed.
    pub async fn resume_jobs(
        &self,
        client: &Client,
        selection: &Selection,
        mut report: impl FnMut(&str, Option<&Job>, Result<(), RequestError>),
    ) {
        let writer = Writer::for_command(client.clone(), self.prefix.clone());
        let observed = selection.workloads.iter();
        let observed = observed.map(|workload| &*workload.observed);
        let asking: Vec<&Observed> = observed
            .filter(|observed| may_have_suspended_jobs(observed))
            .collect();
        let namespaces: BTreeSet<&str> = asking
            .iter()
            .map(|observed| &*observed.object.namespace)
            .collect();
        for namespace in namespaces {
            let here = asking.iter().map(|observed| &observed.object);
            let here: Vec<_> = here
                .filter(|object| *object.namespace == *namespace)
                .collect();
            let mut pages = writer.job_pages(namespace);
            loop {
                let jobs = match pages.next().await {
                    Ok(Some(jobs)) => jobs,
                    Ok(None) => break,
                    Err(error) => {
                        report(namespace, None, Err(error.into()));
                        break;
                    }
                };
                for job in &jobs {
                    let is_owner = |uid: &str| job.owner.as_deref() == Some(uid);
                    let Some(owner) = here.iter().find(|object| is_owner(&object.uid)) else {
                        continue;
                    };
                    match self.resume_job(&writer, namespace, job, &owner.uid).await {
                        Ok(Some(JobChange::Resume)) => report(namespace, Some(job), Ok(())),
                        Ok(_) => {}
                        Err(error) if error.is_gone() => {}
                        Err(error) => report(namespace, Some(job), Err(error)),
                    }
                }
            }
        }
    }

    async fn resume_job(
        &self,
        writer: &Writer,
        namespace: &str,
        before: &Job,
        cron_job: &str,
    ) -> Result<Option<JobChange>, RequestError> {
        let read = async || {
            let mut pages = writer.job_pages(namespace);
            while let Some(jobs) = pages.next().await? {
                if let Some(job) = jobs.into_iter().find(|job| job.uid == before.uid) {
                    return Ok(job);
                }
            }
            Err(ReadError::Gone.into())
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
