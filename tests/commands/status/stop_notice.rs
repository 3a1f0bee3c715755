//! Notes in `dayshift status` that depend on `notice` and `ready-within`.

use serde_json::json;

use super::state;
use crate::fake_server::Cluster;

const RUNNING: &[(&str, &str)] = &[
    ("state", "running"),
    ("last", "2026-11-20T00.00.00Z"),
    ("next", "2026-11-20T10.00.00Z"),
];

fn office(cluster: &Cluster, name: &str, more: &[(&str, &str)]) {
    let office = [("hours", "Mon-Fri 09:00-19:00"), ("timezone", "Asia/Tokyo")];
    cluster.deployment(name, 3, &[&office, more].concat());
    state(cluster, name, RUNNING);
}

fn notes(cluster: &Cluster, name: &str) -> String {
    let ran = cluster.dayshift(&["status", name, "-o", "json"]).json();
    let notes = ran["workloads"][0]["notes"].as_array().unwrap().iter();
    notes.map(|it| it.as_str().unwrap()).collect()
}

#[test]
fn shows_a_stop_only_within_its_notice() {
    let now = "2026-11-20T09:50:00Z".parse().unwrap();
    let cluster = Cluster::at(move || now);
    office(&cluster, "web", &[("notice", "15m")]);
    office(&cluster, "early", &[("notice", "5m")]);
    office(&cluster, "silent", &[]);
    office(&cluster, "paused", &[("notice", "15m"), ("pause", "true")]);
    state(
        &cluster,
        "paused",
        &[("state", "paused"), ("next", "never")],
    );
    let output = "dayshift stops it at 19:00 JST. To keep it running, run `dayshift wake deploy/web -n dev --for 2h`";
    assert_eq!(notes(&cluster, "web"), output);
    for name in ["early", "silent", "paused"] {
        assert_eq!(notes(&cluster, name), "", "{name}");
    }
    let problems = cluster.dayshift(&["status", "web", "--problems"]);
    problems.assert_err("No problem");
}

/// The controller writes its flags on the workloads.
#[test]
fn uses_the_times_of_the_controller_by_default() {
    let flags = (
        "inherited",
        r#"{"from":"scaler","notice":"15m","ready-within":"2m"}"#,
    );
    let morning = "2026-11-20T00:03:00Z".parse().unwrap();
    let cluster = Cluster::at(move || morning);
    for (name, own) in [
        ("web", &[flags][..]),
        ("own", &[flags, ("ready-within", "5m")]),
    ] {
        office(&cluster, name, own);
        none_ready(&cluster, name);
    }
    let output = "0 of 3 replicas are ready 3 min after its start";
    assert_starts_with!(notes(&cluster, "web"), output);
    assert_eq!(notes(&cluster, "own"), "");

    let evening = "2026-11-20T09:50:00Z".parse().unwrap();
    let cluster = Cluster::at(move || evening);
    office(&cluster, "web", &[flags]);
    office(&cluster, "own", &[flags, ("notice", "5m")]);
    assert_starts_with!(notes(&cluster, "web"), "dayshift stops it at 19:00 JST");
    assert_eq!(notes(&cluster, "own"), "");
}

fn none_ready(cluster: &Cluster, name: &str) {
    let object = cluster.api.get("Deployment", "dev", name).unwrap();
    let generation = &object["metadata"]["generation"];
    let status = json!({"observedGeneration": generation, "readyReplicas": 0});
    let set = cluster.api.set_status("Deployment", "dev", name, status);
    set.unwrap();
}

#[test]
fn reports_an_unready_workload_after_ready_within() {
    let now = "2026-11-20T00:20:00Z".parse().unwrap();
    let cluster = Cluster::at(move || now);
    for (name, within) in [("slow", "30m"), ("quick", "15m"), ("any", "0")] {
        office(&cluster, name, &[("ready-within", within)]);
        let generation =
            cluster.api.get("Deployment", "dev", name).unwrap()["metadata"]["generation"].clone();
        let status = json!({"observedGeneration": generation, "readyReplicas": 1});
        cluster
            .api
            .set_status("Deployment", "dev", name, status)
            .unwrap();
    }
    assert_starts_with!(
        notes(&cluster, "quick"),
        "1 of 3 replicas are ready 20 min after its start"
    );
    assert_eq!(
        (notes(&cluster, "slow"), notes(&cluster, "any")),
        (String::new(), String::new())
    );
}
