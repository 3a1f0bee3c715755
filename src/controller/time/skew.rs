//! A scaler with a wrong clock does not act.

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use chrono::{DateTime, TimeDelta, Utc};
use tokio::time::Instant;

/// How often the server's time is asked for while the clock is wrong.
const PROBE_PAUSE: Duration = Duration::from_secs(5);

/// How far the wall clock is from the API server's.
///
/// The server's `Date` is remembered beside a monotonic instant, so that a clock that is stepped
/// later is noticed without asking again. `Date` has whole seconds; the skew is taken from the
/// nearer end of its second.
#[derive(Debug, Default)]
struct ServerClock {
    heard: Option<(DateTime<Utc>, Instant)>,
}

impl ServerClock {
    fn heard(&mut self, date: DateTime<Utc>, at: Instant) {
        self.heard = Some((date, at));
    }

    /// How far `now`, read at `at`, is ahead of the server's clock, negative behind it; `None`
    /// before the server's first time.
    fn skew(&self, now: DateTime<Utc>, at: Instant) -> Option<TimeDelta> {
        let (date, heard) = self.heard?;
        let gone = TimeDelta::from_std(at.saturating_duration_since(heard)).unwrap_or_default();
        let ahead = now - (date + gone);
        Some(if ahead < TimeDelta::zero() {
            ahead
        } else {
            (ahead - TimeDelta::seconds(1)).max(TimeDelta::zero())
        })
    }
}

/// Compares the clock with the server's.
#[derive(Debug)]
pub(in crate::controller) struct ClockGuard {
    server: SharedServerClock,
    most: Option<TimeDelta>,
    skew: Option<TimeDelta>,
    wrong: bool,
    probed: Option<Instant>,
}

/// The server's clock, which every answer of the server sets.
#[derive(Clone, Debug, Default)]
pub(in crate::controller) struct SharedServerClock(Arc<Mutex<ServerClock>>);

impl SharedServerClock {
    /// Takes in a `Date` of the server, heard at `at`.
    pub(in crate::controller) fn heard(&self, date: DateTime<Utc>, at: Instant) {
        self.lock().heard(date, at);
    }

    fn lock(&self) -> MutexGuard<'_, ServerClock> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ClockGuard {
    /// A guard that allows a skew of `most`; `None` disables it.
    pub(in crate::controller) fn new(server: SharedServerClock, most: Option<TimeDelta>) -> Self {
        Self {
            server,
            most,
            skew: None,
            wrong: false,
            probed: None,
        }
    }

    /// Checks the clock, which shows `now` at `at`: true if it has become wrong or right.
    pub(in crate::controller) fn look(&mut self, now: DateTime<Utc>, at: Instant) -> bool {
        let Some(most) = self.most else { return false };
        self.skew = self.server.lock().skew(now, at);
        let wrong = self.skew.is_some_and(|skew| skew.abs() > most);
        std::mem::replace(&mut self.wrong, wrong) != wrong
    }

    /// Whether the clock is too far from the server's to act.
    pub(in crate::controller) const fn is_wrong(&self) -> bool {
        self.wrong
    }

    /// How far the clock is ahead of the server's; `None` if unknown, or the guard is disabled.
    pub(in crate::controller) const fn skew(&self) -> Option<TimeDelta> {
        self.skew
    }

    /// `now` by the server's clock if our own is wrong, so that observations are dated correctly
    /// meanwhile.
    pub(in crate::controller) fn correct(&self, now: DateTime<Utc>) -> DateTime<Utc> {
        now - self.skew.filter(|_| self.wrong).unwrap_or_default()
    }

    /// When to ask the server for its time, if at all.
    pub(in crate::controller) fn next_probe(&self, now: Instant) -> Option<Instant> {
        self.wrong
            .then(|| self.probed.map_or(now, |probed| probed + PROBE_PAUSE))
    }

    /// Whether to ask the server for its time now; it counts as asked.
    pub(in crate::controller) fn take_probe(&mut self, now: Instant) -> bool {
        let due = self.next_probe(now).is_some_and(|probe| now >= probe);
        if due {
            self.probed = Some(now);
        }
        due
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_step_is_noticed_without_hearing_from_the_server_again() {
        let date: DateTime<Utc> = "2026-11-20T10:00:00Z".parse().unwrap();
        let begun = Instant::now();
        let later = begun + Duration::from_secs(60);
        let mut clock = ServerClock::default();
        assert_eq!(clock.skew(date, begun), None);
        clock.heard(date, begun);
        for (now, expected) in [
            ("2026-11-20T10:01:00.900Z", 0), // within the second that `Date` leaves open
            ("2026-11-20T10:02:01Z", 60),
            ("2026-11-20T10:00:00Z", -60),
        ] {
            let skew = clock.skew(now.parse().unwrap(), later);
            assert_eq!(skew, Some(TimeDelta::seconds(expected)), "{now}");
        }
    }
}
