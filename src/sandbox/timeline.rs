//! Derives the events that a run shows from changes in the cluster, how fast it shows them, and its
//! summary: running hours, requests to the API, and lateness.

use std::{collections::BTreeMap, str::FromStr, time::Duration};

use chrono::{DateTime, TimeDelta, Utc};
use dayshift_activator::{RequestedWake, request_wakes};
use dayshift_cluster::{
    Workload,
    decode::Decode as _,
    read::{
        NamespaceDefaults, NamespaceMeta, ObservedNamespace, ObservedTeamDefaults, TeamConfigMap,
    },
};
use dayshift_schedule::{Action, Boundary};
use dayshift_workload::{
    Enforce, Footprint, Inheritance, Kind, Observed, ParseContext, ParsedInputs, Phase, Prefix,
    Replicas, ScheduleSpec, State, WorkloadRef, read,
    savings::{Saved, StoppedCapacity, stopped_capacity},
};
use kube_in_memory::{RequestLine, StoredChange};

/// A change of a workload, as the run shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TimelineEvent {
    /// The time of the change.
    pub at: DateTime<Utc>,
    /// The changed workload.
    pub object: WorkloadRef,
    /// The kind of change.
    pub kind: EventKind,
    /// The count before the change.
    pub from: Replicas,
    /// The count after the change.
    pub to: Replicas,
    /// The number of consecutive transitions that did not change the count, including this one. Only the
    /// first two are shown.
    pub idle: u32,
    /// The next boundary, if the schedule has one.
    pub next: Option<Boundary>,
}

/// The kinds of changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EventKind {
    /// A start.
    Start,
    /// A stop.
    Stop,
    /// A boundary that sets an exact count.
    Scale,
    /// `wake-until` took effect, until this time.
    Wake(DateTime<Utc>),
    /// `sleep-until` took effect, until this time.
    Sleep(DateTime<Utc>),
    /// A pause until this time or, without a time, until the annotation is removed.
    Pause(Option<DateTime<Utc>>),
    /// `enforce` reverted a count that was raised while stopped.
    Enforce,
    /// The schedule was adopted, without scaling.
    Adopt,
    /// The workload has no schedule, so dayshift ignores it.
    Ignore,
    /// The schedule is rejected for this reason, and the workload stays as it is.
    Reject(String),
    /// The schedule was corrected, or a pause ended.
    Resume,
    /// The schedule was removed, without scaling.
    Leave,
    /// A user changed the workload with this command.
    UserAction(String),
    /// A request to its Service, or to a workload that depends on it, wakes it until this time.
    Request(DateTime<Utc>),
    /// A request wakes nothing, for this reason.
    IdleRequest(&'static str),
}

/// The maximum number of consecutive transitions without a change that are shown.
pub const MAX_IDLE: u32 = 2;

/// Derives events from the changes of objects. Changes of the state labels are the controller's, all others
/// are the user's.
#[derive(Debug)]
pub(super) struct Observer {
    prefix: Prefix,
    context: ParseContext,
    defaults: NamespaceDefaults,
    watched: BTreeMap<(String, Kind), Watched>,
    lateness: TimeDelta,
    rejections: usize,
}

/// The state of one workload.
#[derive(Debug)]
struct Watched {
    observed: Observed,
    parsed: ParsedInputs,
    usage: Usage,
    /// The number of consecutive transitions that did not change the count.
    idle: u32,
    /// The user action that explains the next change.
    action: Option<EventKind>,
}

impl Observer {
    pub(super) fn new(prefix: Prefix, context: ParseContext, inheritance: Inheritance) -> Self {
        Self {
            prefix,
            context,
            defaults: NamespaceDefaults::new(inheritance),
            watched: BTreeMap::new(),
            lateness: TimeDelta::zero(),
            rejections: 0,
        }
    }

    /// The largest delay between a boundary and its transition.
    pub(super) fn lateness(&self) -> TimeDelta {
        self.lateness
    }

    pub(super) fn rejections(&self) -> usize {
        self.rejections
    }

    /// The usage until `at` of every workload that had a schedule.
    pub(super) fn usages(&self, at: DateTime<Utc>) -> Vec<(String, Usage)> {
        let mut usages = Vec::new();
        for ((name, _), one) in &self.watched {
            let mut usage = one.usage.clone();
            usage.set_count(at, one.observed.replicas, one.held());
            if usage.starts + usage.stops > 0 || one.observed.concerns_us() {
                usages.push((name.clone(), usage));
            }
        }
        usages
    }

    /// The next user change of this object is this action.
    pub(super) fn expect_action(&mut self, object: &WorkloadRef, action: EventKind) {
        let key = (object.full_name(), object.kind.clone());
        if let Some(one) = self.watched.get_mut(&key) {
            one.action = Some(action);
        }
    }

    /// The workloads that a request to this one would wake.
    pub(super) fn request_wakes(
        &self,
        object: &WorkloadRef,
        at: DateTime<Utc>,
    ) -> Result<Vec<RequestedWake>, &'static str> {
        let watched = self.watched.values();
        let all: Vec<_> = watched.map(|watched| &watched.observed).collect();
        let ParseContext {
            default_zone,
            tzdata,
            kinds,
            ..
        } = &self.context;
        request_wakes(object, &all, *default_zone, tzdata, kinds, at)
    }

    /// The event for a request that wakes nothing.
    pub(super) fn idle_request(
        &self,
        object: &WorkloadRef,
        at: DateTime<Utc>,
        why: &'static str,
    ) -> Option<TimelineEvent> {
        let key = (object.full_name(), object.kind.clone());
        let one = self.watched.get(&key)?;
        Some(one.event(at, EventKind::IdleRequest(why), one.observed.replicas))
    }

    /// Finds an existing object.
    pub(super) fn object(&self, kind: &Kind, namespace: &str, name: &str) -> Option<WorkloadRef> {
        let watched = self.watched.values();
        let mut all = watched.map(|watched| &watched.observed.object);
        let is_it = |object: &&WorkloadRef| {
            object.kind == *kind && &*object.namespace == namespace && &*object.name == name
        };
        all.find(is_it).cloned()
    }

    /// Records a Namespace before its workloads are observed.
    pub(super) fn add_namespace(&mut self, namespace: &NamespaceMeta) {
        let observed = ObservedNamespace::new(namespace, &self.prefix);
        self.defaults.insert(&observed);
    }

    /// Records the defaults of a team before its Namespace and its workloads are observed.
    pub(super) fn add_team_defaults(&mut self, config_map: &TeamConfigMap) {
        if let Some(observed) = ObservedTeamDefaults::read(config_map) {
            let namespace = config_map.meta().namespace.as_deref().unwrap_or_default();
            self.defaults.insert_team(namespace, observed.annotations);
        }
    }

    /// Records a change. Returns `None` if it is not shown.
    pub(super) fn observe(&mut self, kind: &Kind, change: &StoredChange) -> Option<TimelineEvent> {
        let workload: Workload = change.object().ok()?;
        let observed = workload.observe(kind, &self.prefix);
        let observed = self.defaults.applied(observed);
        let object = &observed.object;
        let name = (object.full_name(), kind.clone());
        let at = change.at;
        if change.deleted {
            let one = self.watched.get_mut(&name)?;
            one.observed.replicas = Replicas::ZERO;
            one.usage
                .set_count(at, Replicas::ZERO, StoppedCapacity::default());
            return None;
        }
        let Some(one) = self.watched.get_mut(&name) else {
            let one = Watched::new(at, observed, &self.context);
            let event = (!one.observed.concerns_us())
                .then(|| one.event(at, EventKind::Ignore, one.observed.replicas));
            self.watched.insert(name, one);
            return event;
        };
        let before = one.update(at, observed, &self.context);
        let kind = one.kind(&before)?;
        let action = match kind {
            EventKind::Start => Some(Action::Start),
            EventKind::Stop => Some(Action::Stop),
            EventKind::Scale => Some(Action::Scale(one.observed.replicas.get())),
            _ => None,
        };
        if let Some(action) = action {
            one.usage.transition(action);
            let boundary = one.observed.state().last.unwrap_or(at);
            self.lateness = self.lateness.max(at - boundary);
        }
        if matches!(kind, EventKind::Reject(_)) {
            self.rejections += 1;
        }
        let same = action.is_some() && before.replicas == one.observed.replicas;
        one.idle = if same { one.idle.saturating_add(1) } else { 0 };
        let event = one.event(at, kind, before.replicas);
        (event.idle <= MAX_IDLE).then_some(event)
    }
}

impl Watched {
    fn new(at: DateTime<Utc>, observed: Observed, context: &ParseContext) -> Self {
        let parsed = read(&observed.inputs, context);
        let held = stopped_capacity(&observed, &parsed);
        Self {
            parsed,
            usage: Usage::new(at, &observed, held),
            observed,
            idle: 0,
            action: None,
        }
    }

    /// Records the new state and returns the old one.
    fn update(
        &mut self,
        at: DateTime<Utc>,
        observed: Observed,
        context: &ParseContext,
    ) -> Observed {
        if observed.inputs != self.observed.inputs {
            self.parsed = read(&observed.inputs, context);
        }
        let before = std::mem::replace(&mut self.observed, observed);
        self.usage
            .set_count(at, self.observed.replicas, self.held());
        self.usage.set_footprint(self.observed.footprint);
        before
    }

    /// The capacity that the schedule keeps stopped.
    fn held(&self) -> StoppedCapacity {
        stopped_capacity(&self.observed, &self.parsed)
    }

    fn kind(&mut self, before: &Observed) -> Option<EventKind> {
        let now = &self.observed;
        let (old, new) = (before.state(), now.state());
        if now.labels == before.labels && now.error == before.error {
            let action = self.action.take();
            return action.or_else(|| self.is_enforced(before).then_some(EventKind::Enforce));
        }
        if let Some(error) = now.error.as_deref()
            && before.error.as_deref() != Some(error)
        {
            return Some(EventKind::Reject(error.to_owned()));
        }
        let is_new = (old.phase, old.next) != (new.phase, new.next);
        match new.phase {
            Some(Phase::Woken) if is_new => new.next_at().map(EventKind::Wake),
            Some(Phase::Slept) if is_new => new.next_at().map(EventKind::Sleep),
            Some(Phase::Paused) if is_new => Some(EventKind::Pause(new.next_at())),
            Some(Phase::Adopted) if old.phase == Some(Phase::Paused) => Some(EventKind::Resume),
            _ if self.is_enforced(before) => Some(EventKind::Enforce),
            Some(Phase::Running | Phase::Stopped) if is_due(&old, &new) && self.is_exact() => {
                Some(EventKind::Scale)
            }
            Some(Phase::Running) if is_due(&old, &new) => Some(EventKind::Start),
            Some(Phase::Stopped) if is_due(&old, &new) => Some(EventKind::Stop),
            Some(Phase::Adopted) if (old.phase, old.last) != (new.phase, new.last) => {
                Some(EventKind::Adopt)
            }
            None if old.phase.is_some() => Some(EventKind::Leave),
            _ if before.error.is_some() && now.error.is_none() => Some(EventKind::Resume),
            _ => None,
        }
    }

    /// Whether the schedule sets exact counts.
    fn is_exact(&self) -> bool {
        let spec = self.parsed.spec();
        spec.is_some_and(|spec| spec.largest_count().is_some())
    }

    /// Whether the controller reverted a count that a user raised.
    fn is_enforced(&self, before: &Observed) -> bool {
        let is_on = |spec: &ScheduleSpec| spec.overrides.enforce != Enforce::No;
        let (old, new) = (before.state(), self.observed.state());
        self.parsed.spec().is_some_and(is_on)
            && new.phase.is_some_and(Phase::follows_a_stop)
            && (old.phase, old.last) == (new.phase, new.last)
            && before.replicas > self.observed.replicas
    }

    fn event(&self, at: DateTime<Utc>, kind: EventKind, from: Replicas) -> TimelineEvent {
        let next = self.next_after(self.observed.state().last.unwrap_or(at));
        TimelineEvent {
            at,
            object: self.observed.object.clone(),
            kind,
            from,
            to: self.observed.replicas,
            idle: self.idle,
            next,
        }
    }

    fn next_after(&self, at: DateTime<Utc>) -> Option<Boundary> {
        let spec = self.parsed.spec()?;
        spec.next_after(&self.observed.object, self.observed.started(spec), at)
    }
}

/// Whether a boundary was carried out between two states.
fn is_due(old: &State, new: &State) -> bool {
    new.last > old.last
}

/// The speed of simulated time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Speed {
    /// As fast as possible.
    Max,
    /// A positive multiple of real time.
    Times(f64),
}

impl Speed {
    /// One day per second.
    pub const DAY_A_SECOND: Self = Self::Times(86_400.0);

    /// The real time after which an event at this simulated time should be shown.
    pub fn shown_after(self, simulated: TimeDelta) -> Duration {
        match self {
            Self::Max => Duration::ZERO,
            Self::Times(times) => {
                let seconds = simulated.as_seconds_f64().max(0.0) / times;
                Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX)
            }
        }
    }
}

impl FromStr for Speed {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.parse() {
            _ if text == "max" => Ok(Self::Max),
            Ok(times) if f64::is_finite(times) && times > 0.0 => Ok(Self::Times(times)),
            _ => Err(
                "write how many simulated seconds pass in one, such as 3600 or 86400, or max"
                    .to_owned(),
            ),
        }
    }
}

/// The results of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Summary {
    /// The beginning of the run.
    pub from: DateTime<Utc>,
    /// The end of the run.
    pub until: DateTime<Utc>,
    /// The usage of every workload with a schedule, by namespace and name.
    pub usages: Vec<(String, Usage)>,
    /// The largest delay between a boundary and its transition.
    pub lateness: TimeDelta,
    /// The number of rejected schedules.
    pub rejections: usize,
    /// The API requests of the controller.
    pub requests: Requests,
}

/// The transitions and running time of one workload.
#[derive(Clone, Debug, PartialEq)]
pub struct Usage {
    /// Starts, including those that did not change the count.
    pub starts: u64,
    /// Stops, including those that did not change the count.
    pub stops: u64,
    /// Usage is counted until this time. Since then `count` replicas with this `footprint` have been running,
    /// and `held` more would run without the schedule.
    since: DateTime<Utc>,
    count: Replicas,
    footprint: Footprint,
    held: StoppedCapacity,
    up: TimeDelta,
    replica_seconds: f64,
    saved: Saved,
}

impl Usage {
    /// The usage of a workload that was first observed at `at`.
    pub(super) fn new(at: DateTime<Utc>, observed: &Observed, held: StoppedCapacity) -> Self {
        Self {
            starts: 0,
            stops: 0,
            since: at,
            count: observed.replicas,
            footprint: observed.footprint,
            held,
            up: TimeDelta::zero(),
            replica_seconds: 0.0,
            saved: Saved::default(),
        }
    }

    /// Counts a transition.
    pub(super) fn transition(&mut self, action: Action) {
        match action {
            action if action.is_up() => self.starts += 1,
            _ => self.stops += 1,
        }
    }

    /// Records that the count is `count` from `at` on, and that the schedule keeps `held` stopped.
    pub(super) fn set_count(&mut self, at: DateTime<Utc>, count: Replicas, held: StoppedCapacity) {
        let time = at - self.since;
        if self.count > Replicas::ZERO {
            self.up += time;
        }
        let runs = StoppedCapacity::new(self.count, self.footprint).replicas;
        self.replica_seconds += runs as f64 * time.as_seconds_f64();
        self.saved = [self.saved, Saved::new(self.held, time)].into_iter().sum();
        (self.since, self.count, self.held) = (at, count, held);
    }

    /// Records the resources of one replica since the last [`Self::set_count`].
    pub(super) fn set_footprint(&mut self, footprint: Footprint) {
        self.footprint = footprint;
    }

    /// Whether the count is a number of replicas. A CronJob has none.
    pub fn has_replicas(&self) -> bool {
        self.footprint.replicas > 0
    }

    /// Whether the replicas request both CPU and memory.
    pub fn has_requests(&self) -> bool {
        self.footprint.requests.are_complete()
    }

    /// The time with at least one replica.
    pub fn up(&self) -> TimeDelta {
        self.up
    }

    /// The sum of the running hours of all replicas.
    pub fn replica_hours(&self) -> f64 {
        self.replica_seconds / 3600.0
    }

    /// The savings: the time of the capacity that the schedule kept stopped
    /// ([`stopped_capacity`](dayshift_workload::savings::stopped_capacity)).
    pub fn saved(&self) -> Saved {
        self.saved
    }

    /// The replica-hours that would have been used without the schedule.
    pub fn without(&self) -> f64 {
        self.replica_hours() + self.saved.replica_hours
    }
}

/// The API requests of the controller by purpose.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Requests {
    /// Pages of workload lists.
    pub lists: u64,
    /// Reads of one workload.
    pub gets: u64,
    /// Workload patches.
    pub patches: u64,
    /// Created Events.
    pub events: u64,
}

impl Requests {
    pub(super) fn count(&mut self, line: &RequestLine) {
        let counter = match line.verb {
            "list" => &mut self.lists,
            "get" => &mut self.gets,
            "patch" => &mut self.patches,
            "create" => &mut self.events,
            _ => return,
        };
        *counter += 1;
    }
}

#[cfg(test)]
mod tests {
    use dayshift_workload::ResourceRequests;

    use super::*;

    #[test]
    fn speed_is_a_factor_or_max() {
        for (text, hour) in [
            ("max", Duration::ZERO),
            ("3600", Duration::from_secs(1)),
            ("86400", Duration::from_micros(41_667)),
            ("1", Duration::from_secs(3600)),
            ("0.5", Duration::from_secs(7200)),
            ("1e-300", Duration::MAX),
        ] {
            let speed: Speed = text.parse().unwrap();
            let shown = speed.shown_after(TimeDelta::hours(1));
            assert!(shown.abs_diff(hour) < Duration::from_micros(1), "{text}");
        }
        for text in ["", "0", "-1", "inf", "NaN", "fast", "3600x", "Max"] {
            assert!(text.parse::<Speed>().is_err(), "{text}");
        }
    }

    #[test]
    fn running_and_stopped_replicas_are_counted_over_time() {
        let begin: DateTime<Utc> = "2026-11-20T10:00:00Z".parse().unwrap();
        let hour = |hours| begin + TimeDelta::minutes((hours * 60.0) as i64);
        let footprint = Footprint {
            replicas: 1,
            requests: ResourceRequests {
                cpu_nanos: 500_000_000,
                memory_bytes: 2 << 30,
            },
        };
        let [none, one, two, three] = [0, 1, 2, 3].map(Replicas::new);
        let [no, held] = [none, two].map(|replicas| StoppedCapacity::new(replicas, footprint));
        let mut usage = Usage {
            starts: 0,
            stops: 0,
            since: begin,
            count: two,
            footprint,
            held: no,
            up: TimeDelta::zero(),
            replica_seconds: 0.0,
            saved: Saved::default(),
        };
        usage.set_count(hour(3.0), none, held); // 2 for three hours
        usage.set_count(hour(3.2), none, held);
        usage.set_count(hour(7.0), three, no); // none of 2 for four
        usage.set_count(hour(8.0), one, held); // 3 for one
        usage.set_count(hour(10.0), one, held); // 1 of 3 for two
        assert_eq!(usage.up(), TimeDelta::hours(6));
        assert!((usage.replica_hours() - 11.0).abs() < 1e-9);
        assert!((usage.without() - 23.0).abs() < 1e-9);
        let saved = usage.saved();
        let found = [
            saved.replica_hours,
            saved.cpu_core_hours * 2.0,
            saved.memory_gib_hours / 2.0,
        ];
        assert!(
            found.iter().all(|hours| (hours - 12.0).abs() < 1e-9),
            "{found:?}"
        );
    }
}
