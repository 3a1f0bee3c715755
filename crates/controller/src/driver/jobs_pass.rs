//! Carries out one [`JobsPass`]: lists the Jobs of a namespace, and patches those that should be
//! suspended or resumed.

use dayshift_cluster::{Writer, write::PatchError};
use dayshift_workload::Job;

use crate::followups::jobs::{CronJobTarget, JobPatch, JobsPass, JobsPassResult};

/// Runs a pass. If a patch fails, the others are still tried, unless the server has failed or the
/// permission is missing. Then the remaining Jobs are left to the next pass.
pub(super) async fn run(pass: JobsPass, writer: &Writer) -> JobsPassResult {
    let namespace = pass.namespace;
    let (jobs, list_error) = match writer.list_jobs(&namespace).await {
        Ok(jobs) => (jobs, None),
        Err(error) => (Vec::new(), Some(error)),
    };
    let mut cron_jobs = Vec::with_capacity(pass.cron_jobs.len());
    for target in pass.cron_jobs {
        let attempts = settle(writer, &namespace, &target, &jobs).await;
        cron_jobs.push((target, attempts));
    }
    JobsPassResult {
        namespace,
        cron_jobs,
        list_error,
    }
}

async fn settle(
    writer: &Writer,
    namespace: &str,
    target: &CronJobTarget,
    jobs: &[Job],
) -> Vec<JobPatch> {
    let owner = &target.object.uid;
    let mut attempts = Vec::new();
    for job in jobs {
        let Some(change) = job.change(owner, target.desired) else {
            continue;
        };
        let result = writer.patch_job(namespace, job, change, owner).await;
        let ends = match &result {
            Err(PatchError::Forbidden(_)) => true,
            Err(PatchError::Unavailable(why)) => why.kind.is_server_failure(),
            _ => false,
        };
        attempts.push(JobPatch {
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
