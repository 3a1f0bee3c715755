//! What the running scaler remembers of one object, beside what the object itself says.

use std::sync::Arc;

use chrono::{DateTime, Utc};

use super::{
    change::{Change, ChangeKind},
    fingerprint::Fingerprint,
    observed::Observed,
    replicas::Replicas,
    state::{Phase, State, is_from_future},
};

/// The newest state known of one object, and how often it had to be put right.
///
/// It is kept for as long as the process runs and is never needed: after a restart the labels
/// are all there is. It serves rule 9 (state is healed) and rule 12 (no fights).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Memory {
    uid: Arc<str>,
    state: State,
    /// Whether the state has been this object's: that of a copy is another's until it is adopted.
    is_own: bool,
    error: Option<Box<str>>,
    /// The label `next` as it was last written on purpose.
    next: Option<DateTime<Utc>>,
    /// As it was when `last` was written, by whomever.
    stop_replicas: Replicas,
    corrections: u8,
}

/// How many times an object's state is put right between two boundaries.
const PATIENCE: u8 = 3;

impl Memory {
    /// What is known after a first sight.
    pub fn of(observed: &Observed) -> Self {
        Self {
            uid: observed.object.uid.clone(),
            state: Some(observed.state())
                .filter(|state| !state.is_of_a_later_version())
                .unwrap_or_default(),
            is_own: is_own(&observed.state(), observed),
            error: observed.error.clone(),
            next: observed.state().next,
            stop_replicas: observed.inputs.stop_replicas(),
            corrections: 0,
        }
    }

    /// Takes in what was seen at `now`: whatever is newer of that and what is known. What is known
    /// from the future gives way: another scaler has put it right already.
    pub fn saw(&mut self, observed: &Observed, now: DateTime<Utc>) {
        if self.uid != observed.object.uid {
            *self = Self::of(observed);
            return;
        }
        let seen = observed.state();
        let ahead = |state: &State| state.last.map(|last| is_from_future(last, now));
        let newest = match (ahead(&self.state), ahead(&seen)) {
            (Some(true), Some(false)) => seen,
            _ => self.newest(observed),
        };
        if self.is_removed(observed, &newest) {
            self.state = observed.state();
        } else if !newest.is_of_a_later_version() {
            self.learn(newest, observed);
        }
    }

    /// Whether the schedule is gone, and all that is to go with it: then nothing is left to
    /// remember, and the same schedule given back later is a new one.
    fn is_removed(&self, observed: &Observed, newest: &State) -> bool {
        let left = State {
            saved: self.saved_after_removal(observed, newest),
            ..State::default()
        };
        !observed.inputs.has_schedule() && observed.state() == left
    }

    /// The saved count that stays when the schedule is removed: that of what is down.
    pub(super) fn saved_after_removal(
        &self,
        observed: &Observed,
        newest: &State,
    ) -> Option<Replicas> {
        let running = observed.replicas;
        newest
            .saved
            .filter(|saved| *saved > running && running <= self.stopped_count(observed))
    }

    /// Takes in a change of ours that the server has accepted.
    pub fn wrote(&mut self, observed: &Observed, change: &Change) {
        self.uid = observed.object.uid.clone();
        self.learn(change.state.clone(), observed);
        self.error = change.error.clone();
        self.next = change.state.next;
        self.corrections = match change.kind {
            kind if kind.is_transition() => 0,
            ChangeKind::Adopt(_) => 0,
            _ if change.corrective => self.corrections.saturating_add(1),
            _ => self.corrections,
        };
    }

    fn learn(&mut self, state: State, observed: &Observed) {
        if state.last != self.state.last {
            self.stop_replicas = observed.inputs.stop_replicas();
            self.next = state.next;
        }
        self.is_own = self.is_own || is_own(&state, observed);
        self.state = state;
    }

    /// The newest state of the object: what is known where the object's own went backwards or
    /// vanished, else the object's own.
    ///
    /// A saved count is kept from either side as long as the object is down: a count too many
    /// is put right by the next stop, a count lost is lost for good.
    pub fn newest(&self, observed: &Observed) -> State {
        let seen = observed.state();
        if seen.is_of_a_later_version() {
            return seen;
        }
        let Some(known_last) = self.state.last.filter(|_| self.uid == observed.object.uid) else {
            return seen;
        };
        // Another scaler has adopted the copy, perhaps by a clock that is behind.
        let is_adopted = seen.phase == Some(Phase::Adopted);
        if !self.is_own && is_adopted && is_own(&seen, observed) {
            return seen;
        }
        let known = self.state.clone();
        // Another scaler can have done something else in the same second.
        let other = seen.phase.is_some() && seen.phase != known.phase;
        match seen.last {
            Some(last) if last > known_last || last == known_last && other => seen,
            Some(last) if last == known_last => State {
                phase: seen.phase.or(known.phase),
                last: Some(last),
                next: seen.next.or(known.next),
                saved: seen.saved.or(known.saved),
                fingerprint: seen.fingerprint.or(known.fingerprint),
            },
            _ => {
                let down = observed.replicas <= self.stopped_count(observed);
                State {
                    saved: known.saved.or(seen.saved.filter(|_| down)),
                    ..known
                }
            }
        }
    }

    /// The largest count at which the object can be called stopped: an edit may have lowered
    /// `stop-replicas` since the stop.
    pub(super) fn stopped_count(&self, observed: &Observed) -> Replicas {
        let now = observed.inputs.stop_replicas();
        if self.uid == observed.object.uid {
            now.max(self.stop_replicas)
        } else {
            now
        }
    }

    /// Whether the error annotation that we last wrote, or left away, is this one.
    pub(super) fn knows_error(&self, error: Option<&str>) -> bool {
        self.error.as_deref() == error
    }

    /// Whether the label `next` was last written so: then somebody else has changed it since.
    pub(super) fn knows_next(&self, next: Option<DateTime<Utc>>) -> bool {
        self.next == next
    }

    /// Whether the state was put right so often since the last boundary that somebody must be
    /// putting it wrong on purpose.
    pub(super) fn out_of_patience(&self) -> bool {
        self.corrections >= PATIENCE
    }
}

/// Whether a state was written for this object and its schedule as it is.
fn is_own(state: &State, observed: &Observed) -> bool {
    let ours = || Fingerprint::of(&observed.inputs, &observed.object.uid);
    state.fingerprint.as_ref().is_some_and(|it| *it == ours())
}
