//! The watches: one stream of events for every kind in all namespaces that are looked at.

use std::{
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use futures::{Stream, StreamExt as _, stream::select_all};
use kube::{
    Api, Client,
    runtime::{WatchStreamExt as _, utils::Backoff, watcher},
};
use tokio::time::Instant;

use crate::{
    cluster::{Workload, kind_of_collection, list_watch},
    workload::Kind,
};

use super::settings::Scope;

/// Which of the watches an event comes from.
pub(super) type WatchId = usize;

pub(super) type Event = Result<watcher::Event<Workload>, watcher::Error>;

/// How far each watch has come. That one has begun is seen only in the answer to its request, so
/// whoever sees the answers shares this.
#[derive(Clone)]
pub(super) struct WatchStates(Arc<[WatchState]>);

struct WatchState {
    kind: Kind,
    /// The one that it watches; all where none is named.
    namespace: Option<String>,
    /// It tells of changes now.
    is_open: AtomicBool,
    /// It has told of everything there is, at least once.
    is_listed: AtomicBool,
    /// Its first try has come to its end, one way or the other.
    was_tried: AtomicBool,
}

impl WatchStates {
    /// None has begun yet.
    pub(super) fn of(scope: &Scope) -> Self {
        let of = |(kind, namespace): (Kind, Option<&str>)| WatchState {
            kind,
            namespace: namespace.map(str::to_owned),
            is_open: AtomicBool::default(),
            is_listed: AtomicBool::default(),
            was_tried: AtomicBool::default(),
        };
        Self(wanted(scope).map(of).collect())
    }

    /// The kind that a watch is about.
    pub(super) fn kind(&self, watch: WatchId) -> Option<Kind> {
        self.0.get(watch).map(|it| it.kind)
    }

    /// Notes that the request for this path was granted.
    pub(super) fn opened(&self, path: &str) {
        for watch in &*self.0 {
            let is_it = watch
                .namespace
                .as_ref()
                .is_none_or(|name| path.contains(&format!("/namespaces/{name}/")));
            if is_it && kind_of_collection(path) == Some(watch.kind) {
                watch.is_open.store(true, Ordering::Relaxed);
            }
        }
    }

    /// Notes that a watch has told of everything there is.
    pub(super) fn listed(&self, watch: WatchId) {
        if let Some(watch) = self.0.get(watch) {
            watch.is_listed.store(true, Ordering::Relaxed);
            watch.was_tried.store(true, Ordering::Relaxed);
        }
    }

    /// Notes that a watch has failed.
    pub(super) fn failed(&self, watch: WatchId) {
        if let Some(watch) = self.0.get(watch) {
            watch.is_open.store(false, Ordering::Relaxed);
            watch.was_tried.store(true, Ordering::Relaxed);
        }
    }

    /// Whether none is missing.
    pub(super) fn are_all_open(&self) -> bool {
        let mut all = self.0.iter();
        all.all(|watch| watch.is_open.load(Ordering::Relaxed))
    }

    /// Whether each has told of everything there is.
    pub(super) fn are_all_listed(&self) -> bool {
        let mut all = self.0.iter();
        all.all(|watch| watch.is_listed.load(Ordering::Relaxed))
    }

    /// Whether a first list of a namespace is still under way. One that has failed, or has hung for
    /// as long as a request may take, holds nothing up.
    pub(super) fn is_first_listing(&self, namespace: &str) -> bool {
        let of_it = self.0.iter().filter(|watch| {
            let wanted = watch.namespace.as_deref();
            wanted.is_none_or(|it| it == namespace)
        });
        let mut tried = of_it.map(|watch| watch.was_tried.load(Ordering::Relaxed));
        tried.any(|was_tried| !was_tried)
    }
}

pub(super) type Watches = Pin<Box<dyn Stream<Item = (WatchId, Event)> + Send>>;

/// What is watched: each kind in each namespace, or in all at once. The place here is the watch's
/// number.
fn wanted(scope: &Scope) -> impl Iterator<Item = (Kind, Option<&str>)> {
    let namespaces: Vec<Option<&str>> = match &*scope.namespaces {
        [] => vec![None],
        some => some.iter().map(|name| Some(&**name)).collect(),
    };
    let kinds = scope.kinds.iter().copied();
    kinds.flat_map(move |kind| namespaces.clone().into_iter().map(move |name| (kind, name)))
}

/// Watches everything in scope. A watch that fails is begun anew, after a pause that grows to a
/// few seconds; it never ends.
pub(super) fn workloads(client: &Client, scope: &Scope, seed: u64) -> Watches {
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
    let watches = wanted(scope).enumerate().map(|(id, (kind, namespace))| {
        let api: Api<Workload> = match namespace {
            Some(name) => Api::namespaced_with(client.clone(), name, &kind),
            None => Api::all_with(client.clone(), &kind),
        };
        let pauses = Pauses {
            failures: 0,
            last: None,
            random: fastrand::Rng::with_seed(seed + id as u64),
        };
        list_watch(api, config.clone())
            .backoff(pauses)
            .map(move |event| (id, event))
            .boxed()
    });
    Box::pin(select_all(watches))
}

/// The pauses of a watch that fails: those of everything else that waits for the server.
struct Pauses {
    failures: u32,
    last: Option<Instant>,
    random: fastrand::Rng,
}

/// After so long without a failure the next one is the first again.
const CALM: Duration = Duration::from_secs(60);

impl Iterator for Pauses {
    type Item = Duration;

    fn next(&mut self) -> Option<Duration> {
        let now = Instant::now();
        if self.last.replace(now).is_some_and(|last| now - last > CALM) {
            self.failures = 0;
        }
        self.failures = self.failures.saturating_add(1);
        Some(super::backoff::Backoff::SERVER.delay(self.failures, &mut self.random))
    }
}

impl Backoff for Pauses {
    /// Called on everything that is no error, and so between any two failures too: each new try
    /// begins with an event that says that it begins.
    fn reset(&mut self) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn pauses_grow_while_tries_fail_and_are_short_again_after_a_calm() {
        let mut pauses = Pauses {
            failures: 0,
            last: None,
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
