//! What the ends of overrides come to.

use chrono::{DateTime, TimeDelta, Utc};

use super::period::Period;
use crate::{
    schedule::Action,
    workload::{Key, Override, ScheduleSpec},
};

/// An instant at which an override gives way, to the schedule or to another override.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct OverrideTurn {
    pub(super) at: DateTime<Utc>,
    /// The annotation of the override that ends.
    pub(super) ends: Key,
    /// What is done then; nothing at the end of a pause, and where the schedule says nothing.
    pub(super) action: Option<Action>,
}

/// The turns in a period, in order, of an object whose starts are moved by `delay` and whose
/// overrides hold from the beginning of the period on.
///
/// At the end of a wake or a sleep the newest boundary decides; the beginning of a wake below a
/// pause acts as a start, that of a sleep as a stop; the end of a pause adopts
/// (`docs/decisions/state/overrides.md`).
pub(super) fn turns(spec: &ScheduleSpec, delay: TimeDelta, period: Period) -> Vec<OverrideTurn> {
    let overrides = &spec.overrides;
    let mut ends: Vec<_> = overrides.all().filter_map(Override::until).collect();
    ends.retain(|at| period.from() < *at && *at < period.until());
    ends.sort_unstable();
    ends.dedup();
    let turn = |at: DateTime<Utc>| {
        let ended = overrides.at(at - TimeDelta::nanoseconds(1))?;
        let begins = overrides.at(at);
        if begins == Some(ended) {
            return None;
        }
        let says = || spec.schedule.says(at, delay);
        let action = match (begins, ended) {
            (Some(Override::Pause(_)), _) | (None, Override::Pause(_)) => None,
            (Some(Override::Wake(_)), _) => Some(Action::Start),
            (Some(Override::Sleep(_)), _) => Some(Action::Stop),
            (None, Override::Wake(_)) => says(),
            // What an override has stopped comes back where the schedule says nothing.
            (None, Override::Sleep(_)) => says().or(Some(Action::Start)),
        };
        let ends = Override::key(ended.phase())?;
        Some(OverrideTurn { at, ends, action })
    };
    ends.into_iter().filter_map(turn).collect()
}
