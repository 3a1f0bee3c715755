//! What the running scaler remembers of one object, beside what the object itself says.

use std::{cmp::Ordering, sync::Arc};

use chrono::{DateTime, TimeDelta, Utc};

use crate::{
    decision::change::{Cause, Change, ChangeKind},
    fingerprint::Fingerprint,
    observed::Observed,
    replicas::Replicas,
    state::{Next, Phase, State, is_from_future},
};

/// The newest state known of one object, and how often it had to be put right.
///
/// It is kept while the process runs. After a restart the labels alone are enough. It lets the scaler
/// write removed labels again, and stop when somebody removes them each time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Memory {
    uid: Arc<str>,
    state: State,
    /// What applied at our last write; `None` before the first.
    applied: Option<Applied>,
    /// What was to come next by our last write, whatever another scaler has written since.
    planned: Option<Next>,
    /// How many corrections were made since the last boundary.
    corrections: u8,
    /// When the newest of them was made.
    last_corrected_at: Option<DateTime<Utc>>,
    /// Whether the user was told that the limit of corrections is reached.
    told_limit: bool,
    /// The count that was seen last.
    count: Replicas,
    /// When it was last seen to rise above that of a stop.
    raised_at: Option<DateTime<Utc>>,
    /// When the user was last told that `enforce` stops it.
    told_stop_at: Option<DateTime<Utc>>,
}

/// The schedule, override and error that applied to an object when a change was decided. While they
/// still apply, a decision has nothing new to go by.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Applied {
    /// The schedule on this object; none without one, and while it is refused.
    schedule: Option<Fingerprint>,
    /// The dates of the calendars that it names.
    calendars: u64,
    /// The override that holds, and until when.
    held: Option<(Phase, Option<Next>)>,
    /// Why the schedule is refused.
    error: Option<Box<str>>,
}

/// How many times an object's state is put right between two boundaries.
const MAX_CORRECTIONS: u8 = 3;

/// How long the last correction is delayed. During a rolling update an old and a new process run for
/// some seconds with different flags and correct each other's labels. Nobody needs a Warning about
/// that once the old process has ended.
const LAST_CORRECTION_AFTER: TimeDelta = TimeDelta::seconds(30);

impl Applied {
    /// What applied when this change was decided.
    pub(crate) fn from_change(change: &Change) -> Self {
        let state = &change.state;
        if change.error.is_some() {
            return Self {
                error: change.error.clone(),
                ..Self::default()
            };
        }
        let phase = state.phase.filter(|phase| phase.is_override());
        Self {
            schedule: state.fingerprint,
            calendars: change.calendars,
            held: phase.map(|phase| (phase, state.next)),
            error: None,
        }
    }
}

impl Memory {
    /// The memory of an object at first sight.
    pub fn new(observed: &Observed) -> Self {
        Self {
            uid: observed.object.uid.clone(),
            state: if observed.labels.are_from_later_version() {
                State::default()
            } else {
                observed.state()
            },
            applied: None,
            planned: None,
            corrections: 0,
            last_corrected_at: None,
            told_limit: false,
            count: observed.replicas,
            raised_at: None,
            told_stop_at: None,
        }
    }

    /// Takes in the object as it was seen at `now`, and remembers the newer state.
    pub fn observe(&mut self, observed: &Observed, now: DateTime<Utc>) {
        if self.uid != observed.object.uid {
            *self = Self::new(observed);
            return;
        }
        let stopped = observed.inputs.stop_replicas();
        if self.count <= stopped && observed.replicas > stopped {
            self.raised_at = Some(now);
        }
        self.count = observed.replicas;
        let newest = self.newest(observed, now);
        if is_removed(observed, &newest) {
            self.state = observed.state();
        } else if !observed.labels.are_from_later_version() {
            self.state = newest;
        }
    }

    /// Takes in a change of ours that the server has accepted at `now`.
    pub fn wrote(&mut self, observed: &Observed, change: &Change, now: DateTime<Utc>) {
        self.uid = observed.object.uid.clone();
        self.state = change.state.clone();
        self.applied = Some(Applied::from_change(change));
        self.planned = change.state.next;
        self.count = change.replicas;
        let resets_corrections = change.kind.is_transition()
            || matches!(change.kind, ChangeKind::Adopt(_) | ChangeKind::Remove);
        if change.cause == Cause::Correction {
            self.corrections = self.corrections.saturating_add(1);
            self.last_corrected_at = Some(now);
        } else if resets_corrections {
            self.corrections = 0;
            self.told_limit = false;
        }
    }

    /// The newest state of the object at `now`: the remembered one if the object's own went
    /// backwards, far ahead, or vanished, else the object's own.
    pub fn newest(&self, observed: &Observed, now: DateTime<Utc>) -> State {
        let (known, seen) = (&self.state, observed.state());
        let Some(known_last) = known.last.filter(|_| self.uid == observed.object.uid) else {
            return seen;
        };
        if observed.labels.are_from_later_version() || self.is_overruled(&seen, observed, now) {
            return seen;
        }
        let is_ahead = |last| is_from_future(last, now) && !is_from_future(known_last, now);
        let seen_last = seen.last.filter(|last| !is_ahead(*last));
        match seen_last.cmp(&Some(known_last)) {
            Ordering::Greater => seen,
            Ordering::Equal => merge_same_last(seen, known, observed),
            Ordering::Less => merge_older(&seen, known, observed),
        }
    }

    /// Whether the object's labels override memory: memory is ahead of the clock, or belongs to the
    /// object this was copied from. Another scaler has corrected or adopted the object since.
    fn is_overruled(&self, seen: &State, observed: &Observed, now: DateTime<Utc>) -> bool {
        let is_ahead = |state: &State| state.last.map(|last| is_from_future(last, now));
        let is_to_come = |state: &State| state.last.map(|last| last > now);
        let is_adopted = || is_own(seen, observed) && !is_own(&self.state, observed);
        let is_of_object = |state: &State| {
            let fingerprint = state.fingerprint;
            fingerprint.is_some_and(|fingerprint| fingerprint.belongs_to(&observed.object.uid))
        };
        is_ahead(&self.state) == Some(true) && is_ahead(seen) == Some(false)
            || is_to_come(&self.state) == Some(true)
                && is_to_come(seen) == Some(false)
                && is_adopted()
            || seen.fingerprint != self.state.fingerprint
                && is_of_object(seen)
                && !is_of_object(&self.state)
    }

    /// Whether this is what applied at our last write.
    pub(crate) fn knows(&self, applied: &Applied) -> bool {
        self.applied.as_ref() == Some(applied)
    }

    /// What was to come next by our last write, if that was by this schedule and these dates of
    /// calendars. Another scaler, with another zone or other zone data, may have written another
    /// `next` since.
    pub(crate) fn planned(&self, schedule: Fingerprint, calendars: u64) -> Option<Next> {
        let applied = self.applied.as_ref()?;
        let is_same = applied.schedule == Some(schedule) && applied.calendars == calendars;
        self.planned.filter(|_| is_same)
    }

    /// Whether this process has written to the object. Then it remembers the object even when
    /// nothing on it concerns dayshift any more; else the object would look new.
    pub fn has_written(&self) -> bool {
        self.applied.is_some()
    }

    /// Whether the limit of corrections since the last boundary is reached.
    pub(crate) const fn is_at_limit(&self) -> bool {
        self.corrections >= MAX_CORRECTIONS
    }

    /// When the delayed last correction may be sent; `None` if it is not next or need not wait.
    pub(crate) fn final_correction_waits_until(&self, now: DateTime<Utc>) -> Option<DateTime<Utc>> {
        let is_last = self.corrections == MAX_CORRECTIONS - 1;
        let corrected = self.last_corrected_at.filter(|_| is_last)?;
        let until = corrected + LAST_CORRECTION_AFTER;
        // A clock that was set back says nothing of how long ago that was.
        (corrected..until).contains(&now).then_some(until)
    }

    /// Whether the state was put right since the last boundary.
    pub(crate) const fn has_corrected(&self) -> bool {
        self.corrections > 0
    }

    /// When the count was last seen to rise above the stopped count; `None` if this process has not
    /// seen that.
    pub(crate) const fn raised_at(&self) -> Option<DateTime<Utc>> {
        self.raised_at
    }

    /// When this process last sent `StopsSoon` for the object.
    pub(crate) const fn told_stop_at(&self) -> Option<DateTime<Utc>> {
        self.told_stop_at
    }

    /// Notes that the user is told at `now` that `enforce` stops it: a grace begins.
    pub const fn tell_stops_soon(&mut self, now: DateTime<Utc>) {
        self.told_stop_at = Some(now);
    }

    /// Notes that the user is told that the limit of corrections is reached; false where that was
    /// done since the last boundary.
    pub fn tell_correction_limit(&mut self) -> bool {
        !std::mem::replace(&mut self.told_limit, true)
    }
}

/// The newest state if the object shows the remembered `last`: removed labels are filled in, unless
/// another scaler has done something else in the same second.
fn merge_same_last(mut seen: State, known: &State, observed: &Observed) -> State {
    // Another scaler changes more than the phase, and changes no fingerprint of the same schedule.
    // Either alone was changed by somebody else.
    if seen.fingerprint != known.fingerprint && is_own(known, observed) {
        seen.fingerprint = known.fingerprint;
    }
    let with_known_phase = State {
        phase: known.phase,
        ..seen.clone()
    };
    let has_another_phase = seen.phase.is_some() && seen.phase != known.phase;
    if has_another_phase && with_known_phase != *known {
        return seen;
    }
    State {
        phase: known.phase.or(seen.phase),
        last: known.last,
        next: seen.next.or(known.next),
        saved: seen.saved.or(known.saved),
        saved_value: seen.saved_value.or_else(|| known.saved_value.clone()),
        fingerprint: seen.fingerprint.or(known.fingerprint),
    }
}

/// The newest state if the object shows an older one or none: the remembered one.
///
/// A saved count is kept from either side while the object is down: the next stop corrects a count
/// that is too large, but nothing brings back a count that is lost.
fn merge_older(seen: &State, known: &State, observed: &Observed) -> State {
    let is_down = observed.replicas <= observed.inputs.stop_replicas();
    // A remembered 0 only says that a start came before.
    let worth_saving = known.saved.filter(|saved| *saved > Replicas::ZERO);
    let still_saved = seen.saved.filter(|_| is_down);
    State {
        saved: worth_saving.or(still_saved).or(known.saved),
        saved_value: known
            .saved_value
            .clone()
            .or_else(|| seen.saved_value.clone()),
        ..known.clone()
    }
}

/// Whether a state was written for this object and its schedule as it is.
fn is_own(state: &State, observed: &Observed) -> bool {
    let fingerprint = state.fingerprint;
    fingerprint == Some(observed.inputs.fingerprint(&observed.object.uid))
}

/// Whether the schedule and its labels are removed. Then nothing is left to remember, and the same
/// schedule is a new one when it is given back.
fn is_removed(observed: &Observed, newest: &State) -> bool {
    !observed.inputs.is_scheduled() && observed.state() == newest.after_removal(observed.replicas)
}
