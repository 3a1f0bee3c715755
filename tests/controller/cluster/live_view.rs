//! A live view: its requests while nothing changes, outages, and parts that become unreadable.
#![allow(clippy::unwrap_used)]

use chrono::{DateTime, TimeDelta};
use dayshift_cluster::{Query, clock::Clock};
use dayshift_operations::{Follower, LiveView, SharedView};
use dayshift_workload::{Kind, Prefix};
use kube_in_memory::{Api, Fault, Status};
use serde_json::json;

const KINDS: [Kind; 2] = [Kind::DEPLOYMENT, Kind::CRON_JOB];

fn view() -> SharedView {
    let query = Query::all(&KINDS, &[], None);
    SharedView::new(LiveView::new(query, &Prefix::default()))
}

fn clock() -> Clock {
    Clock::simulated(DateTime::UNIX_EPOCH)
}

fn deployment(api: &Api, name: &str) {
    api.namespace("dev");
    let labels = json!({"app": name});
    let deployment = json!({
        "apiVersion": "apps/v1", "kind": "Deployment",
        "metadata": {
            "namespace": "dev", "name": name,
            "annotations": {"dayshift/hours": "Mon-Fri 09:00-19:00"},
        },
        "spec": {
            "selector": {"matchLabels": labels},
            "template": {
                "metadata": {"labels": labels},
                "spec": {"containers": [{"name": "nginx", "image": "nginx"}]},
            },
        },
    });
    api.create(deployment).unwrap();
}

async fn follow_for(follower: &mut Follower<'_>, clock: &Clock, seconds: i64) {
    let end = clock.now() + TimeDelta::seconds(seconds);
    while clock.now() < end {
        follower.update().await.unwrap();
    }
}

fn names(view: &SharedView) -> Vec<String> {
    let view = view.get();
    let workloads = view.workloads();
    workloads
        .map(|(_, managed)| managed.workload.name().to_owned())
        .collect()
}

#[tokio::test(start_paused = true)]
async fn following_an_idle_cluster_costs_a_fixed_number_of_requests() {
    for (workloads, autoscalers) in [(0, 0), (2, 2)] {
        let (api, clock, view) = (Api::new(chrono::Utc::now), clock(), view());
        for at in 0..workloads {
            deployment(&api, &format!("web-{at}"));
        }
        api.forget_requests();
        let mut follower = view.follow(&api.client(), &clock).await;
        follow_for(&mut follower, &clock, 59).await;
        let requests = api.requests();
        let sent = |resource: &str| {
            let requests = requests.iter();
            requests.filter(|line| line.resource == resource).count()
        };
        for (resource, expected) in [
            ("/version", 1),
            ("namespaces", 20),
            ("horizontalpodautoscalers", autoscalers),
            ("services", 0),
            ("events", 0),
        ] {
            assert_eq!(sent(resource), expected, "{workloads}: {resource}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn an_outage_lasts_until_the_api_server_responds() {
    let (api, clock, view) = (Api::new(chrono::Utc::now), clock(), view());
    deployment(&api, "web");
    let mut follower = view.follow(&api.client(), &clock).await;
    follow_for(&mut follower, &clock, 5).await;
    assert_eq!(names(&view), ["web"]);
    let out_of_order = || Fault::Answer(Status::new(500, "InternalError", "out of order"));
    api.on_request(move |line| (line.resource != "/version").then(out_of_order));
    let before = view.get().version();
    api.close_watches();
    while view.get().outage().is_none() {
        follower.update().await.unwrap();
    }
    assert!(view.get().version() > before);
    // The workloads are still shown.
    assert_eq!(names(&view), ["web"]);
    assert!(view.get().is_complete());
    api.clear_fault();
    follow_for(&mut follower, &clock, 60).await;
    assert_eq!(view.get().outage(), None);
    deployment(&api, "zoo");
    follow_for(&mut follower, &clock, 1).await;
    assert_eq!(names(&view), ["web", "zoo"]);
}

#[tokio::test(start_paused = true)]
async fn a_part_that_becomes_unreadable_hides_only_its_own_workloads() {
    let (api, clock, view) = (Api::new(chrono::Utc::now), clock(), view());
    deployment(&api, "web");
    let no = |resource: &'static str| {
        move |line: &kube_in_memory::RequestLine| {
            let refused = || Fault::Answer(Status::new(403, "Forbidden", "no"));
            (line.resource == resource).then(refused)
        }
    };
    api.on_request(no("cronjobs"));
    let mut follower = view.follow(&api.client(), &clock).await;
    follow_for(&mut follower, &clock, 2).await;
    let unreadable = |view: &SharedView| {
        let parts = view.get().unreadable_parts().into_iter();
        parts
            .map(|unreadable| unreadable.part.kind)
            .collect::<Vec<_>>()
    };
    assert_eq!(
        (names(&view), unreadable(&view)),
        (vec!["web".to_owned()], vec![Kind::CRON_JOB])
    );
    assert!(view.get().is_complete());

    api.clear_fault();
    follow_for(&mut follower, &clock, 10).await;
    assert_eq!(unreadable(&view), []);
    api.on_request(no("deployments"));
    api.close_watches();
    follow_for(&mut follower, &clock, 30).await;
    assert_eq!(
        (names(&view), unreadable(&view)),
        (vec![], vec![Kind::DEPLOYMENT])
    );

    // If nothing is readable, the view names the first kind of the query, whichever failed last.
    api.on_request(|_| Some(Fault::Answer(Status::new(403, "Forbidden", "no"))));
    api.close_watches();
    let error = loop {
        if let Err(error) = follower.update().await {
            break error;
        }
    };
    assert_eq!(error.kind(), Some(&Kind::DEPLOYMENT));
}
