//! Waiting in real time, for what a real server does when it likes.

use std::thread;
use std::time::{Duration, Instant};

use chrono::{DateTime, DurationRound, TimeDelta, Utc};

/// How long [`eventually`] waits: far longer than anything takes on a busy machine.
const PATIENCE: Duration = Duration::from_secs(30);

/// Asks again and again until `answer` gives something; panics with `what` if it never does.
pub(crate) fn eventually<T>(what: &str, mut answer: impl FnMut() -> Option<T>) -> T {
    let begin = Instant::now();
    loop {
        if let Some(found) = answer() {
            return found;
        }
        assert!(
            begin.elapsed() < PATIENCE,
            "waited {PATIENCE:?} in vain: {what}"
        );
        thread::sleep(Duration::from_millis(50));
    }
}

/// An instant that comes while the test runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Soon(pub(crate) DateTime<Utc>);

/// A whole second, at least `seconds` and less than one more from now.
pub(crate) fn soon(seconds: i64) -> Soon {
    let now = Utc::now().duration_trunc(TimeDelta::seconds(1)).unwrap();
    Soon(now + TimeDelta::seconds(seconds + 1))
}

impl Soon {
    /// The text for an annotation: cron with seconds, in UTC, on every day.
    pub(crate) fn text(self) -> String {
        self.0.format("%-S %-M %-H * * *").to_string()
    }

    /// The same clock time in another zone.
    pub(crate) fn text_in(self, zone: chrono_tz::Tz) -> String {
        self.0
            .with_timezone(&zone)
            .format("%-S %-M %-H * * *")
            .to_string()
    }

    pub(crate) fn plus(self, seconds: i64) -> Self {
        Self(self.0 + TimeDelta::seconds(seconds))
    }

    /// Sleeps until this instant has passed.
    pub(crate) fn wait(self) {
        if let Ok(rest) = (self.0 - Utc::now()).to_std() {
            thread::sleep(rest);
        }
    }

    /// Microseconds since 1970, as in the audit log.
    pub(crate) fn micros(self) -> i64 {
        self.0.timestamp_micros()
    }
}
