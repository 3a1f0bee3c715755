//! Rule 13: a wrong clock does not act.

use chrono::{DateTime, TimeDelta, Utc};
use tokio::time::Instant;

/// How far the wall clock is from the API server's.
///
/// The server's `Date` is remembered beside a monotonic instant, so that a clock that is stepped
/// later is noticed without asking again. `Date` has whole seconds; the skew is taken from the
/// nearer end of its second.
#[derive(Debug, Default)]
pub(super) struct ServerClock {
    heard: Option<(DateTime<Utc>, Instant)>,
}

impl ServerClock {
    /// Takes in a `Date` of the server, heard at `at`.
    pub(super) fn heard(&mut self, date: DateTime<Utc>, at: Instant) {
        self.heard = Some((date, at));
    }

    /// How far `now`, read at `at`, is ahead of the server's clock, negative behind it; none
    /// where nothing has been heard.
    pub(super) fn skew(&self, now: DateTime<Utc>, at: Instant) -> Option<TimeDelta> {
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
