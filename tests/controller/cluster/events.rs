//! The Events of one object, and dayshift's own Events in a namespace.
#![allow(clippy::unwrap_used)]

use dayshift_cluster::read::{ListedEvent, events_in, events_of};
use dayshift_workload::{Kind, WorkloadRef};
use kube_in_memory::Api;
use serde_json::json;

/// Events of `web` and of other objects, unordered: reason, UID of the object, hour and reporter.
fn cluster() -> Api {
    let api = Api::new(chrono::Utc::now);
    api.namespace("dev");
    for (reason, name, uid, hour, reporter) in [
        ("Second", "web", "uid-web", 11, "dayshift"),
        ("Third", "web", "uid-web", 12, "somebody"),
        ("OfAnEarlierOne", "web", "uid-before", 13, "dayshift"),
        ("First", "web", "uid-web", 10, "dayshift"),
        ("OfAnother", "api", "uid-api", 9, "dayshift"),
    ] {
        let event = json!({
            "apiVersion": "events.k8s.io/v1", "kind": "Event",
            "metadata": {"namespace": "dev", "name": reason.to_lowercase()},
            "eventTime": format!("2026-11-20T{hour:02}:00:00.000000Z"),
            "reportingController": reporter, "reportingInstance": "it", "action": "Say",
            "type": "Normal", "reason": reason, "note": "said",
            "regarding": {
                "apiVersion": "apps/v1", "kind": "Deployment", "namespace": "dev", "name": name, "uid": uid,
            },
        });
        api.create(event).unwrap();
    }
    api
}

fn reasons(events: &[ListedEvent]) -> Vec<&str> {
    events.iter().map(|it| &*it.reason).collect()
}

#[tokio::test]
async fn lists_events_of_this_uid_only_newest_first() {
    let web = WorkloadRef {
        kind: Kind::DEPLOYMENT,
        namespace: "dev".into(),
        name: "web".into(),
        uid: "uid-web".into(),
    };
    let events = events_of(&cluster().client(), &web).await.unwrap();
    assert_eq!(reasons(&events), ["Third", "Second", "First"]);
}

#[tokio::test]
async fn lists_only_dayshift_events_of_a_namespace_newest_first() {
    let events = events_in(&cluster().client(), "dev").await.unwrap();
    let expected = ["OfAnEarlierOne", "Second", "First", "OfAnother"];
    assert_eq!(reasons(&events), expected);
}
