//! The wall clock, held against the API server's and against time that no step touches.

use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use tokio::time::Instant;

use crate::clock::Clock;

use super::{
    entry::SeenAt,
    skew::{ClockGuard, SharedServerClock},
};

/// The wall clock, and whether it is right.
pub(super) struct GuardedClock {
    clock: Clock,
    guard: ClockGuard,
    /// What it showed when it was looked at last.
    shown: Option<(DateTime<Utc>, Instant)>,
}

/// What has happened to the clock since it was looked at last.
#[derive(Clone, Copy, Debug)]
pub(super) struct ClockChange {
    /// It was set back: what was done by it may be from the future.
    pub(super) was_set_back: bool,
    /// It has become wrong, or right again.
    pub(super) has_turned: bool,
}

impl GuardedClock {
    /// The clock beside the server's, which may be `most` apart; `None` where that is not looked at.
    pub(super) fn new(clock: Clock, server: SharedServerClock, most: Option<TimeDelta>) -> Self {
        Self {
            clock,
            guard: ClockGuard::new(server, most),
            shown: None,
        }
    }

    /// The wall time.
    pub(super) fn now(&self) -> DateTime<Utc> {
        self.clock.now()
    }

    /// Time that no step of the wall clock touches.
    pub(super) fn monotonic(&self) -> Instant {
        self.clock.monotonic()
    }

    /// Rule 13: while it is wrong nothing is due and nothing is written.
    pub(super) const fn is_wrong(&self) -> bool {
        self.guard.is_wrong()
    }

    /// How far it is ahead of the server's; `None` where that is unknown or not looked at.
    pub(super) const fn skew(&self) -> Option<TimeDelta> {
        self.guard.skew()
    }

    /// When something that is seen now is seen.
    pub(super) fn seen_at(&self) -> SeenAt {
        let monotonic = self.clock.monotonic();
        SeenAt {
            by_clock: self.guard.correct(self.clock.now()),
            unsure: self.guard.is_wrong().then_some(monotonic),
        }
    }

    /// Looks at it.
    pub(super) fn look(&mut self) -> ClockChange {
        let (now, monotonic) = (self.now(), self.monotonic());
        ClockChange {
            has_turned: self.guard.look(now, monotonic),
            was_set_back: self.was_set_back(now, monotonic),
        }
    }

    fn was_set_back(&mut self, now: DateTime<Utc>, monotonic: Instant) -> bool {
        let shown = self.shown.replace((now, monotonic));
        shown.is_some_and(|(before, at)| {
            let gone = TimeDelta::from_std(monotonic - at).unwrap_or_default();
            now - before < gone - TimeDelta::seconds(1)
        })
    }

    /// The wall time of an instant, if no step comes between.
    pub(super) fn wall_time(&self, at: Instant) -> DateTime<Utc> {
        let left: Duration = at.saturating_duration_since(self.monotonic());
        self.now() + TimeDelta::from_std(left).unwrap_or_default()
    }

    /// When the server is to be asked for its time, if it is.
    pub(super) fn next_probe(&self) -> Option<Instant> {
        self.guard.next_probe(self.monotonic())
    }

    /// Whether the server is to be asked for its time now; it is taken to be.
    pub(super) fn take_probe(&mut self) -> bool {
        let monotonic = self.monotonic();
        self.guard.take_probe(monotonic)
    }
}
