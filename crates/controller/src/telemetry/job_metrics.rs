//! The counter of Jobs that dayshift suspends and resumes for CronJobs with `stop-jobs`.

use dayshift_workload::JobChange;
use prometheus_client::{
    metrics::{counter::Counter, family::Family},
    registry::Registry,
};

use crate::telemetry::{
    outcome::Outcome,
    shapes::{Labels, registered},
};

/// The counter of suspended and resumed Jobs.
#[derive(Debug)]
pub(crate) struct JobMetrics(Family<Labels<2>, Counter>);

impl JobMetrics {
    pub(crate) fn registered(registry: &mut Registry) -> Self {
        let attempts = Self(registered(
            registry,
            "jobs",
            "Attempts to suspend or resume a Job of a CronJob with stop-jobs, by outcome",
        ));
        // Each counter begins at zero, so that `increase()` includes its first count.
        for change in [JobChange::Suspend, JobChange::Resume] {
            for outcome in Outcome::ALL {
                attempts.count(change, outcome, 0);
            }
        }
        attempts
    }

    /// Counts attempts with this outcome.
    pub(crate) fn count(&self, change: JobChange, outcome: Outcome, attempts: u64) {
        let action = match change {
            JobChange::Suspend => "suspend",
            JobChange::Resume | JobChange::Release => "resume",
        };
        let labels = [("action", action), ("outcome", outcome.name())];
        self.0.get_or_create(&labels).inc_by(attempts);
    }
}
