//! What holds from which instant on, through a period.

use std::iter::Peekable;

use chrono::{DateTime, TimeDelta, Utc};

use crate::{
    plan::{Occurrence, Period, occurrences},
    schedule::Action,
    workload::{Override, ScheduleSpec},
};

/// What a Deployment does for a while.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
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

impl State {
    pub(super) const COUNT: usize = 6;
}

/// A while in which nothing changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Step {
    pub(super) from: DateTime<Utc>,
    pub(super) until: DateTime<Utc>,
    pub(super) state: State,
    /// The boundary that it begins with, and whether it is applied.
    pub(super) boundary: Option<(Action, bool)>,
}

/// The steps of a period, without a gap between them. A boundary at the very end is a last step
/// of no length, so that a day can be told to end with it.
pub(super) struct Timeline<'a, B: Iterator<Item = Occurrence>> {
    spec: &'a ScheduleSpec,
    boundaries: Peekable<B>,
    /// Where overrides begin to hold and where they end, the last first.
    turns: Vec<DateTime<Utc>>,
    /// When overrides begin to hold.
    since: DateTime<Utc>,
    at: DateTime<Utc>,
    until: DateTime<Utc>,
    /// What the schedule says, and whether that has been carried out.
    says: Option<Action>,
    done: bool,
}

/// The steps of `period` for an object whose starts are moved by `delay`, and whose overrides
/// hold from `since` on.
pub(super) fn timeline(
    spec: &ScheduleSpec,
    delay: TimeDelta,
    period: Period,
    since: DateTime<Utc>,
) -> Timeline<'_, impl Iterator<Item = Occurrence> + '_> {
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
        says: schedule.says(from, delay),
        done: false,
    }
}

impl<B: Iterator<Item = Occurrence>> Timeline<'_, B> {
    fn laid_over(&self) -> Option<Override> {
        (self.at >= self.since)
            .then(|| self.spec.overrides.at(self.at))
            .flatten()
    }

    fn state(&self) -> State {
        match (self.laid_over(), self.says) {
            (Some(Override::Pause(_)), _) => State::Paused,
            (Some(Override::Wake(_)), _) => State::Woken,
            (Some(Override::Sleep(_)), _) => State::Slept,
            (None, Some(action)) if action.brings_up() => State::Running,
            (None, Some(_)) => State::Stopped,
            (None, None) => State::AsItIs,
        }
    }
}

impl<B: Iterator<Item = Occurrence>> Iterator for Timeline<'_, B> {
    type Item = Step;

    fn next(&mut self) -> Option<Step> {
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
        let state = self.state();
        if state == State::Paused {
            // The end of a pause adopts: nothing is done before the next boundary.
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
        Some(Step {
            from,
            until: self.at,
            state,
            boundary: boundary.map(|it| (it.action, it.applied)),
        })
    }
}
