//! Starts that wait for Services.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use dayshift_controller::{Scope, Settings};
use kube_in_memory::{Fault, Status};
use serde_json::{Value, json};

use super::{OFFICE, is_none_told, sent, told, waiting};
use crate::sandbox::{Sandbox, deployment};

const MANAGER: &str = "endpointslice.kubernetes.io/managed-by";

fn settings(namespaces: &[&str]) -> Settings {
    Settings {
        scope: Scope {
            namespaces: namespaces.iter().map(|it| (*it).to_owned()).collect(),
            namespace_defaults: false,
            services: true,
            ..Scope::default()
        },
        ..Settings::default()
    }
}

/// A cluster whose API server has EndpointSlices.
fn cluster() -> Sandbox {
    let story = Sandbox::empty_at("2026-11-20 18:00 UTC");
    let (group, plural) = ("discovery.k8s.io", "endpointslices");
    let api = &story.api;
    api.serve_custom(group, "v1", plural, "EndpointSlice");
    story
}

/// `web` is stopped on Friday evening, and depends on `svc/db`.
fn evening(settings: Settings) -> Sandbox {
    let mut story = cluster();
    story.start_scaler(settings);
    let web = deployment("web").replicas(3).hours(OFFICE);
    story.apply(web.annotation("dayshift/after", "svc/db"));
    story.sleep_until("19:01");
    assert_eq!(story.replicas("web"), 0);
    story
}

/// A slice of `svc/db` with these endpoints.
fn slice(name: &str, ready: &[Option<bool>]) -> Value {
    let endpoints = ready.iter().map(|ready| match ready {
        Some(ready) => json!({"addresses": ["10.0.0.1"], "conditions": {"ready": ready}}),
        None => json!({"addresses": ["10.0.0.1"]}),
    });
    json!({
        "apiVersion": "discovery.k8s.io/v1", "kind": "EndpointSlice",
        "metadata": {"name": name, "namespace": "dev", "labels": {
            "kubernetes.io/service-name": "db", MANAGER: "endpointslice-controller.k8s.io",
        }},
        "addressType": "IPv4", "ports": [],
        "endpoints": endpoints.collect::<Vec<_>>(),
    })
}

fn show(story: &Sandbox, slice: Value) {
    story.api.apply(slice).unwrap();
    story.settle();
}

#[test]
fn starts_within_milliseconds_of_a_ready_endpoint() {
    for ready in [&[Some(false), Some(true)][..], &[None]] {
        let story = evening(settings(&[]));
        show(&story, slice("db-1", &[]));
        let before = sent(&story);
        story.sleep_until("2026-11-23 09:02");
        show(&story, slice("db-2", &[Some(false)]));
        assert_eq!(
            (story.replicas("web"), waiting(&story)),
            (0, "1".to_owned())
        );
        assert_eq!(sent(&story), before);
        let now = story.now();
        show(&story, slice("db-2", ready));
        assert_eq!(story.replicas("web"), 3);
        let took = *story.patched("web").last().unwrap() - now;
        assert!(took.num_milliseconds() <= 5, "{took}");
        assert!(is_none_told(&story));
    }
}

#[test]
fn waits_for_a_service_until_the_timeout() {
    let mut story = evening(settings(&["dev"]));
    show(&story, slice("db-1", &[Some(false)]));
    let mut stand_in = slice("db-dayshift", &[Some(true)]);
    stand_in["metadata"]["labels"][MANAGER] = "dayshift".into();
    show(&story, stand_in);
    story.sleep_until("2026-11-23 09:05");
    story.kill_scalers();
    story.start_scaler(settings(&["dev"]));
    story.sleep_until("09:09:59");
    assert_eq!(
        (story.replicas("web"), waiting(&story)),
        (0, "1".to_owned())
    );
    story.sleep_until("09:10:01");
    assert_eq!(story.replicas("web"), 3);
    let expected = "web: started without svc/db, which was not ready after 10 min";
    assert_eq!(told(&story), [expected]);
}

#[test]
fn reports_a_missing_service_at_once() {
    let story = evening(settings(&[]));
    show(&story, slice("db-1", &[Some(false)]));
    story.sleep_until("2026-11-23 09:02");
    assert_eq!(waiting(&story), "1");
    let gone = story.api.delete_of("EndpointSlice", "dev", "db-1");
    gone.unwrap();
    story.settle();
    let expected = "web: started without svc/db, which is not there, or has no EndpointSlice";
    assert_eq!(
        (story.replicas("web"), told(&story)),
        (3, vec![expected.to_owned()])
    );
}

/// Without the flag, and without the permission.
#[test]
fn starts_on_time_without_endpoint_permission_and_reports_it() {
    for is_asked in [false, true] {
        let mut settings = settings(&[]);
        settings.scope.services = is_asked;
        let mut story = cluster();
        let was_asked = Arc::new(AtomicBool::new(false));
        let asked = Arc::clone(&was_asked);
        story.api.on_request(move |line| {
            let is_slice = line.resource == "endpointslices";
            asked.fetch_or(is_slice, Ordering::Relaxed);
            let forbidden =
                || Status::forbidden("discovery.k8s.io", "endpointslices", "", "no rule");
            is_slice.then(|| Fault::Answer(forbidden()))
        });
        story.start_scaler(settings);
        let web = deployment("web").replicas(3).hours(OFFICE);
        story.apply(web.annotation("dayshift/after", "svc/db"));
        story.apply(deployment("other").replicas(3).hours(OFFICE));
        story.sleep_until("2026-11-23 08:59");
        let unwatched = story.telemetry.unwatched();
        let expected = ["cannot watch endpointslices.discovery.k8s.io: forbidden"];
        assert_eq!(unwatched, &expected[..usize::from(is_asked)]);
        assert_eq!(story.telemetry.ready(), Ok(()));
        story.sleep_until("2026-11-23 09:00:01");
        assert_eq!((story.replicas("web"), story.replicas("other")), (3, 3));
        let why = "whose endpoints dayshift does not watch (run --services, with the permission of \
            manifests/kinds/services.yaml; in the chart services: true)";
        assert_eq!(
            told(&story),
            [format!("web: started without svc/db, {why}")]
        );
        assert_eq!(was_asked.load(Ordering::Relaxed), is_asked);
    }
}
