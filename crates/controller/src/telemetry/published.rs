//! The published snapshot of each object, and the objects that are late.
//!
//! The controller replaces the snapshot of an object when the object changes, and counts the change.
//! Readers, such as scrapes and pages, run on their own threads. The snapshots are in many small maps,
//! and a reader locks one of them at a time, for a few microseconds.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    sync::{
        Arc, Mutex, MutexGuard,
        atomic::{AtomicBool, Ordering},
    },
};

use chrono::{DateTime, Utc};
use dayshift_cluster::clock::Clock;
use dayshift_manifest::plan::{OtherManagers, Planner, StopSummary};
use dayshift_workload::{ParsedInputs, Phase, WorkloadRef};
use tokio::time::Instant;

use crate::{
    ids::Id,
    settings::Settings,
    telemetry::{
        by_namespace::{ByNamespace, Change, SeriesBy},
        shapes::lock,
        snapshot::{ObjectSnapshot, Snapshot},
        states::States,
        wake_log::{WakeHistory, WakeLog},
    },
};

/// The number of maps. With 100,000 objects, each has about 400.
const SHARDS: usize = 256;

type Shard = HashMap<Id, Arc<ObjectSnapshot>>;

/// Objects are checked again after this number of seconds if nothing is late yet, although it could be.
const CHECK_INTERVAL: u32 = 30;

/// A second since 1970. The numbers suffice until 2106.
pub(super) type Second = u32;

const NEVER: Second = Second::MAX;

/// The checks whether objects are late. An object becomes late only with time, so it is checked when it
/// might be. It remains late until it is published again.
#[derive(Debug, Default)]
struct Checks {
    planned: BTreeSet<(Second, Id)>,
    /// When each object is checked that was checked since it was published. The others are checked at
    /// [`ObjectSnapshot::check`].
    moved: BTreeMap<Id, Second>,
    overdue: BTreeSet<Id>,
    not_ready: BTreeSet<Id>,
}

impl Checks {
    /// Replaces the checks of a published object. Each of the two snapshots is planned at this second.
    fn replace(&mut self, id: Id, before: Second, after: Second) {
        let moved = self.moved.remove(&id);
        if moved.is_none() && before == after {
            return;
        }
        self.planned.remove(&(moved.unwrap_or(before), id));
        if after != NEVER {
            self.planned.insert((after, id));
        }
        self.overdue.remove(&id);
        self.not_ready.remove(&id);
    }

    /// Replaces the checks of an object that was checked, and is checked again then.
    fn check_again(&mut self, id: Id, before: Second, then: Second) {
        let before = self.moved.insert(id, then).unwrap_or(before);
        self.planned.remove(&(before, id));
        self.planned.insert((then, id));
    }
}

/// The objects of one controller. They remain after it hangs or ends.
#[derive(Debug)]
pub(crate) struct PublishedObjects {
    shards: Box<[Mutex<Shard>]>,
    clock: Clock,
    is_running: AtomicBool,
    /// Locked only while at most one shard is locked too.
    checks: Mutex<Checks>,
    by_namespace: ByNamespace,
    wakes: Mutex<WakeLog>,
    /// Whether each object has a series of its own.
    pub(super) per_workload_metrics: bool,
    /// Whether overrides are counted by user.
    pub(super) per_user_metrics: bool,
}

/// The objects of the controller that started last.
pub(super) type LatestObjects = Arc<Mutex<Option<Arc<PublishedObjects>>>>;

/// Publishes the objects of one controller, until it is dropped.
pub(crate) struct Publisher {
    objects: Arc<PublishedObjects>,
}

/// The objects that are late at one time.
#[derive(Debug)]
pub(crate) struct LateObjects {
    /// The number of objects that have not become ready in time since dayshift started them.
    pub(crate) not_ready: usize,
    pub(crate) overdue: usize,
    /// The overdue object that was observed first.
    pub(crate) first_overdue: Option<Arc<ObjectSnapshot>>,
}

impl PublishedObjects {
    fn new(clock: Clock, by_namespace: ByNamespace, settings: &Settings) -> Self {
        Self {
            shards: (0..SHARDS).map(|_| Mutex::default()).collect(),
            wakes: Mutex::new(WakeLog::new(clock.now())),
            clock,
            is_running: AtomicBool::new(true),
            checks: Mutex::default(),
            by_namespace,
            per_workload_metrics: settings.per_workload_metrics,
            per_user_metrics: settings.per_user_metrics,
        }
    }

    /// All objects, in no particular order.
    pub(crate) fn each(&self) -> impl Iterator<Item = (Id, Arc<ObjectSnapshot>)> {
        self.shards.iter().flat_map(|shard| {
            let objects = lock(shard);
            let each = objects.iter().map(|(id, object)| (*id, Arc::clone(object)));
            each.collect::<Vec<_>>()
        })
    }

    /// All objects, sorted by kind, namespace and name; `None` if the controller has ended.
    pub(super) fn snapshot(&self) -> Option<Snapshot> {
        if !self.is_running.load(Ordering::Relaxed) {
            return None;
        }
        let at = self.clock.now();
        let mut objects: Vec<_> = self.each().map(|(_, object)| object).collect();
        objects.sort_unstable_by(|one, other| one.object.cmp(&other.object));
        Some(Snapshot { at, objects })
    }

    /// The last wakes of a workload since the controller started.
    pub(super) fn wakes_of(&self, object: &WorkloadRef) -> WakeHistory {
        lock(&self.wakes).of(object)
    }

    /// The controller's wall time.
    pub(super) fn now(&self) -> DateTime<Utc> {
        self.clock.now()
    }

    /// The states of the objects in each namespace.
    pub(crate) fn states(&self) -> BTreeMap<Arc<str>, States> {
        self.by_namespace.states()
    }

    /// Whether [`Self::late`] has to check objects, which takes microseconds for each.
    pub(crate) fn has_due_checks(&self) -> bool {
        let first = lock(&self.checks).planned.first().copied();
        first.is_some_and(|(at, _)| at <= whole_seconds(self.clock.now()))
    }

    /// The objects that are late now. Checks only those that might have become late since the last call.
    pub(crate) fn late(&self) -> LateObjects {
        let now = self.clock.now();
        let until = (whole_seconds(now), Id::MAX);
        let due: Vec<Id> = {
            let checks = lock(&self.checks);
            let due = checks.planned.range(..=until);
            due.map(|(_, id)| *id).collect()
        };
        for id in due {
            self.check(id, now);
        }
        let checks = lock(&self.checks);
        let (not_ready, overdue) = (checks.not_ready.len(), checks.overdue.len());
        let first_overdue = checks.overdue.first().copied();
        drop(checks);
        LateObjects {
            not_ready,
            overdue,
            first_overdue: first_overdue.and_then(|id| self.get(id)),
        }
    }

    /// Checks an object, and plans its next check after `now`, unless it is published meanwhile.
    fn check(&self, id: Id, now: DateTime<Utc>) {
        let Some(object) = self.get(id) else {
            return;
        };
        let not_ready = object.not_ready_from();
        let is_not_ready = not_ready.is_some_and(|from| from <= now);
        let is_overdue = object.is_overdue(now);
        let overdue = object.overdue_from(now).filter(|_| !is_overdue);
        let later = whole_seconds(now).saturating_add(CHECK_INTERVAL);
        let overdue = overdue.map(|from| if from > now { rounded_up(from) } else { later });
        let not_ready = not_ready.filter(|_| !is_not_ready).map(rounded_up);
        let then = overdue.into_iter().chain(not_ready).min();
        let shard = self.shard(id);
        if shard
            .get(&id)
            .is_some_and(|known| Arc::ptr_eq(known, &object))
        {
            let mut checks = lock(&self.checks);
            checks.check_again(id, object.check, then.unwrap_or(NEVER));
            if is_overdue {
                checks.overdue.insert(id);
            }
            if is_not_ready {
                checks.not_ready.insert(id);
            }
        }
    }

    fn get(&self, id: Id) -> Option<Arc<ObjectSnapshot>> {
        self.shard(id).get(&id).cloned()
    }

    /// Replaces a snapshot; `None` removes it. Returns the old and the new one.
    fn replace(
        &self,
        id: Id,
        snapshot: Option<ObjectSnapshot>,
        now: DateTime<Utc>,
    ) -> [Option<Arc<ObjectSnapshot>>; 2] {
        let mut shard = self.shard(id);
        let before = shard.get(&id).cloned();
        let after = snapshot.map(|mut snapshot| {
            snapshot.set_against_schedule(before.as_deref());
            let overdue = snapshot.overdue_from(now).into_iter();
            let late = overdue.chain(snapshot.not_ready_from()).min();
            snapshot.check = late.map_or(NEVER, rounded_up);
            Arc::new(snapshot)
        });
        match &after {
            Some(after) => drop(shard.insert(id, Arc::clone(after))),
            None => drop(shard.remove(&id)),
        }
        let check = |snapshot: &Option<Arc<ObjectSnapshot>>| {
            snapshot.as_ref().map_or(NEVER, |snapshot| snapshot.check)
        };
        lock(&self.checks).replace(id, check(&before), check(&after));
        [before, after]
    }

    /// The replicas that the next stops will remove, by namespace, if no other client changes counts.
    pub(crate) fn summary(&self, planner: &Planner) -> StopSummary {
        let mut summary = StopSummary::default();
        for (_, object) in self.each() {
            let observed = object.observed();
            let plan = planner.plan_read(&observed, ParsedInputs::clone(&object.parsed));
            summary.add(&observed, plan.as_ref(), OtherManagers::default());
        }
        summary
    }

    fn shard(&self, id: Id) -> MutexGuard<'_, Shard> {
        lock(&self.shards[id.shard(SHARDS)])
    }
}

/// The last whole second at a time.
fn whole_seconds(at: DateTime<Utc>) -> Second {
    let seconds = at.timestamp().max(0);
    Second::try_from(seconds).unwrap_or(NEVER)
}

/// The first whole second that is not before a time.
fn rounded_up(at: DateTime<Utc>) -> Second {
    whole_seconds(at).saturating_add(u32::from(at.timestamp_subsec_nanos() > 0))
}

impl Publisher {
    /// Creates the publisher of a controller that starts now. It replaces the objects of an earlier
    /// controller.
    pub(super) fn begin(
        latest: &LatestObjects,
        by_namespace: &ByNamespace,
        clock: &Clock,
        settings: &Settings,
    ) -> Self {
        let by = match &settings.scope.team_label {
            Some(_) => SeriesBy::Team,
            None if settings.per_namespace_metrics => SeriesBy::Namespace,
            None => SeriesBy::All,
        };
        by_namespace.begin(by, clock.now(), clock.monotonic());
        let objects = PublishedObjects::new(clock.clone(), by_namespace.clone(), settings);
        let objects = Arc::new(objects);
        *lock(latest) = Some(Arc::clone(&objects));
        Self { objects }
    }

    /// The published objects.
    pub(crate) const fn objects(&self) -> &Arc<PublishedObjects> {
        &self.objects
    }

    /// Publishes an object, or removes it if it was deleted or is out of scope. Counts the change from
    /// `now` on.
    pub(crate) fn publish(
        &self,
        id: Id,
        object: Option<ObjectSnapshot>,
        now: (DateTime<Utc>, Instant),
    ) {
        let [before, after] = self.objects.replace(id, object, now.0);
        let Some(object) = after.as_ref().or(before.as_ref()) else {
            return;
        };
        let is_awake = |object: &ObjectSnapshot| object.state.phase == Some(Phase::Woken);
        let at = object.state.last.unwrap_or(now.0).min(now.0);
        let was_awake = before.as_deref().is_some_and(is_awake);
        match (was_awake, after.as_deref().map(is_awake)) {
            (_, None) => lock(&self.objects.wakes).remove(&object.object),
            (false, Some(true)) => lock(&self.objects.wakes).begin(&object.object, at),
            (true, Some(false)) => lock(&self.objects.wakes).end(&object.object, at),
            (true, Some(true)) | (false, Some(false)) => {}
        }
        let namespace = &object.object.namespace;
        let [before, after] = [&before, &after].map(|object| {
            let object = object.as_deref();
            object.map_or_else(States::default, States::from_object)
        });
        if before != after {
            let change = Change::State {
                before,
                after,
                at: now,
            };
            self.objects
                .by_namespace
                .change(Arc::clone(namespace), change);
        }
    }

    /// Sets the team of a namespace from `at` on. `None` and an empty string mean no team.
    pub(crate) fn set_team(&self, namespace: &str, team: Option<&str>, at: Instant) {
        let team = team.filter(|team| !team.is_empty()).map(Into::into);
        let change = Change::Team(team, at);
        self.objects.by_namespace.change(namespace.into(), change);
    }
}

impl Drop for Publisher {
    fn drop(&mut self) {
        self.objects.is_running.store(false, Ordering::Relaxed);
    }
}
