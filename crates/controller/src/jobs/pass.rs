//! One pass over the Jobs of a namespace: one list, and a patch of each that is not as it should be.

use std::sync::Arc;

use dayshift_cluster::{
    Writer,
    write::{PatchError, ReadError},
};
use dayshift_workload::{DesiredJobs, Job, JobChange, WorkloadRef};

use crate::ids::Id;

/// The CronJobs of a namespace whose Jobs are to be looked at.
#[derive(Debug)]
pub(crate) struct Pass {
    pub(crate) namespace: Arc<str>,
    pub(crate) cron_jobs: Vec<Asked>,
}

/// What one CronJob wants of its Jobs.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    pub(crate) id: Id,
    pub(crate) object: WorkloadRef,
    pub(crate) wish: DesiredJobs,
}

/// The result of a pass.
pub(crate) struct Passed {
    pub(crate) namespace: Arc<str>,
    /// The patches for each CronJob; none where the Jobs could not be listed.
    pub(crate) cron_jobs: Vec<(Asked, Vec<Attempt>)>,
    /// Why they could not.
    pub(crate) not_listed: Option<ReadError>,
}

/// A patch of one Job, by its name.
pub(crate) struct Attempt {
    pub(crate) job: Box<str>,
    pub(crate) change: JobChange,
    pub(crate) result: Result<(), PatchError>,
}

impl Pass {
    /// Carries it out. A patch that fails keeps no other back, unless the server is at fault or a
    /// permission is missing: the rest is for the next pass.
    pub(crate) async fn carry_out(self, writer: &Writer) -> Passed {
        let namespace = self.namespace;
        let (jobs, not_listed) = match writer.jobs(&namespace).await {
            Ok(jobs) => (jobs, None),
            Err(error) => (Vec::new(), Some(error)),
        };
        let mut cron_jobs = Vec::with_capacity(self.cron_jobs.len());
        for asked in self.cron_jobs {
            let attempts = settle(writer, &namespace, &asked, &jobs).await;
            cron_jobs.push((asked, attempts));
        }
        Passed {
            namespace,
            cron_jobs,
            not_listed,
        }
    }
}

async fn settle(writer: &Writer, namespace: &str, asked: &Asked, jobs: &[Job]) -> Vec<Attempt> {
    let owner = &asked.object.uid;
    let mut attempts = Vec::new();
    for job in jobs {
        let Some(change) = job.change(owner, asked.wish) else {
            continue;
        };
        let result = writer.patch_job(namespace, job, change, owner).await;
        let ends = match &result {
            Err(PatchError::Forbidden(_)) => true,
            Err(PatchError::Unavailable(why)) => why.kind.is_servers(),
            _ => false,
        };
        attempts.push(Attempt {
            job: job.name.clone(),
            change,
            result,
        });
        if ends {
            break;
        }
    }
    attempts
}
