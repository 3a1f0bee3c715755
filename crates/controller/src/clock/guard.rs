//! The time of a step, and the check of the wall clock. A controller with a wrong clock does nothing. The
//! driver reads the clocks.

use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};

/// How often the controller requests the server's time while the clock is wrong.
const REQUEST_INTERVAL: Duration = Duration::from_secs(5);

/// The time of a step, by all clocks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Now {
    /// The wall time.
    pub(crate) wall: DateTime<Utc>,
    /// The time since the start of the controller, by a monotonic clock.
    pub(crate) elapsed: Duration,
    /// How far the wall clock is ahead of the API server's; `None` before the first response.
    pub(crate) ahead: Option<TimeDelta>,
}

impl Now {
    /// The wall time at an elapsed time, if the wall clock is not stepped before. Returns the current
    /// time for an elapsed time in the past.
    pub(crate) fn wall_at(&self, elapsed: Duration) -> DateTime<Utc> {
        let left = elapsed.saturating_sub(self.elapsed);
        let left = TimeDelta::from_std(left).unwrap_or_default();
        self.wall.checked_add_signed(left).unwrap_or(self.wall)
    }

    /// The duration since an elapsed time.
    pub(crate) const fn since(&self, elapsed: Duration) -> Duration {
        self.elapsed.saturating_sub(elapsed)
    }
}

/// The time of an observation.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct SeenAt {
    /// The wall time, corrected by the skew if the wall clock is wrong.
    pub(crate) by_clock: DateTime<Utc>,
    /// The elapsed time, if the wall clock is wrong.
    pub(crate) elapsed: Option<Duration>,
}

/// The changes of the clock since the last check.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ClockChange {
    /// Whether it was set back by more than a second. Then states that dayshift wrote might be from the future.
    pub(crate) was_set_back: bool,
    /// Whether it has become wrong, or right again.
    pub(crate) validity_changed: bool,
}

/// Checks the wall clock against the API server's clock and the elapsed time.
pub(crate) struct ClockGuard {
    /// The maximum allowed difference from the server's clock; `None` disables the comparison.
    max_skew: Option<TimeDelta>,
    skew: Option<TimeDelta>,
    is_wrong: bool,
    /// When the server's time was last requested.
    requested_at: Option<Duration>,
    /// The wall and elapsed time at the last check.
    checked: Option<(DateTime<Utc>, Duration)>,
}

impl ClockGuard {
    /// Creates a guard that allows a difference of `max_skew`; `None` disables the comparison.
    pub(crate) const fn new(max_skew: Option<TimeDelta>) -> Self {
        Self {
            max_skew,
            skew: None,
            is_wrong: false,
            requested_at: None,
            checked: None,
        }
    }

    /// Whether the clock is wrong. While it is, no boundary is due and no workload is changed.
    pub(crate) const fn is_wrong(&self) -> bool {
        self.is_wrong
    }

    /// How far the clock is ahead of the server's; `None` if unknown or if the comparison is disabled.
    pub(crate) const fn skew(&self) -> Option<TimeDelta> {
        self.skew
    }

    /// The time of an observation at `now`. While the clock is wrong, the server's time is used.
    pub(crate) fn seen_at(&self, now: Now) -> SeenAt {
        let ahead = self.skew.filter(|_| self.is_wrong);
        SeenAt {
            by_clock: now.wall - ahead.unwrap_or_default(),
            elapsed: self.is_wrong.then_some(now.elapsed),
        }
    }

    /// Checks the clock. Returns the changes since the last check.
    pub(crate) fn check(&mut self, now: Now) -> ClockChange {
        let was_wrong = self.is_wrong;
        if let Some(max) = self.max_skew {
            self.skew = now.ahead;
            self.is_wrong = self.skew.is_some_and(|skew| skew.abs() > max);
        }
        let checked = self.checked.replace((now.wall, now.elapsed));
        let was_set_back = checked.is_some_and(|(before, elapsed)| {
            let passed = TimeDelta::from_std(now.since(elapsed)).unwrap_or_default();
            now.wall - before < passed - TimeDelta::seconds(1)
        });
        ClockChange {
            was_set_back,
            validity_changed: self.is_wrong != was_wrong,
        }
    }

    /// When the server's time should be requested; `None` while the clock is right.
    pub(crate) fn next_time_request(&self, now: Now) -> Option<Duration> {
        let next = self
            .requested_at
            .map_or(now.elapsed, |at| at + REQUEST_INTERVAL);
        self.is_wrong.then_some(next)
    }

    /// Whether the server's time should be requested now. If so, records the request.
    pub(crate) fn take_time_request(&mut self, now: Now) -> bool {
        let is_due = self
            .next_time_request(now)
            .is_some_and(|at| now.elapsed >= at);
        if is_due {
            self.requested_at = Some(now.elapsed);
        }
        is_due
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    impl Now {
        /// A time this many seconds after the start of the controller, for tests of code that reads no wall time.
        pub(crate) fn at_second(elapsed: u64) -> Self {
            Self {
                elapsed: Duration::from_secs(elapsed),
                ..Self::default()
            }
        }
    }

    fn now(wall_seconds: i64, elapsed: u64, ahead: i64) -> Now {
        Now {
            wall: DateTime::UNIX_EPOCH + TimeDelta::seconds(wall_seconds),
            elapsed: Duration::from_secs(elapsed),
            ahead: Some(TimeDelta::seconds(ahead)),
        }
    }

    #[test]
    fn while_the_clock_is_wrong_observations_have_the_time_of_the_server() {
        let mut guard = ClockGuard::new(Some(TimeDelta::seconds(30)));
        assert!(!guard.check(now(0, 0, 30)).validity_changed);
        let change = guard.check(now(101, 1, 100));
        assert!(change.validity_changed && !change.was_set_back && guard.is_wrong());
        let seen = guard.seen_at(now(101, 1, 100));
        assert_eq!(seen.by_clock, now(1, 1, 0).wall);
        assert!(guard.check(now(2, 2, 0)).validity_changed && !guard.is_wrong());
    }

    #[test]
    fn only_a_step_back_is_reported_as_set_back() {
        let mut guard = ClockGuard::new(None);
        assert!(!guard.check(now(100, 0, 0)).was_set_back);
        assert!(!guard.check(now(200, 1, 0)).was_set_back);
        assert!(guard.check(now(150, 2, 0)).was_set_back);
        assert!(!guard.check(now(151, 3, 0)).was_set_back);
    }

    #[test]
    fn the_server_time_is_requested_every_five_seconds_while_the_clock_is_wrong() {
        let mut guard = ClockGuard::new(Some(TimeDelta::seconds(30)));
        assert!(!guard.take_time_request(now(0, 0, 0)));
        guard.check(now(100, 0, 100));
        let asked: Vec<u64> = (0..12)
            .filter(|second| guard.take_time_request(now(100, *second, 100)))
            .collect();
        assert_eq!(asked, [0, 5, 10]);
    }
}
