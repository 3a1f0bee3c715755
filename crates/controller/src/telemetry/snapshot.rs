//! The controller's knowledge of every object, for readers outside it.

use std::{collections::BTreeMap, fmt, sync::Arc};

use chrono::{DateTime, Utc};
use dayshift_schedule::Boundary;
use dayshift_workload::{
    CountField, Footprint, Inputs, InvalidSchedule, OVERDUE_GRACE, Observed, Origin, Overdue,
    Override, ParsedInputs, Phase, Readiness, Replicas, ScheduleSpec, State, WorkloadRef,
    events::user_text,
    is_stopped_against_schedule,
    savings::{StoppedCapacity, is_kept_stopped, stopped_count},
};

/// The controller's knowledge at one moment.
#[derive(Clone, Debug)]
pub struct Snapshot {
    /// The moment, by the controller's clock.
    pub at: DateTime<Utc>,
    /// Every object in scope, by kind, namespace and name.
    pub objects: Vec<Arc<ObjectSnapshot>>,
}

/// The controller's knowledge of one object.
///
/// It shares its texts and schedules with the controller. Anything computed from them is computed
/// by the reader.
#[derive(Clone, Debug)]
pub struct ObjectSnapshot {
    /// Which object.
    pub object: WorkloadRef,
    /// The annotations in force for it, as they were written.
    pub inputs: Inputs,
    /// Its count now.
    pub replicas: Replicas,
    /// The resources of one replica.
    pub footprint: Footprint,
    /// How much of it is ready.
    pub readiness: Readiness,
    /// The `last` of the state in which it was seen to be ready.
    pub(crate) ready_for: Option<DateTime<Utc>>,
    /// The last thing that was done to it, and the count to restore (`saved`).
    pub state: State,
    /// The work on it now.
    pub work: WorkStatus,
    /// How many writes to it in a row were refused or failed.
    pub failures: u32,
    pub(crate) parsed: Arc<ParsedInputs>,
    pub(crate) override_began: Option<Box<str>>,
    pub(crate) deleting: bool,
    pub(crate) seen: DateTime<Utc>,
    /// When its state labels were last seen to change.
    pub(crate) labels_seen: DateTime<Utc>,
    /// Whether a later version of dayshift wrote its state labels; then this version does not change it.
    pub(crate) is_of_a_later_version: bool,
}

/// The reason why work on an object waits, if it does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WorkStatus {
    /// There is nothing to do.
    Idle,
    /// A start waits until fewer workloads are starting (`--max-starting`).
    WaitingForSlot,
    /// A change waits for its turn to be sent.
    Queued,
    /// A request about it is under way.
    InFlight,
    /// The last try failed, and it is tried again later.
    BackingOff,
    /// The permission to patch its kind in its namespace is missing: one object asks for it at a
    /// time.
    WaitingForPermission,
}

impl fmt::Display for WorkStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Idle => "nothing to do",
            Self::WaitingForSlot => "waiting until fewer workloads are starting",
            Self::Queued => "waiting to be sent",
            Self::InFlight => "waiting for the API server's answer",
            Self::BackingOff => "waiting to be tried again",
            Self::WaitingForPermission => "waiting for permission",
        })
    }
}

impl ObjectSnapshot {
    /// The schedule that it follows; `None` where it has none, or one that is refused.
    pub fn schedule(&self) -> Option<&ScheduleSpec> {
        self.parsed.spec()
    }

    /// Why its schedule is rejected, if it is.
    pub fn error(&self) -> Option<&InvalidSchedule> {
        match &*self.parsed {
            ParsedInputs::Invalid(error) => Some(error),
            ParsedInputs::Unscheduled | ParsedInputs::Scheduled(_) => None,
        }
    }

    /// Its annotations.
    pub fn parsed(&self) -> &ParsedInputs {
        &self.parsed
    }

    /// The same, shared with all that have the same annotations.
    pub fn shared_parsed(&self) -> Arc<ParsedInputs> {
        Arc::clone(&self.parsed)
    }

    /// When its annotations were first seen as they are.
    pub const fn inputs_seen_at(&self) -> DateTime<Utc> {
        self.seen
    }

    /// The object as the controller knows it: its labels are those of [`Self::state`], and the
    /// values that guard a patch are missing.
    pub fn observed(&self) -> Observed {
        Observed {
            object: self.object.clone(),
            replicas: self.replicas,
            footprint: self.footprint,
            readiness: self.readiness,
            count_field: CountField::Present,
            inputs: self.inputs.clone(),
            labels: self.state.to_labels(),
            error: None,
            override_began: self.override_began.clone(),
            inherited: None,
            has_labels: true,
            has_annotations: true,
            deleting: self.deleting,
        }
    }

    /// The first boundary of its schedule after `after`, and its action.
    pub fn next_after(&self, after: DateTime<Utc>) -> Option<Boundary> {
        self.schedule()?.next_after(&self.object, after)
    }

    /// The override that holds it at `at`.
    pub fn active_override(&self, at: DateTime<Utc>) -> Option<Override> {
        self.override_with_origin(at).map(|(_, it)| it)
    }

    fn override_with_origin(&self, at: DateTime<Utc>) -> Option<(Origin, Override)> {
        let overrides = &self.schedule()?.overrides;
        let began = self.override_began.as_deref();
        let counted = overrides.without_ended(began, &self.state, at);
        counted.with_origin_at(at)
    }

    /// The user whose override holds it at `at`, as far as that is written, and its phase in it.
    pub(super) fn overridden_by(&self, at: DateTime<Utc>) -> Option<(Arc<str>, Phase)> {
        let (origin, it) = self.override_with_origin(at)?;
        let user = user_text(&self.inputs.author(origin))?;
        Some((user.into(), it.phase()))
    }

    /// The resources that its schedule saves now, as the metrics count them and the pages show
    /// them.
    pub fn stopped_capacity(&self) -> StoppedCapacity {
        let (phase, saved) = (self.state.phase, self.state.saved);
        let count = stopped_count(self.replicas, phase, saved, &self.parsed);
        StoppedCapacity::new(count, self.footprint)
    }

    /// Whether its schedule or an override keeps it stopped; `None` where it has no schedule.
    pub(super) fn is_kept_stopped(&self) -> Option<bool> {
        is_kept_stopped(&self.observed(), &self.parsed)
    }

    /// Whether it is stopped although its schedule requires it to run.
    pub(super) fn is_against_schedule(&self) -> bool {
        self.state.saved.is_some() && is_stopped_against_schedule(&self.observed(), &self.parsed)
    }

    /// Whether its replicas are scheduled, and do not request both CPU and memory.
    pub(super) fn lacks_requests(&self) -> bool {
        let Footprint { replicas, requests } = self.footprint;
        replicas > 0 && self.schedule().is_some() && !requests.are_complete()
    }

    /// Whether it has not been ready since dayshift started it, longer ago than its start may take.
    pub(super) fn is_not_ready(&self, now: DateTime<Utc>) -> bool {
        let within = self.parsed.ready_within();
        let due = self.readiness.due(self.replicas, &self.state, within);
        let was_ready = self.ready_for.is_some() && self.ready_for == self.state.last;
        !self.deleting && !was_ready && due.is_some_and(|due| due <= now)
    }

    /// When it may become overdue, as it is now; `None` if nothing is asked for it.
    pub(super) fn overdue_from(&self, now: DateTime<Utc>) -> Option<DateTime<Utc>> {
        if self.is_of_a_later_version || self.schedule().is_none() {
            return None;
        }
        let next = self.state.next_at();
        let due = match self.work {
            WorkStatus::Idle => next?,
            WorkStatus::WaitingForSlot => return None,
            _ => next
                .filter(|next| *next <= now)
                .unwrap_or_else(|| self.changed_at(now)),
        };
        Some(due + OVERDUE_GRACE)
    }

    /// Whether something should have been done about it by `now`. State labels that a user has
    /// changed count as the controller will correct them, because they are not requests.
    pub(super) fn is_overdue(&self, now: DateTime<Utc>) -> bool {
        let changed_at = Some(self.changed_at(now));
        let overdue = || Overdue::find(&self.parsed, &self.observed(), changed_at, now);
        self.overdue_from(now).is_some_and(|from| from <= now) && overdue().is_some()
    }

    /// The time of the last change of its annotations and labels.
    fn changed_at(&self, now: DateTime<Utc>) -> DateTime<Utc> {
        // A clock that was ahead may have dated the labels.
        self.seen.max(self.labels_seen.min(now))
    }
}

/// How many workloads are in which state.
#[derive(Clone, Debug, Default)]
pub(crate) struct States {
    by_phase: BTreeMap<Phase, usize>,
    /// Their schedule is refused.
    pub(crate) invalid: usize,
    /// `exclude` keeps them from the schedule that they have or inherit.
    pub(super) excluded: usize,
    /// Stopped although their schedule requires them to run.
    pub(super) against_schedule: usize,
    /// The replicas of scheduled ones that run.
    pub(super) running_replicas: usize,
}

impl States {
    /// Counts one more.
    pub(super) fn add(&mut self, object: &ObjectSnapshot) {
        match object.parsed() {
            ParsedInputs::Unscheduled => {
                self.excluded += usize::from(object.inputs.has_schedule());
            }
            ParsedInputs::Invalid(_) => self.invalid += 1,
            ParsedInputs::Scheduled(_) => {
                if let Some(phase) = object.state.phase {
                    self.add_in(phase);
                }
                let running = StoppedCapacity::new(object.replicas, object.footprint).replicas;
                self.running_replicas += usize::try_from(running).unwrap_or_default();
            }
        }
        self.against_schedule += usize::from(object.is_against_schedule());
    }

    /// Counts one more in that state.
    pub(super) fn add_in(&mut self, phase: Phase) {
        *self.by_phase.entry(phase).or_default() += 1;
    }

    /// The sum of two.
    pub(super) fn and(mut self, other: &Self) -> Self {
        for (phase, count) in &other.by_phase {
            *self.by_phase.entry(*phase).or_default() += count;
        }
        self.invalid += other.invalid;
        self.excluded += other.excluded;
        self.against_schedule += other.against_schedule;
        self.running_replicas += other.running_replicas;
        self
    }

    /// Those in one state.
    pub(super) fn of(&self, phase: Phase) -> usize {
        self.by_phase.get(&phase).copied().unwrap_or_default()
    }

    /// All of them.
    pub(super) fn all(&self) -> usize {
        self.by_phase.values().sum::<usize>() + self.invalid
    }
}
