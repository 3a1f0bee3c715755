//! The cluster in memory and the controller of `morning/`, `requests/` and `timers/`, which have an oracle of
//! their own.

use std::sync::Arc;

use chrono::{DateTime, Utc};
use dayshift_cluster::clock::Clock;
use dayshift_controller::{Settings, Telemetry, run};
use kube_in_memory::Api;
use serde_json::{Value, json};
use tokio::task::JoinHandle;

/// Runs a day on paused time.
pub fn on_paused_time<T>(day: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .start_paused(true)
        .build()
        .unwrap()
        .block_on(day)
}

/// A clock that begins at this time, and a cluster with that clock and these namespaces.
pub fn cluster_at(begin: DateTime<Utc>, namespaces: &[&str]) -> (Clock, Api) {
    let clock = Clock::simulated(begin);
    let api = Api::new({
        let clock = clock.clone();
        move || clock.now()
    });
    for namespace in namespaces {
        api.namespace(namespace);
    }
    (clock, api)
}

/// Starts a controller that runs until its task is aborted.
pub fn start_controller(api: &Api, clock: &Clock, settings: Settings) -> JoinHandle<()> {
    let (client, clock) = (api.client_as("controller"), clock.clone());
    let telemetry = Arc::new(Telemetry::new(clock.now()));
    tokio::spawn(async move {
        run(client, clock, settings, telemetry, std::future::pending()).await;
    })
}

pub fn deployment(
    (namespace, name): (&str, &str),
    replicas: impl Into<Value>,
    annotations: &Value,
) -> Value {
    let labels = json!({"app": name});
    json!({
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"namespace": namespace, "name": name, "annotations": annotations},
        "spec": {
            "replicas": replicas.into(),
            "selector": {"matchLabels": labels},
            "template": {
                "metadata": {"labels": labels},
                "spec": {"containers": [{"name": "web", "image": "web"}]},
            },
        },
    })
}
