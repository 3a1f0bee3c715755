//! The state of one object: the latest observation, the parsed schedule, and the pending actions.
//! Contains no rules: the modules of the controller decide, and store their part of the state here.

use std::{mem, sync::Arc, time::Duration};

use chrono::{DateTime, TimeDelta, Utc};
use dayshift_cluster::decode::Version;
use dayshift_workload::{
    Annotations, Change, Dependency, Inputs, Key, Memory, NamedSchedules, Observed, ParsedInputs,
    UnreadyDependency, WorkloadRef,
};

use crate::{
    clock::guard::{Now, SeenAt},
    ids::WatchId,
    object::{
        parse_cache::ParseCache,
        rare::{Rare, SentPatch, SetCount},
        reported::Reason,
        work::{Work, WorkPhase},
    },
    telemetry::snapshot::{ObjectSnapshot, WorkStatus},
};

pub(crate) mod parse_cache;
pub(crate) mod rare;
pub(crate) mod reported;
pub(crate) mod work;

/// The state of one object.
///
/// Each part is changed by one module, and all parts are removed with the object. Parts that each
/// decision needs are inline. Parts that few objects have are boxed, to save memory.
pub(crate) struct Object {
    pub(crate) observed: Observed,
    pub(crate) parsed: Arc<ParsedInputs>,
    pub(crate) memory: Memory,
    pub(crate) version: Version,
    /// When the current annotations were first observed.
    pub(crate) seen: DateTime<Utc>,
    /// When a change of the state labels was last observed.
    labels_seen: DateTime<Utc>,
    pub(crate) watch: WatchId,
    /// The epoch of the watch in which a response last updated the object. A list of that epoch can be
    /// older than the response.
    pub(crate) response_epoch: Option<u32>,
    /// The label `last` at the time when the object was last observed to be ready.
    pub(crate) ready_for: Option<DateTime<Utc>>,
    pub(crate) work: Work,
    pub(crate) start: Option<Box<StartState>>,
    /// The count that dayshift has set, during the revert window.
    pub(crate) set_count: Option<Box<SetCount>>,
    rare: Option<Box<Rare>>,
    /// Whether its start is over: it became ready, or its start slot expired. Reset by a stop.
    pub(crate) is_past_start: bool,
    /// Whether it is on the agenda of the core.
    pub(crate) is_on_agenda: bool,
    pub(crate) backlog: Backlog,
    /// Whether its count should be checked for a revert before the next decision.
    pub(crate) checks_revert: bool,
    /// Whether it might have changed since it was published.
    pub(crate) is_touched: bool,
}

impl Object {
    /// Creates an object from its first observation.
    pub(crate) fn new(
        mut observed: Observed,
        version: Version,
        watch: WatchId,
        seen_at: SeenAt,
        parse_cache: &mut ParseCache,
    ) -> Self {
        let (inputs, parsed) = parse_cache.parse(&observed.inputs);
        observed.inputs = inputs;
        let mut object = Self {
            memory: Memory::new(&observed),
            observed,
            parsed,
            version,
            seen: seen_at.by_clock,
            labels_seen: seen_at.by_clock,
            watch,
            response_epoch: None,
            ready_for: None,
            work: Work::default(),
            start: None,
            set_count: None,
            rare: None,
            is_past_start: false,
            is_on_agenda: false,
            backlog: Backlog::Absent,
            checks_revert: false,
            is_touched: false,
        };
        object.mark_seen(seen_at);
        object
    }

    pub(crate) const fn name(&self) -> &WorkloadRef {
        &self.observed.object
    }

    /// The rare state, which is allocated if it does not exist.
    pub(crate) fn rare(&mut self) -> &mut Rare {
        self.rare.get_or_insert_default()
    }

    /// The rare state, if it exists.
    pub(crate) fn get_rare(&self) -> Option<&Rare> {
        self.rare.as_deref()
    }

    pub(crate) fn get_rare_mut(&mut self) -> Option<&mut Rare> {
        self.rare.as_deref_mut()
    }

    /// The state of its start, which is allocated if it does not exist.
    pub(crate) fn start(&mut self) -> &mut StartState {
        self.start.get_or_insert_default()
    }

    /// The start slot that it occupies.
    pub(crate) fn slot(&self) -> Option<Slot> {
        self.start.as_ref()?.slot
    }

    /// Whether a start waits for a start slot, or has just got it.
    pub(crate) fn waits_for_slot(&self) -> bool {
        let start = self.start.as_ref();
        start.is_some_and(|start| start.queued.is_some() || start.slot == Some(Slot::Granted))
    }

    /// The result of the wait of a start that was not made yet.
    pub(crate) fn ended_wait(&self) -> Option<&EndedWait> {
        self.start.as_ref()?.ended_wait.as_ref()
    }

    /// Records that its start no longer waits.
    pub(crate) fn end_wait(&mut self, wait: EndedWait) {
        if wait.ended.is_some() || !wait.without.is_empty() {
            self.start().ended_wait = Some(wait);
        }
    }

    /// Frees the state of its start if it is empty.
    pub(crate) fn free_start(&mut self) {
        if self.start.as_ref().is_some_and(|start| start.is_empty()) {
            self.start = None;
        }
    }

    /// Records that these conditions have ended. If one of them recurs, it is reported again.
    pub(crate) fn clear_reports(&mut self, reasons: &[Reason]) {
        if let Some(rare) = self.get_rare_mut() {
            rare.reported.clear(reasons);
        }
    }

    /// Whether it can be removed from the store: it has no schedule and no state, and dayshift has
    /// written no annotation that a user could restore.
    pub(crate) fn can_be_forgotten(&self) -> bool {
        let is_in_flight = self.work.is_in_flight();
        !self.observed.concerns_us() && !is_in_flight && !self.memory.has_written()
    }

    /// Records a patch without a response, which might have taken effect. If an earlier attempt at the
    /// same version might have taken effect too, keeps its time.
    pub(crate) fn record_unconfirmed(&mut self, mut sent: SentPatch) {
        let rare = self.rare();
        if let Some(earlier) = &rare.unconfirmed
            && earlier.known.object == sent.known.object
        {
            sent.elapsed = earlier.elapsed;
        }
        rare.unconfirmed = Some(sent);
    }

    /// Takes the patch without a response, and ends the backoff, if the object shows that the patch took
    /// effect.
    pub(crate) fn take_confirmed(&mut self) -> Option<SentPatch> {
        let observed = &self.observed;
        let rare = self.rare.as_deref_mut()?;
        let sent = rare
            .unconfirmed
            .take_if(|sent| has_taken_effect(observed, &sent.change))?;
        self.work.release();
        Some(sent)
    }

    /// Forgets a patch without a response, after the object was read or written.
    pub(crate) fn discard_unconfirmed(&mut self) {
        if let Some(rare) = self.get_rare_mut() {
            rare.unconfirmed = None;
        }
    }

    /// Applies an observation.
    pub(crate) fn observe(
        &mut self,
        mut observed: Observed,
        parse_cache: &mut ParseCache,
        seen_at: SeenAt,
    ) {
        self.set_inputs(&mut observed.inputs, parse_cache, seen_at);
        self.memory.observe(&observed, seen_at.by_clock);
        if self.observed.labels != observed.labels {
            self.labels_seen = seen_at.by_clock;
        }
        self.observed = observed;
        self.record_readiness();
    }

    /// Copies the changes of a dry run, which exist only in memory, to a new observation.
    pub(crate) fn keep_dry_run(&mut self, observed: &mut Observed) {
        observed.labels = self.observed.labels.clone();
        observed.error.clone_from(&self.observed.error);
        observed
            .override_began
            .clone_from(&self.observed.override_began);
        observed.inherited.clone_from(&self.observed.inherited);
        if let Some(rare) = self.get_rare_mut() {
            rare.expired
                .retain(|(key, text)| observed.inputs.own().text(*key) == Some(text));
            let keys: Vec<Key> = rare.expired.iter().map(|(key, _)| *key).collect();
            observed.inputs = mem::take(&mut observed.inputs).without(&keys);
        }
    }

    fn record_readiness(&mut self) {
        if self.observed.is_ready() == Some(true) {
            self.ready_for = self.observed.state().last;
        }
    }

    /// Applies an observation if only the readiness has changed, and returns whether that is so.
    /// Decisions about the object do not depend on its readiness, which changes many times in a
    /// rollout.
    pub(crate) fn observe_readiness(&mut self, observed: &mut Observed, version: Version) -> bool {
        let readiness = mem::replace(&mut observed.readiness, self.observed.readiness);
        let is_unchanged = *observed == self.observed;
        observed.readiness = readiness;
        if is_unchanged {
            self.observed.readiness = readiness;
            self.version = version;
            self.record_readiness();
        }
        is_unchanged
    }

    /// Sets the annotations of the Namespace and the known schedules. Returns whether the inputs have changed.
    pub(crate) fn inherit(
        &mut self,
        defaults: Option<Arc<Annotations>>,
        schedules: &NamedSchedules,
        parse_cache: &mut ParseCache,
        seen_at: SeenAt,
    ) -> bool {
        let inputs = self.observed.inputs.clone();
        let mut inputs = inputs.with_defaults(defaults).with_schedules(schedules);
        let is_changed = self.set_inputs(&mut inputs, parse_cache, seen_at);
        self.observed.inputs = inputs;
        if is_changed {
            self.memory.observe(&self.observed, seen_at.by_clock);
        }
        is_changed
    }

    /// Drops the object's own annotations, which exceed the text budget.
    pub(crate) fn drop_texts(
        &mut self,
        limit: usize,
        parse_cache: &mut ParseCache,
        seen_at: SeenAt,
    ) {
        let mut observed = self.observed.clone();
        observed.drop_texts(limit);
        self.set_inputs(&mut observed.inputs, parse_cache, seen_at);
        self.observed = observed;
    }

    /// Parses the inputs if they have changed. Returns whether they have changed.
    fn set_inputs(
        &mut self,
        inputs: &mut Inputs,
        parse_cache: &mut ParseCache,
        seen_at: SeenAt,
    ) -> bool {
        let is_changed = *inputs != self.observed.inputs;
        if is_changed {
            (*inputs, self.parsed) = parse_cache.parse(inputs);
            self.mark_seen(seen_at);
            self.work.record_edit();
        } else {
            inputs.clone_from(&self.observed.inputs);
        }
        is_changed
    }

    fn mark_seen(&mut self, seen_at: SeenAt) {
        self.seen = seen_at.by_clock;
        if seen_at.elapsed.is_some() {
            self.rare().seen_elapsed = seen_at.elapsed;
        } else if let Some(rare) = self.get_rare_mut() {
            rare.seen_elapsed = None;
        }
    }

    /// Corrects the time of an observation that was made while the clock was wrong, after the clock is
    /// right again. Uses the elapsed time, because the wall clock has changed.
    pub(crate) fn redate(&mut self, now: Now) {
        let elapsed = self
            .get_rare_mut()
            .and_then(|rare| rare.seen_elapsed.take());
        if let Some(elapsed) = elapsed {
            self.seen = now.wall - TimeDelta::from_std(now.since(elapsed)).unwrap_or_default();
        }
    }

    /// Parses the same inputs again, after calendars or named schedules have changed. Returns whether to
    /// decide about the object: its times or its error might have changed. If inputs that refer to calendars
    /// become valid, that counts as an edit, as if the annotation had been corrected.
    pub(crate) fn parse_again(&mut self, parse_cache: &mut ParseCache, seen_at: SeenAt) -> bool {
        let was_valid = self.parsed.names_calendars();
        (self.observed.inputs, self.parsed) = parse_cache.parse(&self.observed.inputs);
        if !was_valid && self.parsed.names_calendars() {
            self.mark_seen(seen_at);
            self.work.record_edit();
        }
        self.parsed.depends_on_calendars() || matches!(*self.parsed, ParsedInputs::Invalid(_))
    }

    /// Applies a change only in memory, for a dry run.
    pub(crate) fn apply_dry_run(
        &mut self,
        change: &Change,
        parse_cache: &mut ParseCache,
        now: DateTime<Utc>,
    ) {
        self.memory.wrote(&self.observed, change, now);
        self.observed.replicas = change.replicas;
        self.observed.labels = change.state.to_labels();
        self.observed.error.clone_from(&change.error);
        self.observed
            .override_began
            .clone_from(&change.override_began);
        self.observed.inherited.clone_from(&change.inherited);
        if change.expired.is_empty() {
            return;
        }
        let inputs = self.observed.inputs.clone();
        let text = |key: &Key| inputs.own().text(*key).unwrap_or_default().into();
        let expired: Vec<_> = change.expired.iter().map(|key| (*key, text(key))).collect();
        self.rare().expired.extend(expired);
        (self.observed.inputs, self.parsed) = parse_cache.parse(&inputs.without(&change.expired));
    }

    /// The phase of the work on it, for readers outside the controller.
    pub(crate) fn work_status(&self) -> WorkStatus {
        match self.work.phase() {
            WorkPhase::Idle if self.waits_for_slot() => WorkStatus::WaitingForSlot,
            WorkPhase::Idle => WorkStatus::Idle,
            WorkPhase::Queued(_) => WorkStatus::Queued,
            WorkPhase::InFlight => WorkStatus::InFlight,
            WorkPhase::BackingOff => WorkStatus::BackingOff,
            WorkPhase::AwaitsPermission => WorkStatus::WaitingForPermission,
        }
    }

    /// Creates a snapshot for readers outside the controller.
    pub(crate) fn snapshot(&self, now: DateTime<Utc>) -> ObjectSnapshot {
        ObjectSnapshot {
            object: self.observed.object.clone(),
            inputs: self.observed.inputs.clone(),
            replicas: self.observed.replicas,
            footprint: self.observed.footprint,
            readiness: self.observed.readiness,
            ready_for: self.ready_for,
            state: self.memory.newest(&self.observed, now),
            work: self.work_status(),
            failures: self.work.failures(),
            parsed: self.parsed.clone(),
            override_began: self.observed.override_began.clone(),
            deleting: self.observed.deleting,
            seen: self.seen,
            labels_seen: self.labels_seen,
            is_of_a_later_version: self.observed.labels.are_from_later_version(),
            is_against_schedule: false,
            check: 0,
            is_at_correction_limit: self.memory.is_at_limit(),
            wait_ended: self.ended_wait().and_then(|over| over.ended),
        }
    }
}

/// Whether an object has the labels, the count and the error that a change sets.
fn has_taken_effect(observed: &Observed, change: &Change) -> bool {
    observed.labels == change.state.to_labels()
        && observed.replicas == change.replicas
        && observed.error == change.error
}

/// The state of a start. An object that is neither waiting nor starting has none.
#[derive(Debug, Default)]
pub(crate) struct StartState {
    /// The wait for dependencies, while it lasts.
    pub(crate) dependency_wait: Option<DependencyWait>,
    /// The result of the wait, until the start is made.
    pub(crate) ended_wait: Option<EndedWait>,
    pub(crate) slot: Option<Slot>,
    /// The number of its entry in the queue for a start slot.
    pub(crate) queued: Option<u64>,
    /// When this process sent the start. Removed when the object is ready.
    pub(crate) sent: Option<Duration>,
}

impl StartState {
    /// Whether there is nothing to keep.
    pub(crate) const fn is_empty(&self) -> bool {
        self.dependency_wait.is_none()
            && self.ended_wait.is_none()
            && self.slot.is_none()
            && self.queued.is_none()
            && self.sent.is_none()
    }
}

/// A start that waits for its dependencies.
#[derive(Debug)]
pub(crate) struct DependencyWait {
    /// When the start became due.
    pub(crate) due: DateTime<Utc>,
    /// The dependencies that were not ready at the last check.
    pub(crate) needed: Vec<Dependency>,
}

/// The result of a wait that has ended, for a start that was not made yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct EndedWait {
    /// When the start became due.
    pub(crate) due: DateTime<Utc>,
    /// When the wait ended; `None` if the start did not wait.
    pub(crate) ended: Option<DateTime<Utc>>,
    /// The dependencies that were not ready when the wait ended.
    pub(crate) without: Vec<UnreadyDependency>,
}

/// Whether an object is in the backlog of the core, and why.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Backlog {
    Absent,
    /// Its defaults, calendars or named schedules have changed, which might not affect it.
    Outdated,
    /// It should be decided about.
    Undecided,
}

/// The holder of a start slot, of which there are `--max-starting`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Slot {
    /// A start that has waited for the slot and should be decided about again.
    Granted,
    /// A start that was not made yet.
    Start,
    /// A workload that was started and is not ready yet.
    Workload,
}
