//! The published snapshot of each object, and their totals.
//!
//! The controller replaces the snapshot of an object when the object changes. Readers, such as
//! scrapes and pages, compute totals on their own threads. The snapshots are in many small maps, and a
//! reader locks one of them at a time, for a few microseconds.

use std::{
    collections::{BTreeMap, HashMap},
    sync::{
        Arc, Mutex, MutexGuard,
        atomic::{AtomicBool, Ordering},
    },
};

use chrono::{DateTime, Utc};
use dayshift_cluster::clock::Clock;
use dayshift_manifest::plan::{OtherManagers, Planner, StopSummary};
use dayshift_workload::{Origin, ParsedInputs, Phase, WorkloadRef, savings::StoppedCapacity};
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

/// The objects of one controller. They remain after it hangs or ends.
#[derive(Debug)]
pub(crate) struct PublishedObjects {
    shards: Box<[Mutex<Shard>]>,
    clock: Clock,
    is_running: AtomicBool,
    /// Whether any object was published since the last call of [`Self::take_changed`].
    is_changed: AtomicBool,
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
    by_namespace: ByNamespace,
}

/// Totals of all objects at one time.
#[derive(Debug, Default)]
pub(crate) struct ObjectTotals {
    pub(crate) by_namespace: BTreeMap<Arc<str>, States>,
    /// The number of objects with a valid schedule.
    pub(crate) scheduled: usize,
    /// The number of scheduled objects whose pods do not request both CPU and memory.
    pub(crate) without_requests: usize,
    /// The number of objects that have not become ready in time since dayshift started them.
    pub(crate) not_ready: usize,
    pub(crate) overdue: usize,
    /// The overdue object that was observed first.
    pub(crate) first_overdue: Option<(Id, Arc<ObjectSnapshot>)>,
    /// The next time at which another object can become overdue, unless an object changes before.
    pub(super) next_overdue: Option<DateTime<Utc>>,
    /// The number of objects under the default schedule of the controller, by namespace.
    pub(crate) by_default: BTreeMap<Arc<str>, usize>,
}

impl PublishedObjects {
    fn new(clock: Clock, settings: &Settings) -> Self {
        Self {
            shards: (0..SHARDS).map(|_| Mutex::default()).collect(),
            wakes: Mutex::new(WakeLog::new(clock.now())),
            clock,
            is_running: AtomicBool::new(true),
            is_changed: AtomicBool::new(true),
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
        objects.sort_by(|one, other| {
            let sort_key = |snapshot: &ObjectSnapshot| {
                let object = &snapshot.object;
                (
                    object.kind.clone(),
                    object.namespace.clone(),
                    object.name.clone(),
                )
            };
            sort_key(one).cmp(&sort_key(other))
        });
        Some(Snapshot { at, objects })
    }

    /// Whether any object was published since the last call.
    pub(super) fn take_changed(&self) -> bool {
        self.is_changed.swap(false, Ordering::Relaxed)
    }

    /// The last wakes of a workload since the controller started.
    pub(super) fn wakes_of(&self, object: &WorkloadRef) -> WakeHistory {
        lock(&self.wakes).of(object)
    }

    /// The controller's wall time.
    pub(super) fn now(&self) -> DateTime<Utc> {
        self.clock.now()
    }

    /// The current totals.
    pub(crate) fn count(&self) -> ObjectTotals {
        let now = self.clock.now();
        let mut counts = ObjectTotals::default();
        for (id, object) in self.each() {
            counts.add(id, &object, now);
            counts.not_ready += usize::from(object.is_not_ready(now));
        }
        counts
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

impl ObjectTotals {
    /// The number of invalid schedules.
    pub(crate) fn invalid(&self) -> usize {
        let states = self.by_namespace.values();
        states.map(|states| states.invalid).sum()
    }

    fn add(&mut self, id: Id, object: &Arc<ObjectSnapshot>, now: DateTime<Utc>) {
        let namespace = Arc::clone(&object.object.namespace);
        if object.parsed.spec().is_some() {
            self.scheduled += 1;
            if object.inputs.schedule_origin() == Some(Origin::Controller) {
                *self.by_default.entry(Arc::clone(&namespace)).or_default() += 1;
            }
        }
        self.by_namespace.entry(namespace).or_default().add(object);
        self.without_requests += usize::from(object.lacks_requests());
        let from = object.overdue_from(now).map(|from| from.max(now));
        self.next_overdue = self.next_overdue.into_iter().chain(from).min();
        if object.is_overdue(now) {
            self.overdue += 1;
            let first = self.first_overdue.as_ref();
            if first.is_none_or(|(first, _)| id < *first) {
                self.first_overdue = Some((id, Arc::clone(object)));
            }
        }
    }
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
        let objects = PublishedObjects::new(clock.clone(), settings);
        let objects = Arc::new(objects);
        *lock(latest) = Some(Arc::clone(&objects));
        Self {
            objects,
            by_namespace: by_namespace.clone(),
        }
    }

    /// The published objects.
    pub(crate) const fn objects(&self) -> &Arc<PublishedObjects> {
        &self.objects
    }

    /// Publishes an object, and counts its savings from `now` on.
    pub(crate) fn publish(&self, id: Id, object: ObjectSnapshot, now: (DateTime<Utc>, Instant)) {
        let object = Arc::new(object);
        let before = self.objects.shard(id).insert(id, Arc::clone(&object));
        self.objects.is_changed.store(true, Ordering::Relaxed);
        let is_awake = |object: &ObjectSnapshot| object.state.phase == Some(Phase::Woken);
        let at = object.state.last.unwrap_or(now.0).min(now.0);
        match (before.as_deref().is_some_and(is_awake), is_awake(&object)) {
            (false, true) => lock(&self.objects.wakes).begin(&object.object, at),
            (true, false) => lock(&self.objects.wakes).end(&object.object, at),
            (true, true) | (false, false) => {}
        }
        let before = before.map(|before| before.stopped_capacity());
        let before = before.unwrap_or_default();
        self.count(&object, before, object.stopped_capacity(), now);
    }

    /// Removes an object that was deleted or is out of scope.
    pub(crate) fn remove(&self, id: Id, now: (DateTime<Utc>, Instant)) {
        let removed = self.objects.shard(id).remove(&id);
        if let Some(object) = removed {
            lock(&self.objects.wakes).remove(&object.object);
            let before = object.stopped_capacity();
            self.count(&object, before, StoppedCapacity::default(), now);
        }
    }

    fn count(
        &self,
        object: &ObjectSnapshot,
        before: StoppedCapacity,
        after: StoppedCapacity,
        at: (DateTime<Utc>, Instant),
    ) {
        if before != after {
            let namespace = Arc::clone(&object.object.namespace);
            let change = Change::Stopped { before, after, at };
            self.by_namespace.change(namespace, change);
        }
    }

    /// Sets the team of a namespace from `at` on. `None` and an empty string mean no team.
    pub(crate) fn set_team(&self, namespace: &str, team: Option<&str>, at: Instant) {
        let team = team.filter(|team| !team.is_empty()).map(Into::into);
        let change = Change::Team(team, at);
        self.by_namespace.change(namespace.into(), change);
    }
}

impl Drop for Publisher {
    fn drop(&mut self) {
        self.objects.is_running.store(false, Ordering::Relaxed);
    }
}
