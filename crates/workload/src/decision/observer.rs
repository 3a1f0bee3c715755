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
    inputs::{effective::Inputs, overrides::Override, parse::ParsedInputs},
    keys::Prefix,
    observed::Observed,
    replicas::Replicas,
    state::{Phase, State},
    workload_ref::WorkloadRef,
};

/// How long a change can be late before it is overdue. A controller acts within milliseconds, but
/// this allows for restarts, for many boundaries at the same time, and for small clock differences,
/// below `--max-clock-skew` (30 s).
pub const OVERDUE_GRACE: TimeDelta = TimeDelta::seconds(10);

/// A change that should have been made by now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Overdue {
    /// The missing change.
    pub duty: Duty,
    /// When it was due; `None` if it is unknown when a user requested it.
    pub since: Option<DateTime<Utc>>,
    /// Whether it starts a stopped workload. Such a start might be waiting for a start slot.
    pub is_start: bool,
}

/// A change that the controller should make.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Duty {
    /// Adopt a new or edited schedule.
    Adopt,
    /// Carry out a boundary.
    Boundary(Boundary),
    /// Begin an override.
    Begin(Override),
    /// End an override that has ended or was removed. The phase is that of the override.
    End(Phase),
}

impl Overdue {
    /// The change of the object that is overdue at `now`: it was due [`OVERDUE_GRACE`] ago without
    /// the memory of a controller, and still is.
    ///
    /// `changed` is a time since which the annotations are known to be the same, for example the
    /// last write to the object. Changes that they request are overdue from then on. If it is
    /// unknown, they are assumed to be old.
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
        // A start that waits for dependencies is late only after its longest wait.
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

/// The start that is due at `now` and might wait for its dependencies, according to the object only.
/// `changed` is as for [`Overdue::find`].
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

/// The action at `at`, for example at the next boundary, according to the object only. `None` if the
/// count stays the same, for example at the end of a wake.
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

/// Adds the fingerprint if its label was removed, so that the remaining state can be used.
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

/// The transition or adoption that is due at `at`, according to the object only. There is no catch-up
/// limit: no boundary is missed for too long.
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

/// When a running object is next stopped, by its schedule or at the end of a wake. `None` if it is
/// already stopped, if it might be started before, or if the time is unknown because it is paused,
/// put to sleep or not adopted yet.
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
    let (object, started) = (&observed.object, state.started);
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
    let stop = spec
        .next_boundary(Direction::Down, object, started, from)?
        .at;
    let starts_before = || {
        let start = spec.next_boundary(Direction::Up, object, started, from);
        start.is_some_and(|start| start.at < stop)
    };
    let says_stopped = spec
        .required_action(object, started, from)
        .is_some_and(|action| !action.is_up());
    (!says_stopped || !starts_before()).then_some(stop)
}

/// Whether dayshift keeps an object stopped although its schedule requires it to run, until its
/// next start. For example: a copy was adopted while stopped, the clock was wrong, or the time zone
/// or the calendars have changed. A start that is due now is not included.
///
/// Between `last` and `next` the schedule requires the same, so the state is sufficient.
pub fn is_stopped_against_schedule(
    object: &WorkloadRef,
    inputs: &Inputs,
    replicas: Replicas,
    state: &State,
    parsed: &ParsedInputs,
) -> bool {
    let ParsedInputs::Scheduled(spec) = parsed else {
        return false;
    };
    let is_held = state.phase.is_none_or(Phase::is_override);
    if state.saved.is_none() || is_held {
        return false;
    }
    let back = |last| spec.restoring_action(object, replicas, state, last);
    // Hashing is expensive and rarely needed, so it comes last.
    state.last.and_then(back).is_some()
        && state.fingerprint == Some(inputs.fingerprint(&object.uid))
}
