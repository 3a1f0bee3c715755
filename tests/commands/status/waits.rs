//! What `dayshift status` says of a start that waits.

use std::sync::{
    Arc,
    atomic::{AtomicI64, Ordering},
};

use chrono::{DateTime, TimeDelta, Utc};
use serde_json::Value;

use super::{OFFICE, STOPPED, state};
use crate::fake_server::Cluster;

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
