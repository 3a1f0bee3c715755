//! Retries when the API server is temporarily busy, as kubectl does.

use std::{
    collections::BTreeSet,
    sync::{Arc, Mutex},
    thread,
    time::{Duration, Instant},
};

use kube_in_memory::{Fault, Status};

use crate::fake_server::Cluster;

const OFFICE: &[(&str, &str)] = &[("hours", "Mon-Fri 09:00-19:00")];

/// A stopped Deployment on a server that returns this status for the first request of each kind.
fn cluster(answer: impl Fn() -> Status + Send + Sync + 'static) -> Cluster {
    let cluster = Cluster::new();
    cluster.deployment("web", 0, OFFICE);
    let saved = ("dayshift/saved-replicas", Some("3"));
    cluster.api.label("dev", "web", saved.0, saved.1).unwrap();
    let seen = Arc::new(Mutex::new(BTreeSet::new()));
    cluster.api.on_request(move |request| {
        let (resource, name) = (request.resource.clone(), request.name.clone());
        let is_first = seen.lock().unwrap().insert((request.verb, resource, name));
        (is_first && request.verb != "watch").then(|| Fault::Answer(answer()))
    });
    cluster
}

fn unavailable(seconds: u32) -> Status {
    Status {
        code: 503,
        ..Status::too_many_requests(seconds)
    }
}

#[test]
fn retries_if_the_server_asks_for_it() {
    let commands = [
        &["wake", "deploy/web", "--for", "1h", "--no-wait"][..],
        &["wake", "ns/dev", "--for", "1h", "--no-wait"],
        &["sleep", "--all", "--for", "1h", "--no-wait"],
        &["pause", "deploy/web", "--no-wait"],
        &["resume", "deploy/web", "--no-wait"],
        &["sync", "deploy/web", "--no-wait"],
        &["restore", "deploy/web"],
        &["status"],
        &["plan", "deploy/web"],
    ];
    // The commands mostly wait, so they run in parallel.
    thread::scope(|scope| {
        for arguments in commands {
            for answer in [Status::too_many_requests, unavailable] {
                scope.spawn(move || {
                    let cluster = cluster(move || answer(1));
                    let ran = cluster.dayshift(arguments);
                    let is_well = ran.status == 0 && !ran.err.contains("error");
                    assert!(is_well, "{arguments:?} {ran:?}");
                });
            }
        }
    });
}

/// A maintenance page can ask clients to wait for an hour. The command then fails and reports that.
#[test]
fn does_not_wait_for_an_hour() {
    let cluster = cluster(|| unavailable(3600));
    let begun = Instant::now();
    let ran = cluster.dayshift(&["wake", "deploy/web", "--for", "1h", "--no-wait"]);
    assert_eq!(ran.status, 3, "{ran:?}");
    ran.assert_err("503");
    assert!(begun.elapsed() < Duration::from_secs(20));
}

/// After a conflict the command reads again, and that read fails because the server is busy.
#[test]
fn retries_a_failed_read_after_a_conflict() {
    let cluster = Cluster::new();
    cluster.deployment("web", 0, OFFICE);
    let faults = Mutex::new(vec![
        ("get", Fault::DropBefore),
        ("patch", Fault::DropBefore),
    ]);
    cluster.api.on_request(move |request| {
        let mut faults = faults.lock().unwrap();
        let is_next = faults.last().is_some_and(|(verb, _)| *verb == request.verb);
        (is_next && request.resource == "deployments").then(|| faults.pop().unwrap().1)
    });
    let ran = cluster.dayshift(&["wake", "-l", "app=web", "--for", "1h", "--no-wait"]);
    assert_eq!((ran.status, &*ran.err), (0, ""), "{ran:?}");
}
