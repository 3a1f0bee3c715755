//! What holds from which instant on, through a period.

use std::iter::Peekable;

use chrono::{DateTime, TimeDelta, Utc};
use dayshift_schedule::Action;
use dayshift_workload::{Override, ScheduleSpec};

use super::{
    occurrence::{Occurrence, occurrences},
    period::Period,
};

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
        let boundary = self.boundaries.next_if(|it| it.at <= self.at);
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
        let next = self.boundaries.peek().map_or(self.until, |it| it.at);
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
            boundary: boundary.map(|it| (it.action, it.applied)),
        })
    }
}
