//! Savings in CPU, memory and money, which have the same wording everywhere.
//!
//! The expected values were calculated manually: office hours leave 118 of the 168 hours of a week.

use std::sync::{
    Arc,
    atomic::{AtomicI64, Ordering},
};

use chrono::{DateTime, Utc};
use serde_json::json;

use crate::{
    dashboard::{
        actions::{post, token},
        browser::{Page, Served},
    },
    fake_server::Cluster,
    program::{Ended, dayshift_with, wait_until},
};

const PRICE: &str = "--price=cpu=0.031,memory=0.0042,currency=EUR";

/// A Deployment with office hours and these container resources.
fn deployment(name: &str, replicas: u32, resources: &str) -> String {
    format!(
        "
---
apiVersion: apps/v1
kind: Deployment
metadata: {{name: {name}, annotations: {{dayshift/hours: Mon-Fri 09:00-19:00}}}}
spec:
  replicas: {replicas}
  selector: {{matchLabels: {{app: {name}}}}}
  template:
    metadata: {{labels: {{app: {name}}}}}
    spec: {{containers: [{{name: web, image: nginx, resources: {resources}}}]}}
"
    )
}

/// Three replicas with resource requests.
fn web() -> String {
    deployment("web", 3, "{requests: {cpu: 250m, memory: 512Mi}}")
}

/// A workload without resource requests.
fn plain() -> String {
    deployment("plain", 1, "{}")
}

fn plan(more: &[&str], variables: &[(&str, &str)], input: &str) -> Ended {
    let args = [&["plan", "-f", "-", "--from", "2026-11-16 09:00"], more].concat();
    let ran = dayshift_with(variables, &args, input);
    assert_eq!(ran.status, 0, "{ran:?}");
    ran
}

fn words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn a_plan_shows_the_saved_requests() {
    let (web, plain) = (web(), plain());
    let both = [&*web, &plain].concat();
    let json = plan(&[PRICE, "-o", "json"], &[], &both).json();
    let of_web = &json["workloads"][0];
    assert_eq!(of_web["savedReplicaHours"], 354.0);
    assert_eq!(of_web["savedCpuCoreHours"], 88.5);
    assert_eq!(of_web["savedMemoryGibHours"], 177.0);
    assert_eq!(
        of_web["savedCost"],
        json!({"amount": 3.49, "currency": "EUR"})
    );
    let of_plain = &json["workloads"][1];
    assert_eq!(of_plain["savedReplicaHours"], 118.0);
    assert!(of_plain.get("savedCpuCoreHours").is_none(), "{of_plain}");

    let saves = "354 replica-hours, 88.5 CPU core-hours, 177 GiB-hours of memory";
    for (output, input, more, expected) in [
        ("chart", &web, &[][..], format!("(70%): saves {saves}.")),
        ("table", &web, &[], format!("Saves {saves}.")),
        (
            "chart",
            &web,
            &[PRICE],
            format!("saves {saves} (3.49 EUR)."),
        ),
        (
            "table",
            &web,
            &[PRICE],
            format!("Saves {saves} (3.49 EUR)."),
        ),
        (
            "chart",
            &both,
            &["--price=cpu=0.031"],
            "saves 472 replica-hours, 88.5 CPU core-hours, 177 GiB-hours of memory (2.74); 1 of 2 \
             workloads requests no CPU or no memory."
                .to_owned(),
        ),
        ("chart", &plain, &[], "saves 118 replica-hours.".to_owned()),
    ] {
        let ran = plan(&[&["-o", output], more].concat(), &[], input);
        assert!(words(&ran.out).contains(&expected), "{expected}: {ran:?}");
    }
    let table = plan(&["-o", "table"], &[], &plain);
    table.assert_out_lacks("Saves");
}

#[test]
fn a_wrong_price_shows_a_correct_example() {
    for command in ["plan", "sandbox", "status", "dashboard"] {
        let ran = dayshift_with(&[], &[command, "--price", "cpu=cheap"], "");
        assert_eq!(ran.status, 2, "{ran:?}");
        ran.assert_err("`cpu=cheap` is not a price");
        ran.assert_err("cpu=0.031,memory=0.0042,currency=EUR");
    }
}

#[test]
fn the_sandbox_shows_its_savings() {
    let args = [
        "sandbox",
        "-",
        "--from",
        "2026-11-16 09:00",
        "--for",
        "2d",
        PRICE,
    ];
    let ran = dayshift_with(&[], &args, &[web(), plain()].concat());
    assert_eq!(ran.status, 0, "{ran:?}");
    // Two stops of 14 hours, counted from a start.
    let expected = "Saved: 112 replica-hours, 21 CPU core-hours, 42 GiB-hours of memory (0.83 EUR); \
                    1 of 2 workloads requests no CPU or no memory.";
    ran.assert_out(expected);
    let ran = dayshift_with(&[], &args[..6], &plain());
    assert!(
        !ran.out.contains("Saved:"),
        "the table shows the savings already: {ran:?}"
    );
}

/// A cluster with this clock.
fn cluster(now: &Arc<AtomicI64>) -> Cluster {
    let now = Arc::clone(now);
    Cluster::at(move || DateTime::from_timestamp(now.load(Ordering::Relaxed), 0).unwrap())
}

fn at(text: &str) -> i64 {
    text.parse::<DateTime<Utc>>().unwrap().timestamp()
}

/// A Deployment with three replicas, each with half a core and one GiB, that the schedule stopped
/// at 19:00.
fn stopped(cluster: &Cluster, name: &str) {
    let labels = json!({
        "app": name, "dayshift/state": "stopped", "dayshift/saved-replicas": "3",
        "dayshift/last": "2026-11-20T19.00.00Z", "dayshift/next": "2026-11-23T09.00.00Z",
    });
    let requests = json!({"cpu": "500m", "memory": "1Gi"});
    cluster
        .api
        .create(json!({
            "apiVersion": "apps/v1", "kind": "Deployment",
            "metadata": {"namespace": "dev", "name": name, "labels": labels,
                         "annotations": {"dayshift/hours": "Mon-Fri 09:00-19:00"}},
            "spec": {
                "replicas": 0,
                "selector": {"matchLabels": {"app": name}},
                "template": {
                    "metadata": {"labels": {"app": name}},
                    "spec": {"containers": [{"name": "web", "image": "nginx",
                                             "resources": {"requests": requests}}]},
                },
            },
        }))
        .unwrap();
}

#[test]
fn a_wide_status_shows_stopped_replicas_and_their_requests() {
    let cluster = cluster(&Arc::new(AtomicI64::new(at("2026-11-20T20:00:00Z"))));
    stopped(&cluster, "web");
    cluster.deployment("plain", 0, &[("hours", "Mon-Fri 09:00-19:00")]);
    for (label, text) in [("state", "stopped"), ("saved-replicas", "1")] {
        let label = format!("dayshift/{label}");
        cluster
            .api
            .label("dev", "plain", &label, Some(text))
            .unwrap();
    }
    for columns in ["80", "200"] {
        let ran = cluster.dayshift_with(
            &[("DAYSHIFT_COLUMNS", columns)],
            &["status", "-o", "wide", PRICE],
        );
        let shown = words(&ran.out);
        assert_contains!(shown, "STOPPED CPU MEMORY");
        assert_contains!(shown, " 3 1.5 3Gi ");
        assert_contains!(shown, " 1 <none> <none> ");
        let expected = "Stopped by schedules and overrides now: 4 replicas, 1.5 CPU cores, 3 GiB of memory (0.06 EUR an hour); 1 of 2 \
                        workloads requests no CPU or no memory.";
        assert_contains!(shown, expected);
        let width: usize = columns.parse().unwrap();
        let lines = ran
            .out
            .lines()
            .skip_while(|it| !it.starts_with("Stopped by"));
        for line in lines.take(2) {
            assert!(line.chars().count() <= width, "{line}");
        }
    }
    let narrow = cluster.dayshift(&["status"]);
    narrow.assert_out_lacks("STOPPED");
    let json = cluster
        .dayshift(&["status", "deploy/web", "-o", "json"])
        .json();
    let web = &json["workloads"][0];
    assert_eq!(
        (&web["requests"], &web["heldDown"]),
        (
            &json!({"cpuCores": 0.5, "memoryBytes": 1_u64 << 30}),
            &json!({"replicas": 3, "cpuCores": 1.5, "memoryBytes": 3_u64 << 30}),
        )
    );
}

#[test]
fn the_dashboard_shows_currently_stopped_replicas() {
    let now = Arc::new(AtomicI64::new(at("2026-10-01T12:00:00Z")));
    let cluster = cluster(&now);
    stopped(&cluster, "old");
    now.store(at("2026-11-20T20:00:00Z"), Ordering::Relaxed);
    let served = Served::of(&cluster, &[PRICE]);
    let page = words(served.page("/").text());
    let held = "Stopped by schedules and overrides now: 3 replicas, 1.5 CPU cores, 3 GiB of memory (0.06 EUR an hour).";
    assert_contains!(page, held);
    let metric = "the metric dayshift_saved_replica_seconds_total";
    assert_contains!(page, metric);
    assert_contains!(page, "estimate for this week from the schedules");
    assert_lacks!(page, "This month");
}

/// No schedule stops a workload that a user has put to sleep.
#[test]
fn stopped_replicas_of_a_sleep_are_not_attributed_to_schedules_only() {
    let cluster = cluster(&Arc::new(AtomicI64::new(at("2026-11-20T20:00:00Z"))));
    stopped(&cluster, "web");
    for (key, text) in [
        ("hours", "00:00-24:00"),
        ("sleep-until", "2026-11-21 20:00"),
    ] {
        let key = format!("dayshift/{key}");
        cluster
            .api
            .annotate("dev", "web", &key, Some(text))
            .unwrap();
    }
    cluster
        .api
        .label("dev", "web", "dayshift/state", Some("slept"))
        .unwrap();
    let served = Served::of(&cluster, &[]);
    let expected =
        "Stopped by schedules and overrides now: 3 replicas, 1.5 CPU cores, 3 GiB of memory.";
    for page in ["/", "/ns/dev"] {
        assert_contains!(words(served.page(page).text()), expected);
    }
    assert_contains!(
        words(served.page("/namespaces").text()),
        "Stopped by schedules and overrides now"
    );
    assert_contains!(
        words(&cluster.dayshift(&["status", "-o", "wide"]).out),
        expected
    );
}

#[test]
fn the_preview_of_an_action_shows_the_cost_of_an_hour() {
    let cluster = cluster(&Arc::new(AtomicI64::new(at("2026-11-20T20:00:00Z"))));
    stopped(&cluster, "web");
    let served = Served::of(&cluster, &[PRICE]);
    let token = token(&served);
    let asked = [
        ("token", &*token),
        ("do", "wake"),
        ("for", "2h"),
        ("object", "dev/deploy/web"),
    ];
    let preview = post(&served, "/confirm", &asked);
    let expected = "Starts 3 replicas, 1.5 CPU cores, 3 GiB of memory (0.06 EUR an hour).";
    assert_contains!(words(Page::read(&preview.body).text()), expected);
    cluster.deployment("plain", 2, &[("hours", "Mon-Fri 09:00-19:00")]);
    let seen = || served.page("/timeline").text().contains("plain");
    wait_until("seen", seen);
    let asked = [
        ("token", &*token),
        ("do", "sleep"),
        ("for", "2h"),
        ("object", "dev/deploy/plain"),
    ];
    let preview = post(&served, "/confirm", &asked);
    let expected = "Stops 2 replicas (0.00 EUR an hour). The cost is not complete: 1 workload requests no CPU or no memory.";
    assert_contains!(words(Page::read(&preview.body).text()), expected);
}

/// The overview of a sandbox that ran from Monday until Friday at 20:00.
fn overview_of_a_sandbox_week() -> String {
    let file = tempfile::NamedTempFile::with_suffix(".yaml").unwrap();
    std::fs::write(file.path(), web()).unwrap();
    let args = ["--from", "2026-11-16 00:00", "--for", "116h", PRICE];
    let served = Served::sandbox(&[&[file.path().to_str().unwrap()][..], &args].concat());
    words(served.page("/").text())
}

/// Measured savings are labeled as such, beside the estimate for this week.
#[test]
fn measured_savings_are_labeled() {
    let page = overview_of_a_sandbox_week();
    for expected in [
        "of the replica-hours of all workloads, measured since 16 Nov",
        "saved, measured used, estimated from the current replica counts",
        "This week by namespace, estimated from the schedules, 16 Nov to 22 Nov",
    ] {
        assert_contains!(page, expected);
    }
}

#[test]
fn the_dashboard_of_a_sandbox_shows_exact_savings() {
    let page = overview_of_a_sandbox_week();
    // The savings count from the start of the controller. On Friday at 20:00, four stops of 14 hours and one
    // hour of another are over.
    for expected in [
        "Today30 replica-hours, 7.5 CPU core-hours, 15 GiB-hours of memory (0.30 EUR)",
        "This week171 replica-hours, 42.8 CPU core-hours, 85.5 GiB-hours of memory (1.68 EUR)",
        "This month171 replica-hours",
        "171 replica-hours, 42.8 CPU core-hours, 85.5 GiB-hours of memory (1.68 EUR) saved since \
            the controller started to count, Mon",
    ] {
        assert_contains!(page, expected);
    }
}
