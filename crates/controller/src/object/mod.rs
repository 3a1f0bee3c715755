//! One object: its observed state, and the work in progress for it.
//!
//! Everything that the controller knows about one object, and the work in progress for it.

use std::{mem, sync::Arc};

use chrono::{DateTime, TimeDelta, Utc};
use dayshift_cluster::decode::Version;
use dayshift_workload::{
    Annotations, Change, Inputs, Key, Memory, Observed, ParsedInputs, WorkloadRef,
};

use crate::{
    clock::guard::{Now, SeenAt},
    ids::WatchId,
    object::{
        parse_cache::ParseCache,
        rare::{Rare, Reason, SentPatch, SetCount},
        start::StartState,
        work::Work,
    },
    telemetry::snapshot::ObjectSnapshot,
};

pub(crate) mod parse_cache;
pub(crate) mod rare;
pub(crate) mod start;
pub(crate) mod work;

/// Everything that the controller knows about one object, and the work in progress for it.
///
/// Each part is changed by one module; removing the object from the store removes all of them. What
/// every decision reads is inline; what few objects have is boxed.
pub(crate) struct Object {
    pub(crate) observed: Observed,
    pub(crate) parsed: Arc<ParsedInputs>,
    pub(crate) memory: Memory,
    pub(crate) version: Version,
    pub(crate) seen: DateTime<Utc>,
    /// When its state labels were last seen to change.
    labels_seen: DateTime<Utc>,
    pub(crate) watch: WatchId,
    /// The epoch of its watch in which a response has shown it last: a list of that epoch may be
    /// older.
    pub(crate) response_epoch: Option<u32>,
    /// The `last` of the state in which it was seen to be ready.
    pub(crate) ready_for: Option<DateTime<Utc>>,
    pub(crate) work: Work,
    pub(crate) start: Option<Box<StartState>>,
    /// The count that dayshift has set, while it is watched for reverts.
    pub(crate) set_count: Option<Box<SetCount>>,
    rare: Option<Box<Rare>>,
    /// Whether it runs and has no start slot any more, until it is stopped.
    pub(crate) is_past_start: bool,
    /// Whether it should be decided about in this step.
    pub(crate) is_on_agenda: bool,
    /// Whether its count should be checked for a revert before the next decision.
    pub(crate) checks_revert: bool,
    /// Whether it may have changed since it was published.
    pub(crate) is_touched: bool,
}

impl Object {
    /// An object at first sight.
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
            checks_revert: false,
            is_touched: false,
        };
        object.mark_seen(seen_at);
        object
    }

    pub(crate) const fn name(&self) -> &WorkloadRef {
        &self.observed.object
    }

    /// What few objects have; it takes memory from the first call on.
    pub(crate) fn rare(&mut self) -> &mut Rare {
        self.rare.get_or_insert_default()
    }

    /// What few objects have, if this one does.
    pub(crate) fn get_rare(&self) -> Option<&Rare> {
        self.rare.as_deref()
    }

    /// The same, to be changed.
    pub(crate) fn get_rare_mut(&mut self) -> Option<&mut Rare> {
        self.rare.as_deref_mut()
    }

    /// The state of its start; it takes memory from the first call on.
    pub(crate) fn start(&mut self) -> &mut StartState {
        self.start.get_or_insert_default()
    }

    /// Frees the memory for a start that is over.
    pub(crate) fn free_start(&mut self) {
        if self.start.as_ref().is_some_and(|start| start.is_empty()) {
            self.start = None;
        }
    }

    /// These conditions are over: when they come again, they are reported again.
    pub(crate) fn clear_reports(&mut self, reasons: &[Reason]) {
        if let Some(rare) = self.get_rare_mut() {
            rare.reported.clear(reasons);
        }
    }

    /// Whether it can be forgotten: no schedule, no state, and no annotation of ours that a user may
    /// restore.
    pub(crate) fn is_over(&self) -> bool {
        let is_in_flight = self.work.is_in_flight();
        !self.observed.concerns_us() && !is_in_flight && !self.memory.has_written()
    }

    /// Records a patch without a response, which may have taken effect, as may an earlier try.
    pub(crate) fn record_unconfirmed(&mut self, mut sent: SentPatch) {
        let rare = self.rare();
        if let Some(earlier) = &rare.unconfirmed
            && earlier.known.object == sent.known.object
        {
            sent.elapsed = earlier.elapsed;
        }
        rare.unconfirmed = Some(sent);
    }

    /// Takes the patch without a response if the object shows that it took effect. That ends a
    /// back-off.
    pub(crate) fn take_confirmed(&mut self) -> Option<SentPatch> {
        let observed = &self.observed;
        let rare = self.rare.as_deref_mut()?;
        let sent = rare
            .unconfirmed
            .take_if(|sent| has_taken_effect(observed, &sent.change))?;
        self.work.release();
        Some(sent)
    }

    /// The object was read or written: a patch without a response makes no difference any more.
    pub(crate) fn discard_unconfirmed(&mut self) {
        if let Some(rare) = self.get_rare_mut() {
            rare.unconfirmed = None;
        }
    }

    /// Applies what the server shows.
    pub(crate) fn show(
        &mut self,
        mut observed: Observed,
        parse_cache: &mut ParseCache,
        seen_at: SeenAt,
        dry_run: bool,
    ) {
        if dry_run {
            self.keep_dry_run(&mut observed);
        }
        self.set_inputs(&mut observed.inputs, parse_cache, seen_at);
        self.memory.observe(&observed, seen_at.by_clock);
        if self.observed.labels != observed.labels {
            self.labels_seen = seen_at.by_clock;
        }
        self.observed = observed;
        self.note_ready();
    }

    /// Changes of a dry run stay in memory, whatever the server shows.
    fn keep_dry_run(&mut self, observed: &mut Observed) {
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

    fn note_ready(&mut self) {
        if self.observed.is_ready() == Some(true) {
            self.ready_for = self.observed.state().last;
        }
    }

    /// Applies what the server shows if only its readiness has changed; returns whether that is so.
    /// Nothing is decided from that, and a rollout changes it many times.
    pub(crate) fn show_readiness(&mut self, observed: &mut Observed, version: Version) -> bool {
        let readiness = mem::replace(&mut observed.readiness, self.observed.readiness);
        let is_all = *observed == self.observed;
        observed.readiness = readiness;
        if is_all {
            self.observed.readiness = readiness;
            self.version = version;
            self.note_ready();
        }
        is_all
    }

    /// Sets the annotations of its Namespace; returns whether that makes a difference.
    pub(crate) fn inherit(
        &mut self,
        defaults: Option<Arc<Annotations>>,
        parse_cache: &mut ParseCache,
        seen_at: SeenAt,
    ) -> bool {
        let mut inputs = self.observed.inputs.clone().with_defaults(defaults);
        let is_changed = self.set_inputs(&mut inputs, parse_cache, seen_at);
        self.observed.inputs = inputs;
        if is_changed {
            self.memory.observe(&self.observed, seen_at.by_clock);
        }
        is_changed
    }

    /// Drops its own annotations, for which there is no room.
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

    /// Parses the inputs if they have changed; returns whether they have.
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
            self.work.inputs_changed();
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

    /// The clock is right again: dates an observation that was made meanwhile. The clock may have
    /// been set, or the machine may have slept, so only the elapsed time is reliable.
    pub(crate) fn redate(&mut self, now: Now) {
        let elapsed = self
            .get_rare_mut()
            .and_then(|rare| rare.seen_elapsed.take());
        if let Some(elapsed) = elapsed {
            self.seen = now.wall - TimeDelta::from_std(now.since(elapsed)).unwrap_or_default();
        }
    }

    /// Parses the inputs again if they name calendars, which have changed; returns whether they do.
    /// A calendar that can be read at last is like a corrected text: its dates have not changed.
    pub(crate) fn parse_again(&mut self, parse_cache: &mut ParseCache, seen_at: SeenAt) -> bool {
        if !self.parsed.depends_on_calendars() {
            return false;
        }
        let was_rejected = !self.parsed.names_calendars();
        (self.observed.inputs, self.parsed) = parse_cache.parse(&self.observed.inputs);
        if was_rejected && self.parsed.names_calendars() {
            self.mark_seen(seen_at);
            self.work.inputs_changed();
        }
        true
    }

    /// Makes the change in memory only, for a dry run.
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

    /// What readers outside the controller see of it at `now`.
    pub(crate) fn snapshot(&self, now: DateTime<Utc>) -> ObjectSnapshot {
        ObjectSnapshot {
            object: self.observed.object.clone(),
            inputs: self.observed.inputs.clone(),
            replicas: self.observed.replicas,
            footprint: self.observed.footprint,
            readiness: self.observed.readiness,
            ready_for: self.ready_for,
            state: self.memory.newest(&self.observed, now),
            work: self.work.status(),
            failures: self.work.failures(),
            parsed: self.parsed.clone(),
            override_began: self.observed.override_began.clone(),
            deleting: self.observed.deleting,
            seen: self.seen,
            labels_seen: self.labels_seen,
            is_of_a_later_version: self.observed.labels.are_from_later_version(),
        }
    }
}

/// Whether an object is as a change of ours makes it.
fn has_taken_effect(observed: &Observed, change: &Change) -> bool {
    observed.labels == change.state.to_labels()
        && observed.replicas == change.replicas
        && observed.error == change.error
}
