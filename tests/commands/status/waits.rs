//! Waiting starts in `dayshift status`.

use std::sync::{
    Arc,
    atomic::{AtomicI64, Ordering},
};

use chrono::{DateTime, TimeDelta, Utc};
use serde_json::{Value, json};

use super::{OFFICE, STOPPED, evening, state};
use crate::fake_server::Cluster;

/// A cluster at 09:00 on a Monday in Tokyo, and the seconds that have passed since.
fn monday_morning() -> (Arc<AtomicI64>, Cluster) {
    let now = Arc::new(AtomicI64::new(0));
    let cluster = Cluster::at({
        let now = now.clone();
        move || {
            let morning: DateTime<Utc> = "2026-11-23T00:00:00Z".parse().unwrap();
            morning + TimeDelta::seconds(now.load(Ordering::Relaxed))
        }
    });
    (now, cluster)
}

#[test]
fn reports_an_unsatisfiable_dependency_with_a_fix() {
    let cluster = evening();
    let hours = |hours: &'static str| [("hours", hours), OFFICE[1]];
    let pause = ("pause", "true");
    let paused = [OFFICE, &[pause]].concat();
    let slept = [OFFICE, &[("sleep-until", "2026-11-23 12:00")]].concat();
    for (name, count, texts) in [
        ("db", 0, OFFICE),
        ("late", 0, &hours("Mon-Fri 09:20-19:00")),
        ("soon", 0, &hours("Mon-Fri 09:05-19:00")),
        ("paused", 0, &paused),
        ("up", 3, &paused),
        ("slept", 0, &slept),
        ("off", 0, &[]),
        (
            "excluded",
            0,
            &[&paused, &[("exclude", "true")][..]].concat(),
        ),
        ("on", 1, &[]),
    ] {
        cluster.deployment(name, count, texts);
        if texts.len() > 1 && name != "excluded" {
            state(&cluster, name, STOPPED);
        }
    }
    let cases = [
        ("deploy/db; deploy/soon; deploy/up; deploy/on; svc/db", ""),
        (
            "sts/db",
            "sts/db, which does not exist. Correct dayshift/after",
        ),
        (
            "deploy/late",
            "deploy/late, which is stopped by its own schedule at the start of Mon 2026-11-23 09:00 JST. \
             Start deploy/late before, or at the same time, or remove it from dayshift/after",
        ),
        (
            "deploy/paused",
            "deploy/paused, which is paused without an end. End the pause of deploy/paused, or remove it \
             from dayshift/after",
        ),
        (
            "deploy/slept",
            "deploy/slept, which is put to sleep for longer than the start waits. End the sleep of \
             deploy/slept, or remove it from dayshift/after",
        ),
        (
            "deploy/off",
            "deploy/off, which has no replicas, and no schedule starts it. Give deploy/off a schedule, or \
             remove it from dayshift/after",
        ),
        (
            "deploy/db; deploy/excluded; sts/db",
            "deploy/excluded, which has no replicas, and no schedule starts it; nor for sts/db, which does \
             not exist. Give deploy/excluded a schedule, or remove it from dayshift/after; correct \
             dayshift/after",
        ),
    ];
    for (number, (after, _)) in cases.iter().enumerate() {
        let name = format!("web-{number}");
        cluster.deployment(&name, 0, &[OFFICE, &[("after", after)]].concat());
        state(&cluster, &name, STOPPED);
    }
    let notes = |arguments: &[&str], number: usize| {
        let all = cluster
            .dayshift(&[&["status", "-o", "json"], arguments].concat())
            .json();
        let mut all = all["workloads"].as_array().unwrap().clone();
        all.retain(|it| it["name"] == format!("web-{number}"));
        let [web] = &all[..] else { panic!("{all:?}") };
        let notes = web["notes"].as_array().unwrap().iter();
        notes
            .map(|it| it.as_str().unwrap().to_owned())
            .collect::<String>()
    };
    for (number, (after, output)) in cases.iter().enumerate() {
        let output = match *output {
            "" => String::new(),
            output => format!("its start does not wait for {output}"),
        };
        assert_eq!(notes(&[], number), output, "{after}");
    }
    // Workloads outside the query have no notes.
    assert_eq!(notes(&["web-1"], 1), "");
    assert_eq!(notes(&["deploy"], 1), "");
    let ran = cluster.dayshift(&["status", "--problems"]);
    assert_eq!(ran.status, 1, "{ran:?}");
    assert_eq!(
        ran.out.matches("its start does not wait for").count(),
        6,
        "{}",
        ran.out
    );
}

/// The controller emits this Event on the Namespace every 5 minutes while a start waits.
#[test]
fn a_start_that_waits_for_a_slot_is_not_a_problem() {
    let (now, cluster) = monday_morning();
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
    let event_in = |place: &str, reason: &str, of: &str, by: &str| {
        let name = format!("{reason}-{of}-{by}").to_lowercase();
        let event = json!({
            "apiVersion": "events.k8s.io/v1", "kind": "Event",
            "metadata": {"namespace": place, "name": name},
            "regarding": {"apiVersion": "v1", "kind": of, "namespace": place, "name": "dev"},
            "reason": reason, "note": "2 starts wait", "type": "Normal", "action": "Wait",
            "eventTime": "2026-11-23T00:00:01.000000Z",
            "reportingController": by, "reportingInstance": "dayshift-1",
        });
        cluster.api.create(event).unwrap();
    };
    let event = |reason: &str, of: &str, by: &str| event_in("dev", reason, of, by);
    event("StopsSoon", "Namespace", "dayshift");
    event("StartsWait", "Deployment", "dayshift");
    event("StartsWait", "Namespace", "somebody");
    // Users of another namespace can write an Event about this Namespace there.
    cluster.api.namespace("evil");
    event_in("evil", "StartsWait", "Namespace", "dayshift");
    now.store(60, Ordering::Relaxed);
    for args in [&["status"][..], &["status", "-A"]] {
        let ran = cluster.dayshift(args);
        assert_eq!(ran.status, 1, "{ran:?}");
        for late in [
            "dev/web: its start of 09:00:00 is 60 s overdue. Check that the controller is running",
            "dev/slept: the end of its `dayshift/sleep-until` is 60 s overdue. Check that the controller is running",
        ] {
            ran.assert_out(late);
        }
    }
    event("StartsWait", "Namespace", "dayshift");
    let output = "its start waits until fewer workloads are starting (--max-starting)";
    for args in [&["status"][..], &["status", "-A"]] {
        let ran = cluster.dayshift(args);
        ran.assert_out(output);
        assert_eq!(
            (ran.status, ran.out.matches("overdue").count()),
            (0, 0),
            "{}",
            ran.out
        );
    }
    // The Event has not been repeated.
    now.store(362, Ordering::Relaxed);
    let ran = cluster.dayshift(&["status"]);
    assert_eq!(
        (ran.status, ran.out.matches("overdue").count()),
        (1, 2),
        "{}",
        ran.out
    );
    // If Events are unreadable, the start is treated as overdue.
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
fn a_waiting_start_is_not_a_problem_before_its_limit() {
    let (now, cluster) = monday_morning();
    let after = [OFFICE, &[("after", "sts/db; deploy/cache, 5m")]].concat();
    cluster.deployment("web", 0, &after);
    cluster.deployment("plain", 0, OFFICE);
    for name in ["web", "plain"] {
        state(&cluster, name, STOPPED);
    }
    now.store(60, Ordering::Relaxed);
    let ran = cluster.dayshift(&["status"]);
    let note = "dev/web: its start waits for sts/db, deploy/cache until 09:05 JST at most";
    ran.assert_out(note);
    assert_eq!(ran.out.matches("overdue").count(), 1, "{}", ran.out);
    let json = cluster.dayshift(&["status", "-o", "json", "deploy/web"]);
    let json: Value = serde_json::from_str(&json.out).unwrap();
    let waits = &json["workloads"][0]["waitsFor"];
    assert_eq!(
        waits["objects"],
        serde_json::json!(["sts/db", "deploy/cache"])
    );
    assert_eq!(waits["until"], "2026-11-23T09:05:00+09:00");
    // The controller has ten seconds.
    now.store(311, Ordering::Relaxed);
    let ran = cluster.dayshift(&["status", "deploy/web"]);
    ran.assert_out_lacks("waits");
    ran.assert_out("its start of 09:00:00 is 11 s overdue");
}
