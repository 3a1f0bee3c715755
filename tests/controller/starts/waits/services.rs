//! Starts that wait for Services.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use dayshift_controller::Settings;
use kube_in_memory::{Fault, Status};
use serde_json::{Value, json};

use super::{OFFICE, is_nothing_reported, reported, sent, waiting};
use crate::sandbox::{Sandbox, default_with, deployment};

const MANAGER: &str = "endpointslice.kubernetes.io/managed-by";

fn settings(namespaces: &[&str]) -> Settings {
    default_with(|settings| {
        settings.scope.namespaces = namespaces.iter().map(|it| (*it).to_owned()).collect();
        settings.scope.namespace_defaults = false;
        settings.scope.services = true;
    })
}

/// A cluster whose API server has EndpointSlices.
fn cluster() -> Sandbox {
    let scenario = Sandbox::empty_at("2026-11-19 18:00 UTC");
    let (group, plural) = ("discovery.k8s.io", "endpointslices");
    let api = &scenario.api;
    api.serve_custom(group, "v1", plural, "EndpointSlice");
    scenario
}

/// `web` is stopped on Thursday evening, and depends on `svc/db`.
fn evening(settings: Settings) -> Sandbox {
    let mut scenario = cluster();
    scenario.start_controller(settings);
    let web = deployment("web").replicas(3).hours(OFFICE);
    scenario.apply(web.annotation("dayshift/after", "svc/db"));
    scenario.sleep_until("19:01");
    assert_eq!(scenario.replicas("web"), 0);
    scenario
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

fn show(scenario: &Sandbox, slice: Value) {
    scenario.api.apply(slice).unwrap();
    scenario.settle();
}

#[test]
fn starts_within_milliseconds_of_a_ready_endpoint() {
    for ready in [&[Some(false), Some(true)][..], &[None]] {
        let scenario = evening(settings(&[]));
        show(&scenario, slice("db-1", &[]));
        let before = sent(&scenario);
        scenario.sleep_until("2026-11-20 09:02");
        show(&scenario, slice("db-2", &[Some(false)]));
        assert_eq!(
            (scenario.replicas("web"), waiting(&scenario)),
            (0, "1".to_owned())
        );
        assert_eq!(sent(&scenario), before);
        let now = scenario.now();
        show(&scenario, slice("db-2", ready));
        assert_eq!(scenario.replicas("web"), 3);
        let took = *scenario.patched("web").last().unwrap() - now;
        assert!(took.num_milliseconds() <= 5, "{took}");
        assert!(is_nothing_reported(&scenario));
    }
}

#[test]
fn waits_for_a_service_until_the_timeout() {
    let mut scenario = evening(settings(&["dev"]));
    show(&scenario, slice("db-1", &[Some(false)]));
    let mut stand_in = slice("db-dayshift", &[Some(true)]);
    stand_in["metadata"]["labels"][MANAGER] = "dayshift".into();
    show(&scenario, stand_in);
    scenario.sleep_until("2026-11-20 09:05");
    scenario.kill_controllers();
    scenario.start_controller(settings(&["dev"]));
    scenario.sleep_until("09:09:59");
    assert_eq!(
        (scenario.replicas("web"), waiting(&scenario)),
        (0, "1".to_owned())
    );
    scenario.sleep_until("09:10:01");
    assert_eq!(scenario.replicas("web"), 3);
    let expected = "web: started without svc/db, which was not ready after 10 min";
    assert_eq!(reported(&scenario), [expected]);
}

#[test]
fn reports_a_missing_service_at_once() {
    let scenario = evening(settings(&[]));
    show(&scenario, slice("db-1", &[Some(false)]));
    scenario.sleep_until("2026-11-20 09:02");
    assert_eq!(waiting(&scenario), "1");
    let gone = scenario.api.delete_of("EndpointSlice", "dev", "db-1");
    gone.unwrap();
    scenario.settle();
    let expected = "web: started without svc/db, which does not exist, or has no EndpointSlice";
    assert_eq!(
        (scenario.replicas("web"), reported(&scenario)),
        (3, vec![expected.to_owned()])
    );
}

#[test]
fn starts_on_time_without_endpoint_permission_and_reports_it() {
    for is_asked in [false, true] {
        let mut settings = settings(&[]);
        settings.scope.services = is_asked;
        let mut scenario = cluster();
        let was_asked = Arc::new(AtomicBool::new(false));
        let asked = Arc::clone(&was_asked);
        scenario.api.on_request(move |line| {
            let is_slice = line.resource == "endpointslices";
            asked.fetch_or(is_slice, Ordering::Relaxed);
            let forbidden =
                || Status::forbidden("discovery.k8s.io", "endpointslices", "", "no rule");
            is_slice.then(|| Fault::Answer(forbidden()))
        });
        scenario.start_controller(settings);
        let web = deployment("web").replicas(3).hours(OFFICE);
        scenario.apply(web.annotation("dayshift/after", "svc/db"));
        scenario.apply(deployment("other").replicas(3).hours(OFFICE));
        scenario.sleep_until("2026-11-20 08:59");
        let unwatched = scenario.telemetry.unwatched();
        let expected = ["cannot watch endpointslices.discovery.k8s.io: forbidden"];
        assert_eq!(unwatched, &expected[..usize::from(is_asked)]);
        assert_eq!(scenario.telemetry.ready(), Ok(()));
        scenario.sleep_until("2026-11-20 09:00:01");
        assert_eq!(
            (scenario.replicas("web"), scenario.replicas("other")),
            (3, 3)
        );
        let why = "whose endpoints dayshift does not watch (run --services, with the permission of \
            manifests/kinds/services.yaml; in the chart services: true)";
        assert_eq!(
            reported(&scenario),
            [format!("web: started without svc/db, {why}")]
        );
        assert_eq!(was_asked.load(Ordering::Relaxed), is_asked);
    }
}
