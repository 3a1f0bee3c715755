//! Many reverts at once: nothing waits for them, and one Event reports them together.

use dayshift_controller::Settings;
use kube_in_memory::{Fault, RequestLine, Status};
use serde_json::json;

use super::{ARGO_CD, counted, reads, web};
use crate::sandbox::{Sandbox, deployment};

/// This many Deployments, which a tool reverts at once, as in a full sync.
fn with(count: u32) -> Sandbox {
    let mut scenario = Sandbox::empty_at("2026-11-20 18:00 UTC");
    for number in 0..count {
        scenario
            .api
            .apply(web(&format!("web-{number}")).into())
            .unwrap();
    }
    scenario.start_controller(Settings::default());
    scenario.api.namespace("prod");
    scenario.apply(
        deployment("punctual")
            .namespace("prod")
            .replicas(3)
            .stop("19:01"),
    );
    scenario.sleep_until("19:00:59");
    scenario.api.forget_requests();
    scenario
}

fn revert_all(scenario: &Sandbox, count: u32) {
    let patch = json!({"spec": {"replicas": 3}});
    for number in 0..count {
        let name = format!("web-{number}");
        scenario
            .api
            .merge_by(ARGO_CD, "Deployment", "dev", &name, &patch)
            .unwrap();
    }
}

fn stops(scenario: &Sandbox) -> Vec<RequestLine> {
    let mut lines = scenario.requests("patch");
    lines.retain(|line| line.namespace == "prod");
    lines
}

#[test]
fn a_thousand_reverts_are_read_once_and_reported_together() {
    let scenario = with(1000);
    revert_all(&scenario, 1000);
    scenario.sleep_until("19:01:20");
    assert_eq!(
        stops(&scenario)[0].at,
        scenario.utc("2026-11-20 19:01"),
        "the stops in prod are on time to the millisecond"
    );
    assert_eq!(
        (reads(&scenario), counted(&scenario, "argocd")),
        (1000, 1000)
    );
    let mut events = scenario.api.list("Event");
    events.retain(|it| it["reason"] == "Reverted");
    assert_eq!(
        events.len(),
        6,
        "five single Events, and one summary for the others"
    );
    let sum = events.iter().find(|it| {
        it["note"]
            .as_str()
            .unwrap()
            .starts_with("995 more in namespace dev")
    });
    let sum = sum.unwrap()["note"].as_str().unwrap();
    assert_eq!(
        sum,
        "995 more in namespace dev were reverted after dayshift had set them, by argocd-controller \
         (995). To see which and how to end it, run `dayshift status -n dev`"
    );
    assert!(stops(&scenario).len() == 1);
}

#[test]
fn failing_revert_lookups_delay_nothing_and_are_not_retried() {
    let hang: Fault = Fault::Hang;
    let codes =
        [403, 404, 429, 500, 503].map(|code| Fault::Answer(Status::new(code, "Whatever", "no")));
    for fault in codes.into_iter().chain([hang]) {
        let scenario = with(100);
        let spoilt = fault.clone();
        scenario
            .api
            .on_request(move |line| (line.verb == "get").then(|| spoilt.clone()));
        revert_all(&scenario, 100);
        scenario.sleep_until("19:01:10");
        assert_eq!(
            stops(&scenario)[0].at,
            scenario.utc("2026-11-20 19:01"),
            "{fault:?}"
        );
        assert_eq!(scenario.telemetry.ready(), Ok(()), "{fault:?}");
        scenario.sleep_until("20:00");
        assert!(reads(&scenario) <= 100, "{fault:?}: {}", reads(&scenario));
        let mut events = scenario.api.list("Event");
        events.retain(|it| it["reason"] == "Reverted");
        assert!(events.is_empty(), "{fault:?}");
        scenario.api.clear_fault();
        scenario.sleep_until("23:00");
        assert!(reads(&scenario) <= 100, "{fault:?}: no lookup is retried");
    }
}

/// A summary that is due during an outage is sent after it, without polling meanwhile.
#[test]
fn revert_summary_waits_for_an_unavailable_server() {
    let scenario = with(10);
    revert_all(&scenario, 10);
    let away = || Fault::Answer(Status::new(503, "ServiceUnavailable", "away"));
    scenario
        .api
        .on_request(move |line| (line.verb == "patch").then(away));
    scenario.sleep_until("19:01:20");
    scenario.api.clear_fault();
    scenario.sleep_until("19:02");
    let mut events = scenario.api.list("Event");
    events.retain(|it| it["reason"] == "Reverted");
    assert_eq!(events.len(), 6);
}
