//! The watches: one stream of events for every kind in all namespaces that are looked at.

use std::{pin::Pin, time::Duration};

use futures::{Stream, StreamExt as _, TryStreamExt as _, stream::select_all};
use kube::{
    Client,
    runtime::{WatchStreamExt as _, utils::Backoff, watcher},
};
use tokio::time::Instant;

use crate::cluster::{NamespaceMeta, Workload, watch_namespaces, watch_of};

use crate::controller::ids::WatchId;
use crate::controller::retry::delays::Delays;
use crate::controller::settings::{Scope, Watched};
use crate::controller::watch::states::{CALM, WatchStates};

/// What a watch shows.
pub(in crate::controller) enum Event {
    /// Of the objects of a kind.
    Workload(Result<watcher::Event<Workload>, watcher::Error>),
    /// Of the Namespaces.
    Namespace(Result<watcher::Event<NamespaceMeta>, watcher::Error>),
}

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
    let watches = scope.watches().enumerate().map(|(id, (what, namespace))| {
        let pauses = Pauses {
            watch: id,
            states: states.clone(),
            failures: 0,
            last_ended: None,
            random: fastrand::Rng::with_seed(seed + id as u64),
        };
        // Before the pause is chosen, which hangs on it.
        let note = {
            let states = states.clone();
            move |error: &watcher::Error| states.failed(id, error)
        };
        let client = client.clone();
        match what {
            Watched::Namespaces => watch_namespaces(client, namespaces_in(scope, namespace))
                .inspect_err(note)
                .backoff(pauses)
                .map(move |event| (id, Event::Namespace(event)))
                .boxed(),
            Watched::Kind(kind) => watch_of(client, kind, namespace, workloads_in(scope))
                .inspect_err(note)
                .backoff(pauses)
                .map(move |event| (id, Event::Workload(event)))
                .boxed(),
        }
    });
    Box::pin(select_all(watches))
}

/// Which workloads are asked for.
fn workloads_in(scope: &Scope) -> watcher::Config {
    let mut config = watcher::Config::default();
    if let Some(selector) = &scope.selector {
        config = config.labels(selector);
    }
    but_for(scope, "metadata.namespace", config)
}

/// Which Namespaces are asked for: one, or all.
fn namespaces_in(scope: &Scope, namespace: Option<&str>) -> watcher::Config {
    let mut config = watcher::Config::default();
    if let Some(selector) = &scope.namespace_selector {
        config = config.labels(selector);
    }
    match namespace {
        Some(name) => config.fields(&format!("metadata.name={name}")),
        None => but_for(scope, "metadata.name", config),
    }
}

fn but_for(scope: &Scope, field: &str, config: watcher::Config) -> watcher::Config {
    let excluded = scope.excluded_namespaces.iter();
    let excluded: Vec<_> = excluded.map(|name| format!("{field}!={name}")).collect();
    if excluded.is_empty() {
        config
    } else {
        config.fields(&excluded.join(","))
    }
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
