//! The Jobs of CronJobs that ask for it: suspended after a stop, resumed after a start.

use std::{
    collections::{BTreeSet, HashMap, HashSet, VecDeque},
    sync::Arc,
    time::Duration,
};

use dayshift_cluster::{
    delays::Delays,
    write::{PatchError, ReadError},
};
use dayshift_workload::{DesiredJobs, JobChange, Key, WorkloadRef, desired_jobs};

use crate::{
    clock::{
        guard::Now,
        timers::{Timer, Timers},
    },
    ids::Id,
    object::Object,
};

/// The CronJobs of a namespace whose Jobs should be checked.
#[derive(Debug)]
pub(crate) struct JobsPass {
    pub(crate) namespace: Arc<str>,
    pub(crate) cron_jobs: Vec<CronJobTarget>,
}

/// What one CronJob wants of its Jobs.
#[derive(Clone, Debug)]
pub(crate) struct CronJobTarget {
    pub(crate) id: Id,
    pub(crate) object: WorkloadRef,
    pub(crate) desired: DesiredJobs,
}

/// The result of a pass.
pub(crate) struct JobsPassResult {
    pub(crate) namespace: Arc<str>,
    /// The patches for each CronJob; none if the Jobs could not be listed.
    pub(crate) cron_jobs: Vec<(CronJobTarget, Vec<JobPatch>)>,
    /// Why they could not.
    pub(crate) list_error: Option<ReadError>,
}

/// A patch of one Job, by its name.
pub(crate) struct JobPatch {
    pub(crate) job: Box<str>,
    pub(crate) change: JobChange,
    pub(crate) result: Result<(), PatchError>,
}

/// The CronJobs whose Jobs follow them. All of a namespace are checked together, with one list.
///
/// A CronJob whose Jobs cannot be changed has a back-off of its own. It outlives its object while
/// Jobs should be resumed.
pub(crate) struct Jobs {
    known: HashMap<Id, CronJob>,
    /// Those to be checked now, by namespace, and whose turn it is.
    waiting: HashMap<Arc<str>, BTreeSet<Id>>,
    turns: VecDeque<Arc<str>>,
    in_flight: HashSet<Arc<str>>,
    random: fastrand::Rng,
}

struct CronJob {
    object: WorkloadRef,
    desired: DesiredJobs,
    /// Passes in a row that have left something to do.
    failures: u32,
}

impl Jobs {
    /// None yet. The seed is that of the jitter.
    pub(crate) fn new(seed: u64) -> Self {
        Self {
            known: HashMap::new(),
            waiting: HashMap::new(),
            turns: VecDeque::new(),
            in_flight: HashSet::new(),
            random: fastrand::Rng::with_seed(seed),
        }
    }

    /// Applies what an object wants of its Jobs by now.
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

    /// Queues a CronJob to be checked now.
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

    /// Takes the next pass, for a namespace without one in flight.
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

    /// A pass over a namespace has ended.
    pub(super) fn ended(&mut self, namespace: &str) {
        self.in_flight.remove(namespace);
    }

    /// All Jobs of a CronJob are as it wants them.
    pub(super) fn settled(&mut self, target: &CronJobTarget, timers: &mut Timers, now: Now) {
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
                // Its controller may not have seen the stop yet.
                if let Ok(left) = (created_until - now.wall).to_std() {
                    let later = now.elapsed + left + Duration::from_millis(1);
                    timers.set(Timer::Jobs(target.id), later);
                }
            }
            DesiredJobs::Running | DesiredJobs::Unchanged => {}
        }
    }

    /// Some Jobs of a CronJob are not as it wants them: they are checked again after one of these
    /// delays. Returns when, and how many passes in a row have failed.
    pub(super) fn failed(
        &mut self,
        target: &CronJobTarget,
        delays: &Delays,
        timers: &mut Timers,
        now: Now,
    ) -> Option<(Duration, u32)> {
        let cron_job = self.known.get_mut(&target.id)?;
        if target.desired != cron_job.desired {
            return None; // It waits for the next pass.
        }
        cron_job.failures = cron_job.failures.saturating_add(1);
        let then = now.elapsed + delays.delay(cron_job.failures, &mut self.random);
        timers.set(Timer::Jobs(target.id), then);
        Some((then, cron_job.failures))
    }

    /// A permission is missing for all CronJobs of a namespace: those that have failed are checked
    /// together then.
    pub(super) fn put_off(&mut self, namespace: &str, then: Duration, timers: &mut Timers) {
        let is_in = |known: &CronJob| known.failures > 0 && *known.object.namespace == *namespace;
        for (id, _) in self.known.iter().filter(|(_, known)| is_in(known)) {
            timers.set(Timer::Jobs(*id), then);
        }
    }

    /// Forgets an object that is gone. Jobs that it no longer wants suspended are still resumed.
    pub(crate) fn remove(&mut self, id: Id, timers: &mut Timers) {
        let is_needed = |known: &CronJob| known.desired == DesiredJobs::Unmanaged;
        if self.known.get(&id).is_some_and(|known| !is_needed(known)) {
            self.known.remove(&id);
            timers.cancel(Timer::Jobs(id));
        }
    }
}
