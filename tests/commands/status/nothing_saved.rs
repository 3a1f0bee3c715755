//! A stopped workload without a saved count: its labels might have been removed while no controller
//! was running, for example by Terraform or `kubectl replace`.

use kube_in_memory::Api;

use super::{OFFICE, STOPPED, evening, state};
use crate::fake_server::Cluster;

const WARNING: &str = "no count is saved for it, so after a start it has";

fn with<'a>(more: &[(&'a str, &'a str)]) -> Vec<(&'a str, &'a str)> {
    [OFFICE, more].concat()
}

/// The notes of each workload, and the exit status.
fn reported(cluster: &Cluster) -> (i32, Vec<String>) {
    let ran = cluster.dayshift(&["status", "--problems", "--sort-by", "name", "-o", "wide"]);
    let lines = ran.out.lines().filter(|line| line.contains(WARNING));
    (ran.status, lines.map(str::to_owned).collect())
}

fn take_labels(api: &Api, name: &str) {
    for (label, _) in STOPPED {
        let label = format!("dayshift/{label}");
        api.label("dev", name, &label, None).unwrap();
    }
}

#[test]
fn missing_labels_are_a_problem_if_a_start_makes_1() {
    let cluster = evening();
    cluster.deployment("web", 0, OFFICE);
    state(&cluster, "web", STOPPED);
    assert_eq!(reported(&cluster), (0, vec![]), "3 is saved");
    take_labels(&cluster.api, "web");
    let warning = |unless: &str| {
        let more = "If it had more, write dayshift/replicas, such as \"3\"";
        vec![format!("warning: dev/web: {WARNING} 1{unless}. {more}")]
    };
    assert_eq!(reported(&cluster), (1, warning("")));
    // A controller that starts later adopts it as it is.
    let adopted = [
        ("state", "adopted"),
        ("last", "2026-11-20T10.30.00Z"),
        ("next", "2026-11-23T00.00.00Z"),
    ];
    state(&cluster, "web", &adopted);
    let unless = ", unless it was scaled to 0 manually since its adoption";
    assert_eq!(reported(&cluster), (1, warning(unless)));
    // The advice works.
    let replicas = ("dayshift/replicas", Some("3"));
    let api = &cluster.api;
    api.annotate_of("Deployment", "dev", "web", replicas.0, replicas.1)
        .unwrap();
    assert_eq!(reported(&cluster), (0, vec![]));
}

#[test]
fn reports_a_stop_count_without_a_saved_count_while_stopped() {
    let cluster = evening();
    let least = with(&[("stop-replicas", "2")]);
    cluster.deployment("two", 2, &least);
    cluster.deployment("one", 1, &least);
    cluster.deployment("three", 3, &least);
    let day = [("hours", "Mon-Fri 09:00-22:00"), OFFICE[1], least[2]];
    cluster.deployment("by-day", 2, &day);
    let (status, lines) = reported(&cluster);
    let counts = |name: &str| {
        let begin = format!("warning: dev/{name}: {WARNING} ");
        let line = lines.iter().find_map(|line| line.strip_prefix(&begin));
        line.and_then(|line| line.split('.').next())
            .map(str::to_owned)
    };
    assert_eq!(status, 1);
    let found = ["one", "two", "three", "by-day"].map(counts);
    let expected = [Some("1"), Some("2"), None, None];
    assert_eq!(found, expected.map(|it| it.map(str::to_owned)));
}

#[test]
fn a_count_after_a_start_is_not_a_problem() {
    let cluster = evening();
    let deployments = [
        // After a start by dayshift, a 0 is intended.
        ("scaled-down", OFFICE.to_vec(), &[("state", "running")][..]),
        (
            "wake",
            with(&[("wake-until", "2026-11-20 22:00")]),
            &[("state", "woken")],
        ),
        (
            "zero",
            OFFICE.to_vec(),
            &[("state", "adopted"), ("saved-replicas", "0")],
        ),
        ("saved", OFFICE.to_vec(), STOPPED),
        // The start sets its count, or there is no start.
        ("exact", with(&[("replicas", "3")]), &[]),
        (
            "steps",
            vec![("scale", "Mon-Fri 09:00 = 5; 19:00 = 0"), OFFICE[1]],
            &[],
        ),
        ("stop-only", vec![("stop", "Mon-Fri 19:00"), OFFICE[1]], &[]),
        ("excluded", with(&[("exclude", "true")]), &[]),
    ];
    let at = [
        ("last", "2026-11-20T10.30.00Z"),
        ("next", "2026-11-23T00.00.00Z"),
    ];
    for (name, annotations, labels) in deployments {
        cluster.deployment(name, 0, &annotations);
        if !labels.is_empty() {
            state(&cluster, name, &at);
            state(&cluster, name, labels);
        }
    }
    cluster.cron_job("report", OFFICE);
    let api = &cluster.api;
    api.merge(
        "CronJob",
        "dev",
        "report",
        &serde_json::json!({"spec": {"suspend": true}}),
    )
    .unwrap();
    let (_, lines) = reported(&cluster);
    assert_eq!(lines, [""; 0]);
}

/// The schedule of a Namespace keeps a count of 0 at a start.
#[test]
fn an_inherited_schedule_without_a_saved_count_is_not_a_problem() {
    let cluster = evening();
    let hours = ("dayshift/hours", Some("Mon-Fri 09:00-19:00"));
    let api = &cluster.api;
    api.annotate_of("Namespace", "", "dev", hours.0, hours.1)
        .unwrap();
    cluster.deployment("web", 0, &[]);
    assert_eq!(reported(&cluster), (0, vec![]));
}
