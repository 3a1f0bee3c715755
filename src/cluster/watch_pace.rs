//! Watches that end as soon as they are opened are opened again more and more slowly.
//!
//! kube's watcher opens a watch anew at once where it has ended without an error: right for one
//! that the server ends every few minutes, and a flood of requests to a server, or a proxy, that
//! ends each at once.

use std::{
    collections::HashMap,
    sync::{Mutex, PoisonError},
    time::Duration,
};

use tokio::time::Instant;

/// A watch that lived less than this is a short one.
const SHORT: Duration = Duration::from_secs(1);

/// The pause after the first short one; it doubles with each.
const FIRST: Duration = Duration::from_millis(200);

/// The longest pause.
const LONGEST: Duration = Duration::from_secs(5);

/// When each watch was opened last, by its path.
#[derive(Debug, Default)]
pub(super) struct WatchPace(Mutex<HashMap<Box<str>, Opened>>);

#[derive(Debug)]
struct Opened {
    at: Instant,
    /// How many in a row were short.
    short: u32,
}

impl WatchPace {
    /// How long to wait before this watch is opened. It is taken to be opened then, and to have
    /// lived, when it is asked for again, ever since.
    pub(super) fn delay(&self, path: &str, now: Instant) -> Duration {
        let mut watches = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(last) = watches.get_mut(path) else {
            let opened = Opened { at: now, short: 0 };
            watches.insert(path.into(), opened);
            return Duration::ZERO;
        };
        let is_short = now.saturating_duration_since(last.at) < SHORT;
        last.short = if is_short {
            last.short.saturating_add(1)
        } else {
            0
        };
        let delay = match last.short.checked_sub(1) {
            None => Duration::ZERO,
            Some(before) => FIRST.saturating_mul(1 << before.min(10)).min(LONGEST),
        };
        last.at = now + delay;
        delay
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_watches_are_opened_more_and_more_slowly_and_long_ones_at_once() {
        let pace = WatchPace::default();
        let mut now = Instant::now();
        let mut next = |path: &str, lived: Duration| {
            now += lived;
            let delay = pace.delay(path, now);
            now += delay;
            delay.as_millis()
        };
        assert_eq!(next("web", Duration::ZERO), 0);
        for expected in [200, 400, 800, 1_600, 3_200, 5_000, 5_000] {
            assert_eq!(next("web", Duration::from_millis(1)), expected);
        }
        assert_eq!(next("db", Duration::ZERO), 0, "another is another");
        assert_eq!(next("web", SHORT), 0);
        assert_eq!(next("web", Duration::ZERO), 200);
    }
}
