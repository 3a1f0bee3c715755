//! What is sent when: wakes and slices, on paused time.

use std::{net::IpAddr, time::Duration};

use chrono::{DateTime, TimeDelta, Utc};
use dayshift_cluster::write::PatchError;
use dayshift_workload::Key;
use serde_json::json;
use tokio::time::advance;

use crate::{
    cover::Cover,
    service::ServiceName,
    test_cluster::{Cluster, settings, slice},
    waking::wakes::{Request, Took, Wakes},
    writes::SliceWrites,
};

fn now() -> DateTime<Utc> {
    "2026-11-25T22:00:00.123Z".parse().unwrap()
}

fn request() -> Request {
    Request {
        service: ServiceName {
            namespace: "dev".into(),
            name: "web".into(),
        },
        port: "http".into(),
        from: IpAddr::from([10, 0, 0, 1]),
        head: None,
    }
}

fn wakes() -> Wakes {
    Wakes::new(Took::default(), 1)
}

fn refused() -> Result<(), PatchError> {
    Err(PatchError::Refused("no".to_owned()))
}

#[tokio::test(start_paused = true)]
async fn a_thousand_that_wait_make_one_patch() {
    let cover = Cluster::new().asleep().with_service().cover();
    let mut wakes = wakes();
    let mut sent = Vec::new();
    for _ in 0..1000 {
        wakes.ask(request());
        sent.extend(wakes.due(&cover, &settings(), now()));
    }
    let [wake] = &sent[..] else {
        panic!("{}", sent.len())
    };
    let annotations = &wake.annotations;
    let reason = Some("request to Service web".to_owned());
    let until = Some("2026-11-26T00:00:00Z".to_owned());
    assert!(
        annotations.contains(&(Key::Reason, reason)),
        "{annotations:?}"
    );
    assert_eq!(wake.until.to_rfc3339(), "2026-11-26T00:00:00+00:00");
    let written = annotations.iter().find(|(key, _)| *key == Key::WakeUntil);
    let written: DateTime<Utc> = dayshift_schedule::parse_date_time(
        written.unwrap().1.as_deref().unwrap(),
        dayshift_schedule::Zone::UTC,
    )
    .unwrap();
    assert_eq!(Some(written), until.and_then(|it| it.parse().ok()));
    wakes.finished(wake, &Ok(()));
    wakes.ask(request());
    assert!(
        wakes.due(&cover, &settings(), now()).is_empty(),
        "the watch is late"
    );
}

#[tokio::test(start_paused = true)]
async fn a_wake_that_is_refused_is_tried_again_and_not_at_once() {
    let cover = Cluster::new().asleep().with_service().cover();
    let mut wakes = wakes();
    wakes.ask(request());
    let mut tries = Vec::new();
    for second in 0..55 {
        for wake in wakes.due(&cover, &settings(), now()) {
            tries.push(second);
            wakes.finished(&wake, &refused());
        }
        advance(Duration::from_secs(1)).await;
    }
    assert!((4..=8).contains(&tries.len()), "{tries:?}");
    advance(Duration::from_secs(60)).await;
    wakes.due(&cover, &settings(), now());
    advance(Duration::from_secs(60)).await;
    let later = wakes.due(&cover, &settings(), now());
    assert!(later.is_empty(), "nobody waits any more");
}

#[tokio::test(start_paused = true)]
async fn no_annotation_wakes_for_longer_than_the_limit() {
    let cover = Cluster::new().asleep().with_service().cover();
    let mut settings = settings();
    settings.max_wake = TimeDelta::minutes(30);
    let mut wakes = wakes();
    wakes.ask(request());
    let due = wakes.due(&cover, &settings, now());
    assert_eq!(due[0].until.to_rfc3339(), "2026-11-25T22:30:00+00:00");
}

#[test]
fn somebodys_sleep_keeps_its_reason() {
    let mut cluster = Cluster::new().with_service();
    cluster.workload(
        "slept",
        0,
        json!({
            "dayshift/wake-on-request": "2h", "dayshift/sleep-until": "2099-01-01 00:00",
            "dayshift/reason": "holidays", "dayshift/override-by": "jane",
        }),
    );
    let mut wakes = wakes();
    wakes.ask(request());
    let due = wakes.due(&cluster.cover(), &settings(), now());
    let keys: Vec<_> = due[0].annotations.iter().map(|it| it.0).collect();
    assert_eq!(keys, [Key::WakeUntil]);
}

#[tokio::test(start_paused = true)]
async fn a_slice_is_written_once_and_deleted_once_nobody_needs_it() {
    let mut cluster = Cluster::new().asleep().with_service();
    let cover = cluster.cover();
    let mut writes = SliceWrites::new(1);
    let [write] = &writes.due(&cluster.index, &cover)[..] else {
        panic!("not one write")
    };
    assert!(
        writes.due(&cluster.index, &cover).is_empty(),
        "it is under way"
    );
    assert!(writes.finished(write.clone(), Ok(())));
    assert!(
        writes.due(&cluster.index, &cover).is_empty(),
        "the watch is late"
    );
    advance(Duration::from_secs(3)).await;
    assert_eq!(
        writes.due(&cluster.index, &cover).len(),
        1,
        "somebody has taken it away"
    );

    cluster.observe_slice(slice(&cover));
    let mut writes = SliceWrites::new(1);
    assert!(writes.due(&cluster.index, &cover).is_empty(), "it is there");
    let nothing = Cover::default();
    let gone = writes.due(&cluster.index, &nothing);
    assert_eq!(gone.len(), 1);
    assert!(
        writes.finished(gone[0].clone(), Err(PatchError::Gone)),
        "another replica did it"
    );
}

/// Without the right to delete, say: the loop looks again after each answer.
#[tokio::test(start_paused = true)]
async fn a_slice_that_may_not_be_deleted_is_tried_again_and_not_at_once() {
    let mut cluster = Cluster::new().asleep().with_service();
    let slice = slice(&cluster.cover());
    cluster.observe_slice(slice);
    let nothing = Cover::default();
    let mut writes = SliceWrites::new(1);
    let mut tries = Vec::new();
    for second in 0..60 {
        for write in writes.due(&cluster.index, &nothing) {
            tries.push(second);
            assert!(!writes.finished(write, refused()));
        }
        advance(Duration::from_secs(1)).await;
    }
    assert!((4..=8).contains(&tries.len()), "{tries:?}");
}

#[tokio::test(start_paused = true)]
async fn a_slice_of_somebody_else_is_left_alone_whatever_its_name() {
    let mut cluster = Cluster::new().asleep().with_service();
    let cover = cluster.cover();
    let mut theirs = slice(&cover);
    theirs["metadata"]["labels"]["endpointslice.kubernetes.io/managed-by"] = json!("me");
    cluster.observe_slice(theirs);
    assert!(SliceWrites::new(1).due(&cluster.index, &cover).is_empty());
}
