//! Facts that an observer can calculate from the object, without the memory of a controller: overdue
//! changes, waiting starts, and the next stop. `dayshift status` works without a running controller.

use std::borrow::Cow;

use chrono::{DateTime, TimeDelta, Utc};
use dayshift_schedule::{Action, Boundary, Direction};

use crate::{
    decision::{
        change::{Cause, Change, ChangeKind},
        context::{Decision, DecisionContext},
        decide::decide,
        memory::Memory,
        start_wait::{DependencyState, StartWait, WaitingStart},
    },
    inputs::{overrides::Override, parse::ParsedInputs},
    keys::{Label, Prefix},
    observed::Observed,
    state::{Phase, State},
};

/// How long after its instant something may be undone before it is overdue: 10 s. A controller
/// acts within milliseconds; the rest is for a restart, for many boundaries at once, and for
/// clocks that differ by less than `--max-clock-skew` (30 s) but not by much.
pub const OVERDUE_GRACE: TimeDelta = TimeDelta::seconds(10);

/// Something that should have been done by now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Overdue {
    /// What should have been done.
    pub duty: Duty,
    /// Since when; `None` where nobody knows when a user asked for it.
    pub since: Option<DateTime<Utc>>,
    /// Whether it is a start of something that is stopped: such a start may wait for a place.
    pub is_start: bool,
}

/// What an object asks of a controller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Duty {
    /// A new or edited schedule is to be adopted.
    Adopt,
    /// A boundary is to be carried out.
    Boundary(Boundary),
    /// An override is to begin.
    Begin(Override),
    /// An override that is over, or was removed, is to end; the phase is that override's.
    End(Phase),
}

impl Overdue {
    /// What should have been done to the object by `now`, for longer than [`OVERDUE_GRACE`]: what a
    /// scaler that knows the object alone would have done then, and would still do.
    ///
    /// `changed` is an instant by which the annotations were as they are, such as the last time
    /// that anybody changed the object: what they ask for is overdue from then on. Where it is
    /// unknown they count as old.
    pub fn find(
        parsed: &ParsedInputs,
        observed: &Observed,
        changed: Option<DateTime<Utc>>,
        now: DateTime<Utc>,
    ) -> Option<Self> {
        let spec = parsed.spec()?;
        let observed = &with_fingerprint(observed);
        let state = observed.state();
        let then = now - OVERDUE_GRACE;
        let asked = changed.unwrap_or(then);
        let due = due_change(parsed, observed, asked, then)?;
        due_change(parsed, observed, asked, now)?;
        let since = match due.cause {
            Cause::Clock(at) => Some(at),
            Cause::Request { .. } | Cause::Correction => changed,
        };
        let held = state.phase.filter(|phase| phase.is_override());
        let overrides = observed.overrides(spec, &state, then);
        let duty = match (overrides.at(then), held, due.boundary) {
            (Some(over), _, _) if !over.holds(&state) => Duty::Begin(over),
            (_, Some(phase), _) => Duty::End(phase),
            (_, None, Some(boundary)) => Duty::Boundary(boundary),
            (_, None, None) => Duty::Adopt,
        };
        // A start that waits is late once the time for that is over.
        let since = match spec.needs(&due, observed) {
            Some(needs) => since.map(|_| needs.until()),
            None => since,
        };
        let is_late = since.is_none_or(|since| since <= then);
        is_late.then(|| Self {
            duty,
            since,
            is_start: spec.due_start(&due, observed).is_some(),
        })
    }
}

/// The start of the object that is due at `now` and may wait until then for all that is named, as far as
/// the object alone tells. `changed` is as for [`Overdue::find`].
pub fn waiting_start(
    parsed: &ParsedInputs,
    observed: &Observed,
    changed: Option<DateTime<Utc>>,
    now: DateTime<Utc>,
) -> Option<WaitingStart> {
    let spec = parsed.spec()?;
    spec.after.as_ref()?;
    let observed = &with_fingerprint(observed);
    let change = due_change(parsed, observed, changed.unwrap_or(now), now)?;
    let needs = spec.needs(&change, observed)?;
    match needs.wait(now, |_| DependencyState::NotReady) {
        StartWait::Waits(waiting) => Some(waiting),
        StartWait::Over { .. } => None,
    }
}

/// What a scaler that knows the object alone does to its count at `at`, such as its next boundary;
/// `None` where it leaves the count, as where a wake ends and the count stays.
pub fn predicted_action(
    parsed: &ParsedInputs,
    observed: &Observed,
    at: DateTime<Utc>,
) -> Option<Action> {
    let due = due_change(parsed, &with_fingerprint(observed), at, at)?;
    let stays = due.kind == ChangeKind::Start
        && due.replicas == observed.replicas
        && observed.phase() == Some(Phase::Woken);
    due.kind.action().filter(|_| !stays)
}

/// The object with the fingerprint of its schedule where that label is missing: it was taken away, and
/// the rest of the state tells as much as it can.
fn with_fingerprint(observed: &Observed) -> Cow<'_, Observed> {
    let state = observed.state();
    if state.fingerprint.is_some() || state.last.is_none() {
        return Cow::Borrowed(observed);
    }
    let fingerprint = Some(observed.inputs.fingerprint(&observed.object.uid));
    let labels = State {
        fingerprint,
        ..state
    };
    Cow::Owned(Observed {
        labels: labels.to_labels(),
        ..observed.clone()
    })
}

/// The transition or adoption that is due to the object at `at`, as a scaler that knows the object
/// alone, as it is, tells. Nothing is missed for too long.
fn due_change(
    parsed: &ParsedInputs,
    observed: &Observed,
    asked: DateTime<Utc>,
    at: DateTime<Utc>,
) -> Option<Change> {
    let context = DecisionContext {
        parsed,
        observed,
        memory: &Memory::new(observed),
        seen: asked,
        catch_up: TimeDelta::MAX,
        prefix: &Prefix::default(),
    };
    let Decision::Write(change) = decide(&context, at) else {
        return None;
    };
    let is_duty = matches!(change.kind, ChangeKind::Adopt(_) | ChangeKind::Pause)
        || change.kind.is_transition();
    is_duty.then_some(change)
}

/// When an object that runs is next stopped, by its schedule or where its wake ends; `None` where it is
/// stopped already, where it may be started before that, and where nobody knows: it is paused, put to
/// sleep or not taken up yet.
pub fn next_stop(
    parsed: &ParsedInputs,
    observed: &Observed,
    now: DateTime<Utc>,
) -> Option<DateTime<Utc>> {
    let spec = parsed.spec()?;
    let is_stopped = observed.replicas <= spec.stop_replicas;
    if is_stopped || observed.deleting || observed.labels.are_from_later_version() {
        return None;
    }
    let state = observed.state();
    state.phase?;
    let object = &observed.object;
    let from = match observed.overrides(spec, &state, now).at(now) {
        None => now,
        Some(Override::Wake(until)) => {
            let action = predicted_action(parsed, observed, until);
            if action.is_some_and(|action| !action.is_up()) {
                return Some(until);
            }
            until
        }
        Some(Override::Pause(_) | Override::Sleep(_)) => return None,
    };
    let stop = spec.next_boundary(Direction::Down, object, from)?.at;
    let starts_before = || {
        let start = spec.next_boundary(Direction::Up, object, from);
        start.is_some_and(|start| start.at < stop)
    };
    let says_stopped = spec
        .says(object, from)
        .is_some_and(|action| !action.is_up());
    (!says_stopped || !starts_before()).then_some(stop)
}

/// Whether dayshift holds an object down though its schedule says running: a copy is taken up so, an
/// object whose clock was wrong, and one whose zone or calendars have changed. Its next start brings it
/// back. What is to be done at this moment is no such case.
///
/// Between `last` and `next` the schedule says the same, so that the object alone tells.
pub fn is_stopped_against_schedule(observed: &Observed, parsed: &ParsedInputs) -> bool {
    let ParsedInputs::Scheduled(spec) = parsed else {
        return false;
    };
    let is_saved = observed.labels.text(Label::SavedReplicas).is_some();
    let is_held = observed.phase().is_none_or(Phase::is_override);
    if !is_saved || is_held || observed.deleting {
        return false;
    }
    let state = observed.state();
    let back = |last| spec.restoring_action(&observed.object, observed.replicas, state.saved, last);
    // Hashing costs most, and is needed least often.
    state.last.and_then(back).is_some()
        && state.fingerprint == Some(observed.inputs.fingerprint(&observed.object.uid))
}
