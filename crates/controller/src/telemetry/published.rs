//! The published state of each object, and the totals.
//!
//! The controller replaces the snapshot of an object when it changes; readers add the snapshots up
//! on their own threads. A reader holds one of many small maps at a time, for some microseconds.

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
use dayshift_workload::{Origin, savings::StoppedCapacity};
use tokio::time::Instant;

use crate::{
    ids::Id,
    settings::Settings,
    telemetry::{
        savings::{Change, Savings, SavingsBy, What},
        shapes::lock,
        snapshot::{ObjectSnapshot, Snapshot, States},
    },
};

/// With 100,000 objects each map has some 400.
const SHARDS: usize = 256;

type Shard = HashMap<Id, Arc<ObjectSnapshot>>;

/// The objects of one controller as it knows them. They stay when it hangs or has ended.
#[derive(Debug)]
pub(crate) struct PublishedObjects {
    shards: Box<[Mutex<Shard>]>,
    clock: Clock,
    is_running: AtomicBool,
    /// Whether any was published since the last question.
    is_changed: AtomicBool,
    /// Whether each has a metric of its own.
    pub(super) per_workload_metrics: bool,
    /// Whether overrides are counted by user.
    pub(super) per_user_metrics: bool,
}

/// The objects of the controller that has begun last.
pub(super) type Newest = Arc<Mutex<Option<Arc<PublishedObjects>>>>;

/// Publishes the objects of one controller, until it is dropped.
pub(crate) struct Publisher {
    objects: Arc<PublishedObjects>,
    savings: Savings,
    /// The number of this controller among those that have begun in this process.
    generation: u64,
}

/// Sums over all objects at one moment.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    pub(crate) by_namespace: BTreeMap<Arc<str>, States>,
    /// They have a schedule that is not refused.
    pub(crate) scheduled: usize,
    /// Their replicas are scheduled and do not request both CPU and memory.
    pub(crate) without_requests: usize,
    /// They have not been ready since they were started, and should be.
    pub(crate) not_ready: usize,
    pub(crate) overdue: usize,
    /// The overdue one that was seen first.
    pub(crate) first_overdue: Option<(Id, Arc<ObjectSnapshot>)>,
    /// The next time at which another object can become overdue, unless any changes.
    pub(super) next_overdue: Option<DateTime<Utc>>,
    /// The number of objects under the default schedule of the controller, by namespace.
    pub(crate) by_default: BTreeMap<Arc<str>, usize>,
}

impl PublishedObjects {
    fn new(clock: Clock, settings: &Settings) -> Self {
        Self {
            shards: (0..SHARDS).map(|_| Mutex::default()).collect(),
            clock,
            is_running: AtomicBool::new(true),
            is_changed: AtomicBool::new(true),
            per_workload_metrics: settings.per_workload_metrics,
            per_user_metrics: settings.per_user_metrics,
        }
    }

    /// Every object, in no order.
    pub(crate) fn each(&self) -> impl Iterator<Item = (Id, Arc<ObjectSnapshot>)> {
        self.shards.iter().flat_map(|shard| {
            let objects = lock(shard);
            let each = objects.iter().map(|(id, it)| (*id, Arc::clone(it)));
            each.collect::<Vec<_>>()
        })
    }

    /// What is known now, by kind, namespace and name; `None` where the controller has ended.
    pub(super) fn snapshot(&self) -> Option<Snapshot> {
        if !self.is_running.load(Ordering::Relaxed) {
            return None;
        }
        let at = self.clock.now();
        let mut objects: Vec<_> = self.each().map(|(_, it)| it).collect();
        objects.sort_by(|one, other| {
            let place = |it: &ObjectSnapshot| {
                let object = &it.object;
                (
                    object.kind.clone(),
                    object.namespace.clone(),
                    object.name.clone(),
                )
            };
            place(one).cmp(&place(other))
        });
        Some(Snapshot { at, objects })
    }

    /// Whether any was published since the last call.
    pub(super) fn take_changed(&self) -> bool {
        self.is_changed.swap(false, Ordering::Relaxed)
    }

    /// The time by the controller's clock.
    pub(super) fn now(&self) -> DateTime<Utc> {
        self.clock.now()
    }

    /// The sums as they are now.
    pub(crate) fn count(&self) -> Counts {
        let now = self.clock.now();
        let mut counts = Counts::default();
        for (id, object) in self.each() {
            counts.add(id, &object, now);
            counts.not_ready += usize::from(object.is_not_ready(now));
        }
        counts
    }

    /// The replicas that the next stops remove, by namespace, if no other client changes the counts.
    pub(crate) fn summary(&self, planner: &Planner) -> StopSummary {
        let mut summary = StopSummary::default();
        for (_, object) in self.each() {
            let observed = object.observed();
            let plan = planner.plan_read(&observed, object.parsed().clone());
            summary.add(&observed, plan.as_ref(), OtherManagers::default());
        }
        summary
    }

    fn shard(&self, id: Id) -> MutexGuard<'_, Shard> {
        lock(&self.shards[id.shard(SHARDS)])
    }
}

impl Counts {
    /// How many schedules are refused.
    pub(crate) fn invalid(&self) -> usize {
        self.by_namespace.values().map(|it| it.invalid).sum()
    }

    fn add(&mut self, id: Id, object: &Arc<ObjectSnapshot>, now: DateTime<Utc>) {
        let namespace = Arc::clone(&object.object.namespace);
        if object.schedule().is_some() {
            self.scheduled += 1;
            if object.inputs.schedule_origin() == Some(Origin::Scaler) {
                *self.by_default.entry(Arc::clone(&namespace)).or_default() += 1;
            }
        }
        self.by_namespace.entry(namespace).or_default().add(object);
        self.without_requests += usize::from(object.lacks_requests());
        let from = object.overdue_from(now).map(|from| from.max(now));
        self.next_overdue = self.next_overdue.into_iter().chain(from).min();
        if object.is_overdue(now) {
            self.overdue += 1;
            if self.first_overdue.as_ref().is_none_or(|(it, _)| id < *it) {
                self.first_overdue = Some((id, Arc::clone(object)));
            }
        }
    }
}

impl Publisher {
    /// Begins to publish for a new controller, in place of any before. The time is by this clock.
    pub(super) fn begin(
        newest: &Newest,
        savings: &Savings,
        clock: &Clock,
        settings: &Settings,
    ) -> Self {
        let by = match &settings.scope.team_label {
            Some(_) => SavingsBy::Team,
            None if settings.per_namespace_metrics => SavingsBy::Namespace,
            None => SavingsBy::All,
        };
        let generation = savings.begin(by, clock.now(), clock.monotonic());
        let objects = PublishedObjects::new(clock.clone(), settings);
        let objects = Arc::new(objects);
        *lock(newest) = Some(Arc::clone(&objects));
        Self {
            objects,
            savings: savings.clone(),
            generation,
        }
    }

    /// The published objects.
    pub(crate) const fn objects(&self) -> &Arc<PublishedObjects> {
        &self.objects
    }

    /// Publishes an object, which is as given from `now` on.
    pub(crate) fn publish(&self, id: Id, object: ObjectSnapshot, now: (DateTime<Utc>, Instant)) {
        let object = Arc::new(object);
        let before = self.objects.shard(id).insert(id, Arc::clone(&object));
        self.objects.is_changed.store(true, Ordering::Relaxed);
        let held_before = before.map_or_else(StoppedCapacity::default, |it| it.stopped_capacity());
        let held = object.stopped_capacity();
        if held_before != held {
            self.count(&object, held_before, held, now);
        }
    }

    /// Removes an object that is gone, or out of scope.
    pub(crate) fn remove(&self, id: Id, now: (DateTime<Utc>, Instant)) {
        let removed = self.objects.shard(id).remove(&id);
        if let Some(object) = removed {
            self.count(
                &object,
                object.stopped_capacity(),
                StoppedCapacity::default(),
                now,
            );
        }
    }

    fn count(
        &self,
        object: &ObjectSnapshot,
        before: StoppedCapacity,
        held: StoppedCapacity,
        at: (DateTime<Utc>, Instant),
    ) {
        self.savings.change(Change {
            generation: self.generation,
            namespace: Arc::clone(&object.object.namespace),
            what: What::Held { before, held },
            at,
        });
    }

    /// A namespace belongs to this team from now on, or to none.
    pub(crate) fn set_team(
        &self,
        namespace: &str,
        team: Option<&str>,
        at: (DateTime<Utc>, Instant),
    ) {
        self.savings.change(Change {
            generation: self.generation,
            namespace: namespace.into(),
            what: What::Team(team.filter(|it| !it.is_empty()).map(Into::into)),
            at,
        });
    }
}

impl Drop for Publisher {
    fn drop(&mut self) {
        self.objects.is_running.store(false, Ordering::Relaxed);
    }
}
