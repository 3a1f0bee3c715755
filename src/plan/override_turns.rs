//! What the ends of overrides come to.

use chrono::{DateTime, TimeDelta, Utc};

use super::period::Period;
use crate::{
    schedule::{Action, Boundary},
    workload::{Key, Override, ScheduleSpec},
};

/// An instant at which an override gives way, to the schedule or to another override.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct OverrideTurn {
    pub(super) at: DateTime<Utc>,
    /// The annotation of the override that ends.
    pub(super) ends: Key,
    /// What is done then; nothing where the schedule says nothing, and at the end of a pause unless
    /// the schedule says running by then and did not before.
    pub(super) action: Option<Action>,
}

/// The turns in a period, in order, of an object whose starts are moved by `delay` and whose
/// overrides hold from the beginning of the period on.
pub(super) fn turns(spec: &ScheduleSpec, delay: TimeDelta, period: Period) -> Vec<OverrideTurn> {
    let mut ends: Vec<_> = spec.overrides.all().filter_map(Override::until).collect();
    ends.retain(|at| period.from() < *at && *at < period.until());
    ends.sort_unstable();
    ends.dedup();
    let turn = |at| turn_at(spec, delay, period.from(), at);
    ends.into_iter().filter_map(turn).collect()
}

/// The turn at an instant, if an override gives way then that held at `since`.
fn turn_at(
    spec: &ScheduleSpec,
    delay: TimeDelta,
    since: DateTime<Utc>,
    at: DateTime<Utc>,
) -> Option<OverrideTurn> {
    let overrides = &spec.overrides;
    let ended = overrides.at(at - TimeDelta::nanoseconds(1))?;
    let begins = overrides.at(at);
    if begins == Some(ended) {
        return None;
    }
    // What was stopped as the pause began is held down by then. Exact counts save nothing.
    let was_stopped = spec.schedule.says(since, delay) == Some(Action::Stop);
    let action = spec.action_at_override_end(ended.phase(), begins, at, delay, was_stopped);
    let ends = Override::key(ended.phase())?;
    Some(OverrideTurn { at, ends, action })
}

/// The first that is done after an instant to an object whose overrides hold by then: what the end of
/// an override does, or else the first boundary that none keeps from being applied.
pub fn next_applied(
    spec: &ScheduleSpec,
    delay: TimeDelta,
    after: DateTime<Utc>,
) -> Option<Boundary> {
    let mut at = after;
    while let Some(held) = spec.overrides.at(at) {
        at = held.until()?;
        if let Some(action) = turn_at(spec, delay, after, at).and_then(|turn| turn.action) {
            return Some(Boundary { at, action });
        }
    }
    spec.schedule.next_after(at, delay)
}
