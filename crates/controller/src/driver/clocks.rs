//! The clocks that a step reads: the wall clock, the elapsed time, and the API server's clock, which is
//! known from the `Date` header of responses.

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
    /// Creates the clocks. Elapsed time starts now.
    pub(super) fn new(clock: Clock, server: ServerClock) -> Self {
        let begun = clock.monotonic();
        Self {
            clock,
            server,
            begun,
        }
    }

    /// Reads all clocks.
    pub(super) fn now(&self) -> Now {
        let (wall, instant) = (self.clock.now(), self.clock.monotonic());
        Now {
            wall,
            elapsed: instant.saturating_duration_since(self.begun),
            ahead: self.server.skew(wall, instant),
        }
    }

    /// The time of a step as an instant of the runtime.
    pub(super) fn instant(&self, now: Now) -> Instant {
        self.begun + now.elapsed
    }

    /// Sleeps until a wall time, or for a shorter time.
    pub(super) async fn doze_until(&self, at: DateTime<Utc>) {
        self.clock.doze_until(at).await;
    }
}

/// The last `Date` of the server, and when it was received.
type LastDate = Option<(DateTime<Utc>, Instant)>;

/// The server's clock, which is updated by each response.
///
/// The `Date` is stored with a monotonic instant, so a later step of the wall clock is detected without
/// another response. `Date` has whole seconds, so the skew is measured from the nearer end of its second.
#[derive(Clone, Debug, Default)]
pub(crate) struct ServerClock(Arc<Mutex<LastDate>>);

impl ServerClock {
    /// Records a `Date` of the server that was received at `at`.
    pub(crate) fn record(&self, date: DateTime<Utc>, at: Instant) {
        *self.lock() = Some((date, at));
    }

    /// How far the wall time `now`, read at `at`, is ahead of the server's clock. Negative if it is
    /// behind; `None` before the first response.
    fn skew(&self, now: DateTime<Utc>, at: Instant) -> Option<TimeDelta> {
        let (date, received) = (*self.lock())?;
        let passed = at.saturating_duration_since(received);
        let passed = TimeDelta::from_std(passed).unwrap_or_default();
        let ahead = now - (date + passed);
        Some(if ahead < TimeDelta::zero() {
            ahead
        } else {
            (ahead - TimeDelta::seconds(1)).max(TimeDelta::zero())
        })
    }

    fn lock(&self) -> MutexGuard<'_, LastDate> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_step_of_the_wall_clock_is_detected_without_another_response() {
        let date: DateTime<Utc> = "2026-11-20T10:00:00Z".parse().unwrap();
        let begun = Instant::now();
        let later = begun + Duration::from_secs(60);
        let clock = ServerClock::default();
        assert_eq!(clock.skew(date, begun), None);
        clock.record(date, begun);
        for (now, expected) in [
            ("2026-11-20T10:01:00.900Z", 0), // `Date` has no fractions of a second
            ("2026-11-20T10:02:01Z", 60),
            ("2026-11-20T10:00:00Z", -60),
        ] {
            let skew = clock.skew(now.parse().unwrap(), later);
            assert_eq!(skew, Some(TimeDelta::seconds(expected)), "{now}");
        }
    }
}
