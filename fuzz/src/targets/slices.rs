//! Lines: EndpointSlices as JSON, as users can write them in their own namespace if no admission policy
//! denies it.

use std::collections::{BTreeMap, BTreeSet};

use dayshift_activator::{
    ServiceName,
    probe::{ActivatorProbe, AssignedPorts},
};
use serde_json::{Value, json};

/// The namespace of the user.
const USER: &str = "attacker";

/// The maximum number of slices in an input.
const MAX_SLICES: usize = 50;

/// Checks one input.
pub fn run(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return;
    };
    let mut activator = ActivatorProbe::default();
    for namespace in [USER, "team"] {
        add(
            &mut activator,
            namespace,
            "api",
            &json!([{"name": "http", "port": 80}]),
        );
        let ports = json!([{"name": "http", "port": 80}, {"name": "admin", "port": 81}]);
        add(&mut activator, namespace, "web", &ports);
    }
    let before = activator.assign();
    assert_eq!(before.len(), 6, "{before:?}");
    let mut owners: BTreeMap<_, _> = before
        .iter()
        .map(|(port, number)| (*number, port.clone()))
        .collect();
    for line in text.lines().take(MAX_SLICES) {
        let Ok(mut slice) = serde_json::from_str::<Value>(line) else {
            continue;
        };
        if !slice["metadata"].is_object() {
            continue;
        }
        // The user's Role permits only writes in the user's own namespace.
        slice["metadata"]["namespace"] = json!(USER);
        activator.observe_slice(slice.to_string().as_bytes());
        let after = activator.assign();
        check(&after);
        for (port, number) in after {
            // No time passes, so no port number can be reused for another Service.
            let owner = owners.entry(number).or_insert_with(|| port.clone());
            assert_eq!(*owner, port, "{number} was given to another Service");
        }
        for name in ["api", "web"] {
            let service = service("team", name);
            assert!(
                activator.backends(&service).is_empty(),
                "pods of another namespace for {service}"
            );
        }
    }
    activator.restart();
    check(&activator.assign());
}

/// Each number belongs to one port.
fn check(assigned: &AssignedPorts) {
    let numbers: BTreeSet<_> = assigned.values().collect();
    assert_eq!(numbers.len(), assigned.len(), "{assigned:?}");
}

fn service(namespace: &str, name: &str) -> ServiceName {
    ServiceName {
        namespace: namespace.into(),
        name: name.into(),
    }
}

/// Adds a stopped Deployment and its Service.
fn add(activator: &mut ActivatorProbe, namespace: &str, name: &str, ports: &Value) {
    let metadata =
        json!({"namespace": namespace, "name": name, "uid": format!("{namespace}-{name}")});
    let mut meta = metadata.clone();
    meta["annotations"] =
        json!({"dayshift/hours": "09:00-19:00", "dayshift/wake-on-request": "2h"});
    meta["labels"] = json!({"dayshift/state": "stopped"});
    let labels = json!({"app": name});
    let deployment = json!({
        "metadata": meta,
        "spec": {"replicas": 0, "template": {"metadata": {"labels": labels}}},
    });
    assert!(activator.observe_deployment(deployment.to_string().as_bytes()));
    let service = json!({
        "metadata": metadata,
        "spec": {
            "selector": labels, "clusterIP": "10.96.0.1", "ports": ports,
        },
    });
    assert!(activator.observe_service(service.to_string().as_bytes()));
}
