//! A start waits for its dependencies, up to a limit.

mod needed;
mod services;
mod slots;

use std::time::Duration;

use dayshift_controller::Settings;
use kube_in_memory::{Fault, RequestLine, Status};
use serde_json::{Value, json};

use crate::sandbox::{Sandbox, deployment};

const OFFICE: &str = "Mon-Fri 09:00-19:00";

/// `web` depends on `db`; both are stopped on Thursday evening.
fn app_and_database() -> Sandbox {
    evening(&[("web", "deploy/db"), ("db", "")])
}

/// Three replicas of each, stopped on Thursday evening, with these dependencies.
fn evening(objects: &[(&str, &str)]) -> Sandbox {
    let scenario = Sandbox::at("2026-11-19 18:00 UTC");
    for (name, after) in objects {
        let mut object = deployment(name).replicas(3).hours(OFFICE);
        if !after.is_empty() {
            object = object.annotation("dayshift/after", *after);
        }
        scenario.apply(object);
    }
    scenario.sleep_until("19:01");
    scenario
}

/// Writes a status as the Deployment controller does.
fn ready(scenario: &Sandbox, name: &str, ready: u32) {
    let generation = scenario.object(name)["metadata"]["generation"].clone();
    let status = json!({"observedGeneration": generation, "readyReplicas": ready});
    let set = scenario.api.set_status("Deployment", "dev", name, status);
    set.unwrap();
    scenario.settle();
}

/// The Warnings about starts, as `web: …`.
fn reported(scenario: &Sandbox) -> Vec<String> {
    let mut events = scenario.api.list("Event");
    events.retain(|event| event["reason"] == "StartedWithout");
    assert!(events.iter().all(|it| it["type"] == "Warning"));
    let mut reported: Vec<_> = events.iter().map(note).collect();
    reported.sort();
    reported
}

fn note(event: &Value) -> String {
    let name = event["regarding"]["name"].as_str().unwrap();
    format!("{name}: {}", event["note"].as_str().unwrap())
}

fn waiting(scenario: &Sandbox) -> String {
    let metrics = scenario.metrics();
    let mut lines = metrics.lines();
    let line = lines.find_map(|it| it.strip_prefix("dayshift_waiting_starts "));
    line.unwrap().to_owned()
}

/// The number of requests about objects so far.
fn sent(scenario: &Sandbox) -> usize {
    let verbs = ["get", "patch", "create"].into_iter();
    verbs.map(|verb| scenario.requests(verb).len()).sum()
}

fn is_nothing_reported(scenario: &Sandbox) -> bool {
    reported(scenario).is_empty()
}

/// Readiness before and after `db` stops being a new start.
#[test]
fn wake_starts_as_soon_as_its_dependency_is_ready() {
    for (after, goes) in [(1, 5), (20, 20)] {
        let scenario = evening(&[("web", "deploy/db; deploy/logs"), ("db", ""), ("logs", "")]);
        let woken = scenario.now();
        for name in ["db", "web"] {
            scenario.annotate(name, "wake-until", Some("2026-11-20 05:00"));
        }
        scenario.pass(Duration::from_secs(after));
        assert_eq!((scenario.replicas("db"), scenario.replicas("web")), (3, 0));
        ready(&scenario, "db", 3);
        scenario.pass(Duration::from_secs(30));
        let started = *scenario.patched("web").last().unwrap() - woken;
        assert_eq!(started.num_seconds(), goes, "ready after {after} s");
        assert_eq!(reported(&scenario).len(), 1);
    }
}

/// The others are evaluated while the first is in flight.
#[test]
fn a_429_response_to_a_released_start_delays_the_others() {
    let names: Vec<_> = (0..20).map(|number| format!("web-{number:02}")).collect();
    let apps = names.iter().map(|name| (&**name, "deploy/db"));
    let scenario = evening(&[("db", "")].into_iter().chain(apps).collect::<Vec<_>>());
    scenario.sleep_until("2026-11-20 09:00:01");
    assert_eq!(waiting(&scenario), "20");
    scenario.api.forget_requests();
    let freed = scenario.now();
    scenario.api.on_request(move |line: &RequestLine| {
        let refusal = Fault::Answer(Status::too_many_requests(1));
        (line.verb == "patch" && line.at == freed).then_some(refusal)
    });
    ready(&scenario, "db", 3);
    let patches = scenario.requests("patch");
    assert_eq!(patches.iter().filter(|it| it.at == freed).count(), 1);
    scenario.sleep_until("2026-11-20 09:01");
    assert!(names.iter().all(|name| scenario.replicas(name) == 3));
}

#[test]
fn starts_within_milliseconds_of_its_dependency_being_ready() {
    let scenario = app_and_database();
    let before = sent(&scenario);
    scenario.sleep_until("2026-11-20 09:00:01");
    assert_eq!((scenario.replicas("db"), scenario.replicas("web")), (3, 0));
    assert_eq!(waiting(&scenario), "1");
    for count in 0..3 {
        ready(&scenario, "db", count);
        scenario.pass(Duration::from_secs(30));
        assert_eq!(scenario.replicas("web"), 0);
    }
    // The start of `db` is the only request.
    assert_eq!(sent(&scenario) - before, 1);
    let now = scenario.now();
    ready(&scenario, "db", 3);
    assert_eq!(
        (scenario.replicas("web"), waiting(&scenario)),
        (3, "0".to_owned())
    );
    let patched = scenario.patched("web");
    let took = *patched.last().unwrap() - now;
    assert!(took.num_milliseconds() <= 5, "{took}");
    assert!(is_nothing_reported(&scenario));
    scenario.sleep_until("19:01");
    assert_eq!((scenario.replicas("db"), scenario.replicas("web")), (0, 0));
    // A start that waited is not counted as late, and no boundary is skipped.
    let metrics = scenario.metrics();
    let late = "dayshift_transition_lateness_seconds_bucket{le=\"0.01\",action=\"start\"} 2";
    assert!(metrics.contains(late), "{metrics}");
    assert!(metrics.contains("dayshift_boundaries_skipped_total 0"));
}

#[test]
fn starts_without_a_late_dependency_and_reports_it() {
    let scenario = evening(&[
        ("web", "deploy/db; deploy/cache, 5m"),
        ("db", ""),
        ("cache", ""),
    ]);
    scenario.sleep_until("2026-11-20 09:00:01");
    ready(&scenario, "db", 3);
    ready(&scenario, "cache", 2);
    scenario.sleep_until("09:04:59");
    assert_eq!(
        (scenario.replicas("web"), is_nothing_reported(&scenario)),
        (0, true)
    );
    scenario.sleep_until("09:05:01");
    assert_eq!(scenario.replicas("web"), 3);
    let expected = "web: started without deploy/cache, which was not ready after 5 min";
    assert_eq!(reported(&scenario), [expected]);
    scenario.sleep_until("18:00");
    assert_eq!(
        (reported(&scenario).len(), waiting(&scenario)),
        (1, "0".to_owned())
    );
}

#[test]
fn restarted_controller_continues_the_same_wait() {
    let mut scenario = app_and_database();
    for time in ["2026-11-20 09:04", "09:09:50"] {
        scenario.sleep_until(time);
        scenario.kill_controllers();
        scenario.start_controller(Settings::default());
        scenario.settle();
        assert_eq!(
            (scenario.replicas("web"), waiting(&scenario)),
            (0, "1".to_owned())
        );
    }
    scenario.sleep_until("09:10:01");
    assert_eq!(
        (scenario.replicas("web"), reported(&scenario).len()),
        (3, 1)
    );
}

#[test]
fn two_controllers_start_a_workload_once() {
    let mut scenario = app_and_database();
    scenario.start_controller(Settings::default());
    scenario.sleep_until("2026-11-20 09:01");
    ready(&scenario, "db", 3);
    scenario.pass(Duration::from_secs(5));
    let starts = scenario.events("web");
    let starts = starts.iter().filter(|it| it.starts_with("Started"));
    assert_eq!((scenario.replicas("web"), starts.count()), (3, 1));
    assert!(is_nothing_reported(&scenario));
}

#[test]
fn stop_edit_pause_or_removal_ends_a_wait() {
    for (key, text) in [
        ("sleep-until", Some("2026-11-20 12:00")),
        ("pause", Some("true")),
        ("hours", Some("Mon-Fri 11:00-19:00")),
        ("hours", None),
        ("exclude", Some("true")),
    ] {
        let scenario = app_and_database();
        scenario.sleep_until("2026-11-20 09:02");
        scenario.annotate("web", key, text);
        assert_eq!(waiting(&scenario), "0", "{key}");
        ready(&scenario, "db", 3);
        scenario.sleep_until("10:59");
        assert_eq!(
            (scenario.replicas("web"), is_nothing_reported(&scenario)),
            (0, true),
            "{key}"
        );
    }
    let scenario = evening(&[("web", "deploy/db, 6h"), ("db", "")]);
    scenario.annotate("web", "hours", Some("Mon-Fri 09:00-10:00"));
    scenario.sleep_until("2026-11-20 09:59");
    assert_eq!(waiting(&scenario), "1");
    scenario.sleep_until("10:01");
    ready(&scenario, "db", 3);
    scenario.sleep_until("18:00");
    assert_eq!(
        (scenario.replicas("web"), is_nothing_reported(&scenario)),
        (0, true)
    );
    assert!(
        scenario
            .metrics()
            .contains("dayshift_boundaries_skipped_total 0")
    );
}

#[test]
fn wakes_and_ends_of_sleeps_wait_too() {
    let scenario = app_and_database();
    // A command writes one workload after the other; the database is last.
    scenario.annotate("web", "wake-until", Some("2026-11-20 05:00"));
    scenario.pass(Duration::from_secs(2));
    scenario.annotate("db", "wake-until", Some("2026-11-20 05:00"));
    scenario.pass(Duration::from_secs(60));
    assert_eq!((scenario.replicas("db"), scenario.replicas("web")), (3, 0));
    ready(&scenario, "db", 3);
    assert_eq!(
        (scenario.replicas("web"), is_nothing_reported(&scenario)),
        (3, true)
    );
    scenario.sleep_until("2026-11-20 09:00:01");
    ready(&scenario, "db", 3);
    for name in ["web", "db"] {
        scenario.annotate(name, "sleep-until", Some("2026-11-20 12:00"));
    }
    scenario.sleep_until("12:05");
    assert_eq!((scenario.replicas("db"), scenario.replicas("web")), (3, 0));
    ready(&scenario, "db", 3);
    assert_eq!(
        (scenario.replicas("web"), is_nothing_reported(&scenario)),
        (3, true)
    );
}

#[test]
fn one_observation_of_readiness_is_enough() {
    let scenario = evening(&[
        ("web", "deploy/db; deploy/cache"),
        ("db", ""),
        ("cache", ""),
    ]);
    scenario.sleep_until("2026-11-20 09:00:01");
    for change in 0..200 {
        ready(&scenario, "db", 3 * (change % 2));
        scenario.pass(Duration::from_millis(10));
    }
    assert_eq!(
        (scenario.replicas("web"), scenario.patched("web").len()),
        (0, 2)
    );
    ready(&scenario, "cache", 3);
    assert_eq!(
        (scenario.replicas("web"), is_nothing_reported(&scenario)),
        (3, true)
    );
}

#[test]
fn hundreds_of_waiting_starts_cost_no_request() {
    let scenario = Sandbox::at("2026-11-19 18:00 UTC");
    scenario.apply(deployment("db").replicas(3).hours(OFFICE));
    for number in 0..500 {
        let web = deployment(&format!("web-{number}"))
            .replicas(1)
            .hours(OFFICE);
        let web = web.annotation("dayshift/after", "deploy/db");
        scenario.api.apply(web.into()).unwrap();
    }
    scenario.sleep_until("2026-11-20 08:59");
    let before = sent(&scenario);
    scenario.sleep_until("2026-11-20 09:05");
    assert_eq!(
        (waiting(&scenario).as_str(), sent(&scenario) - before),
        ("500", 1)
    );
    ready(&scenario, "db", 3);
    scenario.pass(Duration::from_secs(10));
    assert_eq!(waiting(&scenario), "0");
    let runs = |it: &Value| it["spec"]["replicas"] == 1;
    assert_eq!(
        scenario
            .api
            .list("Deployment")
            .iter()
            .filter(|it| runs(it))
            .count(),
        500
    );
}
