//! Bringing workloads up to their saved counts without a controller.
//!
//! Resuming the Jobs that the stop of a CronJob has suspended, without a controller.

use std::collections::BTreeSet;

use chrono::{DateTime, Utc};
use dayshift_workload::{
    DesiredJobs, InvalidSchedule, Job, JobChange, NotRestored, Observed, Prefix, Replicas,
    may_have_suspended_jobs, plan_restore,
};
use futures::{StreamExt as _, stream};
use kube::Client;

use dayshift_cluster::{
    Writer,
    write::{PatchError, ReadError},
};

use crate::selection::{AT_ONCE, Retry, Selection, retry};

/// How workloads are restored.
#[derive(Clone, Debug)]
pub struct Restore {
    /// What stands before the slash in annotations and labels.
    pub prefix: Prefix,
    /// The time of the request.
    pub now: DateTime<Utc>,
    /// Whether nothing is written.
    pub dry_run: bool,
}

/// Why one object is not restored.
#[derive(Debug, thiserror::Error)]
pub enum RestoreError {
    /// Its state does not allow it.
    #[error("{0}")]
    Not(#[from] NotRestored),
    /// No row says where it has its switch.
    #[error("{0}")]
    MissingRow(InvalidSchedule),
    /// The count could not be written.
    #[error("{0}")]
    Patch(#[from] PatchError),
    /// The object could not be read again.
    #[error("{0}")]
    Read(#[from] ReadError),
}

/// The counts before and after; `None` where there was nothing to do.
pub type RestoredCounts = Option<(Replicas, Replicas)>;

impl Restore {
    /// Brings each workload up to its saved count, and reports what came of each in their order.
    pub async fn restore(
        &self,
        client: &Client,
        selection: &Selection,
        mut report: impl FnMut(&Observed, Result<RestoredCounts, RestoreError>),
    ) {
        let writer = Writer::of_command(client.clone(), self.prefix.clone());
        let mut answers = stream::iter(&selection.observed)
            .map(async |observed: &Observed| {
                let restored = self.one(&writer, observed, selection).await;
                (observed, restored)
            })
            .buffered(AT_ONCE);
        while let Some((observed, answer)) = answers.next().await {
            report(observed, answer);
        }
    }

    async fn one(
        &self,
        writer: &Writer,
        before: &Observed,
        selection: &Selection,
    ) -> Result<RestoredCounts, RestoreError> {
        let read = async || selection.read(writer, &before.object, &self.prefix).await;
        retry(before, read, async |observed| {
            if let Some(refusal) = observed.missing_row() {
                return Err(RestoreError::MissingRow(refusal));
            }
            let Some(change) = plan_restore(observed, self.now)? else {
                return Ok(None);
            };
            if !self.dry_run {
                writer.patch(observed, &change).await?;
            }
            Ok(Some((observed.replicas, change.replicas)))
        })
        .await
    }
}

impl Retry for RestoreError {
    fn is_worth_another_try(&self) -> bool {
        match self {
            Self::Patch(error) => error.is_worth_another_try(),
            Self::Read(error) => error.is_worth_another_try(),
            Self::Not(_) | Self::MissingRow(_) => false,
        }
    }
}

impl RestoreError {
    /// Whether the object is being deleted, or is gone.
    pub const fn is_of_deleted(&self) -> bool {
        matches!(
            self,
            Self::Not(NotRestored::Deleting)
                | Self::Patch(PatchError::Gone)
                | Self::Read(ReadError::Gone)
        )
    }

    /// Whether it is about the object, and not about the cluster or what the program was not told.
    pub const fn is_refusal(&self) -> bool {
        matches!(self, Self::Not(_))
    }
}

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
