//! Snapshots of the objects, for readers outside the controller, such as the dashboard and the metrics.
//! A snapshot shares its data with the controller. Readers compute everything else on their own threads.

use std::sync::Arc;

use chrono::{DateTime, Utc};
use dayshift_workload::{
    CountField, Footprint, Inputs, OVERDUE_GRACE, Observed, Origin, Overdue, Override,
    ParsedInputs, Phase, Readiness, Replicas, State, WorkloadRef,
    events::user_text,
    is_stopped_against_schedule,
    savings::{StoppedCapacity, is_kept_stopped, stopped_count},
};

/// All objects at one time.
#[derive(Clone, Debug)]
pub struct Snapshot {
    /// The time, by the controller's clock.
    pub at: DateTime<Utc>,
    /// Every object in scope, sorted by kind, namespace and name.
    pub objects: Vec<Arc<ObjectSnapshot>>,
}

/// The state of one object. Shares its annotations and schedule with the controller.
#[derive(Clone, Debug)]
pub struct ObjectSnapshot {
    /// The kind, namespace, name and UID.
    pub object: WorkloadRef,
    /// The annotations of the object, and those that it inherits.
    pub inputs: Inputs,
    /// The current count.
    pub replicas: Replicas,
    /// The resources of one replica.
    pub footprint: Footprint,
    /// How much of it is ready.
    pub readiness: Readiness,
    /// The label `last` at the time when the object was last observed to be ready.
    pub(crate) ready_for: Option<DateTime<Utc>>,
    /// The state in the labels, with the saved count.
    pub state: State,
    /// The reason why the object waits, if it does.
    pub work: WorkStatus,
    /// How many writes in a row were rejected or failed.
    pub failures: u32,
    /// The parsed annotations, which objects with equal annotations share.
    pub parsed: Arc<ParsedInputs>,
    pub(crate) override_began: Option<Box<str>>,
    pub(crate) deleting: bool,
    /// When the current annotations were first observed.
    pub seen: DateTime<Utc>,
    /// When a change of the state labels was last observed.
    pub(crate) labels_seen: DateTime<Utc>,
    /// Whether a later version of dayshift wrote the state labels. Then this version does not change
    /// the object.
    pub(crate) is_of_a_later_version: bool,
    /// Whether dayshift keeps it stopped although its schedule requires it to run. Set when it is
    /// published.
    pub(crate) is_against_schedule: bool,
    /// When it is checked whether it is late, in seconds since 1970. Set when it is published.
    pub(crate) check: u32,
    /// Whether the limit of corrections since the last boundary is reached.
    pub is_at_correction_limit: bool,
    /// When the wait of a start ended that is due and not carried out yet.
    pub(crate) wait_ended: Option<DateTime<Utc>>,
}

/// The reason why work on an object waits, if it does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WorkStatus {
    /// There is nothing to do.
    Idle,
    /// A start waits until fewer workloads are starting (`--max-starting`).
    WaitingForSlot,
    /// A change waits in the queue.
    Queued,
    /// A request about the object is in flight.
    InFlight,
    /// The last write failed and will be retried.
    BackingOff,
    /// The permission to patch the kind in the namespace is missing. One object at a time retries.
    WaitingForPermission,
}

impl ObjectSnapshot {
    /// The object as an observation. Its labels are those of [`Self::state`]. Values that only a patch
    /// needs are missing.
    pub fn observed(&self) -> Observed {
        Observed {
            object: self.object.clone(),
            replicas: self.replicas,
            footprint: self.footprint,
            readiness: self.readiness,
            created: DateTime::UNIX_EPOCH,
            revision: None,
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

    fn override_with_origin(&self, at: DateTime<Utc>) -> Option<(Origin, Override)> {
        let overrides = &self.parsed.spec()?.overrides;
        let began = self.override_began.as_deref();
        let overrides = overrides.without_ended(began, &self.state, at);
        overrides.with_origin_at(at)
    }

    /// The user in `dayshift/override-by` of the override that is active at `at`, and the phase of that
    /// override; `None` without an active override or without a user.
    pub(super) fn overridden_by(&self, at: DateTime<Utc>) -> Option<(Arc<str>, Phase)> {
        let (origin, active) = self.override_with_origin(at)?;
        let user = user_text(&self.inputs.author(origin))?;
        Some((user.into(), active.phase()))
    }

    /// The capacity that the schedule saves now, for the metrics and the dashboard.
    pub fn stopped_capacity(&self) -> StoppedCapacity {
        let (phase, saved) = (self.state.phase, self.state.saved);
        let count = stopped_count(self.replicas, phase, saved, &self.parsed);
        StoppedCapacity::new(count, self.footprint)
    }

    /// Whether the schedule or an override keeps it stopped; `None` if it has no schedule.
    pub(super) fn is_kept_stopped(&self) -> Option<bool> {
        is_kept_stopped(&self.inputs, self.replicas, self.state.phase, &self.parsed)
    }

    /// Sets [`Self::is_against_schedule`], which takes microseconds if the object is stopped. `before` is
    /// the snapshot that this one replaces.
    pub(super) fn set_against_schedule(&mut self, before: Option<&Self>) {
        let is_same = |before: &&Self| {
            Arc::ptr_eq(&before.parsed, &self.parsed)
                && before.state == self.state
                && before.replicas == self.replicas
                && before.deleting == self.deleting
        };
        self.is_against_schedule = match before.filter(is_same) {
            Some(before) => before.is_against_schedule,
            None => {
                !self.deleting
                    && is_stopped_against_schedule(
                        &self.object,
                        &self.inputs,
                        self.replicas,
                        &self.state,
                        &self.parsed,
                    )
            }
        };
    }

    /// Whether it has a schedule and replicas that do not request both CPU and memory.
    pub(super) fn lacks_requests(&self) -> bool {
        let Footprint { replicas, requests } = self.footprint;
        replicas > 0 && self.parsed.spec().is_some() && !requests.are_complete()
    }

    /// When it is not ready in time, if dayshift started it and it has not been ready since.
    pub(super) fn not_ready_from(&self) -> Option<DateTime<Utc>> {
        let within = self.parsed.ready_within();
        let due = self.readiness.due(self.replicas, &self.state, within);
        let was_ready = self.ready_for.is_some() && self.ready_for == self.state.last;
        due.filter(|_| !self.deleting && !was_ready)
    }

    /// The earliest time at which it can be overdue, if it does not change before; `None` if nothing is
    /// due.
    pub(super) fn overdue_from(&self, now: DateTime<Utc>) -> Option<DateTime<Utc>> {
        if self.is_of_a_later_version || self.parsed.spec().is_none() {
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
        // A start that has waited is due since its wait ended.
        let due = self.wait_ended.map_or(due, |ended| ended.max(due));
        Some(due + OVERDUE_GRACE)
    }

    /// Whether a start, a stop or another change should have been made before `now`. If a user has
    /// changed state labels, the values from the controller's memory are used instead, because state
    /// labels are not requests.
    pub(super) fn is_overdue(&self, now: DateTime<Utc>) -> bool {
        let changed_at = Some(self.changed_at(now));
        let overdue = || Overdue::find(&self.parsed, &self.observed(), changed_at, now);
        self.overdue_from(now).is_some_and(|from| from <= now) && overdue().is_some()
    }

    /// The time of the last change of the annotations or the state labels.
    fn changed_at(&self, now: DateTime<Utc>) -> DateTime<Utc> {
        // The clock might have been ahead when the labels were observed.
        self.seen.max(self.labels_seen.min(now))
    }
}
