//! Somebody who sees every version of every Deployment of a fleet, past all faults.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use chrono::{DateTime, Utc};
use futures::StreamExt as _;
use k8s_openapi::api::apps::v1::Deployment;
use kube::Api;
use kube::runtime::{WatchStreamExt as _, utils::Backoff, watcher};
use tokio::time::timeout;

use crate::reliability::harness::fleet::{Fleet, SELECTOR, Sight};
use crate::support::{Namespace, block_on};

/// Watches a fleet as admin, straight from the API server, until it is dropped.
pub(crate) struct Witness {
    seen: Arc<Mutex<(Sight, Option<DateTime<Utc>>)>>,
    over: Arc<AtomicBool>,
}

impl Witness {
    pub(crate) fn of(namespace: &Namespace<'_>, fleet: Fleet) -> Self {
        let config = watcher::Config::default().labels(SELECTOR);
        let client = namespace.plane().impatient_client();
        let api = Api::<Deployment>::namespaced(client, namespace.name());
        let watch = watcher(api, config).backoff(Impatience);
        let over = Arc::<AtomicBool>::default();
        let seen = Arc::<Mutex<(Sight, Option<DateTime<Utc>>)>>::default();
        let witness = Self {
            seen: Arc::clone(&seen),
            over: Arc::clone(&over),
        };
        thread::spawn(move || {
            block_on(async move {
                let mut watch = Box::pin(watch);
                while !over.load(Ordering::Relaxed) {
                    let event = timeout(Duration::from_millis(200), watch.next()).await;
                    let Ok(Some(Ok(
                        watcher::Event::Apply(deployment) | watcher::Event::InitApply(deployment),
                    ))) = event
                    else {
                        continue;
                    };
                    let (sight, settled) = &mut *seen.lock().unwrap();
                    fleet.judge(&deployment, sight);
                    if sight.count("stopped") == fleet.len() {
                        settled.get_or_insert_with(Utc::now);
                    }
                }
            });
        });
        witness
    }

    /// All that is known by now.
    pub(crate) fn sight(&self) -> Sight {
        self.seen.lock().unwrap().0.clone()
    }

    /// Since when all were stopped; none where they never were.
    pub(crate) fn settled(&self) -> Option<DateTime<Utc>> {
        self.seen.lock().unwrap().1
    }
}

impl Drop for Witness {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Relaxed);
    }
}

/// Short pauses: nothing is to be missed.
struct Impatience;

impl Iterator for Impatience {
    type Item = Duration;

    fn next(&mut self) -> Option<Duration> {
        Some(Duration::from_millis(100))
    }
}

impl Backoff for Impatience {
    fn reset(&mut self) {}
}
