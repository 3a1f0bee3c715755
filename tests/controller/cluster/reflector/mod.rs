//! The first list of a watch as a stream, and as pages if the server rejects the stream.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod cut;
mod faults;
mod pages;
mod script;

use std::{future::ready, time::Duration};

use chrono::{DateTime, Utc};
use dayshift_cluster::{
    Workload,
    watch::{ObjectSource, Reflector, ReflectorEvent},
};
use dayshift_workload::Kind;
use futures::{StreamExt as _, stream::BoxStream};
use http::{Request, Response};
use kube::{Client, api::WatchParams, client::Body};
use kube_in_memory::{Api, Fault, RequestLine, Status};
use serde_json::{Value, json};
use tokio::time::{Instant, sleep, timeout};
use tower::service_fn;

const HOUR: Duration = Duration::from_secs(3600);

#[tokio::test(start_paused = true)]
async fn sends_no_list_request_if_the_server_streams_lists() {
    let api = cluster(3);
    let mut events = watch(&api);
    assert_eq!(
        seen(&mut events, 6).await,
        "open init +web-0 +web-1 +web-2 ready"
    );
    api.scale("default", "web-1", 5).unwrap();
    api.delete("default", "web-2").unwrap();
    assert_eq!(seen(&mut events, 2).await, "=web-1 -web-2");
    assert_eq!(asked(&api), "stream");
}

#[tokio::test(start_paused = true)]
async fn watch_that_ends_resumes_from_its_version() {
    let api = cluster(1);
    let mut events = watch(&api);
    assert_eq!(seen(&mut events, 4).await, "open init +web-0 ready");
    nothing(&mut events).await;
    api.close_watches();
    api.scale("default", "web-0", 5).unwrap();
    assert_eq!(seen(&mut events, 2).await, "early =web-0");
    assert_eq!(asked(&api), "stream watch");
}

/// Most servers send this error as a watch event, and some as an HTTP status.
#[tokio::test(start_paused = true)]
async fn lists_again_if_the_version_of_a_watch_has_expired() {
    let api = cluster(1);
    let mut events = watch(&api);
    assert_eq!(seen(&mut events, 4).await, "open init +web-0 ready");
    nothing(&mut events).await;
    let gone = Fault::Answer(Status::new(410, "Expired", "too old resource version"));
    api.on_request(move |line| match is_stream(line) {
        true => Some(Fault::Delay(Duration::from_secs(1))),
        false => (line.verb == "watch").then(|| gone.clone()),
    });
    sleep(Duration::from_secs(120)).await;
    api.close_watches();
    assert_eq!(seen(&mut events, 5).await, "error open init +web-0 ready");
    assert_eq!(asked(&api), "stream watch stream");
}

#[tokio::test(start_paused = true)]
async fn falls_back_to_pages_at_once_if_a_streamed_list_is_rejected() {
    for refusal in [
        Status::invalid("meta.k8s.io", "ListOptions", "", Vec::new()),
        Status::forbidden("apps", "deployments", "", "no watch for you"),
    ] {
        let api = cluster(101);
        api.on_request(move |line| is_stream(line).then(|| Fault::Answer(refusal.clone())));
        let begin = Instant::now();
        let mut events = watch(&api);
        let reported = seen(&mut events, 104).await;
        assert!(reported.starts_with("init +web-0 +web-1 "), "{reported}");
        assert!(reported.ends_with(" +web-99 ready open"), "{reported}");
        assert_eq!(begin.elapsed(), Duration::ZERO, "the fallback is immediate");
        api.scale("default", "web-7", 5).unwrap();
        assert_eq!(seen(&mut events, 1).await, "=web-7");
        nothing(&mut events).await;
        api.close_watches();
        api.delete("default", "web-7").unwrap();
        api.compact();
        let reported = seen(&mut events, 105).await;
        assert!(
            reported.starts_with("early error init +web-0 "),
            "{reported}"
        );
        assert!(reported.ends_with(" -web-7 ready"), "{reported}");
        assert_eq!(
            asked(&api),
            "stream list page watch watch stream list",
            "the next list is requested as a stream again"
        );
    }
}

/// The cause might be temporary, such as a missing permission or a slow response.
#[tokio::test(start_paused = true)]
async fn tries_a_streamed_list_again_after_a_fallback() {
    let forbidden = Status::forbidden("apps", "deployments", "", "not yet");
    for fault in [Fault::Hang, Fault::Answer(forbidden)] {
        let api = cluster(101);
        api.fail_next(is_stream, fault);
        let mut events = watch(&api);
        assert!(
            seen(&mut events, 104)
                .await
                .ends_with(" +web-99 ready open")
        );
        nothing(&mut events).await;
        api.close_watches();
        api.delete("default", "web-7").unwrap();
        api.compact();
        let reported = seen(&mut events, 106).await;
        assert!(
            reported.starts_with("early error open init +web-0 "),
            "{reported}"
        );
        assert!(reported.ends_with(" -web-7 ready"), "{reported}");
        assert_eq!(asked(&api), "stream list page watch watch stream");
    }
}

#[tokio::test(start_paused = true)]
async fn falls_back_to_pages_if_a_streamed_list_never_ends() {
    let api = cluster(2);
    api.on_request(|line| is_stream(line).then_some(Fault::Hang));
    let mut events = watch(&api);
    let begin = Instant::now();
    assert_eq!(seen(&mut events, 4).await, "init +web-0 +web-1 ready");
    assert_eq!(begin.elapsed(), Duration::from_secs(10));
    assert_eq!(asked(&api), "stream list");
}

/// An old server ignores the list options, so each change looks like another object of the initial list.
#[tokio::test(start_paused = true)]
async fn falls_back_to_pages_on_an_old_server_with_constant_changes() {
    let api = cluster(2);
    let server = api.client();
    let ignores = service_fn(move |mut request: Request<Body>| {
        let server = server.clone();
        async move {
            let uri = request.uri().to_string();
            let parameters = [
                "sendInitialEvents=true&",
                "resourceVersionMatch=NotOlderThan&",
            ];
            let unknown = parameters.iter().fold(uri, |uri, it| uri.replace(it, ""));
            *request.uri_mut() = unknown.parse().unwrap();
            server.send(request).await
        }
    });
    tokio::spawn(async move {
        for replicas in 0.. {
            api.scale("default", "web-1", replicas).unwrap();
            sleep(Duration::from_secs(5)).await;
        }
    });
    let events = watch_by(Client::new(ignores, "default"));
    let begin = Instant::now();
    let is_ready =
        |event: &ReflectorEvent<Workload>| matches!(event, ReflectorEvent::Listed { .. });
    let mut ready = events.filter(|event| ready(is_ready(event))).boxed();
    assert!(timeout(HOUR, ready.next()).await.is_ok());
    assert_eq!(begin.elapsed(), Duration::from_secs(60));
}

#[tokio::test(start_paused = true)]
async fn falls_back_to_pages_if_each_stream_ends_too_soon() {
    let api = cluster(1);
    let server = api.client();
    let cuts = service_fn(move |request: Request<Body>| {
        let server = server.clone();
        async move {
            let query = request.uri().query().unwrap_or_default();
            if query.contains("sendInitialEvents=true") {
                return Ok(Response::new(Body::empty()));
            }
            server.send(request).await
        }
    });
    let mut events = watch_by(Client::new(cuts, "default"));
    let reported = seen(&mut events, 10).await;
    assert_eq!(
        reported,
        "open init open init open init init +web-0 ready open"
    );
}

#[tokio::test(start_paused = true)]
async fn tries_a_streamed_list_again_after_an_outage() {
    let api = cluster(1);
    api.fail_next(is_stream, Fault::DropBefore);
    let mut events = watch(&api);
    assert_eq!(seen(&mut events, 5).await, "error open init +web-0 ready");
    assert_eq!(asked(&api), "stream stream");
}

/// As in client-go: one list without a limit, then pages again for the next list.
#[tokio::test(start_paused = true)]
async fn lists_without_pages_if_continue_tokens_always_expire() {
    let api = cluster(101);
    let refusal = Status::invalid("meta.k8s.io", "ListOptions", "", Vec::new());
    let expired = Status::new(410, "Expired", "the provided continue parameter is too old");
    api.on_request(move |line| {
        let is_page = line.verb == "list" && line.query.contains("continue=");
        let answer = is_page.then_some(&expired);
        answer
            .or(is_stream(line).then_some(&refusal))
            .map(|status| Fault::Answer(status.clone()))
    });
    let mut events = watch(&api);
    let reported = seen(&mut events, 205).await;
    assert!(reported.starts_with("init +web-0 "), "{reported}");
    assert!(
        reported.contains(" init +web-0 "),
        "the full list repeats the objects of the first page"
    );
    assert!(reported.ends_with(" +web-99 ready open"), "{reported}");
    assert_eq!(asked(&api), "stream list page whole watch");
    nothing(&mut events).await;
    api.forget_requests();
    api.close_watches();
    api.scale("default", "web-7", 5).unwrap();
    api.compact();
    let reported = seen(&mut events, 206).await;
    assert!(
        reported.starts_with("early error init +web-0 "),
        "{reported}"
    );
    assert!(reported.ends_with(" ready"), "{reported}");
    assert_eq!(asked(&api), "watch stream list page whole");
}

fn cluster(deployments: usize) -> Api {
    let (start, epoch) = (DateTime::<Utc>::UNIX_EPOCH, Instant::now());
    let api = Api::new(move || start + epoch.elapsed());
    for number in 0..deployments {
        api.create(deployment(&format!("web-{number}"))).unwrap();
    }
    api
}

fn deployment(name: &str) -> Value {
    json!({
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": name},
        "spec": {
            "selector": {"matchLabels": {"app": name}},
            "template": {
                "metadata": {"labels": {"app": name}},
                "spec": {"containers": [{"name": "nginx", "image": "nginx:1"}]},
            },
        },
    })
}

type Events = BoxStream<'static, ReflectorEvent<Workload>>;

fn watch(api: &Api) -> Events {
    watch_by(api.client())
}

fn watch_by(client: Client) -> Events {
    let (all, random) = (WatchParams::default(), fastrand::Rng::with_seed(1));
    let reflector = Reflector::for_kind(client, &Kind::DEPLOYMENT, None, all, random);
    reflector.into_stream().boxed()
}

/// The next events in short form, if they arrive within an hour.
async fn seen(events: &mut Events, count: usize) -> String {
    let words = events.take(count).map(|event| match event {
        ReflectorEvent::Opened {
            unverified_version: None,
        } => "open".to_owned(),
        ReflectorEvent::Opened {
            unverified_version: Some(_),
        } => "early".to_owned(),
        ReflectorEvent::Init => "init".to_owned(),
        ReflectorEvent::Applied { name, source, .. } => {
            let sign = match source {
                ObjectSource::List => '+',
                ObjectSource::Change => '=',
            };
            format!("{sign}{}", name.name)
        }
        ReflectorEvent::Deleted { name, .. } => format!("-{}", name.name),
        ReflectorEvent::Listed { .. } => "ready".to_owned(),
        ReflectorEvent::Failed(_) => "error".to_owned(),
    });
    let words = words.collect::<Vec<_>>();
    timeout(HOUR, words).await.unwrap().join(" ")
}

/// Asserts that no event arrives for a second.
async fn nothing(events: &mut Events) {
    let event = timeout(Duration::from_secs(1), events.next()).await;
    assert!(event.is_err(), "{event:?}");
}

fn is_stream(line: &RequestLine) -> bool {
    line.query.contains("sendInitialEvents=true")
}

/// The requests to the server in short form.
fn asked(api: &Api) -> String {
    let words = api
        .requests()
        .into_iter()
        .filter_map(|line| match line.verb {
            "watch" if is_stream(&line) => Some("stream"),
            "watch" => Some("watch"),
            "list" if line.query.contains("continue=") => Some("page"),
            "list" if !line.query.contains("limit=") => Some("whole"),
            "list" => Some("list"),
            _ => None,
        });
    words.collect::<Vec<_>>().join(" ")
}
