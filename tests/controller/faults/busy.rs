//! A namespace that requests more transitions than the server can carry out.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use chrono::TimeDelta;
use dayshift_controller::Settings;
use futures::{StreamExt as _, stream};
use http::{Request, Response};
use http_body_util::{Either, StreamBody};
use hyper::body::{Bytes, Frame};
use kube::{Client, client::Body};
use kube_in_memory::{Api, Fault, RequestLine};
use serde_json::{Value, json};
use tokio::{sync::Notify, task::yield_now};
use tower::{BoxError, service_fn};

use crate::{
    faults::isolation::{answered, healthy},
    sandbox::{Sandbox, deployment},
};

/// A server that accepts some 350 patches a second, and 600 Deployments of one namespace that each
/// need one every second.
fn beside_a_busy_namespace() -> Sandbox {
    let mut scenario = Sandbox::empty_at("2026-11-20 18:59:56 UTC");
    for number in 0..600 {
        let busy = deployment(&format!("busy-{number}")).replicas(3);
        let busy = busy.start("*/2 * * * * *").stop("1/2 * * * * *");
        scenario.api.apply(busy.into()).unwrap();
    }
    scenario.api.namespace("prod");
    scenario.api.apply(healthy("prod", 4).into()).unwrap();
    scenario.api.remember_requests(200_000);
    let slow = |line: &RequestLine| {
        let takes = Duration::from_millis(if line.verb == "patch" { 90 } else { 20 });
        let is_write = line.verb == "patch" || line.verb == "create";
        is_write.then_some(Fault::Delay(takes))
    };
    scenario.api.on_request(slow);
    scenario.start_controller(Settings::default());
    scenario
}

#[test]
fn busy_namespace_delays_others_by_less_than_its_own_requests_take() {
    let scenario = beside_a_busy_namespace();
    scenario.sleep_until("19:00:01");
    let seen = scenario.utc("2026-11-20 19:00:01");
    scenario.apply(
        deployment("new")
            .namespace("prod")
            .replicas(3)
            .stop("20:00"),
    );
    scenario.sleep_until("19:00:06");
    let due = scenario.utc("2026-11-20 19:00:04");
    let late = answered(&scenario, "prod", "healthy-4").unwrap() - due;
    assert!(late <= TimeDelta::milliseconds(250), "{late}");
    let adopted = answered(&scenario, "prod", "new").unwrap() - seen;
    assert!(adopted <= TimeDelta::milliseconds(500), "{adopted}");
    let events = scenario.api.list("Event");
    let reported = events
        .iter()
        .filter(|event| event["reason"] == "Stopped" && event["regarding"]["namespace"] == "prod");
    assert_eq!(
        reported.count(),
        1,
        "namespaces take turns for Events as well"
    );
}

/// The Warning is reported once, and the newest missed boundary is the one that is applied.
#[test]
fn reports_schedules_that_exceed_the_request_rate() {
    let scenario = beside_a_busy_namespace();
    scenario.sleep_until("19:00:02");
    scenario.api.clear_fault();
    scenario.sleep_until("19:00:04");
    let skipped = scenario.events("busy-7");
    let skipped = skipped
        .iter()
        .filter(|reason| *reason == "BoundariesSkipped");
    assert_eq!(skipped.count(), 1);
    let events = scenario.api.list("Event");
    let reported = events
        .iter()
        .filter(|event| event["reason"] == "BoundariesSkipped");
    let objects = reported.count();
    let scrape = scenario.telemetry.render();
    let counted = scrape.lines().find_map(|line| {
        let count = line.strip_prefix("dayshift_boundaries_skipped_total ")?;
        count.parse::<usize>().ok()
    });
    assert!(
        objects > 0 && counted >= Some(objects),
        "{counted:?} of {objects}"
    );
}

/// A watch that always has an event, for example of large objects on a busy node.
#[test]
fn constant_changes_do_not_delay_responses() {
    const CHANGES: usize = 10_000;
    let mut scenario = Sandbox::empty_at("2026-11-20 18:00 UTC");
    for number in 0..100 {
        let web = deployment(&format!("web-{number}")).replicas(3);
        scenario.api.apply(web.stop("19:00").into()).unwrap();
    }
    let patched = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&patched);
    let client = move |api: &Api| {
        let (inner, api) = (api.client_as("scaler"), api.clone());
        let service = service_fn(move |request: Request<Body>| {
            let (inner, api, counted) = (inner.clone(), api.clone(), Arc::clone(&counted));
            async move {
                let query = request.uri().query().unwrap_or_default();
                if !query.contains("watch=true") || !request.uri().path().ends_with("/statefulsets")
                {
                    return Ok::<_, BoxError>(inner.send(request).await?.map(Either::Left));
                }
                let event = |kind: &str, name: &str, meta: Value| {
                    let mut object =
                        json!({"apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": meta});
                    object["metadata"]["name"] = name.into();
                    object["metadata"]["resourceVersion"] = "1".into();
                    json!({"type": kind, "object": object}).to_string() + "\n"
                };
                let end = json!({"annotations": {"k8s.io/initial-events-end": "true"}});
                let end = event("BOOKMARK", "", end);
                let change = event("MODIFIED", "db", json!({"namespace": "dev", "uid": "u"}));
                let changes = (0..CHANGES).map(move |number| {
                    if number + 1 == CHANGES {
                        let requests = api.requests();
                        let patches = requests.iter().filter(|line| line.verb == "patch");
                        counted.store(patches.count(), Ordering::Relaxed);
                    }
                    change.clone()
                });
                let lines = [end].into_iter().chain(changes);
                let lines = lines.map(|line| Ok::<_, BoxError>(Frame::data(Bytes::from(line))));
                let body = StreamBody::new(stream::iter(lines).chain(stream::pending()));
                Ok(Response::new(Either::Right(body)))
            }
        });
        Client::new(service, "default")
    };
    scenario.start_controller_with(client, Settings::default());
    scenario.sleep_until("18:01");
    assert_eq!(
        patched.load(Ordering::Relaxed),
        100,
        "adopted during the changes"
    );
}

/// The probes and the dashboard share the thread with the controller.
#[test]
fn other_tasks_run_while_a_boundary_of_many_workloads_is_queued() {
    let mut scenario = Sandbox::empty_at("2026-11-20 18:59:50 UTC");
    for number in 0..3_000 {
        let web = deployment(&format!("web-{number}")).replicas(3);
        scenario.api.apply(web.stop("19:00").into()).unwrap();
    }
    scenario.start_controller(Settings::default());
    scenario.sleep_until("18:59:59");
    let first = Arc::new(Notify::new());
    scenario.api.on_request({
        let first = Arc::clone(&first);
        move |_| {
            first.notify_one();
            None
        }
    });
    let telemetry = Arc::clone(&scenario.telemetry);
    let queued = move || {
        let scrape = telemetry.render();
        let line = "dayshift_queue_depth{class=\"transition\"} ";
        let depth = scrape.lines().find_map(|text| text.strip_prefix(line));
        depth.unwrap().parse::<usize>().unwrap()
    };
    let largest = scenario.block_on(async move {
        first.notified().await;
        let (mut seen, mut largest) = (0, 0);
        while seen < 2_500 {
            yield_now().await;
            let now = queued();
            largest = largest.max(now.saturating_sub(seen));
            seen = now;
        }
        largest
    });
    assert!(largest <= 2_100, "{largest} were queued without a pause");
}
