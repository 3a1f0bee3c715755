//! The savings of a database, whose definition contains the path of its size.

use std::fs;

use serde_json::Value;
use tempfile::TempDir;

use crate::program::dayshift_with;

const ROWS: &str = r#"
- resource: widgets.example.com
  kind: Widget
  field: spec.paused
  stopped: true
  instances: spec.replicas
  resources: spec.pod.resources
- {resource: gadgets.example.com, kind: Gadget, field: spec.off, stopped: true}
- resource: grids.example.com
  kind: Grid
  field: spec.off
  stopped: true
  instances: [spec.head.count, "spec.pools[].nodes[].count"]
  resources: [spec.head.resources, "spec.pools[].nodes[].resources"]
- resource: farms.example.com
  kind: Farm
  field: spec.off
  stopped: true
  instances: "spec.groups[].count"
  resources: "spec.groups[].pod"
- {resource: gizmos.example.com, kind: Gizmo, field: spec.size, holds: replicas, resources: spec.resources}
"#;

/// Each kind with its `spec`, and the replicas, cores and GiB that a stop saves.
const OBJECTS: [(&str, &str, &str, [f64; 3]); 14] = [
    (
        "postgresql.cnpg.io/v1",
        "Cluster",
        "{instances: 3, resources: {requests: {cpu: 500m, memory: 1Gi}, limits: {cpu: 2}}}",
        [3.0, 1.5, 3.0],
    ),
    (
        "cassandra.datastax.com/v1beta1",
        "CassandraDatacenter",
        "{size: 2, resources: {limits: {cpu: 1, memory: 2Gi}}}",
        [2.0, 2.0, 4.0],
    ),
    (
        "acid.zalan.do/v1",
        "postgresql",
        "{numberOfInstances: 2, resources: {requests: {cpu: 100m}}}",
        [2.0, 0.2, 0.0],
    ),
    (
        "rabbitmq.com/v1beta1",
        "RabbitmqCluster",
        "{replicas: 3, resources: {requests: {cpu: 1, memory: 2Gi}}}",
        [3.0, 3.0, 6.0],
    ),
    (
        "kafka.strimzi.io/v1",
        "KafkaConnect",
        "{replicas: 4, template: {pod: {}}, resources: {requests: {cpu: 1, memory: 1Gi}}}",
        [4.0, 4.0, 4.0],
    ),
    (
        "kubeflow.org/v1",
        "Notebook",
        "{template: {spec: {containers: [{resources: {requests: {cpu: 1, memory: 4Gi}}}]}}}",
        [1.0, 1.0, 4.0],
    ),
    (
        "postgres-operator.crunchydata.com/v1beta1",
        "PostgresCluster",
        "{instances: [{replicas: 2, resources: {requests: {cpu: 1, memory: 1Gi}}}]}",
        [2.0, 2.0, 2.0],
    ),
    (
        "ray.io/v1",
        "RayCluster",
        "{headGroupSpec: {template: {spec: {containers: [{resources: {requests: {cpu: 1, memory: 2Gi}}}]}}}, \
           workerGroupSpecs: [{replicas: 3, template: {spec: {containers: [{resources: {requests: \
           {cpu: 2, memory: 4Gi}}}]}}}, {replicas: 9, suspend: true}]}",
        [4.0, 7.0, 14.0],
    ),
    (
        "kubevirt.io/v1",
        "VirtualMachine",
        "{runStrategy: Always, template: {spec: {domain: {resources: {requests: {cpu: 2}}, memory: {guest: 3Gi}}}}}",
        [1.0, 2.0, 3.0],
    ),
    (
        "example.com/v1",
        "Farm",
        "{groups: [{count: 2, pod: {spec: {initContainers: [{resources: {requests: {cpu: 5}}}], containers: \
           [{resources: {requests: {cpu: 1, memory: 1Gi}}}, {resources: {limits: {memory: 1Gi}}}]}}}]}",
        [2.0, 10.0, 4.0],
    ),
    (
        "example.com/v1",
        "Grid",
        "{head: {resources: {requests: {cpu: 2, memory: 1Gi}}}, pools: [{nodes: [\
           {count: 2, resources: {requests: {cpu: 1, memory: 3Gi}}}, {count: 7, enabled: false}]}, {}]}",
        [3.0, 4.0, 7.0],
    ),
    (
        "example.com/v1",
        "Widget",
        "{replicas: 2, pod: {resources: {requests: {cpu: 250m, memory: 1Gi}}}}",
        [2.0, 0.5, 2.0],
    ),
    ("example.com/v1", "Gadget", "{replicas: 2}", [0.0, 0.0, 0.0]),
    (
        "example.com/v1",
        "Gizmo",
        "{size: 5, resources: {requests: {cpu: 1, memory: 1Gi}}}",
        [5.0, 5.0, 5.0],
    ),
];

const KINDS: &str = "clusters.postgresql.cnpg.io,cassandradatacenters.cassandra.datastax.com,\
     postgresqls.acid.zalan.do,rabbitmqclusters.rabbitmq.com,kafkaconnects.kafka.strimzi.io,\
     notebooks.kubeflow.org,postgresclusters.postgres-operator.crunchydata.com,widgets.example.com,\
     gadgets.example.com,grids.example.com,gizmos.example.com,farms.example.com,rayclusters.ray.io,\
     virtualmachines.kubevirt.io";

/// From Monday 12:00 to Tuesday 12:00, of which 14 hours are stopped.
const HOURS: f64 = 14.0;

fn manifest(version: &str, kind: &str, spec: &str) -> String {
    let name = kind.to_lowercase();
    format!(
        "apiVersion: {version}\nkind: {kind}\nmetadata:\n  name: {name}\n  annotations: \
         {{dayshift/hours: \"Mon-Fri 09:00-19:00\"}}\nspec: {spec}\n---\n"
    )
}

fn dayshift(args: &[&str], input: &str) -> String {
    let directory = TempDir::new().unwrap();
    let file = directory.path().join("kinds.yaml");
    fs::write(&file, ROWS).unwrap();
    let kinds = ["--kind-file", file.to_str().unwrap(), "--kinds", KINDS];
    let ended = dayshift_with(&[], &[args, &kinds].concat(), input);
    assert_eq!(ended.status, 0, "{}{}", ended.out, ended.err);
    ended.out
}

fn is_about(found: f64, expected: f64) -> bool {
    (found - expected).abs() < 0.01
}

#[test]
fn plan_and_sandbox_count_the_instances_of_a_database() {
    let files = OBJECTS.map(|(version, kind, spec, _)| manifest(version, kind, spec));
    let plan = [
        "plan",
        "-f",
        "-",
        "-o",
        "json",
        "--from",
        "2026-11-23 12:00",
        "--days",
        "1",
    ];
    let plan: Value = serde_json::from_str(&dayshift(&plan, &files.concat())).unwrap();
    for (_, kind, spec, counts) in OBJECTS {
        let all = plan["workloads"].as_array().unwrap();
        let planned = all.iter().find(|it| it["kind"] == kind).unwrap();
        let keys = [
            "savedReplicaHours",
            "savedCpuCoreHours",
            "savedMemoryGibHours",
        ];
        for (key, count) in keys.into_iter().zip(counts) {
            let found = planned.get(key).and_then(Value::as_f64);
            assert_eq!(
                found.is_some(),
                count > 0.0,
                "{kind} {spec}: {key} {found:?}"
            );
            assert!(
                is_about(found.unwrap_or(0.0), count * HOURS),
                "{kind} {spec}: {key} {found:?}"
            );
        }
    }
    // The sums of a plan and of a sandbox for one object.
    let cluster = &files[0];
    let expected = "42 replica-hours, 21 CPU core-hours, 42 GiB-hours of memory";
    let plan = [
        "plan",
        "-f",
        "-",
        "-o",
        "table",
        "--from",
        "2026-11-23 12:00",
        "--days",
        "1",
    ];
    let sandbox = ["sandbox", "--from", "2026-11-23 12:00", "--for", "1d", "-"];
    let out = dayshift(&plan, cluster);
    assert_contains!(out, format!("Saves {expected}."));
    let out = dayshift(&sandbox, cluster);
    assert_contains!(out, format!("Saved: {expected}."));
    // 3 replicas for 10 of the 24 hours.
    assert_contains!(out, " 30.0 ");
}
