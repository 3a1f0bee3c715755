//! Stop notices: users are notified once before a stop.

mod attacks;

use std::time::Duration;

use chrono::TimeDelta;
use dayshift_controller::Settings;
use kube_in_memory::{Fault, Status};
use serde_json::Value;

use crate::sandbox::{DeploymentBuilder, Sandbox, deployment, stateful_set};

const OFFICE: &str = "Mon-Fri 09:00-19:00";

/// A workload that runs until 19:00, with a notice of a quarter of an hour.
fn office(name: &str) -> DeploymentBuilder {
    deployment(name)
        .replicas(3)
        .hours(OFFICE)
        .annotation("dayshift/notice", "15m")
}

/// Friday, 18:00.
fn friday() -> Sandbox {
    Sandbox::at("2026-11-20 18:00 UTC")
}

/// The notices of the last hour: time, object and text.
fn reported(scenario: &Sandbox) -> Vec<(String, String, String)> {
    let mut events = scenario.api.list("Event");
    events.retain(|event| event["reason"] == "StopsSoon");
    events.sort_by_key(|event| event["eventTime"].as_str().unwrap().to_owned());
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let each = events.iter().map(|event| {
        let (kind, name) = (&event["regarding"]["kind"], &event["regarding"]["name"]);
        let at = text(&event["eventTime"])[11..19].to_owned();
        (
            at,
            format!("{}/{}", text(kind), text(name)),
            text(&event["note"]),
        )
    });
    each.collect()
}

/// The notices of the last hour: time and object.
fn notice_times(scenario: &Sandbox) -> Vec<(String, String)> {
    reported(scenario)
        .into_iter()
        .map(|(at, object, _)| (at, object))
        .collect()
}

fn entry(at: &str, object: &str) -> (String, String) {
    (at.to_owned(), object.to_owned())
}

#[test]
fn announces_a_stop_on_time_without_writing_the_object() {
    let scenario = friday();
    scenario.apply(office("web"));
    let version = || scenario.object("web")["metadata"]["resourceVersion"].clone();
    let before = version();
    scenario.sleep_until("18:44:59");
    assert_eq!(reported(&scenario), []);
    scenario.sleep_until("18:45:01");
    let text = "dayshift stops it at Fri 2026-11-20 19:00:00 UTC. To keep it running, run \
        `dayshift wake deploy/web -n dev --for 2h`";
    let expected = ("18:45:00".into(), "Deployment/web".into(), text.into());
    assert_eq!(reported(&scenario), [expected]);
    assert_eq!(version(), before);
    scenario.sleep_until("19:00:01");
    assert_eq!(
        (scenario.replicas("web"), reported(&scenario).len()),
        (0, 1)
    );
    // No notice on the weekend, and the next one on Monday.
    scenario.sleep_until("2026-11-23 18:44:59");
    assert_eq!(reported(&scenario), []);
    scenario.sleep_until("2026-11-23 18:45:01");
    assert_eq!(
        notice_times(&scenario),
        [entry("18:45:00", "Deployment/web")]
    );
}

#[test]
fn notice_defaults_come_from_namespace_and_flag_and_zero_disables() {
    for (own, namespace, flag, expected) in [
        (None, None, "5m", Some("18:55:00")),
        (None, Some("10m"), "5m", Some("18:50:00")),
        (Some("20m"), Some("10m"), "5m", Some("18:40:00")),
        (Some("0"), Some("10m"), "5m", None),
        (None, Some("0"), "5m", None),
        (None, None, "0m", None),
    ] {
        let mut scenario = Sandbox::empty_at("2026-11-20 18:00 UTC");
        let minutes = flag.trim_end_matches('m').parse().unwrap();
        if let Some(text) = namespace {
            let key = "dayshift/notice";
            let annotated = scenario
                .api
                .annotate_of("Namespace", "", "dev", key, Some(text));
            annotated.unwrap();
        }
        scenario.start_with(|settings| settings.notice = TimeDelta::minutes(minutes));
        let mut web = deployment("web").replicas(3).hours(OFFICE);
        if let Some(text) = own {
            web = web.annotation("dayshift/notice", text);
        }
        scenario.apply(web);
        scenario.sleep_until("18:59");
        let expected: Vec<_> = expected
            .iter()
            .map(|at| entry(at, "Deployment/web"))
            .collect();
        assert_eq!(
            notice_times(&scenario),
            expected,
            "{own:?} {namespace:?} {flag}"
        );
        assert_eq!(scenario.error("web"), None);
    }
}

#[test]
fn announces_simultaneous_stops_on_the_namespace() {
    let scenario = friday();
    scenario.apply(office("web"));
    scenario.apply(
        stateful_set("db")
            .hours(OFFICE)
            .annotation("dayshift/notice", "15m"),
    );
    scenario.apply(office("later").hours("Mon-Fri 09:00-20:00"));
    scenario.api.namespace("other");
    scenario.apply(office("web").namespace("other"));
    scenario.sleep_until("18:46");
    let mut all = reported(&scenario);
    all.sort();
    let text = "dayshift stops 2 workloads at Fri 2026-11-20 19:00:00 UTC: web, sts/db. To keep them \
        running, run `dayshift wake deploy/web sts/db -n dev --for 2h`";
    assert_eq!(all.len(), 2, "{all:?}");
    assert_eq!(all[0].1, "Deployment/web");
    assert!(
        all[0]
            .2
            .ends_with("`dayshift wake deploy/web -n other --for 2h`"),
        "{all:?}"
    );
    assert_eq!((&*all[1].1, &*all[1].2), ("Namespace/dev", text));
    let uid = &scenario.api.get("Namespace", "", "dev").unwrap()["metadata"]["uid"];
    let events = scenario.api.list("Event");
    let mut of_namespace = events
        .iter()
        .filter(|it| it["regarding"]["kind"] == "Namespace");
    assert_eq!(&of_namespace.next().unwrap()["regarding"]["uid"], uid);
}

#[test]
fn names_a_few_of_many_workloads() {
    let scenario = friday();
    for number in 0..60 {
        scenario.apply(office(&format!("web-{number:02}")));
    }
    scenario.sleep_until("18:46");
    let all = reported(&scenario);
    assert_eq!(all.len(), 1);
    let expected = "dayshift stops 60 workloads at Fri 2026-11-20 19:00:00 UTC: web-00, web-01, \
        web-02, web-03, web-04 and 55 more. To keep them running, run `dayshift wake ns/dev --for 2h`";
    assert_eq!(all[0].2, expected);
}

#[test]
fn announces_the_end_of_a_wake_that_is_a_stop() {
    let scenario = friday();
    scenario.apply(office("late").annotation("dayshift/wake-until", "2026-11-20 21:30"));
    scenario.apply(office("early").annotation("dayshift/wake-until", "2026-11-20 18:50"));
    scenario.sleep_until("18:46");
    assert_eq!(
        notice_times(&scenario),
        [entry("18:45:00", "Deployment/early")]
    );
    scenario.sleep_until("21:16");
    let late = reported(&scenario).pop().unwrap();
    assert_eq!((&*late.0, &*late.1), ("21:15:00", "Deployment/late"));
    assert!(late.2.contains("Fri 2026-11-20 21:30:00 UTC"), "{late:?}");
    scenario.sleep_until("21:30:01");
    assert_eq!(
        (scenario.replicas("late"), scenario.replicas("early")),
        (0, 0)
    );
}

#[test]
fn wake_after_the_notice_has_its_own_notice() {
    let scenario = friday();
    scenario.apply(office("web"));
    scenario.sleep_until("18:50");
    scenario.annotate("web", "wake-until", Some("2026-11-20 21:00"));
    scenario.sleep_until("19:30");
    assert_eq!(
        (scenario.replicas("web"), reported(&scenario).len()),
        (3, 1)
    );
    scenario.sleep_until("20:45:01");
    assert_eq!(
        notice_times(&scenario).pop(),
        Some(entry("20:45:00", "Deployment/web"))
    );
}

#[test]
fn does_not_announce_workloads_that_will_not_stop() {
    let scenario = friday();
    scenario.apply(office("paused").annotation("dayshift/pause", "true"));
    scenario.apply(office("paused-on").annotation("dayshift/pause", "2026-11-20 22:00"));
    scenario.apply(office("asleep").annotation("dayshift/sleep-until", "2026-11-20 22:00"));
    scenario.apply(office("excluded").annotation("dayshift/exclude", "true"));
    scenario.apply(office("down").replicas(0));
    scenario.apply(
        office("low")
            .replicas(1)
            .annotation("dayshift/stop-replicas", "1"),
    );
    scenario.apply(office("refused").hours("whenever"));
    scenario.apply(deployment("silent").replicas(3).hours(OFFICE));
    scenario.apply(
        deployment("starts")
            .replicas(0)
            .start("19:00")
            .annotation("dayshift/notice", "15m"),
    );
    scenario.sleep_until("18:59");
    assert_eq!(reported(&scenario), []);
}

#[test]
fn announces_a_stop_at_the_end_of_a_pause_within_the_notice() {
    let scenario = friday();
    scenario.apply(office("web").annotation("dayshift/pause", "2026-11-20 18:50"));
    scenario.sleep_until("18:49:59");
    assert_eq!(reported(&scenario), []);
    scenario.sleep_until("18:51");
    assert_eq!(
        notice_times(&scenario),
        [entry("18:50:02", "Deployment/web")]
    );
}

#[test]
fn notice_longer_than_the_hours_is_sent_at_the_start() {
    let scenario = friday();
    let short = deployment("web")
        .replicas(3)
        .hours("Sat 10:00-10:30")
        .annotation("dayshift/notice", "24h");
    scenario.apply(short);
    scenario.sleep_until("2026-11-21 09:59:59");
    assert_eq!(reported(&scenario), []);
    scenario.sleep_until("10:01");
    let all = notice_times(&scenario);
    assert_eq!(all.len(), 1);
    assert!(all[0].0.starts_with("10:00:0"), "{all:?}");
}

#[test]
fn announces_scale_boundaries_to_zero() {
    let scenario = friday();
    let steps = "08:00 = 5; 18:30 = 2; 19:00 = 0";
    let web = deployment("web")
        .replicas(5)
        .annotation("dayshift/scale", steps);
    scenario.apply(web.annotation("dayshift/notice", "15m"));
    scenario.sleep_until("18:46");
    assert_eq!(
        notice_times(&scenario),
        [entry("18:45:00", "Deployment/web")]
    );
}

#[test]
fn announces_the_stop_of_a_manually_started_workload() {
    let scenario = friday();
    scenario.apply(
        deployment("web")
            .replicas(3)
            .stop("19:00")
            .annotation("dayshift/notice", "15m"),
    );
    scenario.sleep_until("2026-11-21 12:00");
    assert_eq!(scenario.replicas("web"), 0);
    scenario.scale("web", 2);
    scenario.sleep_until("18:46");
    assert_eq!(
        notice_times(&scenario),
        [entry("18:45:00", "Deployment/web")]
    );
}

#[test]
fn missing_event_permission_does_not_affect_scaling() {
    let scenario = friday();
    scenario.api.on_request(|line| {
        let no = || Fault::Answer(Status::new(403, "Forbidden", "no"));
        (line.resource == "events").then(no)
    });
    scenario.apply(office("web"));
    scenario.sleep_until("19:00:01");
    assert_eq!(
        (reported(&scenario).len(), scenario.replicas("web")),
        (0, 0)
    );
    let stopped = scenario.patched("web");
    let late = *stopped.last().unwrap() - scenario.utc("2026-11-20 19:00");
    assert!(late < TimeDelta::milliseconds(50), "{late}");
}

#[test]
fn restart_within_the_notice_sends_no_second_notice() {
    let mut scenario = friday();
    scenario.apply(office("web"));
    for number in 0..7 {
        scenario.apply(office(&format!("late-{number}")).hours("Mon-Fri 09:00-19:05"));
    }
    for at in ["18:45:00", "18:47", "18:51", "18:59"] {
        scenario.sleep_until(at);
        scenario.kill_controllers();
        scenario.start_controller(Settings::default());
    }
    scenario.pass(Duration::from_secs(10));
    let mut objects: Vec<_> = reported(&scenario).into_iter().map(|it| it.1).collect();
    objects.sort();
    assert_eq!(objects, ["Deployment/web", "Namespace/dev"]);
}

#[test]
fn controller_started_within_the_notice_sends_the_missing_notice() {
    let mut scenario = friday();
    scenario.apply(office("web"));
    scenario.kill_controllers();
    scenario.sleep_until("18:52");
    scenario.start_controller(Settings::default());
    scenario.sleep_until("18:53");
    let all = notice_times(&scenario);
    assert_eq!(all.len(), 1);
    assert!(all[0].0.starts_with("18:52:0"), "{all:?}");
}
