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

use http::Uri;
use tokio::time::Instant;

/// A watch that lived less than this is a short one.
const SHORT: Duration = Duration::from_secs(1);

/// The pause after the first short one; it doubles with each.
const FIRST: Duration = Duration::from_millis(200);

/// The longest pause.
const LONGEST: Duration = Duration::from_secs(5);

/// When each watch was opened last, by its path and by which of the objects there it asks for.
#[derive(Debug, Default)]
pub(in crate::cluster) struct WatchPace(Mutex<HashMap<String, Opened>>);

#[derive(Debug, Default)]
struct Opened {
    at: Option<Instant>,
    /// How many in a row were short.
    short: u32,
}

impl WatchPace {
    /// How long to wait before this watch is opened again; it has lived, if it was open, until now.
    pub(in crate::cluster) fn delay(&self, uri: &Uri, now: Instant) -> Duration {
        let mut watches = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(Opened { at, short }) = watches.get_mut(&name_of(uri)) else {
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
    pub(in crate::cluster) fn opened(&self, uri: &Uri, now: Instant) {
        let mut watches = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        watches.entry(name_of(uri)).or_default().at = Some(now);
    }
}

/// A watch by what stays the same where it goes on. Each Namespace of a list has a watch of its
/// own on the one path of all Namespaces.
fn name_of(uri: &Uri) -> String {
    let query = uri.query().unwrap_or_default();
    let mut pairs = form_urlencoded::parse(query.as_bytes());
    let selector = pairs.find(|(name, _)| name == "fieldSelector");
    let selector = selector.map(|(_, selector)| selector).unwrap_or_default();
    format!("{}?{selector}", uri.path())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_watches_are_opened_more_and_more_slowly_and_long_ones_at_once() {
        let pace = WatchPace::default();
        let mut now = Instant::now();
        let web = Uri::from_static("/web");
        let mut next = |uri: &'static str, lived: Duration| {
            now += lived;
            let uri = Uri::from_static(uri);
            let delay = pace.delay(&uri, now);
            now += delay;
            pace.opened(&uri, now);
            delay.as_millis()
        };
        assert_eq!(next("/web", Duration::ZERO), 0);
        for expected in [200, 400, 800, 1_600, 3_200, 5_000, 5_000] {
            assert_eq!(next("/web", Duration::from_millis(1)), expected);
        }
        assert_eq!(next("/db", Duration::ZERO), 0, "another is another");
        assert_eq!(next("/web", SHORT), 0);
        assert_eq!(next("/web", Duration::ZERO), 200);
        pace.delay(&web, now);
        assert_eq!(pace.delay(&web, now), Duration::ZERO, "it was refused");
    }

    #[test]
    fn watches_of_single_namespaces_that_end_together_go_on_together() {
        let (pace, mut now) = (WatchPace::default(), Instant::now());
        for version in 0..3 {
            for name in ["a", "b", "c"] {
                let query =
                    format!("fieldSelector=metadata.name%3D{name}&resourceVersion={version}");
                let uri = format!("/api/v1/namespaces?watch=true&{query}")
                    .parse()
                    .unwrap();
                assert_eq!(pace.delay(&uri, now), Duration::ZERO, "{uri}");
                pace.opened(&uri, now);
                now += Duration::from_millis(5);
            }
            now += Duration::from_secs(60);
        }
        let once_more = Uri::from_static("/api/v1/namespaces?fieldSelector=metadata.name%3Dc");
        pace.opened(&once_more, now);
        assert_eq!(pace.delay(&once_more, now), FIRST);
    }
}
