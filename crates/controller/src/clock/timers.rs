//! The timers of all objects, by wall time or by elapsed time. The core fires those that are due.

use std::time::Duration;

use chrono::{DateTime, Utc};

use crate::{
    clock::{guard::Now, scheduler::Scheduler},
    ids::Id,
};

/// Identifies a timer of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Timer {
    /// A write is retried.
    Retry(Id),
    /// The Jobs of a CronJob are checked again.
    Jobs(Id),
    /// The object should be ready.
    ReadyBy(Id),
    /// The start slot of the object, which is not ready, expires.
    SlotEnds(Id),
}

/// When a timer is due: by the wall clock, which can be set, or by the elapsed time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Deadline {
    Wall(DateTime<Utc>),
    Elapsed(Duration),
}

impl From<DateTime<Utc>> for Deadline {
    fn from(at: DateTime<Utc>) -> Self {
        Self::Wall(at)
    }
}

impl From<Duration> for Deadline {
    fn from(at: Duration) -> Self {
        Self::Elapsed(at)
    }
}

/// The timers of all objects.
///
/// Boundaries are kept separately, because the next boundary is a metric and each object has one. Wall
/// and elapsed deadlines are kept separately, because setting the wall clock moves boundaries but not
/// backoffs.
#[derive(Default)]
pub(crate) struct Timers {
    boundaries: Scheduler<Id, DateTime<Utc>>,
    wall: Scheduler<Timer, DateTime<Utc>>,
    elapsed: Scheduler<Timer, Duration>,
}

impl Timers {
    /// Sets or changes the next boundary of an object, or the end of its override. `None` cancels it.
    pub(crate) fn set_boundary(&mut self, id: Id, at: Option<DateTime<Utc>>) {
        match at {
            Some(at) => self.boundaries.set(id, at),
            None => self.boundaries.cancel(&id),
        }
    }

    /// Sets or changes a timer.
    pub(crate) fn set(&mut self, timer: Timer, at: impl Into<Deadline>) {
        match at.into() {
            Deadline::Wall(at) => self.wall.set(timer, at),
            Deadline::Elapsed(at) => self.elapsed.set(timer, at),
        }
    }

    /// Cancels a timer.
    pub(crate) fn cancel(&mut self, timer: Timer) {
        self.wall.cancel(&timer);
        self.elapsed.cancel(&timer);
    }

    /// Cancels the timers of an object, except those of its Jobs.
    pub(crate) fn forget(&mut self, id: Id) {
        self.boundaries.cancel(&id);
        self.elapsed.cancel(&Timer::Retry(id));
        self.wall.cancel(&Timer::ReadyBy(id));
        self.wall.cancel(&Timer::SlotEnds(id));
    }

    /// The next boundary of all objects.
    pub(crate) fn next_boundary(&self) -> Option<DateTime<Utc>> {
        self.boundaries.next()
    }

    /// Takes the earliest boundary, if it is due.
    pub(crate) fn pop_boundary(&mut self, now: Now) -> Option<(Id, DateTime<Utc>)> {
        self.boundaries.take_due(now.wall)
    }

    /// Takes another timer that is due, and its deadline.
    pub(crate) fn pop_due(&mut self, now: Now) -> Option<(Timer, Deadline)> {
        if let Some((timer, at)) = self.elapsed.take_due(now.elapsed) {
            return Some((timer, at.into()));
        }
        let (timer, at) = self.wall.take_due(now.wall)?;
        Some((timer, at.into()))
    }

    /// When the next boundary or timer is due.
    pub(crate) fn next(&self, now: Now) -> Option<DateTime<Utc>> {
        let elapsed = self.elapsed.next().map(|at| now.wall_at(at));
        let all = [self.boundaries.next(), self.wall.next(), elapsed];
        all.into_iter().flatten().min()
    }

    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.boundaries.len() + self.wall.len() + self.elapsed.len()
    }
}

#[cfg(test)]
mod tests {
    use chrono::TimeDelta;

    use super::*;

    fn now(wall: i64, elapsed: u64) -> Now {
        Now {
            wall: at(wall),
            elapsed: Duration::from_secs(elapsed),
            ahead: None,
        }
    }

    fn at(second: i64) -> DateTime<Utc> {
        DateTime::UNIX_EPOCH + TimeDelta::seconds(second)
    }

    #[test]
    fn a_step_of_the_wall_clock_moves_boundaries_but_not_backoffs() {
        let (one, other) = (Id::new(1), Id::new(2));
        let mut timers = Timers::default();
        timers.set_boundary(one, Some(at(100)));
        timers.set(Timer::Retry(other), Duration::from_secs(30));
        assert_eq!(timers.next(now(0, 0)), Some(at(30)));
        // A user sets the clock 95 s ahead.
        assert_eq!(timers.next(now(95, 0)), Some(at(100)));
        assert_eq!(timers.pop_due(now(120, 25)), None);
        assert_eq!(timers.pop_boundary(now(120, 25)), Some((one, at(100))));
        let due = (Timer::Retry(other), Duration::from_secs(30).into());
        assert_eq!(timers.pop_due(now(125, 30)), Some(due));
        assert_eq!(timers.len(), 0);
    }

    #[test]
    fn forgetting_an_object_cancels_its_timers() {
        let id = Id::new(7);
        let mut timers = Timers::default();
        timers.set_boundary(id, Some(at(1)));
        timers.set(Timer::Retry(id), Duration::from_secs(1));
        timers.set(Timer::ReadyBy(id), at(2));
        timers.set(Timer::SlotEnds(id), at(3));
        timers.forget(id);
        assert_eq!(timers.len(), 0);
    }
}
