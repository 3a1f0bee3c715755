//! The wall clock, held against the API server's and against time that no step touches.

use std::{mem, time::Duration};

use chrono::{DateTime, TimeDelta, Utc};
use dayshift_cluster::clock::Clock;
use tokio::time::Instant;

use crate::time::skew::ServerClock;

/// How often the server's time is asked for while the clock is wrong.
const PROBE_PAUSE: Duration = Duration::from_secs(5);

/// The wall clock, and whether it is right: a scaler with a wrong clock does not act.
pub(crate) struct GuardedClock {
    clock: Clock,
    server: ServerClock,
    /// How far it may differ from the server's; `None` disables the comparison.
    max_skew: Option<TimeDelta>,
    skew: Option<TimeDelta>,
    is_wrong: bool,
    /// When the server was asked for its time last.
    probed: Option<Instant>,
    /// The time that it showed at the last check.
    shown: Option<(DateTime<Utc>, Instant)>,
}

/// The time of an observation.
#[derive(Clone, Copy)]
pub(crate) struct SeenAt {
    pub(crate) by_clock: DateTime<Utc>,
    /// The same by a clock that no step touches, if the wall clock is wrong.
    pub(crate) monotonic: Option<Instant>,
}

/// Changes of the clock since the last check.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ClockChange {
    /// Whether it was set back: our own state may be from the future.
    pub(crate) was_set_back: bool,
    /// Whether it has become wrong, or right again.
    pub(crate) has_turned: bool,
}

impl GuardedClock {
    /// The clock beside the server's, which may differ by `max_skew`; `None` disables the
    /// comparison.
    pub(crate) const fn new(
        clock: Clock,
        server: ServerClock,
        max_skew: Option<TimeDelta>,
    ) -> Self {
        Self {
            clock,
            server,
            max_skew,
            skew: None,
            is_wrong: false,
            probed: None,
            shown: None,
        }
    }

    /// The wall time.
    pub(crate) fn now(&self) -> DateTime<Utc> {
        self.clock.now()
    }

    /// The clock itself.
    pub(crate) const fn clock(&self) -> &Clock {
        &self.clock
    }

    /// Time that no step of the wall clock touches.
    pub(crate) fn monotonic(&self) -> Instant {
        self.clock.monotonic()
    }

    /// While it is wrong nothing is due and nothing is written.
    pub(crate) const fn is_wrong(&self) -> bool {
        self.is_wrong
    }

    /// How far it is ahead of the server's; `None` if unknown, or the comparison is disabled.
    pub(crate) const fn skew(&self) -> Option<TimeDelta> {
        self.skew
    }

    /// The time of an observation now: by the server's clock if our own is wrong, so that
    /// observations are dated correctly meanwhile.
    pub(crate) fn seen_at(&self) -> SeenAt {
        let monotonic = self.clock.monotonic();
        let ahead = self.skew.filter(|_| self.is_wrong);
        SeenAt {
            by_clock: self.clock.now() - ahead.unwrap_or_default(),
            monotonic: self.is_wrong.then_some(monotonic),
        }
    }

    /// Checks it.
    pub(crate) fn look(&mut self) -> ClockChange {
        let (now, monotonic) = (self.now(), self.monotonic());
        ClockChange {
            has_turned: self.take_turn(now, monotonic),
            was_set_back: self.take_set_back(now, monotonic),
        }
    }

    /// Whether it has become wrong or right since the last look.
    fn take_turn(&mut self, now: DateTime<Utc>, at: Instant) -> bool {
        let Some(max) = self.max_skew else {
            return false;
        };
        self.skew = self.server.skew(now, at);
        let is_wrong = self.skew.is_some_and(|skew| skew.abs() > max);
        mem::replace(&mut self.is_wrong, is_wrong) != is_wrong
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
    pub(crate) fn wall_time(&self, at: Instant) -> DateTime<Utc> {
        let left: Duration = at.saturating_duration_since(self.monotonic());
        self.now() + TimeDelta::from_std(left).unwrap_or_default()
    }

    /// When to ask the server for its time, if at all.
    pub(crate) fn next_probe(&self) -> Option<Instant> {
        let next = || {
            self.probed
                .map_or_else(|| self.monotonic(), |at| at + PROBE_PAUSE)
        };
        self.is_wrong.then(next)
    }

    /// Whether to ask the server for its time now; it counts as asked.
    pub(crate) fn take_probe(&mut self) -> bool {
        let now = self.monotonic();
        let is_due = self.next_probe().is_some_and(|at| now >= at);
        if is_due {
            self.probed = Some(now);
        }
        is_due
    }
}
