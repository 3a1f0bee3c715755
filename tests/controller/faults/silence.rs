//! Patches without a response: a webhook that hangs, or a server that is unavailable.

use std::time::Duration;

use kube_in_memory::{Fault, RequestLine};

use crate::{
    faults::isolation::with_failing_workloads,
    sandbox::{Sandbox, deployment},
};

const AWAY: &str = "the API server does not answer or refuses";

/// No other request is sent that would succeed, except lists: webhooks do not apply to lists.
#[test]
fn hanging_webhooks_in_an_idle_cluster_do_not_make_it_unready() {
    for count in [1, 2, 60] {
        let scenario = with_failing_workloads(count, Fault::Hang);
        for second in (0..1800).step_by(6) {
            scenario.pass(Duration::from_secs(6));
            let ready = scenario.telemetry.ready();
            assert_eq!(ready, Ok(()), "{count}, after {second} s");
        }
        let reads = scenario.requests("list").len();
        assert!(
            (1..=190).contains(&reads),
            "{count}: {reads} in half an hour"
        );
    }
}

#[test]
fn server_without_lists_is_unavailable_even_if_one_workload_is_due() {
    let scenario = Sandbox::at("2026-11-20 18:00 UTC");
    scenario.apply(deployment("web").replicas(3).hours("09:00-19:00"));
    scenario.sleep_until("18:59");
    let is_about_one = |line: &RequestLine| matches!(line.verb, "patch" | "list");
    scenario
        .api
        .on_request(move |line| is_about_one(line).then_some(Fault::Hang));
    scenario.sleep_until("19:00:13");
    assert_eq!(scenario.telemetry.ready(), Err(vec![AWAY]));
    scenario.sleep_until("19:05");
    assert_eq!(scenario.telemetry.ready(), Err(vec![AWAY]));
    scenario.api.clear_fault();
    scenario.sleep_until("19:06");
    assert_eq!(
        (scenario.replicas("web"), scenario.telemetry.ready()),
        (0, Ok(()))
    );
}

/// A proxy that drops the watch which is reopened 290 s after the first one was opened.
#[test]
fn reopens_a_watch_that_is_never_answered() {
    let scenario = Sandbox::at("2026-11-20 18:00 UTC");
    scenario.apply(deployment("web").replicas(3).hours("09:00-19:00"));
    scenario.sleep_until("18:04");
    assert_eq!(scenario.telemetry.ready(), Ok(()));
    let is_asked = |line: &RequestLine| line.verb == "watch" && line.resource == "deployments";
    scenario
        .api
        .on_request(move |line| is_asked(line).then_some(Fault::Hang));
    scenario.sleep_until("18:05:20");
    assert_eq!(
        scenario.telemetry.ready(),
        Err(vec!["the workloads are not being watched", AWAY])
    );
    // An edit that no watch has delivered yet.
    scenario.annotate("web", "hours", Some("09:00-18:30"));
    let asked = scenario
        .requests("watch")
        .into_iter()
        .filter(is_asked)
        .count();
    assert!(asked >= 2, "{asked}");
    scenario.api.clear_fault();
    scenario.sleep_until("18:06");
    assert_eq!(scenario.telemetry.ready(), Ok(()));
    scenario.sleep_until("18:30");
    assert_eq!(scenario.replicas("web"), 0);
}
