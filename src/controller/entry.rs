//! What is known of one object.

use std::sync::Arc;

use chrono::{DateTime, Utc};
use tokio::time::Instant;

use crate::{
    cluster::Version,
    workload::{Change, Inputs, Key, Memory, ObjectRef, Observed, Reading},
};

use super::{
    readings::Readings,
    watch::WatchId,
    work::{Work, WorkState},
};

/// What is known of one object.
pub(super) struct Entry {
    pub(super) observed: Observed,
    pub(super) reading: Arc<Reading>,
    pub(super) memory: Memory,
    pub(super) version: Version,
    pub(super) seen: DateTime<Utc>,
    /// Where `seen` is from a wrong clock: when it was, by a clock that no step touches.
    pub(super) unsure: Option<Instant>,
    pub(super) watch: WatchId,
    pub(super) listed: bool,
    /// What a dry run has removed here alone, with its text.
    pub(super) lifted: Vec<(Key, Box<str>)>,
    pub(super) work: Work,
}

/// When something is seen.
#[derive(Clone, Copy)]
pub(super) struct Sight {
    pub(super) by_clock: DateTime<Utc>,
    /// Given where the clock is wrong.
    pub(super) unsure: Option<Instant>,
}

/// How an object whose schedule is refused is counted.
pub(super) const INVALID: &str = "invalid";

impl Entry {
    pub(super) fn object(&self) -> &ObjectRef {
        &self.observed.object
    }

    /// Whether nothing more is to be known of it: no schedule, no state, and nothing of ours that
    /// somebody may put back.
    pub(super) fn is_over(&self) -> bool {
        let is_in_flight = self.work.state == WorkState::InFlight;
        !self.observed.concerns_us() && !is_in_flight && !self.memory.has_written()
    }

    /// Notes that the user is told that hands are off; false where that was done already.
    pub(super) fn tell_hands_off(&mut self) -> bool {
        self.memory.tell_hands_off()
    }

    /// Whether it is as a change of ours makes it.
    pub(super) fn shows(&self, change: &Change) -> bool {
        let Observed {
            labels,
            replicas,
            error,
            ..
        } = &self.observed;
        *labels == change.state.to_labels()
            && *replicas == change.replicas
            && *error == change.error
    }

    /// Takes in what the server has shown.
    pub(super) fn show(
        &mut self,
        mut observed: Observed,
        readings: &mut Readings,
        sight: Sight,
        dry_run: bool,
    ) {
        if dry_run {
            // What was only said lives on here, whatever the server shows.
            observed.labels = self.observed.labels.clone();
            observed.error.clone_from(&self.observed.error);
            observed
                .override_began
                .clone_from(&self.observed.override_began);
            self.lifted
                .retain(|(key, text)| observed.inputs.text(*key) == Some(text));
            let keys: Vec<Key> = self.lifted.iter().map(|(key, _)| *key).collect();
            observed.inputs = Arc::new(Inputs::clone(&observed.inputs).without(&keys));
        }
        if observed.inputs != self.observed.inputs {
            let (inputs, reading) = readings.of(&observed.inputs);
            observed.inputs = inputs;
            self.reading = reading;
            self.seen = sight.by_clock;
            self.unsure = sight.unsure;
            self.work.inputs_changed();
        } else {
            observed.inputs = self.observed.inputs.clone();
        }
        self.memory.saw(&observed, sight.by_clock);
        self.observed = observed;
    }

    /// Removes annotations here alone, for a dry run.
    pub(super) fn lift(&mut self, keys: &[Key], readings: &mut Readings) {
        if keys.is_empty() {
            return;
        }
        let inputs = Inputs::clone(&self.observed.inputs);
        for key in keys {
            let text = inputs.text(*key).unwrap_or_default();
            self.lifted.push((*key, text.into()));
        }
        (self.observed.inputs, self.reading) = readings.of(&Arc::new(inputs.without(keys)));
    }

    /// The state that it is counted as.
    pub(super) fn standing(&self) -> &'static str {
        match &*self.reading {
            Reading::Unscheduled => "unscheduled",
            Reading::Refused(_) => INVALID,
            Reading::Scheduled(_) => self
                .observed
                .state()
                .phase
                .map_or("unknown", |phase| phase.name()),
        }
    }
}
