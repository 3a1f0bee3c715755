//! Applies the result of a pass over Jobs: metrics, Events, the log, and the time of the next check.

use std::{sync::Arc, time::Duration};

use dayshift_cluster::{
    delays::Delays,
    write::{PatchError, ReadError},
};
use dayshift_workload::{DesiredJobs, JobChange, events::EventText};

use crate::{
    clock::{guard::Now, timers::Timers},
    events::Events,
    followups::jobs::{CronJobTarget, JobPatches, Jobs, JobsPass, JobsPassResult},
    object::rare::Reason,
    store::Store,
    telemetry::{metrics::Telemetry, outcome::Outcome},
};

/// The components to which the result of a pass is reported.
pub(crate) struct JobsReporter<'a> {
    pub(crate) store: &'a mut Store,
    pub(crate) events: &'a mut Events,
    pub(crate) timers: &'a mut Timers,
    pub(crate) telemetry: &'a Arc<Telemetry>,
    pub(crate) now: Now,
}

impl Jobs {
    /// Logs what a pass would do, in a dry run, and ends it.
    pub(crate) fn log_dry_run(&mut self, pass: JobsPass, timers: &mut Timers, now: Now) {
        self.end_pass(&pass.namespace);
        for target in pass.cron_jobs {
            let object = &target.object;
            let would = match target.desired {
                DesiredJobs::Suspended { .. } => "suspend its running Jobs",
                _ => "resume its suspended Jobs",
            };
            tracing::info!(kind = %object.kind, %object, "would {would}");
            self.record_success(&target, timers, now);
        }
    }

    /// Applies the result of a pass.
    pub(crate) fn finish(&mut self, result: JobsPassResult, reporter: &mut JobsReporter<'_>) {
        let JobsPassResult {
            namespace,
            cron_jobs,
            list_error,
        } = result;
        self.end_pass(&namespace);
        let mut patches = cron_jobs.iter().map(|(_, patches)| patches);
        if list_error.is_none() && !patches.any(|patches| patches.is_forbidden) {
            for (target, _) in &cron_jobs {
                let events = &mut reporter.events;
                events.clear_missing(&target.object, Reason::JobsForbidden);
            }
        }
        let mut missing_until = None;
        for (target, patches) in cron_jobs {
            reporter.report_changes(&target, &patches);
            let failure = match &list_error {
                Some(error) => Some(JobsFailure::from_list(error)),
                None => patches.failure.as_ref().map(JobsFailure::from_patch),
            };
            if let Some(failure) = failure {
                let until = self.fail(&target, &failure, reporter);
                missing_until = until.or(missing_until);
                continue;
            }
            if patches.is_unfinished {
                self.queue(target.id);
                continue;
            }
            self.record_success(&target, reporter.timers, reporter.now);
            if let Some(object) = reporter.store.get_unpublished(target.id) {
                object.clear_reports(&[Reason::JobsFailed]);
            }
        }
        if let Some(then) = missing_until {
            self.postpone(&namespace, then, reporter.timers);
        }
    }

    /// Reports a failure, and plans the next check. Returns its time if a permission is missing, which
    /// affects the whole namespace.
    fn fail(
        &mut self,
        target: &CronJobTarget,
        failure: &JobsFailure,
        reporter: &mut JobsReporter<'_>,
    ) -> Option<Duration> {
        let now = reporter.now;
        let (then, failures) = self.record_failure(target, failure.delays, reporter.timers, now)?;
        let (object, why) = (&target.object, &failure.why);
        let Some(reason) = failure.reason else {
            tracing::debug!(kind = %object.kind, %object, failures, "cannot suspend or resume its Jobs: {why}");
            return None;
        };
        tracing::warn!(kind = %object.kind, %object, failures, "cannot suspend or resume its Jobs: {why}");
        let known = reporter.store.get_unpublished(target.id);
        let is_for_all = reason.is_for_all();
        if reporter.events.take_new(object, known, reason, now) {
            let event = EventText::jobs_failed(why, is_for_all.then_some(&*object.namespace));
            reporter.events.announce(object, event, now);
        }
        is_for_all.then_some(then)
    }
}

impl JobsReporter<'_> {
    /// Counts the attempts, and reports the successful ones in the log and in an Event of the CronJob.
    fn report_changes(&mut self, target: &CronJobTarget, patches: &JobPatches) {
        for ((change, outcome), count) in &patches.counts {
            self.telemetry.jobs.count(*change, *outcome, *count as u64);
        }
        for (change, names) in &patches.changed {
            if *change == JobChange::Release {
                continue; // Only our label was removed.
            }
            let count = patches.counts[&(*change, Outcome::Done)];
            let event = EventText::jobs_changed(*change, names, count);
            let object = &target.object;
            tracing::info!(kind = %object.kind, %object, "{}", event.text);
            self.events.announce(object, event, self.now);
        }
    }
}

/// Why some Jobs are not in the desired state.
struct JobsFailure {
    why: String,
    /// The condition to report; `None` if the next pass will probably succeed.
    reason: Option<Reason>,
    delays: &'static Delays,
}

impl JobsFailure {
    fn from_list(error: &ReadError) -> Self {
        let (reason, delays) = match error {
            ReadError::Rejected(_) => (Some(Reason::JobsForbidden), &Delays::ABSENT),
            ReadError::Gone | ReadError::Unavailable(_) => (None, &Delays::OBJECT),
        };
        Self {
            why: error.to_string(),
            reason,
            delays,
        }
    }

    fn from_patch((job, error): &(Box<str>, PatchError)) -> Self {
        let (reason, delays) = match error {
            PatchError::Gone | PatchError::Conflict | PatchError::Unavailable(_) => {
                (None, &Delays::OBJECT)
            }
            PatchError::Rejected(_) => (Some(Reason::JobsFailed), &Delays::REJECTED),
            PatchError::Forbidden(_) => (Some(Reason::JobsForbidden), &Delays::ABSENT),
        };
        Self {
            why: format!("{job}: {error}"),
            reason,
            delays,
        }
    }
}
