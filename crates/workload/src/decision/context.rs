//! The inputs and the results of a decision.

use chrono::{DateTime, TimeDelta, Utc};

use crate::{
    decision::{
        change::{Cause, Change, ChangeKind, EventNote},
        memory::{Applied, Memory},
    },
    inputs::{inheritance::Inherited, parse::ParsedInputs},
    keys::Prefix,
    observed::Observed,
    state::{Next, State},
};

/// The inputs of a decision, except the time.
#[derive(Clone, Copy, Debug)]
pub struct DecisionContext<'a> {
    /// The parsed annotations.
    pub parsed: &'a ParsedInputs,
    /// The object as the API server sent it.
    pub observed: &'a Observed,
    /// The controller's memory of the object. For an object that is observed for the first time,
    /// use [`Memory::new`].
    pub memory: &'a Memory,
    /// When these annotations were first observed on this object.
    pub seen: DateTime<Utc>,
    /// If a boundary was missed for longer than this, it is adopted instead of carried out.
    pub catch_up: TimeDelta,
    /// The prefix of all keys.
    pub prefix: &'a Prefix,
}

/// The result of a decision.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(
    clippy::large_enum_variant,
    reason = "a change is moved once, to where it is written"
)]
pub enum Decision {
    /// Do nothing until `due` (the next boundary or the end of the active override), or until the
    /// object changes.
    Wait {
        /// When to decide again, if ever.
        due: Option<DateTime<Utc>>,
    },
    /// Send one patch now.
    Write(Change),
    /// Do nothing until `due`, when `enforce` stops the object. The grace period begins now: call
    /// [`Memory::record_stop_notice`].
    StopsSoon {
        /// When the object is stopped.
        due: DateTime<Utc>,
        /// The note for the Event.
        note: EventNote,
    },
    /// The object needs a correction, but the limit of corrections is reached. Do nothing until
    /// `due`.
    CorrectionLimitReached {
        /// When to decide again, if ever.
        due: Option<DateTime<Utc>>,
        /// The note for the Event, unless [`Memory::record_limit_event`] returns false.
        note: EventNote,
    },
}

impl DecisionContext<'_> {
    /// A change that keeps the count and removes the error.
    pub(crate) fn without_scaling(&self, kind: ChangeKind, state: State) -> Change {
        Change {
            kind,
            cause: Cause::Request { seen: self.seen },
            boundary: None,
            replicas: self.observed.replicas,
            override_began: state.override_began(),
            inherited: self.observed.inherited.clone(),
            state,
            value: None,
            error: None,
            calendars: self.parsed.calendar_digest(),
            expired: Vec::new(),
            note: None,
        }
    }

    /// Whether the object already matches the change.
    pub(crate) fn is_in_place(&self, change: &Change) -> bool {
        change.replicas == self.observed.replicas
            && change.expired.is_empty()
            && change.error == self.observed.error
            && change.override_began == self.observed.override_began
            // Formatting the labels costs more than parsing them, so it is compared last.
            && change.state == self.observed.state()
            && change.state.to_labels() == self.observed.labels
    }

    /// Whether the change corrects only a `next` in the future. Another controller might have
    /// another time zone, or might have loaded calendars at another time. Such a label is corrected
    /// once. Both controllers carry out the boundaries that they have planned
    /// ([`Memory::planned`]), so they need not fight.
    fn corrects_only_next(&self, change: &Change, now: DateTime<Utc>) -> bool {
        let seen = self.observed.state();
        if seen.next <= Some(Next::At(now)) {
            return false;
        }
        let with_theirs = Change {
            state: State {
                next: seen.next,
                ..change.state.clone()
            },
            ..change.clone()
        };
        self.is_in_place(&with_theirs)
    }

    /// Returns the change. Waits until `due` instead if the object matches it already, or if the
    /// limit of corrections is reached.
    ///
    /// A change has a reason if the schedule, the override or the error differs from the last
    /// write, or if the clock explains it, for example by a boundary that was not considered
    /// before. Every other change is a correction of another client's write.
    pub(crate) fn decide_write(
        &self,
        change: Change,
        now: DateTime<Utc>,
        due: Option<DateTime<Utc>>,
        is_by_clock: impl FnOnce() -> bool,
    ) -> Decision {
        let change = change.with_value(self.observed);
        if self.is_in_place(&change) {
            return Decision::Wait { due };
        }
        if !self.memory.knows(&Applied::from_change(&change)) || is_by_clock() {
            return Decision::Write(self.with_inherited(change));
        }
        if self.memory.has_corrected() && self.corrects_only_next(&change, now) {
            return Decision::Wait { due };
        }
        if self.memory.is_at_limit() {
            return Decision::CorrectionLimitReached {
                due,
                note: EventNote::CorrectionLimitReached,
            };
        }
        // A correction that scales the object is not delayed.
        let scales = change.kind.is_transition() || change.replicas != self.observed.replicas;
        let waits_until = self.memory.final_correction_waits_until(now);
        if let Some(until) = waits_until.filter(|_| !scales) {
            let due = due.map_or(until, |due| due.min(until));
            return Decision::Wait { due: Some(due) };
        }
        Decision::Write(self.with_inherited(Change {
            cause: Cause::Correction,
            ..change
        }))
    }

    /// Adds the inherited settings. A difference in them is no reason for a write, because they are
    /// only for people and for CLI commands. A rejected schedule keeps the old ones.
    fn with_inherited(&self, change: Change) -> Change {
        let inherited = match self.parsed {
            ParsedInputs::Unscheduled => None,
            ParsedInputs::Invalid(_) => return change,
            ParsedInputs::Scheduled(spec) => {
                Inherited::from_inputs(&self.observed.inputs, spec).text()
            }
        };
        Change {
            inherited,
            ..change
        }
    }
}
