//! The inputs of a decision, and its outcomes.

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
    /// What the annotations ask for.
    pub parsed: &'a ParsedInputs,
    /// The object as the API server showed it.
    pub observed: &'a Observed,
    /// What this process remembers of it: at first sight, just that.
    pub memory: &'a Memory,
    /// When these annotations were first seen on this object.
    pub seen: DateTime<Utc>,
    /// A boundary that was missed for longer than this is adopted instead of carried out.
    pub catch_up: TimeDelta,
    /// What stands before the `/` of every key.
    pub prefix: &'a Prefix,
}

/// What to do with an object.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(
    clippy::large_enum_variant,
    reason = "a change is moved once, to where it is written"
)]
pub enum Decision {
    /// Do nothing until `due` (the next boundary, or the end of the active override), or until the
    /// object changes.
    Wait {
        /// When to decide again, if ever.
        due: Option<DateTime<Utc>>,
    },
    /// Send one patch now.
    Write(Change),
    /// Nothing until `due`, when `enforce` stops what runs. The grace begins now, as
    /// [`Memory::tell_stops_soon`] is to note.
    StopsSoon {
        /// When it is stopped.
        due: DateTime<Utc>,
        /// What to tell the user.
        note: EventNote,
    },
    /// The object should be corrected, but has been too often: do nothing until `due`.
    CorrectionLimitReached {
        /// When to decide again, if ever.
        due: Option<DateTime<Utc>>,
        /// The Event, unless [`Memory::tell_correction_limit`] says that it was sent already.
        note: EventNote,
    },
}

impl DecisionContext<'_> {
    /// A change that leaves the count as it is, and no error.
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

    /// Whether the object already is as the change would make it.
    pub(crate) fn is_in_place(&self, change: &Change) -> bool {
        change.replicas == self.observed.replicas
            && change.expired.is_empty()
            && change.error == self.observed.error
            && change.override_began == self.observed.override_began
            // Writing the labels costs more than reading them.
            && change.state == self.observed.state()
            && change.state.to_labels() == self.observed.labels
    }

    /// Whether the change corrects only a `next` that is yet to come. Another scaler may have another
    /// zone, or may have read calendars earlier or later. It is corrected once: what this process
    /// has planned is carried out all the same ([`Memory::planned`]), so two scalers need not fight.
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

    /// The change, if it changes anything, and unless it has been made too often; else to wait
    /// until `due`.
    ///
    /// A change is explained if the schedule, override or error differs from the last write, or if
    /// the clock explains it, for example by a boundary that was not considered before. Every other
    /// change corrects what somebody else has changed.
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
                note: EventNote::CorrectionLimitReached(self.observed.replicas),
            };
        }
        // A correction that starts or stops the object is not delayed.
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

    /// The change, with what the object inherits. That alone is no reason for a change: it is for
    /// people and for the commands. A refused schedule leaves it as it was.
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
