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
pub(in crate::cluster) struct WatchPace(Mutex<HashMap<Box<str>, Opened>>);

#[derive(Debug, Default)]
struct Opened {
    at: Option<Instant>,
    /// How many in a row were short.
    short: u32,
}

impl WatchPace {
    /// How long to wait before this watch is opened again; it has lived, if it was open, until now.
    pub(in crate::cluster) fn delay(&self, path: &str, now: Instant) -> Duration {
        let mut watches = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(Opened { at, short }) = watches.get_mut(path) else {
            return Duration::ZERO;
        };
        let Some(opened) = at.take() else {
            return Duration::ZERO;
        };
        if now.saturating_duration_since(opened) >= SHORT {
            *short = 0;
            return Duration::ZERO;
        }
        let delay = FIRST.saturating_mul(1 << (*short).min(10)).min(LONGEST);
        *short = short.saturating_add(1);
        delay
    }

    /// Notes that the server has granted this watch. One that it refuses fails, and waits for that.
    pub(in crate::cluster) fn opened(&self, path: &str, now: Instant) {
        let mut watches = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        watches.entry(path.into()).or_default().at = Some(now);
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
            pace.opened(path, now);
            delay.as_millis()
        };
        assert_eq!(next("web", Duration::ZERO), 0);
        for expected in [200, 400, 800, 1_600, 3_200, 5_000, 5_000] {
            assert_eq!(next("web", Duration::from_millis(1)), expected);
        }
        assert_eq!(next("db", Duration::ZERO), 0, "another is another");
        assert_eq!(next("web", SHORT), 0);
        assert_eq!(next("web", Duration::ZERO), 200);
        pace.delay("web", now);
        assert_eq!(pace.delay("web", now), Duration::ZERO, "it was refused");
    }
}
