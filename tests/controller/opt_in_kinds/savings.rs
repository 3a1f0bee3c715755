//! Savings of a stopped database with an on/off field: metrics, snapshots and `status` count its
//! instances.

use dayshift_cluster::Query;
use dayshift_workload::{Kind, KindTable, savings::StoppedCapacity};
use serde_json::{Value, json};

use crate::{bill::by_status::stopped_by_status, sandbox::Sandbox};

const OFFICE: &str = "Mon-Fri 09:00-19:00";

fn kinds() -> Vec<Kind> {
    let cnpg = KindTable::default().resource("clusters", "postgresql.cnpg.io");
    let click_house =
        KindTable::default().resource("clickhouseinstallations", "clickhouse.altinity.com");
    vec![cnpg, click_house]
}

/// A CloudNativePG cluster specifies its size; that of a ClickHouseInstallation is unknown.
fn scenario() -> Sandbox {
    let mut scenario = Sandbox::empty_at("2026-11-20 18:00 UTC");
    scenario.start_with(|settings| settings.scope.kinds = kinds());
    let resources = json!({"requests": {"cpu": "500m", "memory": "1Gi"}});
    for (version, plural, kind, spec) in [
        (
            "postgresql.cnpg.io/v1",
            "clusters",
            "Cluster",
            json!({"instances": 3, "resources": resources}),
        ),
        (
            "clickhouse.altinity.com/v1",
            "clickhouseinstallations",
            "ClickHouseInstallation",
            json!({"instances": [{"replicas": 2, "resources": resources}]}),
        ),
    ] {
        let (group, served) = version.split_once('/').unwrap();
        scenario.api.serve_custom(group, served, plural, kind);
        let annotations = json!({"dayshift/hours": OFFICE});
        let object = json!({
            "apiVersion": version, "kind": kind, "spec": spec,
            "metadata": {"name": "db", "namespace": "dev", "annotations": annotations},
        });
        scenario.api.create(object).unwrap();
    }
    scenario
}

/// Asserts the same values in metrics, snapshots and `status`: replicas, billionths of cores,
/// bytes.
fn assert_all_report(scenario: &Sandbox, expected: [u64; 3]) {
    let [replicas, cpu_nanos, memory_bytes] = expected;
    let expected = StoppedCapacity {
        replicas,
        cpu_nanos,
        memory_bytes,
    };
    let known = scenario.snapshot().objects;
    let known: StoppedCapacity = known.iter().map(|it| it.stopped_capacity()).sum();
    assert_eq!(known, expected);
    let metrics = scenario.metrics();
    let sample = format!("dayshift_stopped_replicas {replicas}\n");
    assert!(metrics.contains(&sample), "{metrics}");
    let query = Query::all(&kinds(), &[], None);
    let shown = stopped_by_status(scenario, &query);
    assert_eq!(shown, expected);
}

#[test]
fn counts_saved_instances_of_a_stopped_database() {
    let scenario = scenario();
    scenario.sleep_until("18:30");
    assert_all_report(&scenario, [0, 0, 0]);
    scenario.sleep_until("20:00");
    assert_all_report(&scenario, [3, 1_500_000_000, 3 << 30]);
    // If it grows before the start, the larger size would run.
    let larger = json!({"spec": {"instances": 5}});
    scenario.api.merge("Cluster", "dev", "db", &larger).unwrap();
    scenario.sleep_until("21:00");
    assert_all_report(&scenario, [5, 2_500_000_000, 5 << 30]);
    // An unreadable number is not guessed.
    let odd = json!({"spec": {"instances": "five"}});
    scenario.api.merge("Cluster", "dev", "db", &odd).unwrap();
    scenario.sleep_until("22:00");
    assert_all_report(&scenario, [0, 0, 0]);
    let seconds = scenario.metrics();
    let name = "dayshift_saved_replica_seconds_total ";
    let seconds = seconds
        .lines()
        .find_map(|it| it.strip_prefix(name))
        .unwrap();
    let hours = seconds.trim().parse::<f64>().unwrap() / 3600.0;
    assert!((hours - 8.0).abs() < 0.02, "{hours}"); // 3 for one hour, and 5
    scenario.sleep_until("2026-11-23 09:01");
    assert_all_report(&scenario, [0, 0, 0]);
    let db: Value = scenario.api.get("Cluster", "dev", "db").unwrap();
    assert_eq!(
        db["metadata"]["annotations"]["cnpg.io/hibernation"],
        Value::Null
    );
}
