//! The action `restore`, and the capacity and the delays that a preview names.

use super::{
    actions::{confirmed, post, token},
    browser::{Page, Served},
};
use crate::{fake_server::Cluster, status::state};

const OFFICE: (&str, &str) = ("hours", "Mon-Fri 09:00-19:00");

/// A workload that was stopped before its schedule was removed, one that its schedule has stopped, and one
/// that runs.
fn cluster() -> Cluster {
    let cluster = Cluster::new();
    cluster.deployment("left", 0, &[]);
    state(&cluster, "left", &[("saved-replicas", "3")]);
    cluster.deployment("down", 0, &[OFFICE, ("after", "deploy/left")]);
    let labels = [
        ("state", "stopped"),
        ("last", "2026-11-20T19.00.00Z"),
        ("next", "2099-11-23T09.00.00Z"),
        ("saved-replicas", "4"),
    ];
    state(&cluster, "down", &labels);
    cluster.deployment("up", 2, &[OFFICE]);
    cluster
}

fn asked(served: &Served, fields: &[(&str, &str)]) -> super::browser::Answer {
    let token = token(served);
    post(
        served,
        "/confirm",
        &[&[("token", &*token)], fields].concat(),
    )
}

#[test]
fn restore_starts_stopped_workloads_without_a_controller() {
    let cluster = cluster();
    let served = Served::of(&cluster, &[]);
    let fields = [
        ("do", "restore"),
        ("object", "dev/deploy/left"),
        ("object", "dev/deploy/up"),
    ];
    let (page, result) = confirmed(&served, &asked(&served, &fields));
    for part in [
        "Restore 1 workload",
        "0 → 3",
        "Starts 3 replicas",
        "dev/up: nothing to restore",
    ] {
        assert_contains!(page.text(), part);
    }
    assert_contains!(result, "deployment.apps/left restored, 0 -> 3");
    assert_eq!(cluster.api.replicas("dev", "left"), Some(3));
    assert_lacks!(result, "Undo");

    // A whole namespace: only its stopped workloads, and a schedule continues later.
    let asked = asked(&served, &[("do", "restore"), ("namespace", "dev")]);
    let text = Page::read(&asked.body).text().to_owned();
    assert_contains!(text, "a controller acts again at the next boundary");
    assert!(text.contains("0 → 4") && !text.contains("dev/up"), "{text}");
}

/// The capacity includes the workloads of a Namespace.
#[test]
fn the_preview_names_the_capacity_and_the_delays_of_starts() {
    let cluster = cluster();
    let served = Served::of(&cluster, &[]);
    let asked = asked(
        &served,
        &[("do", "wake"), ("for", "2h"), ("namespace", "dev")],
    );
    let text = Page::read(&asked.body).text().to_owned();
    assert_contains!(text, "Starts 4 replicas");
    let delayed = "1 workload can start later, because of dayshift/after: the dependencies must be ready first.";
    assert_contains!(text, delayed);
}
