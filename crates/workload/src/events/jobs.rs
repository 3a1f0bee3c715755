//! What becomes of the Jobs of a CronJob, in words.

use dayshift_text::{counted, cut_chars};

use super::event_text::EventText;
use super::reason::EventReason;
use crate::JobChange;

/// How many Jobs are named, and how much of a name.
const MAX_JOBS: usize = 4;
const MAX_NAME: usize = 100;

impl EventText {
    /// These Jobs of a CronJob were suspended after a stop, or resumed after a start.
    pub fn jobs_changed(change: JobChange, names: &[&str]) -> Self {
        let (reason, verb) = match change {
            JobChange::Suspend => (EventReason::JobsSuspended, "suspended"),
            JobChange::Resume | JobChange::Release => (EventReason::JobsResumed, "resumed"),
        };
        let shown = names.iter().take(MAX_JOBS);
        let shown: Vec<_> = shown.map(|name| cut_chars(name, MAX_NAME)).collect();
        let more = names.len().saturating_sub(MAX_JOBS);
        let more = match more {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let jobs = counted(u32::try_from(names.len()).unwrap_or(u32::MAX), "Job");
        let text = format!("{verb} {jobs}: {}{more}", shown.join(", "));
        Self::new(reason, text)
    }

    /// The Jobs of a CronJob cannot be suspended or resumed. With `namespace` a permission is missing,
    /// for all of its CronJobs.
    pub fn jobs_failed(why: &str, namespace: Option<&str>) -> Self {
        let mut text = format!("cannot suspend or resume its Jobs: {why}; retrying with backoff");
        if let Some(namespace) = namespace {
            text += &format!(
                ". Allow dayshift to list and patch jobs.batch (manifests/kinds/jobs.yaml, or \
                    stopJobs: true in the chart), or remove stop-jobs. This holds for every CronJob \
                    with stop-jobs in namespace {namespace}"
            );
        }
        Self::new(EventReason::JobsFailed, text)
    }
}
