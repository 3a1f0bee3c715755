//! The CronJobs whose Jobs follow them, and when those are looked at.

use std::{
    collections::{BTreeSet, HashMap, HashSet, VecDeque},
    sync::Arc,
    time::Duration,
};

use chrono::{DateTime, Utc};
use dayshift_cluster::delays::Delays;
use dayshift_workload::{DesiredJobs, WorkloadRef};
use tokio::time::Instant;

use crate::{
    ids::Id,
    jobs::pass::{Asked, Pass},
    queue::lanes::places_for_lookups,
    telemetry::metrics::Telemetry,
    time::scheduler::Scheduler,
};

/// The CronJobs whose Jobs follow them. All of a namespace are looked at together, with one list.
///
/// A CronJob whose Jobs cannot be changed is tried again by itself, with a back-off of its own.
pub(crate) struct CronJobs {
    known: HashMap<Id, CronJob>,
    /// Those to be looked at now, by namespace, and whose turn it is.
    waiting: HashMap<Arc<str>, BTreeSet<Id>>,
    turns: VecDeque<Arc<str>>,
    under_way: HashSet<Arc<str>>,
    /// Those to be looked at once more.
    later: Scheduler<Id, Instant>,
    random: fastrand::Rng,
    pub(super) telemetry: Arc<Telemetry>,
}

struct CronJob {
    object: WorkloadRef,
    wish: DesiredJobs,
    /// Passes in a row that have left something to do.
    failures: u32,
}

impl CronJobs {
    /// None yet. The seed is that of the jitter.
    pub(crate) fn new(seed: u64, telemetry: Arc<Telemetry>) -> Self {
        Self {
            known: HashMap::new(),
            waiting: HashMap::new(),
            turns: VecDeque::new(),
            under_way: HashSet::new(),
            later: Scheduler::new(),
            random: fastrand::Rng::with_seed(seed),
            telemetry,
        }
    }

    /// Takes in what a CronJob wants of its Jobs by now.
    pub(super) fn expect(&mut self, id: Id, object: &WorkloadRef, wish: DesiredJobs) {
        let known = self.known.get(&id).map(|it| it.wish);
        let is_news = match wish {
            DesiredJobs::Unmanaged => known.is_some_and(|it| it != wish),
            DesiredJobs::Unchanged => false,
            DesiredJobs::Suspended { .. } | DesiredJobs::Running => known != Some(wish),
        };
        if is_news {
            let cron_job = CronJob {
                object: object.clone(),
                wish,
                failures: 0,
            };
            self.known.insert(id, cron_job);
            self.later.cancel(&id);
            self.queue(id);
        }
    }

    fn queue(&mut self, id: Id) {
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

    /// The next pass, if there is a place for it.
    pub(crate) fn pop(&mut self, is_busy: bool, now: Instant) -> Option<Pass> {
        while let Some((id, _)) = self.later.take_due(now) {
            self.queue(id);
        }
        if self.under_way.len() >= places_for_lookups(is_busy) {
            return None;
        }
        let is_free = |namespace: &Arc<str>| !self.under_way.contains(namespace);
        let turn = self.turns.iter().position(is_free)?;
        let namespace = self.turns.remove(turn)?;
        let ids = self.waiting.remove(&namespace).unwrap_or_default();
        let asked = ids.into_iter().filter_map(|id| {
            let cron_job = self.known.get(&id)?;
            Some(Asked {
                id,
                object: cron_job.object.clone(),
                wish: cron_job.wish,
            })
        });
        let cron_jobs: Vec<_> = asked.collect();
        self.under_way.insert(Arc::clone(&namespace));
        Some(Pass {
            namespace,
            cron_jobs,
        })
    }

    /// A pass over a namespace has ended.
    pub(super) fn ended(&mut self, namespace: &str) {
        self.under_way.remove(namespace);
    }

    /// All Jobs of a CronJob were as it wants them, at `now`.
    pub(super) fn settled(&mut self, asked: &Asked, now: (DateTime<Utc>, Instant)) {
        let Some(cron_job) = self.known.get_mut(&asked.id) else {
            return;
        };
        cron_job.failures = 0;
        match asked.wish {
            wish if wish != cron_job.wish => {} // It waits for the next pass.
            DesiredJobs::Unmanaged => {
                self.known.remove(&asked.id);
            }
            DesiredJobs::Suspended { created_until } => {
                // Its controller may not have seen the stop yet.
                if let Ok(left) = (created_until - now.0).to_std() {
                    self.later
                        .set(asked.id, now.1 + left + Duration::from_millis(1));
                }
            }
            DesiredJobs::Running | DesiredJobs::Unchanged => {}
        }
    }

    /// Some Jobs of a CronJob are not as it wants them: they are looked at again after one of these
    /// delays. Returns when, and how many passes in a row have failed.
    pub(super) fn failed(
        &mut self,
        asked: &Asked,
        delays: &Delays,
        now: Instant,
    ) -> Option<(Instant, u32)> {
        let cron_job = self.known.get_mut(&asked.id)?;
        if asked.wish != cron_job.wish {
            return None; // It waits for the next pass.
        }
        cron_job.failures = cron_job.failures.saturating_add(1);
        let then = now + delays.delay(cron_job.failures, &mut self.random);
        self.later.set(asked.id, then);
        Some((then, cron_job.failures))
    }

    /// A permission is missing for all CronJobs of a namespace: those that have failed are looked at
    /// together then.
    pub(super) fn put_off(&mut self, namespace: &str, then: Instant) {
        let in_namespace = |it: &CronJob| it.failures > 0 && *it.object.namespace == *namespace;
        for (id, _) in self.known.iter().filter(|(_, it)| in_namespace(it)) {
            self.later.set(*id, then);
        }
    }

    /// When one is to be looked at again.
    pub(crate) fn next(&self) -> Option<Instant> {
        self.later.next()
    }

    /// Forgets an object that is unknown by now. Jobs that it no longer wants suspended are still resumed.
    pub(crate) fn remove(&mut self, id: Id) {
        if self
            .known
            .get(&id)
            .is_some_and(|it| it.wish != DesiredJobs::Unmanaged)
        {
            self.known.remove(&id);
            self.later.cancel(&id);
        }
    }
}
