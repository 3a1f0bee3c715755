//! From changes in the cluster to the events that a run shows, and how fast it shows them.

use std::{collections::BTreeMap, fmt, str::FromStr, time::Duration};

use chrono::{DateTime, TimeDelta, Utc};
use dayshift_activator::{RequestedWake, request_wakes};
use dayshift_cluster::{
    Workload,
    read::{NamespaceDefaults, NamespaceMeta, ObservedNamespace},
};
use dayshift_schedule::{Action, Boundary, Zone};
use dayshift_workload::{
    Enforce, Inheritance, Key, Kind, Observed, ParseContext, ParsedInputs, Phase, Prefix, Replicas,
    State, WorkloadRef, read,
    savings::{StoppedCapacity, stopped_capacity},
};
use kube_in_memory::StoredChange;

use crate::sandbox::summary::Usage;

/// Something that happened to a workload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TimelineEvent {
    /// When it was stored.
    pub at: DateTime<Utc>,
    /// The zone of its schedule, in which times are told.
    pub zone: Zone,
    /// The workload.
    pub object: WorkloadRef,
    /// What happened.
    pub kind: EventKind,
    /// The count before.
    pub from: Replicas,
    /// The count after.
    pub to: Replicas,
    /// How many transitions in a row, up to this one, have not changed the count. Those after the
    /// second are only counted.
    pub idle: u32,
    /// The boundary to come, where there is a schedule and it has one.
    pub next: Option<Boundary>,
}

/// What happened to a workload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EventKind {
    /// A start was carried out.
    Start,
    /// A stop was carried out.
    Stop,
    /// An exact count was set.
    Scale,
    /// `wake-until` holds it up until then.
    Wake(DateTime<Utc>),
    /// `sleep-until` holds it down until then.
    Sleep(DateTime<Utc>),
    /// Nothing is done until then or, without a time, until the annotation goes.
    Pause(Option<DateTime<Utc>>),
    /// A count that somebody raised while it was stopped was put back.
    Enforce,
    /// Its schedule was taken up; nothing was scaled.
    Adopt,
    /// It has no schedule and is left alone.
    Ignore,
    /// Its schedule is refused, for this reason; it stays as it is.
    Refuse(String),
    /// Its schedule was fixed, or a pause has ended, and it goes on.
    Resume,
    /// Its schedule was removed; nothing was scaled.
    Leave,
    /// Somebody changed it, by this command.
    UserAction(String),
    /// A request asked for it, or for what needs it: it is to be woken until then.
    Request(DateTime<Utc>),
    /// A request asked for it and wakes nothing, for this reason.
    IdleRequest(&'static str),
}

/// How many transitions in a row that do not change the count are told.
pub const MAX_IDLE: u32 = 2;

/// Looks on as objects change, and tells apart who did what from the objects alone: whatever
/// changes the state labels is the scaler's, all else is somebody else.
#[derive(Debug)]
pub(super) struct Observer {
    prefix: Prefix,
    context: ParseContext,
    defaults: NamespaceDefaults,
    watched: BTreeMap<(String, Kind), Watched>,
    lateness: TimeDelta,
    refusals: usize,
}

/// What is known of one workload.
#[derive(Debug)]
struct Watched {
    observed: Observed,
    parsed: ParsedInputs,
    usage: Usage,
    /// How many transitions in a row have not changed the count.
    idle: u32,
    /// What somebody else than the scaler is about to change.
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
            refusals: 0,
        }
    }

    /// The latest that a transition came after its boundary.
    pub(super) fn lateness(&self) -> TimeDelta {
        self.lateness
    }

    /// How often a schedule was refused.
    pub(super) fn refusals(&self) -> usize {
        self.refusals
    }

    /// Every workload that had a schedule, and what it used up to `at`.
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

    /// The next change of this object that is not the scaler's will be that one.
    pub(super) fn expect_action(&mut self, object: &WorkloadRef, action: EventKind) {
        let key = (object.full_name(), object.kind);
        if let Some(one) = self.watched.get_mut(&key) {
            one.action = Some(action);
        }
    }

    /// What a request to this workload wakes at that instant, by the objects that are there.
    pub(super) fn request_wakes(
        &self,
        object: &WorkloadRef,
        at: DateTime<Utc>,
    ) -> Result<Vec<RequestedWake>, &'static str> {
        let all: Vec<_> = self
            .watched
            .values()
            .map(|watched| &watched.observed)
            .collect();
        request_wakes(
            object,
            &all,
            self.context.default_zone,
            &self.context.tzdata,
            at,
        )
    }

    /// That a request wakes nothing.
    pub(super) fn idle_request(
        &self,
        object: &WorkloadRef,
        at: DateTime<Utc>,
        why: &'static str,
    ) -> Option<TimelineEvent> {
        let one = self.watched.get(&(object.full_name(), object.kind))?;
        let zone = self.context.default_zone;
        Some(one.event(at, EventKind::IdleRequest(why), one.observed.replicas, zone))
    }

    /// An object that is there.
    pub(super) fn object(&self, kind: Kind, namespace: &str, name: &str) -> Option<WorkloadRef> {
        let mut all = self
            .watched
            .values()
            .map(|watched| &watched.observed.object);
        let is_it = |object: &&WorkloadRef| {
            object.kind == kind && &*object.namespace == namespace && &*object.name == name
        };
        all.find(is_it).cloned()
    }

    /// Takes in a Namespace that is there before anything in it.
    pub(super) fn learn(&mut self, namespace: &NamespaceMeta) {
        let observed = ObservedNamespace::new(namespace, &self.prefix);
        self.defaults.insert(&observed);
    }

    /// Takes in a change; nothing where it is not worth telling.
    pub(super) fn observe(&mut self, kind: Kind, change: &StoredChange) -> Option<TimelineEvent> {
        let workload: Workload = change.object().ok()?;
        let observed = workload.observe(kind, &self.prefix);
        let observed = self.defaults.applied(observed);
        let object = &observed.object;
        let name = (object.full_name(), kind);
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
            let event = (!one.observed.concerns_us()).then(|| {
                one.event(
                    at,
                    EventKind::Ignore,
                    one.observed.replicas,
                    self.context.default_zone,
                )
            });
            self.watched.insert(name, one);
            return event;
        };
        let before = one.show(at, observed, &self.context);
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
        if matches!(kind, EventKind::Refuse(_)) {
            self.refusals += 1;
        }
        let same = action.is_some() && before.replicas == one.observed.replicas;
        one.idle = if same { one.idle.saturating_add(1) } else { 0 };
        let event = one.event(at, kind, before.replicas, self.context.default_zone);
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

    /// Takes in what the object has become; returns what it was.
    fn show(&mut self, at: DateTime<Utc>, observed: Observed, context: &ParseContext) -> Observed {
        if observed.inputs != self.observed.inputs {
            self.parsed = read(&observed.inputs, context);
        }
        let before = std::mem::replace(&mut self.observed, observed);
        self.usage
            .set_count(at, self.observed.replicas, self.held());
        self.usage.set_footprint(self.observed.footprint);
        before
    }

    /// What the schedule holds down now.
    fn held(&self) -> StoppedCapacity {
        stopped_capacity(&self.observed, &self.parsed)
    }

    fn kind(&mut self, before: &Observed) -> Option<EventKind> {
        let now = &self.observed;
        let (old, new) = (before.state(), now.state());
        if now.labels == before.labels && now.error == before.error {
            let action = self.action.take();
            return action.or_else(|| self.puts_back(before).then_some(EventKind::Enforce));
        }
        if let Some(error) = now.error.as_deref()
            && before.error.as_deref() != Some(error)
        {
            return Some(EventKind::Refuse(error.to_owned()));
        }
        let holds = (old.phase, old.next) != (new.phase, new.next);
        match new.phase {
            Some(Phase::Woken) if holds => new.next_at().map(EventKind::Wake),
            Some(Phase::Slept) if holds => new.next_at().map(EventKind::Sleep),
            Some(Phase::Paused) if holds => Some(EventKind::Pause(new.next_at())),
            Some(Phase::Adopted) if old.phase == Some(Phase::Paused) => Some(EventKind::Resume),
            _ if self.puts_back(before) => Some(EventKind::Enforce),
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

    /// Whether its times set exact counts.
    fn is_exact(&self) -> bool {
        matches!(&self.parsed, ParsedInputs::Scheduled(spec) if spec.largest_count().is_some())
    }

    /// Whether the scaler has lowered what somebody raised.
    fn puts_back(&self, before: &Observed) -> bool {
        let ParsedInputs::Scheduled(spec) = &self.parsed else {
            return false;
        };
        let (old, new) = (before.state(), self.observed.state());
        let is_down = new.phase.is_some_and(Phase::follows_a_stop);
        spec.overrides.enforce != Enforce::No
            && is_down
            && (old.phase, old.last) == (new.phase, new.last)
            && before.replicas > self.observed.replicas
    }

    fn event(
        &self,
        at: DateTime<Utc>,
        kind: EventKind,
        from: Replicas,
        default_zone: Zone,
    ) -> TimelineEvent {
        let next = self.next_after(self.observed.state().last.unwrap_or(at));
        TimelineEvent {
            at,
            zone: self.zone(default_zone),
            object: self.observed.object.clone(),
            kind,
            from,
            to: self.observed.replicas,
            idle: self.idle,
            next,
        }
    }

    fn next_after(&self, at: DateTime<Utc>) -> Option<Boundary> {
        match &self.parsed {
            ParsedInputs::Scheduled(spec) => spec.next_after(&self.observed.object, at),
            ParsedInputs::Invalid(_) | ParsedInputs::Unscheduled => None,
        }
    }

    /// Where the schedule is refused its zone may still be good.
    fn zone(&self, default_zone: Zone) -> Zone {
        match &self.parsed {
            ParsedInputs::Scheduled(spec) => spec.schedule.zone(),
            ParsedInputs::Invalid(_) | ParsedInputs::Unscheduled => {
                let named = self.observed.inputs.text(Key::Timezone);
                named
                    .and_then(|name| Zone::parse(name).ok())
                    .unwrap_or(default_zone)
            }
        }
    }
}

/// Whether a boundary was carried out between two states.
fn is_due(old: &State, new: &State) -> bool {
    new.last > old.last
}

/// How many times faster than real time simulated time is shown.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Speed {
    /// As fast as it can be computed.
    Max,
    /// This many times faster; a positive number.
    Times(f64),
}

/// Why a text is not a speed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("write how many simulated seconds pass in one, such as 3600 or 86400, or max")]
pub struct SpeedError;

impl Speed {
    /// A day in a second.
    pub const DAY_A_SECOND: Self = Self::Times(86_400.0);

    /// How long after the beginning something is shown that happens so much simulated time after
    /// it.
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
    type Err = SpeedError;

    fn from_str(text: &str) -> Result<Self, SpeedError> {
        if text == "max" {
            return Ok(Self::Max);
        }
        let times: f64 = text.parse().map_err(|_| SpeedError)?;
        if times.is_finite() && times > 0.0 {
            Ok(Self::Times(times))
        } else {
            Err(SpeedError)
        }
    }
}

impl fmt::Display for Speed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Max => f.write_str("max"),
            Self::Times(times) => times.fmt(f),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pace_is_a_factor_or_max() {
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
}
