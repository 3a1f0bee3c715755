//! kube's `watcher` against the API in memory, on tokio's paused clock.

use std::pin::{Pin, pin};
use std::time::Duration;

use chrono::{DateTime, Utc};
use futures::{Stream, StreamExt as _};
use k8s_openapi::api::apps::v1::Deployment;
use kube::ResourceExt as _;
use kube::runtime::watcher::{self, Event, watcher};
use kube_in_memory::{Api, Fault, Status};
use serde_json::{Value, json};
use tokio::time::{Instant, timeout};

/// An API that uses tokio's clock and starts at this time.
fn cluster(at: &str) -> Api {
    let (start, epoch) = (at.parse::<DateTime<Utc>>().unwrap(), Instant::now());
    Api::new(move || start + epoch.elapsed())
}

fn deployment(name: &str) -> Value {
    json!({
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": name},
        "spec": {
            "replicas": 2,
            "selector": {"matchLabels": {"app": name}},
            "template": {
                "metadata": {"labels": {"app": name}},
                "spec": {"containers": [{"name": "nginx", "image": "nginx:1"}]},
            },
        },
    })
}

type Events = Pin<Box<dyn Stream<Item = Result<Event<Deployment>, watcher::Error>> + Send>>;

fn watch(api: &Api, config: watcher::Config) -> Events {
    watcher(kube::Api::<Deployment>::all(api.client()), config).boxed()
}

/// The next event in short form: `init`, `+name` in the first list, `ready`, `=name`, `-name` or `error`.
async fn next(events: &mut Events) -> String {
    match events.next().await.unwrap() {
        Ok(Event::Init) => "init".into(),
        Ok(Event::InitApply(object)) => format!("+{}", object.name_any()),
        Ok(Event::InitDone) => "ready".into(),
        Ok(Event::Apply(object)) => format!("={}", object.name_any()),
        Ok(Event::Delete(object)) => format!("-{}", object.name_any()),
        Err(_) => "error".into(),
    }
}

async fn take(events: &mut Events, count: usize) -> Vec<String> {
    let mut seen = Vec::new();
    for _ in 0..count {
        seen.push(next(events).await);
    }
    seen
}

/// Asserts that no event arrives within `time`.
async fn assert_no_event(events: &mut Events, time: Duration) {
    assert!(
        timeout(time, pin!(next(events))).await.is_err(),
        "unexpected event"
    );
}

fn count(api: &Api, verb: &str) -> usize {
    api.requests()
        .iter()
        .filter(|line| line.verb == verb)
        .count()
}

#[tokio::test(start_paused = true)]
async fn initial_list_is_paginated_and_followed_by_changes() {
    let api = cluster("2026-11-20T10:00:00Z");
    for number in 0..7 {
        api.create(deployment(&format!("web-{number}"))).unwrap();
    }
    let mut events = watch(&api, watcher::Config::default().page_size(3));
    assert_eq!(
        take(&mut events, 9).await,
        [
            "init", "+web-0", "+web-1", "+web-2", "+web-3", "+web-4", "+web-5", "+web-6", "ready"
        ]
    );
    assert_eq!(count(&api, "list"), 3);

    api.scale("default", "web-3", 0).unwrap();
    api.delete("default", "web-4").unwrap();
    api.create(deployment("api")).unwrap();
    assert_eq!(take(&mut events, 3).await, ["=web-3", "-web-4", "=api"]);
}

#[tokio::test(start_paused = true)]
async fn later_pages_show_the_state_of_the_first() {
    let api = cluster("2026-11-20T10:00:00Z");
    for name in ["a", "b", "c"] {
        api.create(deployment(name)).unwrap();
    }
    let mut events = watch(&api, watcher::Config::default().page_size(1));
    assert_eq!(take(&mut events, 2).await, ["init", "+a"]);
    api.delete("default", "c").unwrap();
    api.create(deployment("bb")).unwrap();
    assert_eq!(
        take(&mut events, 5).await,
        ["+b", "+c", "ready", "-c", "=bb"]
    );
}

#[tokio::test(start_paused = true)]
async fn quiet_watch_is_renewed_without_a_list() {
    let api = cluster("2026-11-20T10:00:00Z");
    let mut events = watch(&api, watcher::Config::default());
    assert_eq!(take(&mut events, 2).await, ["init", "ready"]);
    assert_no_event(&mut events, Duration::from_secs(24 * 3600)).await;
    assert_eq!(count(&api, "list"), 1);
    assert_eq!(count(&api, "watch"), 24 * 3600 / 290 + 1);
    api.create(deployment("web")).unwrap();
    assert_eq!(next(&mut events).await, "=web");
}

#[tokio::test(start_paused = true)]
async fn interrupted_watch_misses_no_event() {
    let api = cluster("2026-11-20T10:00:00Z");
    api.create(deployment("web")).unwrap();
    let mut events = watch(&api, watcher::Config::default());
    assert_eq!(take(&mut events, 3).await, ["init", "+web", "ready"]);
    assert_no_event(&mut events, Duration::from_secs(1)).await;
    api.close_watches();
    api.scale("default", "web", 5).unwrap();
    assert_eq!(next(&mut events).await, "=web");
    assert_eq!((count(&api, "list"), count(&api, "watch")), (1, 2));
}

#[tokio::test(start_paused = true)]
async fn expired_watch_lists_again() {
    let api = cluster("2026-11-20T10:00:00Z");
    api.create(deployment("web")).unwrap();
    api.create(deployment("old")).unwrap();
    let mut events = watch(&api, watcher::Config::default());
    assert_eq!(
        take(&mut events, 4).await,
        ["init", "+old", "+web", "ready"]
    );
    assert_no_event(&mut events, Duration::from_secs(1)).await;
    api.close_watches();
    api.delete("default", "old").unwrap();
    api.compact();
    assert_eq!(
        take(&mut events, 4).await,
        ["error", "init", "+web", "ready"]
    );
}

/// kube-apiserver sends this message after a restart; before, its watch cache contains all versions.
#[tokio::test(start_paused = true)]
async fn old_resource_version_ends_the_watch_with_an_error() {
    let api = cluster("2026-11-20T10:00:00Z");
    api.create(deployment("web")).unwrap();
    api.compact();
    let path = "/apis/apps/v1/deployments?watch=true&resourceVersion=1";
    let request = http::Request::get(path).body(Vec::new()).unwrap();
    let answer = api.client().request_text(request).await.unwrap();
    let message = format!("too old resource version: 1 ({})", api.revision());
    let status = json!({
        "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
        "message": message, "reason": "Expired", "code": 410,
    });
    let event: Value = serde_json::from_str(&answer).unwrap();
    assert_eq!(event, json!({"type": "ERROR", "object": status}));
}

#[tokio::test(start_paused = true)]
async fn selector_watch_shows_objects_that_begin_and_cease_to_match() {
    let api = cluster("2026-11-20T10:00:00Z");
    api.create(deployment("web")).unwrap();
    let mut events = watch(&api, watcher::Config::default().labels("team=a"));
    assert_eq!(take(&mut events, 2).await, ["init", "ready"]);
    api.label("default", "web", "team", Some("a")).unwrap();
    api.scale("default", "web", 3).unwrap();
    api.label("default", "web", "team", Some("b")).unwrap();
    api.scale("default", "web", 4).unwrap();
    assert_eq!(take(&mut events, 3).await, ["=web", "=web", "-web"]);
    assert_no_event(&mut events, Duration::from_secs(1)).await;
}

#[tokio::test(start_paused = true)]
async fn streamed_list_needs_no_list_request() {
    let api = cluster("2026-11-20T10:00:00Z");
    api.create(deployment("web")).unwrap();
    let mut events = watch(&api, watcher::Config::default().streaming_lists());
    assert_eq!(take(&mut events, 3).await, ["init", "+web", "ready"]);
    api.scale("default", "web", 3).unwrap();
    assert_eq!(next(&mut events).await, "=web");
    assert_eq!((count(&api, "list"), count(&api, "watch")), (0, 1));
}

#[tokio::test(start_paused = true)]
async fn client_observes_injected_faults() {
    let api = cluster("2026-11-20T10:00:00Z");
    api.create(deployment("web")).unwrap();
    let deployments = kube::Api::<Deployment>::namespaced(api.client_as("other"), "default");

    api.fail_next(|_| true, Fault::Answer(Status::too_many_requests(7)));
    match deployments.get("web").await.unwrap_err() {
        kube::Error::Api(status) => {
            assert_eq!((status.code, &*status.reason), (429, "TooManyRequests"));
            assert_eq!(status.details.unwrap().retry_after_seconds, 7);
        }
        other => panic!("{other}"),
    }
    let scale = kube::api::Patch::Merge(json!({"spec": {"replicas": 9}}));
    api.fail_next(|line| line.verb == "patch", Fault::DropBefore);
    deployments
        .patch("web", &Default::default(), &scale)
        .await
        .unwrap_err();
    assert_eq!(api.replicas("default", "web"), Some(2));
    api.fail_next(|line| line.verb == "patch", Fault::DropAfter);
    deployments
        .patch("web", &Default::default(), &scale)
        .await
        .unwrap_err();
    assert_eq!(api.replicas("default", "web"), Some(9));

    api.fail_next(|_| true, Fault::Hang);
    assert!(
        timeout(Duration::from_secs(60), deployments.get("web"))
            .await
            .is_err()
    );
    let before = Instant::now();
    api.fail_next(|_| true, Fault::Delay(Duration::from_secs(3)));
    deployments.get("web").await.unwrap();
    assert_eq!(before.elapsed(), Duration::from_secs(3));

    let lines: Vec<_> = api
        .requests()
        .into_iter()
        .map(|line| (line.verb, line.code, line.who))
        .collect();
    let who = || "other".to_owned();
    assert_eq!(
        lines,
        [
            ("get", Some(429), who()),
            ("patch", None, who()),
            ("patch", None, who()),
            ("get", None, who()),
            ("get", Some(200), who()),
        ]
    );
}
