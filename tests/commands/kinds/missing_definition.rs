//! A kind with an on/off field, in commands without its definition.

use std::fs;

use serde_json::{Value, json};

use crate::fake_server::Cluster;
use crate::rows::words;

const GROUP: &str = "store.example.com";
const ONE: &str = "databases.store.example.com/one";
const ROW: &str = "[{resource: databases.store.example.com, kind: Database, field: spec.off, stopped: true, \
                   running: false}]";

/// A Database in the namespace `dev` that a controller with the definition has stopped.
fn stopped(labels: &Value) -> Value {
    json!({
        "apiVersion": "store.example.com/v1", "kind": "Database",
        "metadata": {
            "namespace": "dev", "name": "one", "labels": labels,
            "annotations": {"dayshift/hours": "00:00-24:00"},
        },
        "spec": {"off": true},
    })
}

fn read(cluster: &Cluster) -> Value {
    cluster.api.get("Database", "dev", "one").unwrap()
}

const COMMANDS: [&str; 8] = [
    "wake ONE --for 1h",
    "sleep ONE --for 1h --dry-run",
    "pause ONE --no-wait",
    "resume ONE",
    "sync ONE",
    "restore ONE",
    "restore --all --kinds databases.store.example.com",
    "wake --all --kinds databases.store.example.com --for 1h",
];

#[test]
fn leaves_a_stopped_object_unchanged_without_its_kind_definition() {
    let cluster = Cluster::new();
    cluster
        .api
        .serve_custom(GROUP, "v1", "databases", "Database");
    let labels = json!({
        "dayshift/state": "stopped", "dayshift/saved-replicas": "1", "dayshift/saved-value": "false",
    });
    cluster.api.create(stopped(&labels)).unwrap();
    let before = read(&cluster);
    for line in COMMANDS {
        let line = line.replace("ONE", ONE);
        let ran = cluster.dayshift(&words(&line));
        assert_eq!((ran.status, &*ran.out), (3, ""), "{line}: {ran:?}");
        let expected = "an on/off field stops this Database, as its label `saved-value` shows, but no \
                        kind definition names that field; give the definition with --kind-file";
        assert!(ran.err.contains(expected), "{line}: {ran:?}");
        assert_eq!(read(&cluster), before, "{line}");
    }
    for command in ["status", "plan"] {
        let ran = cluster.dayshift(&[command, ONE]);
        assert_eq!(ran.status, 1, "{command}: {ran:?}");
        let output = ran.out + &ran.err;
        assert!(output.contains("--kind-file"), "{command}: {output}");
    }
    // With the kind definition, the on/off field is shown as off.
    let directory = tempfile::tempdir().unwrap();
    let row = directory.path().join("kinds.yaml");
    fs::write(&row, ROW).unwrap();
    let row = row.to_str().unwrap();
    let ran = cluster.dayshift(&["restore", ONE, "--kind-file", row]);
    assert_eq!(ran.status, 0, "{ran:?}");
    ran.assert_out("stopped -> running");
    assert_eq!(read(&cluster)["spec"]["off"], false);
}
