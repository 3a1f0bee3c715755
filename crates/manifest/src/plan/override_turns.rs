//! What the ends of overrides come to.

use chrono::{DateTime, TimeDelta, Utc};
use dayshift_schedule::{Action, Boundary};
use dayshift_workload::{Key, Override, ScheduleSpec};

use super::period::Period;

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

/// The turn at an instant, if an override gives way then that held at `since`. At the end of a wake or a
/// sleep the newest boundary decides; a wake that comes to hold begins as a start, a sleep as a stop;
/// the end of a pause carries out a boundary at its very instant, and else starts what is held down
/// though the schedule says running (`docs/decisions/state/overrides.md`).
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
    let says = || spec.schedule.action_at(at, delay);
    let action = match (begins, ended) {
        (Some(Override::Pause(_)), _) => None,
        (Some(Override::Wake(_)), _) => Some(Action::Start),
        (Some(Override::Sleep(_)), _) => Some(Action::Stop),
        (None, Override::Pause(_)) => {
            let newest = spec.schedule.latest_at(at, delay);
            let is_boundary = newest.is_some_and(|newest| newest.at == at);
            // What was stopped as the pause began is held down by then. Exact counts save nothing.
            let is_held_down = spec.schedule.action_at(since, delay) == Some(Action::Stop);
            says().filter(|says| is_boundary || is_held_down && says.is_up())
        }
        // What an override has stopped comes back where the schedule says nothing.
        (None, Override::Sleep(_)) => says().or(Some(Action::Start)),
        (None, Override::Wake(_)) => says(),
    };
    let ends = ended.annotation();
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
