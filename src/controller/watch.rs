//! The watch over Deployments: one stream of events for all namespaces that are looked at.

use std::{pin::Pin, time::Duration};

use futures::{Stream, StreamExt as _, stream::select_all};
use kube::{
    Api, Client,
    runtime::{WatchStreamExt as _, utils::Backoff, watcher},
};

use crate::cluster::Deployment;

use super::settings::Scope;

/// Which of the watches an event comes from.
pub(super) type WatchId = usize;

pub(super) type Event = Result<watcher::Event<Deployment>, watcher::Error>;

pub(super) type Watches = Pin<Box<dyn Stream<Item = (WatchId, Event)> + Send>>;

/// Watches everything in scope, one watch a namespace or one for all. A watch that fails is
/// begun anew, after a pause that grows to a few seconds; it never ends.
pub(super) fn deployments(client: &Client, scope: &Scope, seed: u64) -> (usize, Watches) {
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
    let apis: Vec<Api<Deployment>> = match &*scope.namespaces {
        [] => vec![Api::all(client.clone())],
        some => some
            .iter()
            .map(|name| Api::namespaced(client.clone(), name))
            .collect(),
    };
    let watches = apis.into_iter().enumerate().map(|(id, api)| {
        let pauses = Pauses {
            failures: 0,
            random: fastrand::Rng::with_seed(seed + id as u64),
        };
        watcher(api, config.clone())
            .backoff(pauses)
            .map(move |event| (id, event))
            .boxed()
    });
    let watches: Vec<_> = watches.collect();
    (watches.len(), Box::pin(select_all(watches)))
}

/// The pauses of a watch that fails: those of everything else that waits for the server.
struct Pauses {
    failures: u32,
    random: fastrand::Rng,
}

impl Iterator for Pauses {
    type Item = Duration;

    fn next(&mut self) -> Option<Duration> {
        self.failures = self.failures.saturating_add(1);
        Some(super::backoff::Backoff::SERVER.delay(self.failures, &mut self.random))
    }
}

impl Backoff for Pauses {
    fn reset(&mut self) {
        self.failures = 0;
    }
}
