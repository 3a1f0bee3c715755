//! What comes of a pass over Jobs: what is told of it, and when they are looked at again.

use chrono::{DateTime, Utc};
use dayshift_cluster::{
    delays::Delays,
    write::{PatchError, ReadError},
};
use dayshift_workload::{
    DesiredJobs, JobChange, Key as Annotation, desired_jobs, events::EventText,
};
use tokio::time::Instant;

use crate::{
    ids::Id,
    jobs::{
        cron_jobs::CronJobs,
        pass::{Asked, Attempt, Pass, Passed},
    },
    objects::entry::Entry,
    report::{notifier::Reason, reporter::Reporter},
    retry::backoff::Key,
    telemetry::outcome::Outcome,
};

impl CronJobs {
    /// Takes in what an object wants of its Jobs.
    pub(crate) fn observe(&mut self, id: Id, entry: &Entry) {
        if entry.observed.inputs.counts().has(Annotation::StopJobs) {
            let wish = desired_jobs(&entry.observed, &entry.parsed);
            self.expect(id, entry.object(), wish);
        }
    }

    /// Ends a pass of a dry run: logs what it would do.
    pub(crate) fn log_would(&mut self, pass: Pass, now: (DateTime<Utc>, Instant)) {
        self.ended(&pass.namespace);
        for asked in pass.cron_jobs {
            let object = &asked.object;
            let would = match asked.wish {
                DesiredJobs::Suspended { .. } => "suspend the Jobs that it has running",
                _ => "resume the Jobs that a stop has suspended, if any",
            };
            tracing::info!(kind = %object.kind, %object, "would {would}");
            self.settled(&asked, now);
        }
    }

    /// Takes in what came of a pass.
    pub(crate) fn finish(
        &mut self,
        passed: Passed,
        reporter: &mut Reporter,
        now: (DateTime<Utc>, Instant),
    ) {
        let Passed {
            namespace,
            cron_jobs,
            not_listed,
        } = passed;
        self.ended(&namespace);
        if not_listed.is_none() && cron_jobs.iter().flat_map(|(_, it)| it).all(is_permitted) {
            for (asked, _) in &cron_jobs {
                let key = Key::permission(&asked.object);
                reporter.clear(&key, &[Reason::JobsForbidden]);
            }
        }
        let mut missing_until = None;
        for (asked, attempts) in cron_jobs {
            self.report_changes(&asked, &attempts, reporter);
            let failure = match &not_listed {
                Some(error) => Some(JobsFailure::of_list(error)),
                None => attempts.iter().find_map(JobsFailure::of_attempt),
            };
            match failure {
                Some(failure) => {
                    let until = self.fail(&asked, &failure, reporter, now.1);
                    missing_until = until.or(missing_until);
                }
                None => {
                    self.settled(&asked, now);
                    reporter.clear(&Key::Object(asked.id), &[Reason::JobsFailed]);
                }
            }
        }
        if let Some(then) = missing_until {
            self.put_off(&namespace, then);
        }
    }

    /// Counts what was done, and tells of it in the log and in an Event of the CronJob.
    fn report_changes(&self, asked: &Asked, attempts: &[Attempt], reporter: &mut Reporter) {
        for it in attempts {
            let outcome = it.result.as_ref().err().map_or(Outcome::Done, Outcome::of);
            self.telemetry.jobs.count(it.change, outcome, 1);
        }
        for change in [JobChange::Suspend, JobChange::Resume] {
            let done = attempts
                .iter()
                .filter(|it| it.change == change && it.result.is_ok());
            let names: Vec<&str> = done.map(|it| &*it.job).collect();
            if names.is_empty() {
                continue;
            }
            let event = EventText::jobs_changed(change, &names);
            let object = &asked.object;
            tracing::info!(kind = %object.kind, %object, "{}", event.text);
            reporter.announce(object, event);
        }
    }

    /// Plans another pass. Returns until when a permission is taken to be missing.
    fn fail(
        &mut self,
        asked: &Asked,
        failure: &JobsFailure,
        reporter: &mut Reporter,
        now: Instant,
    ) -> Option<Instant> {
        let (then, failures) = self.failed(asked, failure.delays, now)?;
        let (object, why) = (&asked.object, &failure.why);
        let Some(reason) = failure.reason else {
            tracing::debug!(kind = %object.kind, %object, failures, "its Jobs: {why}");
            return None;
        };
        tracing::warn!(kind = %object.kind, %object, failures, "its Jobs: {why}");
        // A missing permission is reported once for all of the namespace.
        let is_for_all = reason == Reason::JobsForbidden;
        let key = if is_for_all {
            Key::permission(object)
        } else {
            Key::Object(asked.id)
        };
        if reporter.take_news(&key, reason, "") {
            let event = EventText::jobs_failed(why, is_for_all.then_some(&*object.namespace));
            reporter.announce(object, event);
        }
        is_for_all.then_some(then)
    }
}

/// Why Jobs are not as they should be yet.
struct JobsFailure {
    why: String,
    /// As what people are told of it; `None` where the next pass may well do.
    reason: Option<Reason>,
    delays: &'static Delays,
}

impl JobsFailure {
    fn of_list(error: &ReadError) -> Self {
        let why = error.to_string();
        match error {
            ReadError::Refused(_) => Self {
                why,
                reason: Some(Reason::JobsForbidden),
                delays: &Delays::ABSENT,
            },
            ReadError::Gone | ReadError::Unavailable(_) => Self {
                why,
                reason: None,
                delays: &Delays::OBJECT,
            },
        }
    }

    /// A Job that is gone is as good as suspended.
    fn of_attempt(attempt: &Attempt) -> Option<Self> {
        let error = attempt.result.as_ref().err()?;
        let (reason, delays) = match error {
            PatchError::Gone => return None,
            PatchError::Conflict | PatchError::Unavailable(_) => (None, &Delays::OBJECT),
            PatchError::Refused(_) => (Some(Reason::JobsFailed), &Delays::REFUSED),
            PatchError::Forbidden(_) => (Some(Reason::JobsForbidden), &Delays::ABSENT),
        };
        let why = format!("{}: {error}", attempt.job);
        Some(Self {
            why,
            reason,
            delays,
        })
    }
}

/// Whether an attempt shows no missing permission.
const fn is_permitted(attempt: &Attempt) -> bool {
    !matches!(&attempt.result, Err(PatchError::Forbidden(_)))
}
