//! Stop notices in adverse conditions: they must not be sent twice, too late, or for stops that do not
//! happen, and must not delay others.

use std::time::Duration;

use chrono::TimeDelta;
use dayshift_controller::{Scope, Settings};
use kube_in_memory::{Fault, Status};

use super::{entry, friday, notice_times, office, reported};
use crate::sandbox::{Sandbox, deployment};

#[test]
fn two_controllers_send_one_stop_notice() {
    let mut scenario = friday();
    scenario.start_controller(Settings::default());
    scenario.apply(office("web"));
    scenario.api.namespace("other");
    for name in ["a", "b", "c"] {
        scenario.apply(office(name).namespace("other"));
    }
    scenario.sleep_until("19:01");
    let mut objects: Vec<_> = reported(&scenario).into_iter().map(|it| it.1).collect();
    objects.sort();
    assert_eq!(objects, ["Deployment/web", "Namespace/other"]);
}

#[test]
fn moved_stop_is_announced_again_and_a_removed_one_is_not() {
    let scenario = friday();
    scenario.apply(office("web"));
    scenario.apply(office("gone").hours("Mon-Fri 09:00-19:02"));
    scenario.sleep_until("18:44:59");
    // One edit just before the notice is due, and one after it was sent.
    scenario.annotate("gone", "hours", Some("Mon-Fri 09:00-21:00"));
    scenario.sleep_until("18:47");
    assert_eq!(
        notice_times(&scenario),
        [entry("18:45:00", "Deployment/web")]
    );
    scenario.annotate("web", "hours", Some("Mon-Fri 09:00-19:30"));
    scenario.sleep_until("19:14");
    assert_eq!(reported(&scenario).len(), 1);
    scenario.sleep_until("19:15:01");
    assert_eq!(
        notice_times(&scenario).pop(),
        Some(entry("19:15:00", "Deployment/web"))
    );
    // Moved back and forth: the same stop is announced once.
    scenario.annotate("web", "hours", Some("Mon-Fri 09:00-20:00"));
    scenario.annotate("web", "hours", Some("Mon-Fri 09:00-19:30"));
    scenario.sleep_until("19:29");
    assert_eq!(reported(&scenario).len(), 2);
}

#[test]
fn changed_notice_does_not_announce_the_same_stop_twice() {
    let scenario = friday();
    scenario.apply(office("web"));
    scenario.sleep_until("18:46");
    scenario.annotate("web", "notice", Some("5m"));
    scenario.sleep_until("18:59");
    assert_eq!(reported(&scenario).len(), 1);
}

#[test]
fn clock_jump_announces_no_past_stop_and_none_twice() {
    let mut scenario = Sandbox::empty_at("2026-11-20 18:00 UTC");
    scenario.start_with(|settings| settings.max_clock_skew = None);
    scenario.apply(office("web"));
    scenario.apply(office("early").hours("Mon-Fri 09:00-18:30"));
    // The clock jumps beyond the notice of `web`, and beyond the notice and the stop of `early`.
    scenario.sleep_until("18:10");
    scenario.step_clock(TimeDelta::minutes(25));
    assert_eq!(
        (scenario.replicas("early"), reported(&scenario).len()),
        (0, 0)
    );
    scenario.sleep_until("18:46");
    assert_eq!(
        notice_times(&scenario),
        [entry("18:45:00", "Deployment/web")]
    );
    scenario.step_clock(TimeDelta::minutes(-20));
    scenario.sleep_until("18:50");
    assert_eq!(reported(&scenario).len(), 1);
}

#[test]
fn wrong_clock_defers_stop_notices() {
    let scenario = friday();
    scenario.apply(office("web"));
    scenario.server_is_ahead(90);
    scenario.sleep_until("18:50");
    assert_eq!(reported(&scenario), []);
    scenario.server_is_ahead(0);
    scenario.sleep_until("18:55");
    assert_eq!(reported(&scenario).len(), 1);
}

#[test]
fn forbidden_namespace_does_not_suppress_a_notice_on_the_object() {
    let mut scenario = Sandbox::empty_at("2026-11-20 18:00 UTC");
    scenario.api.on_request(|line| {
        let no = || Fault::Answer(Status::new(403, "Forbidden", "no"));
        (line.resource == "namespaces").then(no)
    });
    scenario.start_controller(Settings::default());
    scenario.apply(office("web"));
    scenario.apply(office("api"));
    scenario.sleep_until("18:46");
    // The Event has no UID, because the UID is unknown.
    assert_eq!(
        notice_times(&scenario),
        [entry("18:45:00", "Namespace/dev")]
    );
    scenario.sleep_until("19:00:01");
    assert_eq!((scenario.replicas("web"), scenario.replicas("api")), (0, 0));
}

/// Each workload has its own notice, and other workloads stop on the hour in between.
#[test]
fn two_thousand_notices_delay_no_stop() {
    let mut scenario = Sandbox::empty_at("2026-11-20 18:00 UTC");
    let scope = Scope {
        kinds: vec![dayshift_workload::Kind::DEPLOYMENT],
        namespace_defaults: false,
        ..Scope::default()
    };
    scenario.start_with(|settings| settings.scope = scope);
    for number in 0..2_000 {
        let notice = format!("{}s", 600 + number);
        let name = format!("web-{number}");
        let web = deployment(&name)
            .hours("Mon-Fri 09:00-20:00")
            .annotation("dayshift/notice", &notice);
        scenario.api.apply(web.into()).unwrap();
    }
    scenario.apply(deployment("due").replicas(3).hours("Mon-Fri 09:00-19:30"));
    scenario.pass(Duration::from_secs(120));
    scenario.sleep_until("19:30:01");
    let late = *scenario.patched("due").last().unwrap() - scenario.utc("2026-11-20 19:30");
    assert!(late < TimeDelta::milliseconds(100), "{late}");
    scenario.sleep_until("19:51");
    let metrics = scenario.metrics();
    assert!(
        metrics.contains("dayshift_stop_notices_total 2000\n"),
        "{metrics}"
    );
    assert!(metrics.contains("dayshift_events_total{outcome=\"dropped\"} 0\n"));
    scenario.sleep_until("20:00:30");
    assert_eq!(scenario.replicas("web-1999"), 0);
}
