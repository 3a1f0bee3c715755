//! The Jobs of CronJobs with `stop-jobs`.

use tokio::time::Instant;

use crate::{
    cluster::{EventObject, PatchError, ReadError},
    events::EventText,
    workload::{JobChange, JobsWish, Key as Annotation, WorkloadRef, jobs_wish},
};

use crate::controller::ids::Id;
use crate::controller::jobs::pass::{Asked, Attempt, Passed};
use crate::controller::reconcile::answers::outcome;
use crate::controller::reconcile::engine::Engine;
use crate::controller::retry::backoff::Key;
use crate::controller::retry::notifier::Reason;
use crate::controller::telemetry::outcome::Outcome;
use crate::delays::Delays;

impl Engine {
    /// Takes in what an object wants of its Jobs.
    pub(super) fn look_at_jobs(&mut self, id: Id) {
        if let Some(entry) = self.index.get(id)
            && entry.observed.inputs.counts().has(Annotation::StopJobs)
        {
            let wish = jobs_wish(&entry.observed, &entry.parsed);
            self.cron_jobs.expect(id, entry.object(), wish);
        }
    }

    /// Looks at Jobs as far as there are places, behind the starts and stops that wait.
    pub(super) fn dispatch_jobs(&mut self) {
        let now = self.clock.monotonic();
        while let Some(pass) = self.cron_jobs.pop(self.queue.has_transitions(), now) {
            if !self.settings.dry_run {
                self.sender.look_at_jobs(pass);
                continue;
            }
            self.cron_jobs.ended(&pass.namespace);
            for asked in pass.cron_jobs {
                let object = &asked.object;
                let would = match asked.wish {
                    JobsWish::Suspended { .. } => "suspend the Jobs that it has running",
                    _ => "resume the Jobs that a stop has suspended, if any",
                };
                tracing::info!(kind = %object.kind, %object, "would {would}");
                self.cron_jobs.settled(&asked, (self.clock.now(), now));
            }
        }
    }

    /// Takes in what came of a pass over Jobs.
    pub(super) fn passed_over_jobs(&mut self, passed: Passed) {
        let Passed {
            namespace,
            cron_jobs,
            not_listed,
        } = passed;
        self.cron_jobs.ended(&namespace);
        if not_listed.is_none() && cron_jobs.iter().flat_map(|(_, it)| it).all(is_permitted) {
            for (asked, _) in &cron_jobs {
                let key = Key::permission(&asked.object);
                self.notifier.clear(&key, &[Reason::JobsForbidden]);
            }
        }
        let mut missing_until = None;
        for (asked, attempts) in cron_jobs {
            self.tell_of_jobs(&asked, &attempts);
            let failure = match &not_listed {
                Some(error) => Some(JobsFailure::of_list(error)),
                None => attempts.iter().find_map(JobsFailure::of_attempt),
            };
            match failure {
                Some(failure) => {
                    missing_until = self.jobs_failed(&asked, &failure).or(missing_until);
                }
                None => {
                    let now = (self.clock.now(), self.clock.monotonic());
                    self.cron_jobs.settled(&asked, now);
                    self.notifier
                        .clear(&Key::Object(asked.id), &[Reason::JobsFailed]);
                }
            }
        }
        if let Some(then) = missing_until {
            self.cron_jobs.put_off(&namespace, then);
        }
    }

    /// Counts what was done, and tells of it in the log and in an Event of the CronJob.
    fn tell_of_jobs(&mut self, asked: &Asked, attempts: &[Attempt]) {
        for it in attempts {
            let outcome = it.result.as_ref().err().map_or(Outcome::Done, outcome);
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
            self.announce_jobs(object, event);
        }
    }

    /// Returns until when a permission is taken to be missing.
    fn jobs_failed(&mut self, asked: &Asked, failure: &JobsFailure) -> Option<Instant> {
        let now = self.clock.monotonic();
        let is_for_all = failure.reason == Some(Reason::JobsForbidden);
        let (then, failures) = self.cron_jobs.failed(asked, failure.delays, now)?;
        let missing_until = is_for_all.then_some(then);
        let (object, why) = (&asked.object, &failure.why);
        let (key, reason) = match failure.reason {
            None => {
                tracing::debug!(kind = %object.kind, %object, failures, "its Jobs: {why}");
                return None;
            }
            // One is told for all of the namespace.
            Some(reason) if is_for_all => (Key::permission(object), reason),
            Some(reason) => (Key::Object(asked.id), reason),
        };
        tracing::warn!(kind = %object.kind, %object, failures, "its Jobs: {why}");
        if self.notifier.take_news(&key, reason, "", now) {
            let event = EventText::jobs_failed(why, is_for_all.then_some(&*object.namespace));
            self.announce_jobs(object, event);
        }
        missing_until
    }

    fn announce_jobs(&mut self, object: &WorkloadRef, event: EventText) {
        self.events
            .record(EventObject::from(object), event, self.clock.now());
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
