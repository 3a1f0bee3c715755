//! The counters of savings.

use std::collections::BTreeMap;

use crate::sandbox::{Sandbox, deployment, stateful_set};

const OFFICE: &str = "Mon-Fri 09:00-19:00";

/// The samples of a metric by namespace label.
fn samples(scenario: &Sandbox, name: &str) -> BTreeMap<String, f64> {
    let metrics = scenario.metrics();
    let samples = metrics.lines().filter_map(|line| {
        let (labels, value) = line.strip_prefix(name)?.split_once(' ')?;
        let namespace = labels
            .trim_start_matches("{namespace=\"")
            .trim_end_matches("\"}");
        Some((namespace.to_owned(), value.parse().unwrap()))
    });
    samples.collect()
}

fn saved(scenario: &Sandbox, namespace: &str) -> [f64; 3] {
    let hours = |name, unit| samples(scenario, name)[namespace] / 3600.0 / unit;
    [
        hours("dayshift_saved_replica_seconds_total", 1.0),
        hours("dayshift_saved_cpu_core_seconds_total", 1.0),
        hours(
            "dayshift_saved_memory_byte_seconds_total",
            f64::from(1 << 30),
        ),
    ]
}

/// The sandbox lets 50 ms pass after each change.
fn is_about(found: [f64; 3], expected: [f64; 3]) -> bool {
    let near = |(found, expected): (f64, f64)| (found - expected).abs() < 0.001;
    found.into_iter().zip(expected).all(near)
}

#[test]
fn counts_the_requested_resources_of_saved_replicas() {
    let scenario = Sandbox::at("2026-11-20 18:00 UTC");
    assert!(
        is_about(saved(&scenario, ""), [0.0; 3]),
        "{}",
        scenario.metrics()
    );
    let web = deployment("web").replicas(3).hours(OFFICE);
    scenario.apply(web.requests("500m", "512Mi"));
    let db = stateful_set("db").replicas(2).hours(OFFICE);
    scenario.apply(db.requests("1", "2Gi"));
    scenario.apply(deployment("plain").replicas(4).hours(OFFICE));
    let without = |scenario: &Sandbox| samples(scenario, "dayshift_workloads_without_requests")[""];
    scenario.sleep_until("18:30");
    assert!((without(&scenario) - 1.0).abs() < 0.1);

    scenario.sleep_until("20:00");
    let hour = [9.0, 3.5, 5.5];
    assert!(
        is_about(saved(&scenario, ""), hour),
        "{:?}",
        saved(&scenario, "")
    );

    // An edit of the pod template applies from then on.
    let web = deployment("web").replicas(0).hours(OFFICE);
    scenario.apply(web.requests("2", "512Mi"));
    scenario.sleep_until("21:00");
    let hour = [18.0, 7.0 + 4.5, 11.0];
    assert!(
        is_about(saved(&scenario, ""), hour),
        "{:?}",
        saved(&scenario, "")
    );

    // The savings of a deleted workload stay in the counter and do not grow.
    scenario.api.delete("dev", "web").unwrap();
    scenario.settle();
    let before = saved(&scenario, "");
    scenario.sleep_until("22:00");
    let expected = [before[0] + 6.0, before[1] + 2.0, before[2] + 4.0];
    assert!(
        is_about(saved(&scenario, ""), expected),
        "{:?}",
        saved(&scenario, "")
    );
}

#[test]
fn counts_savings_by_namespace_if_enabled() {
    let mut scenario = Sandbox::empty_at("2026-11-20 18:00 UTC");
    scenario.start_with(|settings| settings.per_namespace_metrics = true);
    for (namespace, count) in [("dev", 3), ("test", 2)] {
        scenario.api.namespace(namespace);
        let web = deployment("web")
            .namespace(namespace)
            .replicas(count)
            .hours(OFFICE);
        scenario.apply(web.requests("500m", "1Gi"));
    }
    scenario.sleep_until("20:00");
    assert!(is_about(saved(&scenario, "dev"), [3.0, 1.5, 3.0]));
    assert!(is_about(saved(&scenario, "test"), [2.0, 1.0, 2.0]));
    let names: Vec<_> = samples(&scenario, "dayshift_stopped_replicas")
        .into_keys()
        .collect();
    assert_eq!(
        names,
        ["dev", "test"],
        "none for all together: a sum would count twice"
    );

    // An empty namespace keeps its savings.
    scenario.api.delete("test", "web").unwrap();
    scenario.sleep_until("21:00");
    assert!(is_about(saved(&scenario, "test"), [2.0, 1.0, 2.0]));
    assert!(is_about(saved(&scenario, "dev"), [6.0, 3.0, 6.0]));
}

#[test]
fn limits_the_number_of_namespaces_with_series() {
    let mut scenario = Sandbox::empty_at("2026-11-20 18:00 UTC");
    for number in 0..210 {
        let namespace = format!("n{number}");
        scenario.api.namespace(&namespace);
        let web = deployment("web")
            .namespace(&namespace)
            .replicas(1)
            .hours(OFFICE);
        scenario.api.apply(web.into()).unwrap();
    }
    scenario.start_with(|settings| settings.per_namespace_metrics = true);
    scenario.sleep_until("20:00");
    let all = samples(&scenario, "dayshift_saved_replica_seconds_total");
    assert_eq!(all.len(), 201);
    let hours = all.values().sum::<f64>() / 3600.0;
    assert!((hours - 210.0).abs() < 1.0, "{hours}");
    let other = all["(other)"] / 3600.0;
    assert!((other - 10.0).abs() < 0.1, "{other}");
}
