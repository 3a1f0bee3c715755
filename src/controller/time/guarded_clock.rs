//! The wall clock, held against the API server's and against time that no step touches.

use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use tokio::time::Instant;

use crate::clock::Clock;

use crate::controller::time::skew::{ClockGuard, SharedServerClock};

/// The wall clock, and whether it is right.
pub(in crate::controller) struct GuardedClock {
    clock: Clock,
    guard: ClockGuard,
    /// The time that it showed at the last check.
    shown: Option<(DateTime<Utc>, Instant)>,
}

/// The time of an observation.
#[derive(Clone, Copy)]
pub(in crate::controller) struct SeenAt {
    pub(in crate::controller) by_clock: DateTime<Utc>,
    /// The same by a clock that no step touches, if the wall clock is wrong.
    pub(in crate::controller) monotonic: Option<Instant>,
}

/// Changes of the clock since the last check.
#[derive(Clone, Copy, Debug)]
pub(in crate::controller) struct ClockChange {
    /// Whether it was set back: our own state may be from the future.
    pub(in crate::controller) was_set_back: bool,
    /// Whether it has become wrong, or right again.
    pub(in crate::controller) has_turned: bool,
}

impl GuardedClock {
    /// The clock beside the server's, which may differ by `most`; `None` disables the comparison.
    pub(in crate::controller) fn new(
        clock: Clock,
        server: SharedServerClock,
        most: Option<TimeDelta>,
    ) -> Self {
        Self {
            clock,
            guard: ClockGuard::new(server, most),
            shown: None,
        }
    }

    /// The wall time.
    pub(in crate::controller) fn now(&self) -> DateTime<Utc> {
        self.clock.now()
    }

    /// The clock itself.
    pub(in crate::controller) const fn clock(&self) -> &Clock {
        &self.clock
    }

    /// Time that no step of the wall clock touches.
    pub(in crate::controller) fn monotonic(&self) -> Instant {
        self.clock.monotonic()
    }

    /// While it is wrong nothing is due and nothing is written.
    pub(in crate::controller) const fn is_wrong(&self) -> bool {
        self.guard.is_wrong()
    }

    /// How far it is ahead of the server's; `None` if unknown, or the comparison is disabled.
    pub(in crate::controller) const fn skew(&self) -> Option<TimeDelta> {
        self.guard.skew()
    }

    /// The time of an observation now.
    pub(in crate::controller) fn seen_at(&self) -> SeenAt {
        let monotonic = self.clock.monotonic();
        SeenAt {
            by_clock: self.guard.correct(self.clock.now()),
            monotonic: self.guard.is_wrong().then_some(monotonic),
        }
    }

    /// Checks it.
    pub(in crate::controller) fn look(&mut self) -> ClockChange {
        let (now, monotonic) = (self.now(), self.monotonic());
        ClockChange {
            has_turned: self.guard.look(now, monotonic),
            was_set_back: self.take_set_back(now, monotonic),
        }
    }

    /// Whether it was set back since the last look.
    fn take_set_back(&mut self, now: DateTime<Utc>, monotonic: Instant) -> bool {
        let shown = self.shown.replace((now, monotonic));
        shown.is_some_and(|(before, at)| {
            let gone = TimeDelta::from_std(monotonic - at).unwrap_or_default();
            now - before < gone - TimeDelta::seconds(1)
        })
    }

    /// The wall time of an instant, if the clock is not stepped before.
    pub(in crate::controller) fn wall_time(&self, at: Instant) -> DateTime<Utc> {
        let left: Duration = at.saturating_duration_since(self.monotonic());
        self.now() + TimeDelta::from_std(left).unwrap_or_default()
    }

    /// When to ask the server for its time, if at all.
    pub(in crate::controller) fn next_probe(&self) -> Option<Instant> {
        self.guard.next_probe(self.monotonic())
    }

    /// Whether to ask the server for its time now; it counts as asked.
    pub(in crate::controller) fn take_probe(&mut self) -> bool {
        let monotonic = self.monotonic();
        self.guard.take_probe(monotonic)
    }
}
