//! The boundaries of a schedule and the ends of what is laid over it, in one order.

use std::iter::Peekable;

use chrono::{DateTime, TimeDelta, Utc};
use dayshift_schedule::{Action, Boundary};
use dayshift_workload::{Key, ScheduleSpec};

use super::{
    override_turns::{OverrideTurn, turns},
    period::Period,
};

/// A start or a stop at its instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Occurrence {
    /// When.
    pub at: DateTime<Utc>,
    /// What.
    pub action: Action,
    /// Whether it is applied: a boundary of the schedule is not while an override holds.
    pub applied: bool,
    /// The annotation of the override that ends then.
    pub ends: Option<Key>,
}

/// The occurrences in `period`, in order, of an object whose starts are moved by `delay` and whose
/// overrides hold from `since` on. They are found as they are asked for: a schedule by the second
/// has millions in a year.
pub fn occurrences(
    spec: &ScheduleSpec,
    delay: TimeDelta,
    period: Period,
    since: DateTime<Utc>,
) -> impl Iterator<Item = Occurrence> + '_ {
    let overridden = Period::new(period.from().max(since), period.until());
    let turns = overridden.map_or_else(|_| Vec::new(), |it| turns(spec, delay, it));
    Occurrences {
        spec,
        since,
        boundaries: spec
            .schedule
            .boundaries(period.from(), period.until(), delay)
            .peekable(),
        turns: turns.into_iter().peekable(),
    }
}

struct Occurrences<'s, B: Iterator<Item = Boundary>, T: Iterator<Item = OverrideTurn>> {
    spec: &'s ScheduleSpec,
    since: DateTime<Utc>,
    boundaries: Peekable<B>,
    turns: Peekable<T>,
}

impl<B: Iterator<Item = Boundary>, T: Iterator<Item = OverrideTurn>> Iterator
    for Occurrences<'_, B, T>
{
    type Item = Occurrence;

    fn next(&mut self) -> Option<Occurrence> {
        loop {
            let next = self.boundaries.peek().map(|it| it.at);
            let turn = self.turns.peek().copied();
            if let Some(turn) = turn.filter(|turn| next.is_none_or(|next| turn.at < next)) {
                self.turns.next();
                if let Some(action) = turn.action {
                    return Some(Occurrence {
                        at: turn.at,
                        action,
                        applied: true,
                        ends: Some(turn.ends),
                    });
                }
                continue;
            }
            let Boundary { at, action } = self.boundaries.next()?;
            // At that very instant the end of the override is what is done.
            let turn = turn.filter(|turn| turn.at == at);
            let same = turn.filter(|turn| turn.action == Some(action));
            if same.is_some() {
                self.turns.next();
            }
            let is_free = at < self.since || self.spec.overrides.at(at).is_none();
            return Some(Occurrence {
                at,
                action,
                applied: turn.map_or(is_free, |_| same.is_some()),
                ends: same.map(|turn| turn.ends),
            });
        }
    }
}
