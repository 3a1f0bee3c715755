//! What `dayshift status` says of a start that waits.

use std::sync::{
    Arc,
    atomic::{AtomicI64, Ordering},
};

use chrono::{DateTime, TimeDelta, Utc};
use serde_json::{Value, json};

use super::{OFFICE, STOPPED, state};
use crate::fake_server::Cluster;

/// The controller says it on the Namespace, every 5 minutes as long as a start waits.
#[test]
fn a_start_that_waits_for_a_place_is_no_problem_as_long_as_its_controller_says_so() {
    let now = Arc::new(AtomicI64::new(0));
    let cluster = Cluster::at({
        let now = now.clone();
        move || {
            let morning: DateTime<Utc> = "2026-11-23T00:00:00Z".parse().unwrap();
            morning + TimeDelta::seconds(now.load(Ordering::Relaxed))
        }
    });
    cluster.deployment("web", 0, OFFICE);
    state(&cluster, "web", STOPPED);
    let woken = [OFFICE, &[("sleep-until", "2026-11-23 09:00")]].concat();
    cluster.deployment("slept", 0, &woken);
    let slept = [
        ("state", "slept"),
        ("last", "2026-11-20T10.00.00Z"),
        ("next", "2026-11-23T00.00.00Z"),
        ("saved-replicas", "3"),
    ];
    state(&cluster, "slept", &slept);
    let event = |reason: &str, of: &str, by: &str| {
        let name = format!("{reason}-{of}-{by}").to_lowercase();
        let event = json!({
            "apiVersion": "events.k8s.io/v1", "kind": "Event",
            "metadata": {"namespace": "dev", "name": name},
            "regarding": {"apiVersion": "v1", "kind": of, "namespace": "dev", "name": "dev"},
            "reason": reason, "note": "2 starts wait", "type": "Normal", "action": "Wait",
            "eventTime": "2026-11-23T00:00:01.000000Z",
            "reportingController": by, "reportingInstance": "dayshift-1",
        });
        cluster.api.create(event).unwrap();
    };
    event("StopsSoon", "Namespace", "dayshift");
    event("StartsWait", "Deployment", "dayshift");
    event("StartsWait", "Namespace", "somebody");
    now.store(60, Ordering::Relaxed);
    let ran = cluster.dayshift(&["status"]);
    assert_eq!(ran.status, 1, "{ran:?}");
    for late in [
        "dev/web: its start of 09:00:00 is 60 s overdue; is the controller running?",
        "dev/slept: the end of its `dayshift/sleep-until` is 60 s overdue; is the controller running?",
    ] {
        assert!(ran.out.contains(late), "{late}: {}", ran.out);
    }
    event("StartsWait", "Namespace", "dayshift");
    let said = "its start waits until fewer workloads are starting (--max-starting)";
    for args in [&["status"][..], &["status", "-A"]] {
        let ran = cluster.dayshift(args);
        assert!(ran.out.contains(said), "{}", ran.out);
        assert_eq!(
            (ran.status, ran.out.matches("overdue").count()),
            (0, 0),
            "{}",
            ran.out
        );
    }
    // Nobody has said it again.
    now.store(362, Ordering::Relaxed);
    let ran = cluster.dayshift(&["status"]);
    assert_eq!(
        (ran.status, ran.out.matches("overdue").count()),
        (1, 2),
        "{}",
        ran.out
    );
    // What may not be read is not believed either way.
    now.store(60, Ordering::Relaxed);
    cluster.refuse(&["list"], "events");
    let ran = cluster.dayshift(&["status"]);
    assert_eq!(
        (ran.status, ran.out.matches("overdue").count()),
        (1, 2),
        "{}",
        ran.out
    );
}

#[test]
fn a_start_that_waits_is_no_problem_until_its_time_is_over() {
    let now = Arc::new(AtomicI64::new(0));
    let cluster = Cluster::at({
        let now = now.clone();
        move || {
            let morning: DateTime<Utc> = "2026-11-23T00:00:00Z".parse().unwrap();
            morning + TimeDelta::seconds(now.load(Ordering::Relaxed))
        }
    });
    let after = [OFFICE, &[("after", "sts/db; deploy/cache, 5m")]].concat();
    cluster.deployment("web", 0, &after);
    cluster.deployment("plain", 0, OFFICE);
    for name in ["web", "plain"] {
        state(&cluster, name, STOPPED);
    }
    now.store(60, Ordering::Relaxed);
    let ran = cluster.dayshift(&["status"]);
    let note = "dev/web: its start waits for sts/db, deploy/cache until 09:05 JST at most";
    assert!(ran.out.contains(note), "{}", ran.out);
    assert_eq!(ran.out.matches("overdue").count(), 1, "{}", ran.out);
    let json = cluster.dayshift(&["status", "-o", "json", "deploy/web"]);
    let json: Value = serde_json::from_str(&json.out).unwrap();
    let waits = &json["workloads"][0]["waitsFor"];
    assert_eq!(
        waits["objects"],
        serde_json::json!(["sts/db", "deploy/cache"])
    );
    assert_eq!(waits["until"], "2026-11-23T09:05:00+09:00");
    // Ten seconds are for the controller.
    now.store(311, Ordering::Relaxed);
    let ran = cluster.dayshift(&["status", "deploy/web"]);
    assert!(!ran.out.contains("waits"), "{}", ran.out);
    assert!(
        ran.out.contains("its start of 09:00:00 is 11 s overdue"),
        "{}",
        ran.out
    );
}
