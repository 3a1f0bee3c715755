//! The controller's memory of one object, in addition to the state labels on the object.

use std::{cmp::Ordering, sync::Arc};

use chrono::{DateTime, TimeDelta, Utc};

use crate::{
    decision::change::{Cause, Change, ChangeKind},
    observed::Observed,
    replicas::Replicas,
    state::{Fingerprint, Next, Phase, Started, State, is_from_future},
};

/// The newest known state of one object, and how often it had to be corrected.
///
/// The memory exists only while the process runs. After a restart the labels are sufficient. With
/// it the controller can restore removed labels, and can stop if another client removes them every
/// time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Memory {
    uid: Arc<str>,
    state: State,
    /// The reason for our last write; `None` before the first one.
    applied: Option<Applied>,
    /// The next boundary according to our last write. Another controller might have changed the
    /// label since.
    planned: Option<Next>,
    /// The number of corrections since the last boundary.
    corrections: u8,
    /// The time of the last correction.
    last_corrected_at: Option<DateTime<Utc>>,
    /// When the Event about the limit of corrections was last sent; `None` if it was not sent since
    /// the last boundary.
    limit_event_sent_at: Option<DateTime<Utc>>,
    /// The last observed count.
    count: Replicas,
    /// The last observed count above 0; 0 if there was none.
    last_running: Replicas,
    /// Whether the object was observed running since its last adoption or transition.
    ran_since_change: bool,
    /// When the count was last observed to rise above the stopped count.
    raised_at: Option<DateTime<Utc>>,
    /// When the last `StopsSoon` Event was sent.
    stop_notice_sent_at: Option<DateTime<Utc>>,
}

/// The schedule, override and error for which a change was decided. While they are the same, a
/// decision has no new reason to write.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Applied {
    /// The schedule on this object; `None` without a schedule, and while it is rejected.
    schedule: Option<Fingerprint>,
    /// A digest of the dates in its calendars.
    calendars: u64,
    /// The active override and its end.
    held: Option<(Phase, Option<Next>)>,
    /// Why the schedule is rejected.
    error: Option<Box<str>>,
    /// The start from which `stop-after` counts. A restart of the timer is a reason to write.
    started: Option<Started>,
}

/// The maximum number of corrections of an object between two boundaries.
const MAX_CORRECTIONS: u8 = 3;

/// The interval between Events about a workload that `enforce` has given up. `dayshift status` shows
/// the problem while such an Event exists, and the API server deletes an Event after its
/// `--event-ttl`, an hour by default.
const CORRECTION_LIMIT_INTERVAL: TimeDelta = TimeDelta::minutes(30);

/// The delay of the last correction. During a rolling update an old and a new process can run for
/// some seconds with different flags, and correct each other's labels. No Warning should be sent if
/// that ends with the old process.
const LAST_CORRECTION_AFTER: TimeDelta = TimeDelta::seconds(30);

impl Applied {
    /// The schedule, override and error of this change.
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
            started: state.started,
        }
    }
}

impl Memory {
    /// The memory of an object that is observed for the first time.
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
            limit_event_sent_at: None,
            count: observed.replicas,
            last_running: observed.replicas,
            ran_since_change: observed.replicas > Replicas::ZERO,
            raised_at: None,
            stop_notice_sent_at: None,
        }
    }

    /// Records the object as observed at `now`, and keeps the newer state.
    pub fn observe(&mut self, observed: &Observed, now: DateTime<Utc>) {
        if self.uid != observed.object.uid {
            *self = Self::new(observed);
            return;
        }
        let stopped = observed.inputs.stop_replicas();
        if self.count <= stopped && observed.replicas > stopped {
            self.raised_at = Some(now);
        }
        self.observe_count(observed.replicas);
        let newest = self.newest(observed, now);
        if is_removed(observed, &newest) {
            self.state = observed.state();
        } else if !observed.labels.are_from_later_version() {
            self.state = newest;
        }
    }

    /// Records a change of ours that the API server accepted at `now`.
    pub fn wrote(&mut self, observed: &Observed, change: &Change, now: DateTime<Utc>) {
        self.uid = observed.object.uid.clone();
        self.state = change.state.clone();
        self.applied = Some(Applied::from_change(change));
        self.planned = change.state.next;
        self.observe_count(change.replicas);
        let resets_corrections = change.kind.is_transition()
            || matches!(change.kind, ChangeKind::Adopt(_) | ChangeKind::Remove);
        if resets_corrections {
            self.ran_since_change = change.replicas > Replicas::ZERO;
        }
        if change.cause == Cause::Correction {
            self.corrections = self.corrections.saturating_add(1);
            self.last_corrected_at = Some(now);
        } else if resets_corrections {
            self.corrections = 0;
            self.limit_event_sent_at = None;
        }
    }

    fn observe_count(&mut self, count: Replicas) {
        self.count = count;
        if count > Replicas::ZERO {
            self.last_running = count;
            self.ran_since_change = true;
        }
    }

    /// The newest state of the object at `now`. If the object's labels are older, missing or too
    /// far ahead, this is the remembered state, otherwise that of the labels.
    pub fn newest(&self, observed: &Observed, now: DateTime<Utc>) -> State {
        let (known, mut seen) = (&self.state, observed.state());
        seen.started = seen.started.filter(|started| started.is_possible_at(now));
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

    /// Whether the labels take precedence over memory, because the memory is ahead of the clock or
    /// belongs to the object from which this one was copied. In both cases another controller has
    /// corrected or adopted the object since.
    fn is_overruled(&self, seen: &State, observed: &Observed, now: DateTime<Utc>) -> bool {
        let is_ahead = |state: &State| state.last.map(|last| is_from_future(last, now));
        let is_in_future = |state: &State| state.last.map(|last| last > now);
        let is_adopted = || is_own(seen, observed) && !is_own(&self.state, observed);
        let is_of_object = |state: &State| {
            let fingerprint = state.fingerprint;
            fingerprint.is_some_and(|fingerprint| fingerprint.belongs_to(&observed.object.uid))
        };
        is_ahead(&self.state) == Some(true) && is_ahead(seen) == Some(false)
            || is_in_future(&self.state) == Some(true)
                && is_in_future(seen) == Some(false)
                && is_adopted()
            || seen.fingerprint != self.state.fingerprint
                && is_of_object(seen)
                && !is_of_object(&self.state)
    }

    /// Whether our last write had the same schedule, override and error.
    pub(crate) fn knows(&self, applied: &Applied) -> bool {
        self.applied.as_ref() == Some(applied)
    }

    /// The next boundary according to our last write, if it was for this schedule and these
    /// calendar dates. Another controller, with another time zone or other time zone data, might
    /// have changed the label since.
    pub(crate) fn planned(&self, schedule: Fingerprint, calendars: u64) -> Option<Next> {
        let applied = self.applied.as_ref()?;
        let is_same = applied.schedule == Some(schedule) && applied.calendars == calendars;
        self.planned.filter(|_| is_same)
    }

    /// Whether this process has written to the object. If so, the memory must be kept even when the
    /// object has no annotation or label of ours. Otherwise the object would look new.
    pub fn has_written(&self) -> bool {
        self.applied.is_some()
    }

    /// Whether the limit of corrections since the last boundary is reached.
    pub const fn is_at_limit(&self) -> bool {
        self.corrections >= MAX_CORRECTIONS
    }

    /// When the last correction before the limit can be sent, which is delayed; `None` if another
    /// correction precedes it, or if the delay is over.
    pub(crate) fn final_correction_waits_until(&self, now: DateTime<Utc>) -> Option<DateTime<Utc>> {
        let is_last = self.corrections == MAX_CORRECTIONS - 1;
        let corrected = self.last_corrected_at.filter(|_| is_last)?;
        let until = corrected + LAST_CORRECTION_AFTER;
        // After the clock was set back, the elapsed time is unknown.
        (corrected..until).contains(&now).then_some(until)
    }

    /// Whether the state was corrected since the last boundary.
    pub(crate) const fn has_corrected(&self) -> bool {
        self.corrections > 0
    }

    /// When the count was last observed to rise above the stopped count; `None` if this process has
    /// not observed that.
    pub(crate) const fn raised_at(&self) -> Option<DateTime<Utc>> {
        self.raised_at
    }

    /// The last count above 0 that this process has observed; `None` if it has observed none.
    pub(crate) fn last_running(&self) -> Option<Replicas> {
        Some(self.last_running).filter(|count| *count > Replicas::ZERO)
    }

    /// Whether this process has observed the object running since its last adoption or transition.
    /// If so, and if an adopted object now has a count of 0, a user has set that count.
    pub(crate) const fn ran_since_change(&self) -> bool {
        self.ran_since_change
    }

    /// When the Event about the limit of corrections is repeated, if the condition lasts.
    pub(crate) fn next_limit_report(&self, now: DateTime<Utc>) -> DateTime<Utc> {
        let told = self
            .limit_event_sent_at
            .map(|at| at + CORRECTION_LIMIT_INTERVAL);
        let is_pending = |at: &DateTime<Utc>| *at > now;
        told.filter(is_pending)
            .unwrap_or(now + CORRECTION_LIMIT_INTERVAL)
    }

    /// When this process last sent `StopsSoon` for the object.
    pub(crate) const fn stop_notice_sent_at(&self) -> Option<DateTime<Utc>> {
        self.stop_notice_sent_at
    }

    /// Records that `StopsSoon` is sent at `now`: a grace period begins.
    pub const fn record_stop_notice(&mut self, now: DateTime<Utc>) {
        self.stop_notice_sent_at = Some(now);
    }

    /// Records that the Event about the limit of corrections is sent at `now`. Returns false, and
    /// records nothing, if it was sent since the last boundary and should not be repeated yet.
    pub fn record_limit_event(&mut self, now: DateTime<Utc>) -> bool {
        let until = |at: DateTime<Utc>| at + CORRECTION_LIMIT_INTERVAL;
        let is_due = self.limit_event_sent_at.is_none_or(|at| until(at) <= now);
        if is_due {
            self.limit_event_sent_at = Some(now);
        }
        is_due
    }
}

/// The newest state if the object has the remembered `last`. Removed labels are restored, unless
/// another controller made another change in the same second.
fn merge_same_last(mut seen: State, known: &State, observed: &Observed) -> State {
    // Another dayshift controller that makes a change sets more labels than the phase, and keeps
    // the fingerprint of the same schedule. If only the phase or only the fingerprint differs, a
    // client other than dayshift has changed it.
    if seen.fingerprint != known.fingerprint && is_own(known, observed) {
        seen.fingerprint = known.fingerprint;
    }
    let is_up = observed.replicas > observed.inputs.stop_replicas();
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
        // Another controller removes it after a manual stop.
        started: seen.started.or_else(|| known.started.filter(|_| is_up)),
    }
}

/// The newest state if the object has an older state or none: the remembered state.
///
/// While the object is stopped, a saved count from either source is kept. If a saved count is too
/// large, the next stop corrects it; if it is lost, nothing restores it.
fn merge_older(seen: &State, known: &State, observed: &Observed) -> State {
    let is_down = observed.replicas <= observed.inputs.stop_replicas();
    // A remembered 0 means only that the last change was a start.
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

/// Whether a state was written for this object with its current schedule.
fn is_own(state: &State, observed: &Observed) -> bool {
    let fingerprint = state.fingerprint;
    fingerprint == Some(observed.inputs.fingerprint(&observed.object.uid))
}

/// Whether the schedule and its labels were removed. Then the memory is reset, and the same
/// schedule is a new one when it is added again.
fn is_removed(observed: &Observed, newest: &State) -> bool {
    !observed.inputs.is_scheduled() && observed.state() == newest.after_removal(observed.replicas)
}
