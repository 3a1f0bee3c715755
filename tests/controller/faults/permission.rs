//! Reports about missing permissions, and behavior after admission denials.

use chrono::{DateTime, TimeDelta, Utc};
use dayshift_controller::Settings;
use kube_in_memory::{Fault, Status};
use serde_json::Value;

use super::isolation::{answered, denial};
use crate::sandbox::{Sandbox, deployment};

fn forbidden() -> Fault {
    let why = r#"User "dayshift" cannot patch resource "deployments" in API group "apps""#;
    Fault::Answer(Status::forbidden("apps", "deployments", "web", why))
}

/// The `ScaleFailed` Events that exist so far, by object and namespace.
fn reported(scenario: &Sandbox) -> Vec<(String, String)> {
    let events = scenario.api.list("Event").into_iter();
    let failed = events.filter(|event| event["reason"] == "ScaleFailed");
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    failed
        .map(|it| {
            (
                text(&it["regarding"]["name"]),
                text(&it["regarding"]["namespace"]),
            )
        })
        .collect()
}

/// The workloads probe in turn, and each of them could report the failure; an Event is kept for an hour.
#[test]
fn reports_a_missing_permission_once_an_hour_per_kind_and_namespace() {
    let scenario = Sandbox::at("2026-11-20 18:00 UTC");
    scenario.api.namespace("prod");
    for namespace in ["dev", "prod"] {
        for number in 0..50 {
            let web = deployment(&format!("web-{number}")).namespace(namespace);
            scenario.apply(web.replicas(3).hours("09:00-19:00"));
        }
    }
    scenario.sleep_until("18:59");
    scenario
        .api
        .on_request(|line| (line.verb == "patch").then(forbidden));
    scenario.sleep_until("19:50");
    let first = reported(&scenario);
    let namespaces: Vec<&str> = first.iter().map(|(_, namespace)| &**namespace).collect();
    assert_eq!(namespaces, ["dev", "prod"], "{first:?}");
    scenario.sleep_until("20:50");
    let second = reported(&scenario);
    assert_eq!(second.len(), 2, "{second:?}");
    assert!(second.iter().all(|it| !first.contains(it)), "{second:?}");

    scenario.api.clear_fault();
    scenario.sleep_until("21:00");
    assert_eq!(scenario.replicas("web-49"), 0);
    scenario
        .api
        .on_request(|line| (line.verb == "patch").then(forbidden));
    scenario.annotate("web-7", "wake-until", Some("2026-11-20T22:00:00Z"));
    scenario.sleep_until("21:05");
    assert_eq!(
        reported(&scenario).len(),
        3,
        "a permission that is missing again is reported again"
    );
}

/// A reported missing permission does not suppress later denials.
#[test]
fn reports_a_denial_after_a_missing_permission() {
    let scenario = Sandbox::at("2026-11-20 18:00 UTC");
    for name in ["api", "web"] {
        scenario.apply(deployment(name).replicas(3).hours("09:00-19:00"));
    }
    scenario.sleep_until("18:59");
    scenario
        .api
        .on_request(|line| (line.verb == "patch").then(forbidden));
    scenario.sleep_until("19:10");
    assert_eq!(reported(&scenario).len(), 1);
    scenario.api.clear_fault();
    let refusal = || Status::forbidden("apps", "deployments", "web", "not on my watch");
    scenario
        .api
        .on_admission(move |write| (write.resource == "deployments").then(refusal));
    scenario.sleep_until("19:20");
    assert_eq!(
        reported(&scenario).len(),
        3,
        "one Event for each denied workload"
    );
}

/// A policy that denies starts and would allow the later stops.
#[test]
fn stop_is_punctual_after_earlier_denials() {
    let mut scenario = Sandbox::empty_at("2026-11-20 08:00 UTC");
    for number in 0..12 {
        let name = format!("web-{number}");
        // The last denial is seconds before the stop for some workloads, and minutes for others.
        let start = format!("{} {} 9 * * *", number * 5, 50 + number % 5);
        let web = deployment(&name).replicas(0).start(&start).stop("10:00");
        scenario.apply(web.annotation("dayshift/replicas", "3"));
    }
    scenario.start_controller(Settings::default());
    scenario.api.on_request(move |line| {
        let is_early = line.at < "2026-11-20T09:59:58Z".parse::<DateTime<Utc>>().unwrap();
        (line.verb == "patch" && is_early).then(|| denial(403))
    });
    scenario.sleep_until("09:59:30");
    for number in 0..12 {
        scenario.scale(&format!("web-{number}"), 2);
    }
    scenario.sleep_until("10:00:01");
    let due = scenario.utc("2026-11-20 10:00");
    for number in 0..12 {
        let name = format!("web-{number}");
        assert_eq!(scenario.api.replicas("dev", &name), Some(0), "{name}");
        let late = answered(&scenario, "dev", &name).unwrap() - due;
        assert!(late < TimeDelta::milliseconds(50), "{name}: {late}");
    }
}
