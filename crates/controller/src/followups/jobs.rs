//! The Jobs of CronJobs with `stop-jobs`: they are suspended after a stop and resumed after a start. Plans
//! the checks of Jobs, and reports their results.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap, HashSet, VecDeque},
    sync::Arc,
    time::Duration,
};

use dayshift_cluster::{delays::Delays, write::PatchError};
use dayshift_workload::{
    DesiredJobs, JobChange, Key, WorkloadRef, desired_jobs, events::EventText,
};

use crate::{
    clock::{guard::Now, scheduler::Scheduler},
    events::Events,
    ids::Id,
    object::{Object, reported::Reason},
    store::Store,
    telemetry::{metrics::Telemetry, outcome::Outcome},
};

/// A check of the Jobs of some CronJobs in a namespace.
#[derive(Debug)]
pub(crate) struct JobsPass {
    pub(crate) namespace: Arc<str>,
    pub(crate) cron_jobs: Vec<CronJobTarget>,
}

/// A CronJob, and the desired state of its Jobs.
#[derive(Clone, Debug)]
pub(crate) struct CronJobTarget {
    pub(crate) id: Id,
    pub(crate) object: WorkloadRef,
    pub(crate) desired: DesiredJobs,
}

/// The result of a [`JobsPass`].
pub(crate) struct JobsPassResult {
    pub(crate) namespace: Arc<str>,
    /// The patches of each CronJob's Jobs. If the Jobs could not be listed, those of earlier pages.
    pub(crate) cron_jobs: Vec<(CronJobTarget, JobPatches)>,
    /// Why the Jobs could not be listed. A rejected list counts as a missing permission.
    pub(crate) list_error: Option<PatchError>,
}

/// The results of the patches of a CronJob's Jobs in one pass. Their size does not depend on the number of Jobs.
#[derive(Default)]
pub(crate) struct JobPatches {
    /// The number of attempts with this change and outcome.
    pub(crate) counts: BTreeMap<(JobChange, Outcome), usize>,
    /// The names of the first Jobs with each change.
    pub(crate) changed: BTreeMap<JobChange, Vec<Box<str>>>,
    /// The first failure, and its Job. A deleted Job is no failure.
    pub(crate) failure: Option<(Box<str>, PatchError)>,
    /// Whether the permission is missing.
    pub(crate) is_forbidden: bool,
    /// Whether the server has failed.
    is_unavailable: bool,
    /// Whether Jobs were not tried for lack of time.
    pub(crate) is_unfinished: bool,
}

impl JobPatches {
    /// Records an attempt to patch a Job.
    pub(crate) fn record(&mut self, job: &str, change: JobChange, result: Result<(), PatchError>) {
        let error = result.err();
        let outcome = error.as_ref().map_or(Outcome::Done, Outcome::from_error);
        *self.counts.entry((change, outcome)).or_default() += 1;
        match error {
            None => {
                let names = self.changed.entry(change).or_default();
                if names.len() < EventText::MAX_JOBS {
                    names.push(job.into());
                }
            }
            Some(PatchError::Gone) => {}
            Some(error) => {
                self.is_forbidden |= matches!(error, PatchError::Forbidden(_));
                self.is_unavailable |=
                    matches!(&error, PatchError::Unavailable(why) if why.kind.is_server_failure());
                self.failure.get_or_insert_with(|| (job.into(), error));
            }
        }
    }

    /// Whether further attempts are left to the next pass.
    pub(crate) const fn are_ended(&self) -> bool {
        self.is_forbidden || self.is_unavailable || self.is_unfinished
    }
}

/// The CronJobs with `stop-jobs`. Those of a namespace are checked together, with one list.
///
/// A CronJob whose Jobs cannot be changed has a backoff of its own. A CronJob that no longer manages
/// its Jobs remains here until they are resumed.
pub(crate) struct Jobs {
    known: HashMap<Id, CronJob>,
    /// When the Jobs of each CronJob are checked again.
    later: Scheduler<Id, Duration>,
    /// The CronJobs to check now, by namespace.
    waiting: HashMap<Arc<str>, BTreeSet<Id>>,
    /// The namespaces in `waiting`, the next one first.
    turns: VecDeque<Arc<str>>,
    /// The namespaces with a pass in flight.
    in_flight: HashSet<Arc<str>>,
    random: fastrand::Rng,
    telemetry: Arc<Telemetry>,
}

struct CronJob {
    target: CronJobTarget,
    /// The number of passes in a row that have failed.
    failures: u32,
}

impl Jobs {
    /// Creates the component without CronJobs. `seed` is for the jitter.
    pub(crate) fn new(seed: u64, telemetry: Arc<Telemetry>) -> Self {
        Self {
            known: HashMap::new(),
            later: Scheduler::new(),
            waiting: HashMap::new(),
            turns: VecDeque::new(),
            in_flight: HashSet::new(),
            random: fastrand::Rng::with_seed(seed),
            telemetry,
        }
    }

    /// Applies the desired state of the Jobs of an object. If it has changed, plans a check.
    pub(crate) fn observe(&mut self, id: Id, object: &Object) {
        if !object.observed.inputs.counts().has(Key::StopJobs) {
            return;
        }
        let desired = desired_jobs(&object.observed, &object.parsed);
        let known = self.known.get(&id).map(|known| known.target.desired);
        let is_changed = match desired {
            DesiredJobs::Unmanaged => known.is_some_and(|known| known != desired),
            DesiredJobs::Unchanged => false,
            DesiredJobs::Suspended { .. } | DesiredJobs::Running => known != Some(desired),
        };
        if is_changed {
            let object = object.name().clone();
            let target = CronJobTarget {
                id,
                object,
                desired,
            };
            let cron_job = CronJob {
                target,
                failures: 0,
            };
            self.known.insert(id, cron_job);
            self.later.cancel(&id);
            self.queue(id);
        }
    }

    /// When the next check is due.
    pub(crate) fn next(&self) -> Option<Duration> {
        self.later.next()
    }

    /// Queues one check that is due. Returns `false` if there is none.
    pub(crate) fn queue_due(&mut self, now: Now) -> bool {
        let due = self.later.take_due(now.elapsed);
        if let Some((id, _)) = due {
            self.queue(id);
        }
        due.is_some()
    }

    /// Queues a check of a CronJob.
    fn queue(&mut self, id: Id) {
        let Some(cron_job) = self.known.get(&id) else {
            return;
        };
        let namespace = &cron_job.target.object.namespace;
        if !self.waiting.contains_key(namespace) {
            self.turns.push_back(Arc::clone(namespace));
        }
        let waiting = self.waiting.entry(Arc::clone(namespace)).or_default();
        waiting.insert(id);
    }

    /// Takes the next pass of a namespace that has none in flight.
    pub(crate) fn pop(&mut self) -> Option<JobsPass> {
        let is_free = |namespace: &Arc<str>| !self.in_flight.contains(namespace);
        let turn = self.turns.iter().position(is_free)?;
        let namespace = self.turns.remove(turn)?;
        let ids = self.waiting.remove(&namespace).unwrap_or_default();
        let known = ids.iter().filter_map(|id| self.known.get(id));
        let cron_jobs = known.map(|known| known.target.clone()).collect();
        self.in_flight.insert(Arc::clone(&namespace));
        Some(JobsPass {
            namespace,
            cron_jobs,
        })
    }

    /// Logs what a pass would do, in a dry run, and ends it.
    pub(crate) fn log_dry_run(&mut self, pass: JobsPass, now: Now) {
        self.in_flight.remove(&pass.namespace);
        for target in pass.cron_jobs {
            let object = &target.object;
            let would = match target.desired {
                DesiredJobs::Suspended { .. } => "suspend its running Jobs",
                _ => "resume its suspended Jobs",
            };
            tracing::info!(kind = %object.kind, %object, "would {would}");
            self.record_success(&target, now);
        }
    }

    /// Applies the result of a pass: metrics, Events, the log, and the time of the next check.
    pub(crate) fn finish(
        &mut self,
        result: JobsPassResult,
        store: &mut Store,
        events: &mut Events,
        now: Now,
    ) {
        let JobsPassResult {
            namespace,
            cron_jobs,
            list_error,
        } = result;
        self.in_flight.remove(&namespace);
        let mut patches = cron_jobs.iter().map(|(_, patches)| patches);
        if list_error.is_none() && !patches.any(|patches| patches.is_forbidden) {
            for (target, _) in &cron_jobs {
                events.clear_missing(&target.object, Reason::JobsForbidden);
            }
        }
        let mut missing_until = None;
        for (target, patches) in cron_jobs {
            self.report_changes(&target, &patches, events, now);
            let of_patch = patches.failure.as_ref();
            let of_patch = of_patch.map(|(job, error)| (format!("{job}: {error}"), error));
            let of_list = list_error.as_ref().map(|error| (error.to_string(), error));
            let object = store.get_unpublished(target.id);
            if let Some((why, error)) = of_list.or(of_patch) {
                let until = self.fail(&target, (&why, error), object, events, now);
                missing_until = until.or(missing_until);
                continue;
            }
            if patches.is_unfinished {
                self.queue(target.id);
                continue;
            }
            self.record_success(&target, now);
            if let Some(object) = object {
                object.clear_reports(&[Reason::JobsFailed]);
            }
        }
        if let Some(then) = missing_until {
            // The permission is missing for all CronJobs in the namespace that have failed.
            let is_affected =
                |known: &CronJob| known.failures > 0 && known.target.object.namespace == namespace;
            for (id, _) in self.known.iter().filter(|(_, known)| is_affected(known)) {
                self.later.set(*id, then);
            }
        }
    }

    /// Reports a failure, and plans the next check. Returns its time if a permission is missing, which
    /// affects the whole namespace.
    fn fail(
        &mut self,
        target: &CronJobTarget,
        (why, error): (&str, &PatchError),
        known: Option<&mut Object>,
        events: &mut Events,
        now: Now,
    ) -> Option<Duration> {
        let cron_job = self.known.get_mut(&target.id)?;
        if target.desired != cron_job.target.desired {
            return None; // The desired state has changed. It waits for the next pass.
        }
        cron_job.failures = cron_job.failures.saturating_add(1);
        let failures = cron_job.failures;
        let (reason, delays) = consequences(error);
        let then = now.elapsed + delays.delay(failures, &mut self.random);
        self.later.set(target.id, then);
        let object = &target.object;
        let Some(reason) = reason else {
            tracing::debug!(kind = %object.kind, %object, failures, "cannot suspend or resume its Jobs: {why}");
            return None;
        };
        events.logs.line(&object.namespace, |suppressed| {
            tracing::warn!(kind = %object.kind, %object, failures, suppressed, "cannot suspend or resume its Jobs: {why}");
        });
        let is_for_all = reason.is_for_all();
        if events.take_new(object, known, reason, now) {
            let event = EventText::jobs_failed(why, is_for_all.then_some(&*object.namespace));
            events.announce(object, event, now);
        }
        is_for_all.then_some(then)
    }

    /// Counts the attempts, and reports the successful ones in the log and in an Event of the CronJob.
    fn report_changes(
        &self,
        target: &CronJobTarget,
        patches: &JobPatches,
        events: &mut Events,
        now: Now,
    ) {
        for ((change, outcome), count) in &patches.counts {
            let count = *count as u64;
            self.telemetry.job_attempts(*change, *outcome, count);
        }
        for (change, names) in &patches.changed {
            if *change == JobChange::Release {
                continue; // Only our label was removed.
            }
            let count = patches.counts[&(*change, Outcome::Done)];
            let event = EventText::jobs_changed(*change, names, count);
            let object = &target.object;
            events.logs.line(&object.namespace, |suppressed| {
                tracing::info!(kind = %object.kind, %object, suppressed, "{}", event.text);
            });
            events.announce(object, event, now);
        }
    }

    /// Records that all Jobs of a CronJob are in the desired state.
    fn record_success(&mut self, target: &CronJobTarget, now: Now) {
        let Some(cron_job) = self.known.get_mut(&target.id) else {
            return;
        };
        cron_job.failures = 0;
        match target.desired {
            desired if desired != cron_job.target.desired => {} // It waits for the next pass.
            DesiredJobs::Unmanaged => {
                self.known.remove(&target.id);
            }
            DesiredJobs::Suspended { created_until } => {
                // Its controller might create Jobs until it has processed the stop.
                if let Ok(left) = (created_until - now.wall).to_std() {
                    let later = now.elapsed + left + Duration::from_millis(1);
                    self.later.set(target.id, later);
                }
            }
            DesiredJobs::Running | DesiredJobs::Unchanged => {}
        }
    }

    /// Removes an object that was deleted or forgotten. It remains if its Jobs still have to be resumed.
    pub(crate) fn remove(&mut self, id: Id) {
        let is_needed = |known: &CronJob| known.target.desired == DesiredJobs::Unmanaged;
        if self.known.get(&id).is_some_and(|known| !is_needed(known)) {
            self.known.remove(&id);
            self.later.cancel(&id);
        }
    }
}

/// The condition to report after a failure, and the delays before the next checks. The condition is `None` if
/// the next check will probably succeed.
const fn consequences(error: &PatchError) -> (Option<Reason>, &'static Delays) {
    match error {
        PatchError::Gone | PatchError::Conflict | PatchError::Unavailable(_) => {
            (None, &Delays::OBJECT)
        }
        PatchError::Rejected(_) => (Some(Reason::JobsFailed), &Delays::REJECTED),
        PatchError::Forbidden(_) => (Some(Reason::JobsForbidden), &Delays::ABSENT),
    }
}
