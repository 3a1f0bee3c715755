//! Many reverts at once: nothing waits for them, and one Event reports them together.

use dayshift_controller::Settings;
use kube_in_memory::{Fault, RequestLine, Status};
use serde_json::json;

use super::{ARGO_CD, counted, reads, web};
use crate::sandbox::{Sandbox, deployment};

/// This many Deployments, which a tool reverts at once, as in a full sync.
fn with(count: u32) -> Sandbox {
    let mut story = Sandbox::empty_at("2026-11-20 18:00 UTC");
    for number in 0..count {
        story
            .api
            .apply(web(&format!("web-{number}")).into())
            .unwrap();
    }
    story.start_scaler(Settings::default());
    story.api.namespace("prod");
    story.apply(
        deployment("punctual")
            .namespace("prod")
            .replicas(3)
            .stop("19:01"),
    );
    story.sleep_until("19:00:59");
    story.api.forget_requests();
    story
}

fn put_all_back(story: &Sandbox, count: u32) {
    let patch = json!({"spec": {"replicas": 3}});
    for number in 0..count {
        let name = format!("web-{number}");
        story
            .api
            .merge_by(ARGO_CD, "Deployment", "dev", &name, &patch)
            .unwrap();
    }
}

fn stops(story: &Sandbox) -> Vec<RequestLine> {
    let mut lines = story.requests("patch");
    lines.retain(|line| line.namespace == "prod");
    lines
}

#[test]
fn a_thousand_reverts_are_read_once_and_reported_together() {
    let story = with(1000);
    put_all_back(&story, 1000);
    story.sleep_until("19:01:20");
    assert_eq!(
        stops(&story)[0].at,
        story.utc("2026-11-20 19:01"),
        "to the millisecond"
    );
    assert_eq!((reads(&story), counted(&story, "argocd")), (1000, 1000));
    let mut events = story.api.list("Event");
    events.retain(|it| it["reason"] == "Reverted");
    assert_eq!(events.len(), 6, "five of their own, and one for all others");
    let sum = events.iter().find(|it| {
        it["note"]
            .as_str()
            .unwrap()
            .starts_with("995 more in namespace dev")
    });
    let sum = sum.unwrap()["note"].as_str().unwrap();
    assert_eq!(
        sum,
        "995 more in namespace dev were set back after dayshift had set them, by argocd-controller \
         (995). To see who and what ends it, run dayshift status -n dev"
    );
    assert!(stops(&story).len() == 1);
}

#[test]
fn failing_revert_lookups_delay_nothing_and_are_not_retried() {
    let hang: Fault = Fault::Hang;
    let codes =
        [403, 404, 429, 500, 503].map(|code| Fault::Answer(Status::new(code, "Whatever", "no")));
    for fault in codes.into_iter().chain([hang]) {
        let story = with(100);
        let spoilt = fault.clone();
        story
            .api
            .on_request(move |line| (line.verb == "get").then(|| spoilt.clone()));
        put_all_back(&story, 100);
        story.sleep_until("19:01:10");
        assert_eq!(
            stops(&story)[0].at,
            story.utc("2026-11-20 19:01"),
            "{fault:?}"
        );
        assert_eq!(story.telemetry.ready(), Ok(()), "{fault:?}");
        story.sleep_until("20:00");
        assert!(reads(&story) <= 100, "{fault:?}: {}", reads(&story));
        let mut events = story.api.list("Event");
        events.retain(|it| it["reason"] == "Reverted");
        assert!(events.is_empty(), "{fault:?}");
        story.api.serve_well();
        story.sleep_until("23:00");
        assert!(reads(&story) <= 100, "{fault:?}: none is tried again");
    }
}

/// A summary that is due while nothing may be sent is sent later, without polling until then.
#[test]
fn revert_summary_waits_for_an_unavailable_server() {
    let story = with(10);
    put_all_back(&story, 10);
    let away = || Fault::Answer(Status::new(503, "ServiceUnavailable", "away"));
    story
        .api
        .on_request(move |line| (line.verb == "patch").then(away));
    story.sleep_until("19:01:20");
    story.api.serve_well();
    story.sleep_until("19:02");
    let mut events = story.api.list("Event");
    events.retain(|it| it["reason"] == "Reverted");
    assert_eq!(events.len(), 6);
}
