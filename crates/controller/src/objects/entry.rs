//! The scaler's knowledge of one object.

use std::{mem, sync::Arc};

use chrono::{DateTime, Utc};
use dayshift_cluster::decode::Version;
use dayshift_workload::{
    Annotations, Change, Inputs, Key, Memory, Observed, ParsedInputs, WorkloadRef,
};
use tokio::time::Instant;

use crate::{
    ids::WatchId,
    objects::parse_cache::ParseCache,
    queue::work::{Work, WorkState},
    send::in_flight::Sent,
    telemetry::snapshot::ObjectSnapshot,
    time::guarded_clock::SeenAt,
};

/// The scaler's knowledge of one object.
pub(crate) struct Entry {
    pub(crate) observed: Observed,
    pub(crate) parsed: Arc<ParsedInputs>,
    pub(crate) memory: Memory,
    pub(crate) version: Version,
    pub(crate) seen: DateTime<Utc>,
    /// If `seen` comes from a wrong clock: the same time by a clock that no step touches.
    pub(crate) seen_monotonic: Option<Instant>,
    /// When its state labels were last seen to change.
    pub(super) labels_seen: DateTime<Utc>,
    pub(crate) watch: WatchId,
    pub(crate) listed: bool,
    /// Whether an answer has shown it since its watch last failed, so that a list may be older.
    pub(super) is_answered: bool,
    /// The `last` of the state in which it was seen to be ready.
    pub(super) ready_for: Option<DateTime<Utc>>,
    /// Annotations that a dry run has removed in memory alone, with their texts.
    pub(crate) expired: Vec<(Key, Box<str>)>,
    pub(crate) work: Work,
    /// Whether it may have changed since it was published.
    pub(super) is_touched: bool,
}

impl Entry {
    pub(crate) fn object(&self) -> &WorkloadRef {
        &self.observed.object
    }

    /// Whether it can be forgotten: no schedule, no state, and nothing of ours that somebody may
    /// put back.
    pub(crate) fn is_over(&self) -> bool {
        let is_in_flight = self.work.state() == WorkState::InFlight;
        !self.observed.concerns_us() && !is_in_flight && !self.memory.has_written()
    }

    /// Notes that the user hears of the limit of corrections; false if that happened since the last
    /// boundary.
    pub(crate) fn tell_correction_limit(&mut self) -> bool {
        self.memory.tell_correction_limit()
    }

    /// The unanswered patch, if the object shows that it took effect.
    pub(crate) fn take_confirmed(&mut self) -> Option<Sent> {
        let observed = &self.observed;
        self.work
            .take_confirmed(|sent| has_taken(observed, &sent.change))
    }

    /// Takes in what the server shows.
    pub(crate) fn show(
        &mut self,
        mut observed: Observed,
        parse_cache: &mut ParseCache,
        seen_at: SeenAt,
        dry_run: bool,
    ) {
        if dry_run {
            // Changes of a dry run live on here, whatever the server shows.
            observed.labels = self.observed.labels.clone();
            observed.error.clone_from(&self.observed.error);
            observed
                .override_began
                .clone_from(&self.observed.override_began);
            observed.inherited.clone_from(&self.observed.inherited);
            self.expired
                .retain(|(key, text)| observed.inputs.own().text(*key) == Some(text));
            let keys: Vec<Key> = self.expired.iter().map(|(key, _)| *key).collect();
            observed.inputs = observed.inputs.without(&keys);
        }
        self.take_inputs(&mut observed.inputs, parse_cache, seen_at);
        self.memory.observe(&observed, seen_at.by_clock);
        if self.observed.labels != observed.labels {
            self.labels_seen = seen_at.by_clock;
        }
        self.observed = observed;
        self.note_ready();
    }

    fn note_ready(&mut self) {
        if self.observed.is_ready() == Some(true) {
            self.ready_for = self.observed.state().last;
        }
    }

    /// Takes in what the server shows if only how much of the object is ready has changed; returns
    /// whether that is so. Nothing is decided from that, and a rollout changes it many times.
    pub(super) fn take_readiness(&mut self, observed: &mut Observed, version: Version) -> bool {
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
        let is_news = self.take_inputs(&mut inputs, parse_cache, seen_at);
        self.observed.inputs = inputs;
        if is_news {
            self.memory.observe(&self.observed, seen_at.by_clock);
        }
        is_news
    }

    /// Parses the inputs if they have changed; returns whether they have.
    fn take_inputs(
        &mut self,
        inputs: &mut Inputs,
        parse_cache: &mut ParseCache,
        seen_at: SeenAt,
    ) -> bool {
        let is_news = *inputs != self.observed.inputs;
        if is_news {
            (*inputs, self.parsed) = parse_cache.of(inputs);
            self.seen = seen_at.by_clock;
            self.seen_monotonic = seen_at.monotonic;
            self.work.inputs_changed();
        } else {
            inputs.clone_from(&self.observed.inputs);
        }
        is_news
    }

    /// Parses the inputs again if they name calendars, which have changed; returns whether they do.
    /// A calendar that can be read at last is like a corrected text: its dates have not changed.
    pub(crate) fn read_again(&mut self, parse_cache: &mut ParseCache, seen_at: SeenAt) -> bool {
        if !self.parsed.depends_on_calendars() {
            return false;
        }
        let was_refused = !self.parsed.names_calendars();
        (self.observed.inputs, self.parsed) = parse_cache.of(&self.observed.inputs);
        if was_refused && self.parsed.names_calendars() {
            self.seen = seen_at.by_clock;
            self.seen_monotonic = seen_at.monotonic;
            self.work.inputs_changed();
        }
        true
    }

    /// Removes annotations in memory alone, for a dry run.
    pub(crate) fn remove_expired(&mut self, keys: &[Key], parse_cache: &mut ParseCache) {
        if keys.is_empty() {
            return;
        }
        let inputs = self.observed.inputs.clone();
        for key in keys {
            let text = inputs.own().text(*key).unwrap_or_default();
            self.expired.push((*key, text.into()));
        }
        (self.observed.inputs, self.parsed) = parse_cache.of(&inputs.without(keys));
    }

    /// The knowledge of it at `now`.
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
fn has_taken(observed: &Observed, change: &Change) -> bool {
    observed.labels == change.state.to_labels()
        && observed.replicas == change.replicas
        && observed.error == change.error
}
