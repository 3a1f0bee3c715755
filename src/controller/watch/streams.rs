//! The watches: one stream of events for every kind in all namespaces that are looked at.

use std::{pin::Pin, time::Duration};

use futures::{Stream, StreamExt as _, TryStreamExt as _, stream::select_all};
use kube::{
    Client,
    runtime::{WatchStreamExt as _, utils::Backoff, watcher},
};
use tokio::time::Instant;

use crate::cluster::{Workload, watch_of};

use crate::controller::ids::WatchId;
use crate::controller::retry::backoff::Backoff as Delays;
use crate::controller::settings::Scope;
use crate::controller::watch::states::{CALM, WatchStates};

pub(in crate::controller) type Event = Result<watcher::Event<Workload>, watcher::Error>;

pub(in crate::controller) type Watches = Pin<Box<dyn Stream<Item = (WatchId, Event)> + Send>>;

/// Watches everything in scope. A watch that fails is begun anew, after a pause that grows to a
/// few seconds, or to a minute where the server does not have what is watched or forbids it; it
/// never ends.
pub(in crate::controller) fn workloads(
    client: &Client,
    scope: &Scope,
    states: &WatchStates,
    seed: u64,
) -> Watches {
    let mut config = watcher::Config::default();
    if let Some(selector) = &scope.selector {
        config = config.labels(selector);
    }
    let excluded: Vec<_> = scope
        .excluded_namespaces
        .iter()
        .map(|namespace| format!("metadata.namespace!={namespace}"))
        .collect();
    if !excluded.is_empty() {
        config = config.fields(&excluded.join(","));
    }
    let watches = scope.watches().enumerate().map(|(id, (kind, namespace))| {
        let pauses = Pauses {
            watch: id,
            states: states.clone(),
            failures: 0,
            last_ended: None,
            random: fastrand::Rng::with_seed(seed + id as u64),
        };
        let states = states.clone();
        watch_of::<Workload>(client.clone(), (kind, namespace), config.clone())
            // Before the pause is chosen, which hangs on it.
            .inspect_err(move |error| states.failed(id, error))
            .backoff(pauses)
            .map(move |event| (id, event))
            .boxed()
    });
    Box::pin(select_all(watches))
}

/// The pauses of a watch that fails: those of everything else that waits for the server, and longer
/// ones where nothing but a change of the cluster helps.
struct Pauses {
    watch: WatchId,
    states: WatchStates,
    failures: u32,
    /// When the last pause ended.
    last_ended: Option<Instant>,
    random: fastrand::Rng,
}

impl Iterator for Pauses {
    type Item = Duration;

    fn next(&mut self) -> Option<Duration> {
        let now = Instant::now();
        if self.last_ended.is_some_and(|ended| now > ended + CALM) {
            self.failures = 0;
        }
        self.failures = self.failures.saturating_add(1);
        let delays = if self.states.is_absent(self.watch) {
            Delays::ABSENT
        } else {
            Delays::SERVER
        };
        let pause = delays.delay(self.failures, &mut self.random);
        self.last_ended = Some(now + pause);
        Some(pause)
    }
}

impl Backoff for Pauses {
    /// kube calls this on everything but an error, and so between any two failures: each new try
    /// begins with an event that says so.
    fn reset(&mut self) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn pauses_grow_while_tries_fail_and_are_short_again_after_a_calm() {
        let mut pauses = Pauses {
            watch: 0,
            states: WatchStates::of(&Scope::default()),
            failures: 0,
            last_ended: None,
            random: fastrand::Rng::with_seed(1),
        };
        let first = Duration::from_millis(200);
        assert!(pauses.next().unwrap() <= first);
        for _ in 0..9 {
            pauses.reset(); // the new try begins
            tokio::time::sleep(pauses.next().unwrap()).await;
        }
        assert!(pauses.next().unwrap() > first);
        tokio::time::sleep(2 * CALM).await;
        assert!(pauses.next().unwrap() <= first);
    }
}
