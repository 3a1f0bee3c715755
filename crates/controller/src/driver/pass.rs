//! One pass over the Jobs of a namespace: one list, and a patch of each that is not as it should be.

use dayshift_cluster::{Writer, write::PatchError};
use dayshift_workload::Job;

use crate::followups::jobs::{Asked, Attempt, Pass, Passed};

/// Carries a pass out. A patch that fails does not prevent others, unless the server is at fault or a
/// permission is missing: the rest is for the next pass.
pub(super) async fn carry_out(pass: Pass, writer: &Writer) -> Passed {
    let namespace = pass.namespace;
    let (jobs, not_listed) = match writer.jobs(&namespace).await {
        Ok(jobs) => (jobs, None),
        Err(error) => (Vec::new(), Some(error)),
    };
    let mut cron_jobs = Vec::with_capacity(pass.cron_jobs.len());
    for asked in pass.cron_jobs {
        let attempts = settle(writer, &namespace, &asked, &jobs).await;
        cron_jobs.push((asked, attempts));
    }
    Passed {
        namespace,
        cron_jobs,
        not_listed,
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
            Err(PatchError::Unavailable(why)) => why.kind.is_server_failure(),
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
