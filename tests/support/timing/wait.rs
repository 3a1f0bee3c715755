//! Waiting in real time for a server.

use std::thread;
use std::time::{Duration, Instant};

use chrono::{DateTime, DurationRound, TimeDelta, Utc};

use super::retry::{pace, too_slow};

/// The time limit of [`eventually`]. On a host that withheld half of each second, pods took more than 30 s to
/// become ready.
const TIMEOUT: Duration = Duration::from_secs(120);

/// The shortest and the longest time between two polls.
const PAUSES: [Duration; 2] = [Duration::from_millis(50), Duration::from_millis(300)];

/// Sleeps before the next poll, for a tenth of the time since the first one: most conditions hold soon, and polls
/// during long waits use the processor that other scenarios need.
fn pause(begin: Instant) {
    let [shortest, longest] = PAUSES;
    thread::sleep((begin.elapsed() / 10).clamp(shortest, longest));
}

/// Polls until `answer` returns a value. Panics with `condition` after the time limit, which is longer if a
/// boundary is further ahead.
pub(crate) fn eventually<T>(condition: &str, mut answer: impl FnMut() -> Option<T>) -> T {
    let (begin, timeout) = (Instant::now(), TIMEOUT * u32::try_from(pace()).unwrap());
    loop {
        if let Some(found) = answer() {
            return found;
        }
        assert!(
            begin.elapsed() < timeout,
            "timed out after {timeout:?}: {condition}"
        );
        pause(begin);
    }
}

/// Polls until `holds` returns true, like [`eventually`].
pub(crate) fn wait_until(condition: &str, mut holds: impl FnMut() -> bool) {
    eventually(condition, || holds().then_some(()));
}

/// A time shortly after the beginning of the test.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Soon(pub(crate) DateTime<Utc>);

/// A full second, at least `seconds` ahead and less than one more. When a scenario is repeated, seconds are
/// longer.
pub(crate) fn soon(seconds: i64) -> Soon {
    let now = Utc::now().duration_trunc(TimeDelta::seconds(1)).unwrap();
    Soon(now + TimeDelta::seconds(seconds * pace() + 1))
}

impl Soon {
    /// The cron expression for an annotation, with seconds, in UTC, on every day.
    pub(crate) fn text(self) -> String {
        self.0.format("%-S %-M %-H * * *").to_string()
    }

    /// The RFC 3339 text for an annotation with an end.
    pub(crate) fn until(self) -> String {
        self.0.format("%Y-%m-%dT%H:%M:%SZ").to_string()
    }

    /// A time that is later by this number of seconds, which are as long as those of [`soon`].
    pub(crate) fn plus(self, seconds: i64) -> Self {
        Self(self.0 + TimeDelta::seconds(seconds * pace()))
    }

    /// Ends this attempt if the time has passed, because `condition` should be true earlier.
    pub(crate) fn assert_in_future(self, condition: &str) {
        if self.0 <= Utc::now() {
            too_slow(condition);
        }
    }

    /// Polls until `answer` returns a value, at most until this time.
    pub(crate) fn before<T>(self, condition: &str, mut answer: impl FnMut() -> Option<T>) -> T {
        let begin = Instant::now();
        loop {
            if let Some(found) = answer() {
                self.assert_in_future(condition);
                return found;
            }
            self.assert_in_future(condition);
            pause(begin);
        }
    }

    /// Polls until `holds` returns true, at most until this time.
    pub(crate) fn await_true(self, condition: &str, mut holds: impl FnMut() -> bool) {
        self.before(condition, || holds().then_some(()));
    }

    /// Sleeps until this time has passed.
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
