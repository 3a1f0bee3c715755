//! Workloads of other kinds, which go by the same rules.

use serde_json::Value;

use crate::{
    e2e::team::Team,
    support::{ControlPlane, Parts, Soon, Story, eventually, soon, stateful_set, stories},
};

pub(crate) fn stories() -> Vec<Story> {
    stories![
        Parts::Server;
        a_stateful_set_stops_keeps_its_count_and_comes_back,
    ]
}

fn field(team: &Team<'_>, name: &str, path: &str) -> String {
    let path = format!("jsonpath={{{path}}}");
    team.kubectl(&["get", "statefulset", name, "-o", &path])
        .success()
}

fn await_field(team: &Team<'_>, name: &str, path: &str, expected: &str) {
    eventually(&format!("{name} {path} {expected}"), || {
        (field(team, name, path) == expected).then_some(())
    });
}

fn a_stateful_set_stops_keeps_its_count_and_comes_back(plane: &ControlPlane) {
    const STATE: &str = r".metadata.labels.dayshift/state";
    const SAVED: &str = r".metadata.labels.dayshift/saved-replicas";
    let team = Team::new(plane, "stateful");
    let stop: Soon = soon(5);
    let start = stop.plus(4);
    let manifest = Value::from(
        stateful_set("db")
            .replicas(3)
            .stop(stop.text())
            .start(start.text()),
    );
    team.kubectl_with(&["create"], &manifest.to_string())
        .success();
    await_field(&team, "db", STATE, "adopted");

    await_field(&team, "db", ".spec.replicas", "0");
    assert_eq!(field(&team, "db", SAVED), "3");
    await_field(&team, "db", ".spec.replicas", "3");
    assert_eq!(field(&team, "db", STATE), "running");
    let line = |what: &str| format!("dayshift {what} sts/db -n {}", team.name());
    let slept = plane.shell(&line("sleep --for 1h")).success();
    assert!(
        slept.starts_with("statefulset.apps/db slept until "),
        "{slept}"
    );
    let status: Value =
        serde_json::from_str(&plane.shell(&line("status -o json")).success()).unwrap();
    assert_eq!(status["workloads"][0]["kind"], "StatefulSet");
    assert_eq!(status["workloads"][0]["state"], "slept");
    let woken = plane.shell(&line("resume")).success();
    let resumed = "statefulset.apps/db resumed, 0 -> 3";
    assert!(woken.starts_with(resumed), "{woken}");
    team.ends::<&str>([]);
}
