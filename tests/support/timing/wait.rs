//! Waiting in real time, for what a real server does when it likes.

use std::thread;
use std::time::{Duration, Instant};

use chrono::{DateTime, DurationRound, TimeDelta, Utc};

use super::retry::{pace, too_slow};

/// How long [`eventually`] waits: far longer than anything takes on a busy machine. Pods that took
/// longer than 30 s to be ready were seen on one whose host withheld half of each second.
const TIMEOUT: Duration = Duration::from_secs(120);

/// How long between two looks: a dozen stories look at once.
const PAUSE: Duration = Duration::from_millis(100);

/// Asks again and again until `answer` gives something; panics with `what` if it never does. What
/// comes at an instant of the story is waited for as much longer as that is later.
pub(crate) fn eventually<T>(what: &str, mut answer: impl FnMut() -> Option<T>) -> T {
    let (begin, timeout) = (Instant::now(), TIMEOUT * u32::try_from(pace()).unwrap());
    loop {
        if let Some(found) = answer() {
            return found;
        }
        assert!(
            begin.elapsed() < timeout,
            "waited {timeout:?} in vain: {what}"
        );
        thread::sleep(PAUSE);
    }
}

/// An instant that comes while the test runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Soon(pub(crate) DateTime<Utc>);

/// A whole second, at least `seconds` and less than one more from now. On a machine that is too
/// busy for it the seconds are longer.
pub(crate) fn soon(seconds: i64) -> Soon {
    let now = Utc::now().duration_trunc(TimeDelta::seconds(1)).unwrap();
    Soon(now + TimeDelta::seconds(seconds * pace() + 1))
}

impl Soon {
    /// The text for an annotation: cron with seconds, in UTC, on every day.
    pub(crate) fn text(self) -> String {
        self.0.format("%-S %-M %-H * * *").to_string()
    }

    /// The text for an annotation that says until when: RFC 3339.
    pub(crate) fn until(self) -> String {
        self.0.format("%Y-%m-%dT%H:%M:%SZ").to_string()
    }

    /// The same clock time in another zone.
    pub(crate) fn text_in(self, zone: chrono_tz::Tz) -> String {
        self.0
            .with_timezone(&zone)
            .format("%-S %-M %-H * * *")
            .to_string()
    }

    /// Later by so many seconds, as long as those of [`soon`].
    pub(crate) fn plus(self, seconds: i64) -> Self {
        Self(self.0 + TimeDelta::seconds(seconds * pace()))
    }

    /// Ends this try of the story if the instant has come: `what` should be so before it.
    pub(crate) fn is_to_come(self, what: &str) {
        if self.0 <= Utc::now() {
            too_slow(what);
        }
    }

    /// Asks again and again until `answer` gives something, as long as the instant has not come.
    pub(crate) fn before<T>(self, what: &str, mut answer: impl FnMut() -> Option<T>) -> T {
        loop {
            if let Some(found) = answer() {
                self.is_to_come(what);
                return found;
            }
            self.is_to_come(what);
            thread::sleep(PAUSE);
        }
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
