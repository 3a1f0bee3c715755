//! Objects of each kind with an on/off field, while running.

use serde_json::{Value, json};

use crate::rows::rows;

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
    let spec = r#"
        # kind => field => value while stopped => values while running
        postgresclusters.postgres-operator.crunchydata.com => /spec/shutdown => true => [false, null]
        perconapgclusters.pgv2.percona.com => /spec/pause => true => [false, null]
        cassandradatacenters.cassandra.datastax.com => /spec/stopped => true => [false, null]
        clickhouseinstallations.clickhouse.altinity.com => /spec/stop => "yes" => ["no", "False", "0", "", null]
        trinoclusters.trino.stackable.tech => /spec/clusterOperation/stopped => true => [false, null]
        virtualmachines.kubevirt.io => /spec/runStrategy => "Halted" => ["Always", "RerunOnFailure", "Manual", "Once"]
        rayclusters.ray.io => /spec/suspend => true => [false, null]
        rayservices.ray.io => /spec/rayClusterConfig/suspend => true => [false, null]
        cronworkflows.argoproj.io => /spec/suspend => true => [false, null]
        shoots.core.gardener.cloud => /spec/hibernation/enabled => true => [false, null]
        clusterdeployments.hive.openshift.io => /spec/powerState => "Hibernating" => ["Running", null]
    "#;
    for [kind, path, stopped, values] in rows(spec) {
        let stopped: Value = serde_json::from_str(stopped).unwrap();
        for value in serde_json::from_str::<Vec<Value>>(values).unwrap() {
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
