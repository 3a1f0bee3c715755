//! Responses that differ from the watch: lost responses, responses about other objects, replaced objects,
//! wrong clocks.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::Duration,
};

use chrono::TimeDelta;
use dayshift_controller::{Scope, Settings};
use futures::{StreamExt as _, stream};
use http::{Method, Request, Response};
use http_body_util::{Either, StreamBody};
use hyper::body::{Bytes, Frame};
use kube::{Client, client::Body};
use kube_in_memory::{Api, Fault, RequestLine, Status};
use serde_json::json;
use tower::{BoxError, service_fn};

use crate::sandbox::{Sandbox, deployment, logged};

fn is_patch(line: &RequestLine) -> bool {
    line.verb == "patch" && line.resource == "deployments"
}

/// The metrics of the completed stops.
fn stops_done(scenario: &Sandbox) -> String {
    let name = r#"dayshift_transitions_total{action="stop",outcome="done"} "#;
    let text = scenario.telemetry.render();
    let line = text.lines().find_map(|line| line.strip_prefix(name));
    line.unwrap().to_owned()
}

#[test]
fn reports_and_counts_once_a_patch_whose_response_was_lost() {
    for fault in [Fault::DropAfter, Fault::Delay(Duration::from_secs(60))] {
        let scenario = Sandbox::at("2026-11-20 18:00 UTC");
        scenario.apply(deployment("web").replicas(3).stop("19:00"));
        scenario.sleep_until("18:59");
        scenario.api.fail_next(is_patch, fault.clone());
        scenario.sleep_until("19:05");
        assert_eq!(scenario.replicas("web"), 0, "{fault:?}");
        assert_eq!(stops_done(&scenario), "1", "{fault:?}");
        let reported = scenario.events("web");
        let stops = reported.iter().filter(|reason| *reason == "Stopped");
        assert_eq!(stops.count(), 1, "{fault:?}: {reported:?}");
    }
}

/// The response is lost, and a user scales the workload before the watch shows the patch.
#[test]
fn lost_response_is_not_confirmed_by_another_object() {
    let scenario = Sandbox::at("2026-11-20 18:00 UTC");
    scenario.apply(deployment("web").replicas(3).stop("19:00"));
    scenario.sleep_until("18:59");
    scenario.api.fail_next(is_patch, Fault::DropBefore);
    scenario.sleep_until("19:05");
    assert_eq!(
        (scenario.replicas("web"), stops_done(&scenario)),
        (0, "1".into())
    );
    assert_eq!(scenario.events("web"), ["Stopped"]);
}

#[test]
fn forgets_a_workload_that_left_the_selector_during_a_list() {
    let mut scenario = Sandbox::empty_at("2026-11-20 18:00 UTC");
    for name in ["web", "other"] {
        let scoped = deployment(name).replicas(3).label("tier", "dev");
        scenario.apply(scoped.start("18:30").stop("19:00"));
    }
    // Lists use pages and take 8 s; a patch takes 3 s.
    scenario.api.on_request(|line| match line.verb {
        "watch" if line.query.contains("sendInitialEvents") => {
            Some(Fault::Answer(Status::new(422, "Invalid", "no streams")))
        }
        "list" => Some(Fault::Delay(Duration::from_secs(8))),
        _ => is_patch(line).then_some(Fault::Delay(Duration::from_secs(3))),
    });
    let scope = Scope {
        selector: Some("tier=dev".into()),
        ..Scope::default()
    };
    scenario.start_with(|settings| settings.scope = scope);
    scenario.sleep_until("18:29:58");
    // `web` leaves the selector, so the new list does not contain it. The response to its start at 18:30
    // arrives during the list.
    let leaves = json!({"metadata": {"labels": {"tier": "prod"}}});
    scenario.api.close_watches();
    let left = scenario.api.merge("Deployment", "dev", "web", &leaves);
    left.unwrap();
    scenario.api.compact();
    scenario.sleep_until("18:30:01");
    let lists = scenario.requests("list").into_iter();
    let pages = lists.filter(|line| line.query.contains("limit=100"));
    assert_eq!(pages.count(), 2, "the second list is in progress");
    scenario.sleep_until("18:45");
    scenario.api.clear_fault();
    scenario.sleep_until("19:05");
    assert_eq!(scenario.replicas("other"), 0);
    assert_eq!(scenario.replicas("web"), 3, "web is out of scope");
}

#[test]
fn replaced_object_sends_its_own_request() {
    let scenario = Sandbox::at("2026-11-20 18:00 UTC");
    for name in ["api", "web", "worker"] {
        scenario.apply(deployment(name).replicas(3).stop("19:00"));
    }
    scenario.sleep_until("18:59");
    let forbidden = Status::forbidden(
        "apps",
        "deployments",
        "web",
        r#"User "dayshift" cannot patch resource "deployments" in API group "apps" in the namespace "dev""#,
    );
    scenario
        .api
        .on_request(move |line| is_patch(line).then(|| Fault::Answer(forbidden.clone())));
    scenario.sleep_until("19:00");
    // Any of the three might be the probe of the shared backoff, so two are replaced while no watch is open.
    scenario.api.close_watches();
    for name in ["api", "web"] {
        scenario.api.delete("dev", name).unwrap();
        let again = deployment(name).replicas(3).stop("20:00");
        scenario.api.apply(again.into()).unwrap();
    }
    scenario.api.compact();
    scenario.api.clear_fault();
    scenario.sleep_until("19:02");
    assert_eq!(scenario.replicas("worker"), 0);
    assert_eq!((scenario.replicas("api"), scenario.replicas("web")), (3, 3));
}

#[test]
fn distinguishes_clock_boundaries_from_user_requests() {
    let scenario = Sandbox::at("2026-11-20 18:00 UTC");
    scenario.apply(deployment("web").replicas(3).hours("09:00-19:00"));
    scenario.sleep_until("18:10");
    let until = (scenario.utc("2026-11-20 18:30")).to_rfc3339();
    scenario.annotate("web", "sleep-until", Some(&until));
    scenario.sleep_until("18:20");
    scenario.annotate("web", "sleep-until", None);
    scenario.pass(Duration::from_millis(700));
    let count = |name: &str, action: &str| {
        let line = format!(r#"dayshift_{name}_lateness_seconds_count{{action="{action}"}} "#);
        let text = scenario.telemetry.render();
        let count = text
            .lines()
            .find_map(|it| it.strip_prefix(&*line).map(str::to_owned));
        count.unwrap()
    };
    assert_eq!(
        (count("transition", "stop"), count("transition", "start")),
        ("0".into(), "0".into())
    );
    assert_eq!(
        (count("request", "stop"), count("request", "start")),
        ("1".into(), "1".into())
    );
    scenario.sleep_until("19:01");
    assert_eq!(
        (count("transition", "stop"), count("request", "stop")),
        ("1".into(), "1".into())
    );
    let none_late = r#"dayshift_request_lateness_seconds_bucket{le="0.1",action="start"} 1"#;
    assert!(scenario.telemetry.render().contains(none_late));
}

/// A server with a nonsensical clock must not end the controller.
#[test]
fn treats_a_clock_millennia_away_as_a_wrong_clock() {
    for seconds in [8_000_000_000_000, -8_000_000_000_000] {
        let scenario = Sandbox::at("2026-11-20 18:00 UTC");
        scenario.apply(deployment("web").replicas(3).stop("19:00"));
        scenario.sleep_until("18:59");
        scenario.server_is_ahead(seconds);
        scenario.annotate("web", "stop", Some("19:10"));
        scenario.sleep_until("19:05");
        scenario.server_is_ahead(0);
        scenario.pass(TimeDelta::minutes(1).to_std().unwrap());
        scenario.sleep_until("19:15");
        assert_eq!(scenario.replicas("web"), 0, "{seconds}");
    }
}

/// A proxy with a temporary fault answers 404 for every object. Only the API server's own 404 means that an
/// object is gone: the watch continues, and would not show the object again.
#[test]
fn plain_404_page_does_not_remove_an_object() {
    let mut scenario = Sandbox::empty_at("2026-11-20 18:00 UTC");
    let is_astray = Arc::new(AtomicBool::new(false));
    let astray = is_astray.clone();
    let proxied = move |api: &Api| {
        let inner = api.client_as("scaler");
        let service = service_fn(move |request: Request<Body>| {
            let (inner, is_astray) = (inner.clone(), astray.load(Ordering::Relaxed));
            async move {
                if is_astray && request.method() == Method::PATCH {
                    let page = Body::from(b"404 page not found\n".to_vec());
                    return Ok(Response::builder().status(404).body(page)?);
                }
                Ok::<_, BoxError>(inner.send(request).await?)
            }
        });
        Client::new(service, "default")
    };
    scenario.start_controller_with(proxied, Settings::default());
    scenario.apply(deployment("web").replicas(3).stop("19:00"));
    scenario.sleep_until("18:59");
    is_astray.store(true, Ordering::Relaxed);
    scenario.sleep_until("19:00:05");
    is_astray.store(false, Ordering::Relaxed);
    scenario.sleep_until("19:01");
    assert_eq!(scenario.replicas("web"), 0);
}

/// A successful response without the object, for example from a proxy: the patch is not confirmed, and the
/// object is not gone.
#[test]
fn success_about_another_object_is_a_failure() {
    let status = json!({
        "apiVersion": "v1", "kind": "Status", "metadata": {}, "status": "Failure", "code": 503,
    });
    let other = json!({
        "apiVersion": "apps/v1", "kind": "Deployment", "spec": {"replicas": 3},
        "metadata": {"namespace": "dev", "name": "other", "uid": "u", "resourceVersion": "9"},
    });
    for method in [Method::PATCH, Method::GET] {
        for answer in [&status, &other] {
            let mut scenario = Sandbox::empty_at("2026-11-20 18:00 UTC");
            let (method, body) = (method.clone(), answer.to_string());
            let is_odd = Arc::new(AtomicBool::new(false));
            let before = {
                let (is_odd, method) = (is_odd.clone(), method.clone());
                move |api: &Api| {
                    let inner = api.client_as("scaler");
                    let service = service_fn(move |request: Request<Body>| {
                        let is_object = request.uri().path().ends_with("/deployments/web");
                        let is_it = is_object && *request.method() == method;
                        let odd = is_it && is_odd.swap(false, Ordering::Relaxed);
                        let (inner, body) = (inner.clone(), body.clone().into_bytes());
                        async move {
                            if odd {
                                return Ok(Response::new(Body::from(body)));
                            }
                            Ok::<_, BoxError>(inner.send(request).await?)
                        }
                    });
                    Client::new(service, "default")
                }
            };
            scenario.start_controller_with(before, Settings::default());
            scenario.apply(deployment("web").replicas(3).stop("19:00"));
            scenario.sleep_until("18:59");
            is_odd.store(true, Ordering::Relaxed);
            if method == Method::GET {
                let conflict = Status::new(422, "Invalid", "the server rejected our request");
                scenario.api.fail_next(is_patch, Fault::Answer(conflict));
            }
            scenario.sleep_until("19:05");
            let done = (scenario.replicas("web"), stops_done(&scenario));
            assert_eq!(done, (0, "1".to_owned()), "{method} {answer}");
        }
    }
}

/// A watch reads at most 64 MiB of an event, of which it keeps at most 10 MiB, then ends. The other watches
/// continue.
#[test]
fn an_endless_event_ends_only_its_watch() {
    const PIECE: usize = 64 << 10;
    let (guard, log) = logged();
    let sent = Arc::new(AtomicUsize::new(0));
    let mut scenario = Sandbox::empty_at("2026-11-20 18:00 UTC");
    let counted = Arc::clone(&sent);
    let before = move |api: &Api| {
        let inner = api.client_as("scaler");
        let service = service_fn(move |request: Request<Body>| {
            let (inner, sent) = (inner.clone(), Arc::clone(&counted));
            async move {
                let is_watch = request
                    .uri()
                    .query()
                    .is_some_and(|query| query.contains("watch=true"));
                if is_watch && request.uri().path().ends_with("/statefulsets") {
                    let piece = Bytes::from_static(&[b' '; PIECE]);
                    let pieces = stream::repeat_with(move || {
                        sent.fetch_add(PIECE, Ordering::Relaxed);
                        Ok::<_, BoxError>(Frame::data(piece.clone()))
                    });
                    return Ok(Response::new(Either::Right(StreamBody::new(pieces))));
                }
                Ok::<_, BoxError>(inner.send(request).await?.map(Either::Left))
            }
        });
        Client::new(service, "default")
    };
    scenario.start_controller_with(before, Settings::default());
    scenario.apply(deployment("web").replicas(3).stop("18:01"));
    assert!(
        sent.load(Ordering::Relaxed) <= (64 << 20) + 2 * PIECE,
        "{sent:?}"
    );
    scenario.sleep_until("18:02");
    assert_eq!(scenario.replicas("web"), 0);
    drop(guard);
    let log = std::fs::read_to_string(log.path()).unwrap();
    assert!(
        log.contains("the API server has sent an event of more than 67108864 bytes"),
        "{log}"
    );
}

/// The decoder quotes the text that it rejects.
#[test]
fn an_unreadable_event_is_logged_briefly() {
    let (guard, log) = logged();
    let mut scenario = Sandbox::empty_at("2026-11-20 18:00 UTC");
    let before = move |api: &Api| {
        let inner = api.client_as("scaler");
        let service = service_fn(move |request: Request<Body>| {
            let inner = inner.clone();
            async move {
                let query = request.uri().query();
                let is_watch = query.is_some_and(|query| query.contains("watch=true"));
                if is_watch && request.uri().path().ends_with("/statefulsets") {
                    let object = json!({"metadata": "x".repeat(1 << 20)});
                    let odd = json!({"type": "ADDED", "object": object}).to_string() + "\n";
                    let odd = Ok::<_, BoxError>(Frame::data(Bytes::from(odd)));
                    let body = stream::iter([odd]).chain(stream::pending());
                    return Ok(Response::new(Either::Right(StreamBody::new(body))));
                }
                Ok::<_, BoxError>(inner.send(request).await?.map(Either::Left))
            }
        });
        Client::new(service, "default")
    };
    scenario.start_controller_with(before, Settings::default());
    scenario.sleep_until("18:01");
    drop(guard);
    let log = std::fs::read_to_string(log.path()).unwrap();
    let line = log.lines().find(|line| line.contains("xxx"));
    assert!(line.is_some_and(|line| line.len() < 2_000), "{log:.3000}");
}
