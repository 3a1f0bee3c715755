//! The time of a step, and whether the wall clock is right: a controller with a wrong clock does not
//! act. Nothing here reads a clock.

use std::{mem, time::Duration};

use chrono::{DateTime, TimeDelta, Utc};

/// How often the server is asked for its time while the clock is wrong.
const QUESTION_INTERVAL: Duration = Duration::from_secs(5);

/// The time of a step, by every clock that matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Now {
    /// The wall time.
    pub(crate) wall: DateTime<Utc>,
    /// The time since the controller began, by a clock that no step of the wall clock changes.
    pub(crate) elapsed: Duration,
    /// How far the wall clock is ahead of the API server's; `None` before the server's first time.
    pub(crate) ahead: Option<TimeDelta>,
}

impl Now {
    /// The wall time at another elapsed time, unless the clock is stepped before. A time that has
    /// passed is now.
    pub(crate) fn wall_at(&self, elapsed: Duration) -> DateTime<Utc> {
        let left = elapsed.saturating_sub(self.elapsed);
        let left = TimeDelta::from_std(left).unwrap_or_default();
        self.wall.checked_add_signed(left).unwrap_or(self.wall)
    }

    /// How long ago that was.
    pub(crate) const fn since(&self, elapsed: Duration) -> Duration {
        self.elapsed.saturating_sub(elapsed)
    }
}

/// The time of an observation.
#[derive(Clone, Copy)]
pub(crate) struct SeenAt {
    pub(crate) by_clock: DateTime<Utc>,
    /// The elapsed time, if the wall clock is wrong.
    pub(crate) elapsed: Option<Duration>,
}

/// Changes of the clock since the last check.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ClockChange {
    /// Whether it was set back: our own state may be from the future.
    pub(crate) was_set_back: bool,
    /// Whether it has become wrong, or right again.
    pub(crate) validity_changed: bool,
}

/// Compares the wall clock with the API server's, and with the elapsed time.
pub(crate) struct ClockGuard {
    /// How far it may differ from the server's; `None` disables the comparison.
    max_skew: Option<TimeDelta>,
    skew: Option<TimeDelta>,
    is_wrong: bool,
    /// When the server was asked for its time last.
    asked: Option<Duration>,
    /// The wall and elapsed time at the last check.
    checked: Option<(DateTime<Utc>, Duration)>,
}

impl ClockGuard {
    /// A clock that may differ from the server's by `max_skew`; `None` disables the comparison.
    pub(crate) const fn new(max_skew: Option<TimeDelta>) -> Self {
        Self {
            max_skew,
            skew: None,
            is_wrong: false,
            asked: None,
            checked: None,
        }
    }

    /// While it is wrong nothing is due and nothing is written.
    pub(crate) const fn is_wrong(&self) -> bool {
        self.is_wrong
    }

    /// How far it is ahead of the server's; `None` if unknown, or the comparison is disabled.
    pub(crate) const fn skew(&self) -> Option<TimeDelta> {
        self.skew
    }

    /// The time of an observation: by the server's clock if our own is wrong, so that observations
    /// are dated correctly meanwhile.
    pub(crate) fn seen_at(&self, now: Now) -> SeenAt {
        let ahead = self.skew.filter(|_| self.is_wrong);
        SeenAt {
            by_clock: now.wall - ahead.unwrap_or_default(),
            elapsed: self.is_wrong.then_some(now.elapsed),
        }
    }

    /// Checks the clock.
    pub(crate) fn check(&mut self, now: Now) -> ClockChange {
        ClockChange {
            validity_changed: self.update_skew(now),
            was_set_back: self.take_set_back(now),
        }
    }

    /// Whether it has become wrong or right since the last check.
    fn update_skew(&mut self, now: Now) -> bool {
        let Some(max) = self.max_skew else {
            return false;
        };
        self.skew = now.ahead;
        let is_wrong = self.skew.is_some_and(|skew| skew.abs() > max);
        mem::replace(&mut self.is_wrong, is_wrong) != is_wrong
    }

    /// Whether it was set back since the last check.
    fn take_set_back(&mut self, now: Now) -> bool {
        let checked = self.checked.replace((now.wall, now.elapsed));
        checked.is_some_and(|(before, elapsed)| {
            let passed = TimeDelta::from_std(now.since(elapsed)).unwrap_or_default();
            now.wall - before < passed - TimeDelta::seconds(1)
        })
    }

    /// When to ask the server for its time, if at all.
    pub(crate) fn next_question(&self, now: Now) -> Option<Duration> {
        let next = self.asked.map_or(now.elapsed, |at| at + QUESTION_INTERVAL);
        self.is_wrong.then_some(next)
    }

    /// Whether to ask the server for its time now; then it counts as asked.
    pub(crate) fn take_question(&mut self, now: Now) -> bool {
        let is_due = self.next_question(now).is_some_and(|at| now.elapsed >= at);
        if is_due {
            self.asked = Some(now.elapsed);
        }
        is_due
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn now(wall_seconds: i64, elapsed: u64, ahead: i64) -> Now {
        Now {
            wall: DateTime::UNIX_EPOCH + TimeDelta::seconds(wall_seconds),
            elapsed: Duration::from_secs(elapsed),
            ahead: Some(TimeDelta::seconds(ahead)),
        }
    }

    #[test]
    fn a_wrong_clock_dates_observations_by_the_server() {
        let mut guard = ClockGuard::new(Some(TimeDelta::seconds(30)));
        assert!(!guard.check(now(0, 0, 30)).validity_changed);
        let change = guard.check(now(101, 1, 100));
        assert!(change.validity_changed && !change.was_set_back && guard.is_wrong());
        let seen = guard.seen_at(now(101, 1, 100));
        assert_eq!(seen.by_clock, now(1, 1, 0).wall);
        assert!(guard.check(now(2, 2, 0)).validity_changed && !guard.is_wrong());
    }

    #[test]
    fn a_step_back_is_noticed_and_a_step_forward_is_not_one() {
        let mut guard = ClockGuard::new(None);
        assert!(!guard.check(now(100, 0, 0)).was_set_back);
        assert!(!guard.check(now(200, 1, 0)).was_set_back);
        assert!(guard.check(now(150, 2, 0)).was_set_back);
        assert!(!guard.check(now(151, 3, 0)).was_set_back);
    }

    #[test]
    fn the_server_is_asked_every_five_seconds_while_the_clock_is_wrong() {
        let mut guard = ClockGuard::new(Some(TimeDelta::seconds(30)));
        assert!(!guard.take_question(now(0, 0, 0)));
        guard.check(now(100, 0, 100));
        let asked: Vec<u64> = (0..12)
            .filter(|second| guard.take_question(now(100, *second, 100)))
            .collect();
        assert_eq!(asked, [0, 5, 10]);
    }
}
