//! Objects of each kind with an on/off field, while running.

use serde_json::{Value, json};

pub(super) const CNPG: &str = "clusters.postgresql.cnpg.io";
pub(super) const CRUNCHY: &str = "postgresclusters.postgres-operator.crunchydata.com";

/// Running objects by kind, their on/off field, and its value while stopped.
pub(super) fn running() -> Vec<(&'static str, Value, &'static str, Value)> {
    let hibernation = "/metadata/annotations/cnpg.io~1hibernation";
    let annotated =
        |text: &str| json!({"metadata": {"annotations": {"cnpg.io/hibernation": text}}});
    let mut all = vec![
        (
            CNPG,
            json!({"spec": {"instances": 3}}),
            hibernation,
            json!("on"),
        ),
        (CNPG, annotated("off"), hibernation, json!("on")),
        (CNPG, annotated(""), hibernation, json!("on")),
        (
            "notebooks.kubeflow.org",
            json!({"spec": {}}),
            "/metadata/annotations/kubeflow-resource-stopped",
            json!("2026-11-19T19:00:00Z"),
        ),
    ];
    let spec = [
        (
            CRUNCHY,
            "/spec/shutdown",
            json!(true),
            vec![json!(false), Value::Null],
        ),
        (
            "perconapgclusters.pgv2.percona.com",
            "/spec/pause",
            json!(true),
            vec![json!(false), Value::Null],
        ),
        (
            "cassandradatacenters.cassandra.datastax.com",
            "/spec/stopped",
            json!(true),
            vec![json!(false), Value::Null],
        ),
        (
            "clickhouseinstallations.clickhouse.altinity.com",
            "/spec/stop",
            json!("yes"),
            vec![
                json!("no"),
                json!("False"),
                json!("0"),
                json!(""),
                Value::Null,
            ],
        ),
        (
            "trinoclusters.trino.stackable.tech",
            "/spec/clusterOperation/stopped",
            json!(true),
            vec![json!(false), Value::Null],
        ),
        (
            "virtualmachines.kubevirt.io",
            "/spec/runStrategy",
            json!("Halted"),
            ["Always", "RerunOnFailure", "Manual", "Once"]
                .map(|it| json!(it))
                .to_vec(),
        ),
        (
            "rayclusters.ray.io",
            "/spec/suspend",
            json!(true),
            vec![json!(false), Value::Null],
        ),
        (
            "rayservices.ray.io",
            "/spec/rayClusterConfig/suspend",
            json!(true),
            vec![json!(false), Value::Null],
        ),
        (
            "cronworkflows.argoproj.io",
            "/spec/suspend",
            json!(true),
            vec![json!(false), Value::Null],
        ),
        (
            "shoots.core.gardener.cloud",
            "/spec/hibernation/enabled",
            json!(true),
            vec![json!(false), Value::Null],
        ),
        (
            "clusterdeployments.hive.openshift.io",
            "/spec/powerState",
            json!("Hibernating"),
            vec![json!("Running"), Value::Null],
        ),
    ];
    for (kind, path, stopped, values) in spec {
        for value in values {
            let mut object = json!({"spec": {"name": "x"}});
            if !value.is_null() {
                put(&mut object, path, value);
            }
            all.push((kind, object, path, stopped.clone()));
        }
    }
    // An existing parent, empty or with other fields.
    for parent in [
        json!({}),
        json!({"schedules": []}),
        json!({"enabled": false}),
    ] {
        let object = json!({"spec": {"hibernation": parent}});
        all.push((
            "shoots.core.gardener.cloud",
            object,
            "/spec/hibernation/enabled",
            json!(true),
        ));
    }
    all
}

/// Writes a field, and its missing parents.
pub(super) fn put(object: &mut Value, path: &str, value: Value) {
    let tokens = path.split('/').skip(1).map(|it| it.replace("~1", "/"));
    *tokens.fold(object, |it, token| &mut it[token]) = value;
}
