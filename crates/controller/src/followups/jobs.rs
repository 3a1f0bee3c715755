//! The Jobs of CronJobs with `stop-jobs`: they are suspended after a stop and resumed after a start.
//! This file plans the checks, and `jobs_report` applies their results.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap, HashSet, VecDeque},
    sync::Arc,
    time::Duration,
};

use dayshift_cluster::{
    delays::Delays,
    write::{PatchError, ReadError},
};
use dayshift_workload::{
    DesiredJobs, JobChange, Key, WorkloadRef, desired_jobs, events::EventText,
};

use crate::{
    clock::{
        guard::Now,
        timers::{Timer, Timers},
    },
    ids::Id,
    object::Object,
    telemetry::outcome::Outcome,
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
    /// Why the Jobs could not be listed.
    pub(crate) list_error: Option<ReadError>,
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
    /// The CronJobs to check now, by namespace.
    waiting: HashMap<Arc<str>, BTreeSet<Id>>,
    /// The namespaces in `waiting`, the next one first.
    turns: VecDeque<Arc<str>>,
    /// The namespaces with a pass in flight.
    in_flight: HashSet<Arc<str>>,
    random: fastrand::Rng,
}

struct CronJob {
    object: WorkloadRef,
    desired: DesiredJobs,
    /// The number of passes in a row that have failed.
    failures: u32,
}

impl Jobs {
    /// Creates the component without CronJobs. `seed` is for the jitter.
    pub(crate) fn new(seed: u64) -> Self {
        Self {
            known: HashMap::new(),
            waiting: HashMap::new(),
            turns: VecDeque::new(),
            in_flight: HashSet::new(),
            random: fastrand::Rng::with_seed(seed),
        }
    }

    /// Applies the desired state of the Jobs of an object. If it has changed, plans a check.
    pub(crate) fn observe(&mut self, id: Id, object: &Object, timers: &mut Timers) {
        if !object.observed.inputs.counts().has(Key::StopJobs) {
            return;
        }
        let desired = desired_jobs(&object.observed, &object.parsed);
        let known = self.known.get(&id).map(|known| known.desired);
        let is_changed = match desired {
            DesiredJobs::Unmanaged => known.is_some_and(|known| known != desired),
            DesiredJobs::Unchanged => false,
            DesiredJobs::Suspended { .. } | DesiredJobs::Running => known != Some(desired),
        };
        if is_changed {
            let cron_job = CronJob {
                object: object.name().clone(),
                desired,
                failures: 0,
            };
            self.known.insert(id, cron_job);
            timers.cancel(Timer::Jobs(id));
            self.queue(id);
        }
    }

    /// Queues a check of a CronJob.
    pub(crate) fn queue(&mut self, id: Id) {
        let Some(cron_job) = self.known.get(&id) else {
            return;
        };
        let namespace = &cron_job.object.namespace;
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
        let targets = ids.into_iter().filter_map(|id| {
            let cron_job = self.known.get(&id)?;
            Some(CronJobTarget {
                id,
                object: cron_job.object.clone(),
                desired: cron_job.desired,
            })
        });
        let cron_jobs: Vec<_> = targets.collect();
        self.in_flight.insert(Arc::clone(&namespace));
        Some(JobsPass {
            namespace,
            cron_jobs,
        })
    }

    /// Records that the pass of a namespace has ended.
    pub(super) fn end_pass(&mut self, namespace: &str) {
        self.in_flight.remove(namespace);
    }

    /// Records that all Jobs of a CronJob are in the desired state.
    pub(super) fn record_success(&mut self, target: &CronJobTarget, timers: &mut Timers, now: Now) {
        let Some(cron_job) = self.known.get_mut(&target.id) else {
            return;
        };
        cron_job.failures = 0;
        match target.desired {
            desired if desired != cron_job.desired => {} // It waits for the next pass.
            DesiredJobs::Unmanaged => {
                self.known.remove(&target.id);
            }
            DesiredJobs::Suspended { created_until } => {
                // Its controller might create Jobs until it has processed the stop.
                if let Ok(left) = (created_until - now.wall).to_std() {
                    let later = now.elapsed + left + Duration::from_millis(1);
                    timers.set(Timer::Jobs(target.id), later);
                }
            }
            DesiredJobs::Running | DesiredJobs::Unchanged => {}
        }
    }

    /// Records that some Jobs of a CronJob are not in the desired state, and plans a check after one of
    /// these delays. Returns its time, and the number of failures in a row.
    pub(super) fn record_failure(
        &mut self,
        target: &CronJobTarget,
        delays: &Delays,
        timers: &mut Timers,
        now: Now,
    ) -> Option<(Duration, u32)> {
        let cron_job = self.known.get_mut(&target.id)?;
        if target.desired != cron_job.desired {
            return None; // The desired state has changed. It waits for the next pass.
        }
        cron_job.failures = cron_job.failures.saturating_add(1);
        let then = now.elapsed + delays.delay(cron_job.failures, &mut self.random);
        timers.set(Timer::Jobs(target.id), then);
        Some((then, cron_job.failures))
    }

    /// Plans the next check of all CronJobs in a namespace that have failed at the same time, because a
    /// permission is missing.
    pub(super) fn postpone(&mut self, namespace: &str, then: Duration, timers: &mut Timers) {
        let is_in = |known: &CronJob| known.failures > 0 && *known.object.namespace == *namespace;
        for (id, _) in self.known.iter().filter(|(_, known)| is_in(known)) {
            timers.set(Timer::Jobs(*id), then);
        }
    }

    /// Removes an object that was deleted or forgotten. It remains if its Jobs still have to be resumed.
    pub(crate) fn remove(&mut self, id: Id, timers: &mut Timers) {
        let is_needed = |known: &CronJob| known.desired == DesiredJobs::Unmanaged;
        if self.known.get(&id).is_some_and(|known| !is_needed(known)) {
            self.known.remove(&id);
            timers.cancel(Timer::Jobs(id));
        }
    }
}
