//! The span of time that is looked at.
//!
//! The boundaries of a schedule and the ends of what is laid over it, in one order.
//!
//! What the ends of overrides come to.
//!
//! What holds from which instant on, through a period.

use std::iter::Peekable;

use chrono::{DateTime, Days, NaiveTime, TimeDelta, Utc};
use dayshift_schedule::{Action, Boundary, Zone};
use dayshift_workload::{Key, Override, ScheduleSpec};

/// A span of time from an instant to another, which does not belong to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Period {
    from: DateTime<Utc>,
    until: DateTime<Utc>,
}

/// Why two instants make no period.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PeriodError {
    /// The end is not after the beginning.
    #[error("the end, {until}, is not after the beginning, {from}")]
    Backwards {
        /// The beginning.
        from: DateTime<Utc>,
        /// The end.
        until: DateTime<Utc>,
    },
    /// No calendar has this many days.
    #[error("{0} days are too many")]
    TooLong(u32),
}

impl Period {
    /// From an instant to a later one.
    ///
    /// # Errors
    /// Where the other is not later.
    pub fn new(from: DateTime<Utc>, until: DateTime<Utc>) -> Result<Self, PeriodError> {
        if from < until {
            Ok(Self { from, until })
        } else {
            Err(PeriodError::Backwards { from, until })
        }
    }

    /// Whole days of the calendar of `zone`: to the same time of day, so many days later. A day
    /// whose midnight clocks skip begins when they go on.
    ///
    /// # Errors
    /// Where `days` is 0 or the end is out of range.
    pub fn days(from: DateTime<Utc>, days: u32, zone: Zone) -> Result<Self, PeriodError> {
        let local = from.with_timezone(&zone).naive_local();
        let midnight = local.date().and_time(NaiveTime::MIN);
        let local = if zone.instant(midnight) == from {
            midnight
        } else {
            local
        };
        let until = local
            .checked_add_days(Days::new(days.into()))
            .ok_or(PeriodError::TooLong(days))?;
        Self::new(from, zone.instant(until))
    }

    /// The same with its end, to the second.
    #[must_use]
    pub fn and_its_end(self) -> Self {
        Self {
            until: self.until + TimeDelta::seconds(1),
            ..self
        }
    }

    /// Whether an instant belongs to it.
    pub fn contains(&self, at: DateTime<Utc>) -> bool {
        self.from <= at && at < self.until
    }

    /// The beginning.
    pub fn from(&self) -> DateTime<Utc> {
        self.from
    }

    /// The end.
    pub fn until(&self) -> DateTime<Utc> {
        self.until
    }
}

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
    let turns = overridden.map_or_else(|_| Vec::new(), |period| turns(spec, delay, period));
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
            let next = self.boundaries.peek().map(|boundary| boundary.at);
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

/// An instant at which an override gives way, to the schedule or to another override.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct OverrideTurn {
    pub(crate) at: DateTime<Utc>,
    /// The annotation of the override that ends.
    pub(crate) ends: Key,
    /// What is done then; nothing where the schedule says nothing, and at the end of a pause unless
    /// the schedule says running by then and did not before.
    pub(crate) action: Option<Action>,
}

/// The turns in a period, in order, of an object whose starts are moved by `delay` and whose
/// overrides hold from the beginning of the period on.
pub(crate) fn turns(spec: &ScheduleSpec, delay: TimeDelta, period: Period) -> Vec<OverrideTurn> {
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

/// What an object does for a while, by its schedule and what is laid over it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlannedState {
    /// The schedule says running.
    Running,
    /// The schedule says stopped.
    Stopped,
    /// The schedule says nothing: it is left as it is.
    AsItIs,
    /// An override keeps it running.
    Woken,
    /// An override keeps it stopped.
    Slept,
    /// Nothing is done for now.
    Paused,
}

impl PlannedState {
    /// How many there are.
    pub const COUNT: usize = 6;
}

/// A while in which nothing changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlannedStep {
    /// From when.
    pub from: DateTime<Utc>,
    /// Until when.
    pub until: DateTime<Utc>,
    /// What holds.
    pub state: PlannedState,
    /// What the schedule says, whatever is laid over it; `None` where it says nothing yet.
    pub says: Option<Action>,
    /// The boundary that it begins with, and whether it is applied.
    pub boundary: Option<(Action, bool)>,
}

struct Timeline<'a, B: Iterator<Item = Occurrence>> {
    spec: &'a ScheduleSpec,
    boundaries: Peekable<B>,
    /// Where overrides begin to hold and where they end, the last first.
    turns: Vec<DateTime<Utc>>,
    /// When overrides begin to hold.
    since: DateTime<Utc>,
    at: DateTime<Utc>,
    until: DateTime<Utc>,
    delay: TimeDelta,
    /// Whether a pause holds before `at`.
    is_paused: bool,
    /// What the schedule says, and whether that has been carried out.
    says: Option<Action>,
    done: bool,
}

/// The steps of `period` for an object whose starts are moved by `delay`, and whose overrides
/// hold from `since` on, without a gap between them. A boundary at the very end is a last step of
/// no length, so that a day can be told to end with it.
pub fn timeline(
    spec: &ScheduleSpec,
    delay: TimeDelta,
    period: Period,
    since: DateTime<Utc>,
) -> impl Iterator<Item = PlannedStep> + '_ {
    let schedule = &spec.schedule;
    let (from, until) = (period.from(), period.until());
    let overrides = &spec.overrides;
    let ends = overrides.all().filter_map(Override::until);
    let mut turns: Vec<_> = ends.chain([since]).collect();
    turns.retain(|at| from < *at && *at < until);
    turns.sort_unstable_by(|one, other| other.cmp(one));
    turns.dedup();
    Timeline {
        spec,
        boundaries: occurrences(spec, delay, period.and_its_end(), since).peekable(),
        turns,
        since,
        at: from,
        until,
        delay,
        is_paused: false,
        says: schedule.action_at(from, delay),
        done: false,
    }
}

impl<B: Iterator<Item = Occurrence>> Timeline<'_, B> {
    fn laid_over(&self) -> Option<Override> {
        (self.at >= self.since)
            .then(|| self.spec.overrides.at(self.at))
            .flatten()
    }

    fn state(&self) -> PlannedState {
        match (self.laid_over(), self.says) {
            (Some(Override::Pause(_)), _) => PlannedState::Paused,
            (Some(Override::Wake(_)), _) => PlannedState::Woken,
            (Some(Override::Sleep(_)), _) => PlannedState::Slept,
            (None, Some(action)) if action.is_up() => PlannedState::Running,
            (None, Some(_)) => PlannedState::Stopped,
            (None, None) => PlannedState::AsItIs,
        }
    }
}

impl<B: Iterator<Item = Occurrence>> Iterator for Timeline<'_, B> {
    type Item = PlannedStep;

    fn next(&mut self) -> Option<PlannedStep> {
        if self.done {
            return None;
        }
        self.turns.pop_if(|turn| *turn <= self.at);
        let boundary = self.boundaries.next_if(|boundary| boundary.at <= self.at);
        if let Some(boundary) = boundary {
            // What an override does, at its beginning, the schedule does not say.
            if boundary.applied && self.laid_over().is_none() {
                self.says = Some(boundary.action);
            }
        } else if self.at == self.until {
            return None;
        }
        if self.is_paused && boundary.is_none() && self.laid_over().is_none() {
            // The end of a pause stops nothing. What runs by then goes on where that is what the
            // schedule says.
            let says = self.spec.schedule.action_at(self.at, self.delay);
            self.says = says.filter(|says| *says == Action::Start);
        }
        let state = self.state();
        self.is_paused = state == PlannedState::Paused;
        if self.is_paused {
            self.says = None;
        }
        let from = self.at;
        let next = self
            .boundaries
            .peek()
            .map_or(self.until, |boundary| boundary.at);
        self.at = self
            .turns
            .last()
            .map_or(next, |turn| next.min(*turn))
            .min(self.until);
        self.done = from == self.until;
        Some(PlannedStep {
            from,
            until: self.at,
            state,
            says: self.says,
            boundary: boundary.map(|boundary| (boundary.action, boundary.applied)),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> DateTime<Utc> {
        text.parse().unwrap()
    }

    #[test]
    fn a_day_is_one_of_the_calendar() {
        let new_york = Zone::parse("America/New_York").unwrap();
        for (from, days, until) in [
            ("2026-10-31T04:00:00Z", 1, "2026-11-01T04:00:00Z"),
            ("2026-10-31T04:00:00Z", 2, "2026-11-02T05:00:00Z"),
            ("2026-03-07T07:30:00Z", 1, "2026-03-08T07:00:00Z"), // 02:30 does not exist
        ] {
            let period = Period::days(at(from), days, new_york).unwrap();
            assert_eq!((period.from(), period.until()), (at(from), at(until)));
        }
        let now = at("2026-11-20T10:00:00Z");
        assert!(Period::days(now, 0, Zone::UTC).is_err());
        assert!(Period::days(now, u32::MAX, Zone::UTC).is_err());
    }

    #[test]
    fn an_end_comes_after_its_beginning() {
        let (early, late) = (at("2026-11-20T10:00:00Z"), at("2026-11-20T10:00:01Z"));
        assert!(Period::new(early, late).is_ok());
        for until in [early, "2026-11-20T09:00:00Z".parse().unwrap()] {
            assert_eq!(
                Period::new(early, until),
                Err(PeriodError::Backwards { from: early, until })
            );
        }
    }
}
