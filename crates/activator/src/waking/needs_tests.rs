//! What is woken with a workload that needs it.

use std::{collections::BTreeSet, net::IpAddr, time::Duration};

use chrono::{DateTime, Utc};
use dayshift_cluster::write::PatchError;
use serde_json::{Value, json};
use tokio::time::advance;

use crate::{
    test_cluster::{Cluster, at, name, settings},
    waking::wakes::{Request, Took, Wake, Wakes},
};

fn now() -> DateTime<Utc> {
    at("2026-11-25T22:00:00Z")
}

/// A cluster with a Service of `web`, which is asleep and needs this.
fn needing(after: &str) -> Cluster {
    let mut cluster = Cluster::new().with_service();
    let web = json!({"dayshift/wake-on-request": "2h", "dayshift/after": after});
    cluster.workload("stopped", 0, web);
    cluster
}

/// Annotations of what asks to be woken, and has to have `after` ready first.
fn asking(after: Option<&str>) -> Value {
    let mut annotations = json!({"dayshift/wake-on-request": "1h"});
    if let Some(after) = after {
        annotations["dayshift/after"] = json!(after);
    }
    annotations
}

fn asked() -> Wakes {
    let mut wakes = Wakes::new(Took::default(), 1);
    wakes.ask(Request {
        service: name("dev", "web"),
        port: "http".into(),
        from: IpAddr::from([10, 0, 0, 1]),
        head: None,
    });
    wakes
}

fn due(wakes: &mut Wakes, cluster: &Cluster) -> Vec<Wake> {
    wakes.due(&cluster.cover(), &settings(), now())
}

fn names(due: &[Wake]) -> BTreeSet<&str> {
    due.iter()
        .map(|it| &*it.target.observed.object.name)
        .collect()
}

fn without(due: &[Wake]) -> Vec<&str> {
    let all = due.iter().flat_map(|it| &it.without);
    all.map(|it| &**it).collect()
}

#[test]
fn what_it_needs_and_what_that_needs_is_woken_until_the_same_instant() {
    let mut cluster = needing("deploy/api");
    cluster.workload_named("api", "stopped", 0, asking(Some("deploy/db")));
    cluster.workload_named("db", "slept", 0, asking(None));
    cluster.workload_named("other", "stopped", 0, asking(None));
    let due = due(&mut asked(), &cluster);
    assert_eq!(names(&due), BTreeSet::from(["api", "db", "web"]));
    assert_eq!(due.len(), 3);
    for wake in &due {
        assert_eq!(wake.until, at("2026-11-26T00:00:00Z"), "{wake:?}");
        let is_web = &*wake.target.observed.object.name == "web";
        let needed_by = wake.needed_by.as_ref().map(ToString::to_string);
        assert_eq!(needed_by.as_deref(), (!is_web).then_some("deploy/web"));
    }
    assert!(without(&due).is_empty());
}

#[test]
fn who_does_not_ask_for_it_is_not_woken_for_others_and_that_is_told() {
    for (state, replicas, annotations, expected) in [
        (
            "stopped",
            0,
            json!({}),
            Some("deploy/db, which has no annotation wake-on-request"),
        ),
        (
            "paused",
            0,
            json!({}),
            Some("deploy/db, which has no annotation wake-on-request"),
        ),
        (
            "running",
            0,
            json!({}),
            Some("deploy/db, which has no annotation wake-on-request"),
        ),
        (
            "stopped",
            0,
            json!({"dayshift/wake-on-request": "1h; 06:00-20:00"}),
            Some("deploy/db, which stays stopped: a request does not wake it at this time of day"),
        ),
        (
            "paused",
            0,
            asking(None),
            Some("deploy/db, which stays stopped: it is paused"),
        ),
        (
            "running",
            0,
            asking(None),
            Some("deploy/db, which stays stopped: somebody else has scaled it to 0"),
        ),
        ("running", 1, json!({}), None),
        ("woken", 1, asking(None), None),
    ] {
        let mut cluster = needing("deploy/db");
        cluster.workload_named("db", state, replicas, annotations);
        let due = due(&mut asked(), &cluster);
        assert_eq!(names(&due), BTreeSet::from(["web"]), "{state}");
        assert_eq!(
            without(&due),
            expected.into_iter().collect::<Vec<_>>(),
            "{state}"
        );
    }
    let due = due(&mut asked(), &needing("deploy/db"));
    assert_eq!((due.len(), without(&due).len()), (1, 0), "it is not there");
}

#[test]
fn a_circle_is_woken_once() {
    let mut cluster = needing("deploy/api");
    cluster.workload_named("api", "stopped", 0, asking(Some("deploy/web; deploy/api")));
    let due = due(&mut asked(), &cluster);
    assert_eq!(
        (due.len(), names(&due)),
        (2, BTreeSet::from(["api", "web"]))
    );
}

#[test]
fn what_is_needed_and_asked_for_itself_is_woken_once_for_the_longer_of_both() {
    let mut cluster = needing("deploy/db");
    cluster.workload_named("db", "stopped", 0, asking(None));
    let spec = json!({"selector": {"v": "1"}, "ports": [{"name": "http", "port": 80}]});
    cluster.service(spec);
    let due = due(&mut asked(), &cluster);
    let untils: BTreeSet<_> = due.iter().map(|it| it.until).collect();
    assert_eq!(
        (due.len(), untils),
        (2, BTreeSet::from([at("2026-11-26T00:00:00Z")]))
    );
}

/// Its wake may be refused while that of `web` is not.
#[tokio::test(start_paused = true)]
async fn what_is_needed_is_tried_again_after_the_workload_is_awake() {
    let mut cluster = needing("deploy/db");
    cluster.workload_named("db", "stopped", 0, asking(None));
    let mut wakes = asked();
    for wake in due(&mut wakes, &cluster) {
        let is_web = wake.needed_by.is_none();
        let refused = Err(PatchError::Refused("no".to_owned()));
        wakes.finished(&wake, &if is_web { Ok(()) } else { refused });
    }
    cluster.workload("woken", 2, asking(Some("deploy/db")));
    assert!(due(&mut wakes, &cluster).is_empty(), "not at once");
    advance(Duration::from_secs(30)).await;
    let again = due(&mut wakes, &cluster);
    assert_eq!(names(&again), BTreeSet::from(["db"]));
    assert_eq!(again[0].until, at("2026-11-26T00:00:00Z"));
    wakes.finished(&again[0], &Ok(()));
    cluster.workload_named("db", "woken", 1, asking(None));
    advance(Duration::from_secs(10)).await;
    assert!(due(&mut wakes, &cluster).is_empty());
}

/// As when another replica of the activator has sent one of two patches and was killed.
#[test]
fn what_a_workload_needs_that_starts_already_is_woken_as_long() {
    let mut cluster = Cluster::new().with_service();
    cluster.workload(
        "stopped",
        0,
        json!({
            "dayshift/wake-on-request": "2h", "dayshift/after": "deploy/db",
            "dayshift/wake-until": "2026-11-25T23:10:00Z",
        }),
    );
    cluster.workload_named("db", "stopped", 0, asking(None));
    let due = due(&mut asked(), &cluster);
    assert_eq!(names(&due), BTreeSet::from(["db"]));
    assert_eq!(due[0].until, at("2026-11-25T23:10:00Z"));
}
