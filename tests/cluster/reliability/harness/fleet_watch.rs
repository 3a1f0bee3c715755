//! A watch of a fleet that observes every version of every Deployment, independent of all faults.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use chrono::{DateTime, Utc};
use futures::{
    StreamExt as _,
    stream::{self, BoxStream},
};
use k8s_openapi::api::apps::v1::Deployment;
use kube::api::{Api, ListParams, ResourceExt as _, WatchEvent, WatchParams};
use tokio::time::{sleep, timeout};

use crate::reliability::harness::fleet::{Fleet, FleetState, SELECTOR};
use crate::support::{Namespace, block_on};

/// Watches a fleet as admin, directly at the API server, until it is dropped.
pub(crate) struct FleetWatch {
    seen: Arc<Mutex<(FleetState, Option<DateTime<Utc>>)>>,
    over: Arc<AtomicBool>,
}

impl FleetWatch {
    /// Watches the fleet from the current state on, even if the watch opens later.
    pub(crate) fn of(namespace: &Namespace<'_>, fleet: Fleet) -> Self {
        let client = namespace.plane().impatient_client();
        let api = Api::<Deployment>::namespaced(client, namespace.name());
        let over = Arc::<AtomicBool>::default();
        let seen = Arc::<Mutex<(FleetState, Option<DateTime<Utc>>)>>::default();
        let fleet_watch = Self {
            seen: Arc::clone(&seen),
            over: Arc::clone(&over),
        };
        let watch = block_on(Watch::from_now(api));
        thread::spawn(move || {
            block_on(async move {
                let mut watch = watch.into_stream();
                while !over.load(Ordering::Relaxed) {
                    let event = timeout(Duration::from_millis(200), watch.next()).await;
                    let Ok(Some(Some(deployment))) = event else {
                        continue;
                    };
                    let (fleet_state, settled) = &mut *seen.lock().unwrap();
                    fleet.record_version(&deployment, fleet_state);
                    if fleet_state.count("stopped") == fleet.len() {
                        settled.get_or_insert_with(Utc::now);
                    }
                }
            });
        });
        fleet_watch
    }

    /// The state so far.
    pub(crate) fn state(&self) -> FleetState {
        self.seen.lock().unwrap().0.clone()
    }

    /// Since when all Deployments are stopped; `None` if they never were.
    pub(crate) fn settled(&self) -> Option<DateTime<Utc>> {
        self.seen.lock().unwrap().1
    }
}

impl Drop for FleetWatch {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Relaxed);
    }
}

/// A simple watch, which shares no code with the tested one. It resumes from its version after short pauses,
/// so that it misses no version.
struct Watch {
    api: Api<Deployment>,
    /// The version from which it resumes; empty if that has expired on the server, so that the watch lists
    /// again.
    version: String,
    events: Option<BoxStream<'static, kube::Result<WatchEvent<Deployment>>>>,
}

impl Watch {
    async fn from_now(api: Api<Deployment>) -> Self {
        let params = ListParams::default().labels(SELECTOR).limit(1);
        let list = api.list_metadata(&params).await.unwrap();
        Self {
            api,
            version: list.metadata.resource_version.unwrap(),
            events: None,
        }
    }

    /// The stream of its steps. An interrupted step continues with the next call.
    fn into_stream(self) -> BoxStream<'static, Option<Deployment>> {
        stream::unfold(self, |mut watch| async {
            Some((watch.next().await, watch))
        })
        .boxed()
    }

    /// The next version of a Deployment; `None` if it is not available.
    async fn next(&mut self) -> Option<Deployment> {
        let Some(events) = &mut self.events else {
            let params = WatchParams::default().labels(SELECTOR);
            match self.api.watch(&params, &self.version).await {
                Ok(events) => self.events = Some(events.boxed()),
                Err(kube::Error::Api(status)) if status.code == 410 => self.restart_list().await,
                Err(_) => self.pause_watch().await,
            }
            return None;
        };
        match events.next().await {
            Some(Ok(WatchEvent::Added(it) | WatchEvent::Modified(it))) => {
                self.version = it.resource_version().unwrap();
                Some(it)
            }
            Some(Ok(WatchEvent::Deleted(it))) => {
                self.version = it.resource_version().unwrap();
                None
            }
            Some(Ok(WatchEvent::Bookmark(it))) => {
                self.version = it.metadata.resource_version;
                None
            }
            Some(Ok(WatchEvent::Error(status))) if status.code == 410 => {
                self.restart_list().await;
                None
            }
            Some(Ok(WatchEvent::Error(_)) | Err(_)) => {
                self.pause_watch().await;
                None
            }
            None => {
                self.events = None;
                None
            }
        }
    }

    async fn restart_list(&mut self) {
        self.version = String::new();
        self.pause_watch().await;
    }

    async fn pause_watch(&mut self) {
        self.events = None;
        sleep(Duration::from_millis(100)).await;
    }
}
