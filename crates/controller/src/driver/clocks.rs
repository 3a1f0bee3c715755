//! The clocks that a step reads: the wall clock, the elapsed time, and the API server's clock.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use chrono::{DateTime, TimeDelta, Utc};
use dayshift_cluster::clock::Clock;
use tokio::time::Instant;

use crate::clock::guard::Now;

/// The clocks of a controller.
pub(super) struct Clocks {
    clock: Clock,
    server: ServerClock,
    begun: Instant,
}

impl Clocks {
    /// Elapsed time begins now.
    pub(super) fn new(clock: Clock, server: ServerClock) -> Self {
        let begun = clock.monotonic();
        Self {
            clock,
            server,
            begun,
        }
    }

    /// The time by all of them.
    pub(super) fn now(&self) -> Now {
        let (wall, instant) = (self.clock.now(), self.clock.monotonic());
        Now {
            wall,
            elapsed: instant.saturating_duration_since(self.begun),
            ahead: self.server.skew(wall, instant),
        }
    }

    /// The runtime's time of a step.
    pub(super) fn instant(&self, now: Now) -> Instant {
        self.begun + now.elapsed
    }

    /// Sleeps until about that wall time, or less.
    pub(super) async fn doze_until(&self, at: DateTime<Utc>) {
        self.clock.doze_until(at).await;
    }
}

/// The last `Date` of the server, and when it was heard.
type Heard = Option<(DateTime<Utc>, Instant)>;

/// The server's clock, which every response sets.
///
/// The server's `Date` is remembered beside a monotonic instant, so that a clock that is stepped
/// later is noticed without asking again. `Date` has whole seconds; the skew is taken from the
/// nearer end of its second.
#[derive(Clone, Debug, Default)]
pub(crate) struct ServerClock(Arc<Mutex<Heard>>);

impl ServerClock {
    /// Records a `Date` of the server, heard at `at`.
    pub(crate) fn heard(&self, date: DateTime<Utc>, at: Instant) {
        *self.lock() = Some((date, at));
    }

    /// How far `now`, read at `at`, is ahead of the server's clock, negative behind it; `None`
    /// before the server's first time.
    fn skew(&self, now: DateTime<Utc>, at: Instant) -> Option<TimeDelta> {
        let (date, heard) = (*self.lock())?;
        let passed = TimeDelta::from_std(at.saturating_duration_since(heard)).unwrap_or_default();
        let ahead = now - (date + passed);
        Some(if ahead < TimeDelta::zero() {
            ahead
        } else {
            (ahead - TimeDelta::seconds(1)).max(TimeDelta::zero())
        })
    }

    fn lock(&self) -> MutexGuard<'_, Heard> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
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
        let clock = ServerClock::default();
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
