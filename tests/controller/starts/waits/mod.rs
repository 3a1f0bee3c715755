//! A start waits for its dependencies, up to a limit.

mod needed;
mod places;
mod services;

use std::time::Duration;

use dayshift_controller::Settings;
use kube_in_memory::{Fault, RequestLine, Status};
use serde_json::{Value, json};

use crate::sandbox::{Sandbox, deployment};

const OFFICE: &str = "Mon-Fri 09:00-19:00";

/// `web` depends on `db`; both are stopped on Friday evening.
fn app_and_database() -> Sandbox {
    evening(&[("web", "deploy/db"), ("db", "")])
}

/// Three replicas of each, stopped on Friday evening, with these dependencies.
fn evening(objects: &[(&str, &str)]) -> Sandbox {
    let story = Sandbox::at("2026-11-20 18:00 UTC");
    for (name, after) in objects {
        let mut object = deployment(name).replicas(3).hours(OFFICE);
        if !after.is_empty() {
            object = object.annotation("dayshift/after", *after);
        }
        story.apply(object);
    }
    story.sleep_until("19:01");
    story
}

/// Writes a status as the Deployment controller does.
fn ready(story: &Sandbox, name: &str, ready: u32) {
    let generation = story.object(name)["metadata"]["generation"].clone();
    let status = json!({"observedGeneration": generation, "readyReplicas": ready});
    let set = story.api.set_status("Deployment", "dev", name, status);
    set.unwrap();
    story.settle();
}

/// The Warnings about starts, as `web: …`.
fn told(story: &Sandbox) -> Vec<String> {
    let mut events = story.api.list("Event");
    events.retain(|event| event["reason"] == "StartedWithout");
    assert!(events.iter().all(|it| it["type"] == "Warning"));
    let mut told: Vec<_> = events.iter().map(note).collect();
    told.sort();
    told
}

fn note(event: &Value) -> String {
    let name = event["regarding"]["name"].as_str().unwrap();
    format!("{name}: {}", event["note"].as_str().unwrap())
}

fn waiting(story: &Sandbox) -> String {
    let metrics = story.metrics();
    let mut lines = metrics.lines();
    let line = lines.find_map(|it| it.strip_prefix("dayshift_waiting_starts "));
    line.unwrap().to_owned()
}

/// The number of requests about objects so far.
fn sent(story: &Sandbox) -> usize {
    let verbs = ["get", "patch", "create"].into_iter();
    verbs.map(|verb| story.requests(verb).len()).sum()
}

fn is_none_told(story: &Sandbox) -> bool {
    told(story).is_empty()
}

/// Whether or not the dependency is ready before the start stops waiting.
#[test]
fn wake_starts_as_soon_as_its_dependency_is_ready() {
    for (after, goes) in [(1, 5), (20, 20)] {
        let story = evening(&[("web", "deploy/db; deploy/logs"), ("db", ""), ("logs", "")]);
        let woken = story.now();
        for name in ["db", "web"] {
            story.annotate(name, "wake-until", Some("2026-11-21 12:00"));
        }
        story.pass(Duration::from_secs(after));
        assert_eq!((story.replicas("db"), story.replicas("web")), (3, 0));
        ready(&story, "db", 3);
        story.pass(Duration::from_secs(30));
        let started = *story.patched("web").last().unwrap() - woken;
        assert_eq!(started.num_seconds(), goes, "ready after {after} s");
        assert_eq!(told(&story).len(), 1);
    }
}

/// The others are evaluated while the first is in flight.
#[test]
fn a_429_for_the_first_released_start_holds_the_others() {
    let names: Vec<_> = (0..20).map(|number| format!("web-{number:02}")).collect();
    let apps = names.iter().map(|name| (&**name, "deploy/db"));
    let story = evening(&[("db", "")].into_iter().chain(apps).collect::<Vec<_>>());
    story.sleep_until("2026-11-23 09:00:01");
    assert_eq!(waiting(&story), "20");
    story.api.forget_requests();
    let freed = story.now();
    story.api.on_request(move |line: &RequestLine| {
        let refusal = Fault::Answer(Status::too_many_requests(1));
        (line.verb == "patch" && line.at == freed).then_some(refusal)
    });
    ready(&story, "db", 3);
    let patches = story.requests("patch");
    assert_eq!(patches.iter().filter(|it| it.at == freed).count(), 1);
    story.sleep_until("2026-11-23 09:01");
    assert!(names.iter().all(|name| story.replicas(name) == 3));
}

#[test]
fn starts_within_milliseconds_of_its_dependency_being_ready() {
    let story = app_and_database();
    let before = sent(&story);
    story.sleep_until("2026-11-23 09:00:01");
    assert_eq!((story.replicas("db"), story.replicas("web")), (3, 0));
    assert_eq!(waiting(&story), "1");
    for count in 0..3 {
        ready(&story, "db", count);
        story.pass(Duration::from_secs(30));
        assert_eq!(story.replicas("web"), 0);
    }
    // The start of `db` is the only request.
    assert_eq!(sent(&story) - before, 1);
    let now = story.now();
    ready(&story, "db", 3);
    assert_eq!(
        (story.replicas("web"), waiting(&story)),
        (3, "0".to_owned())
    );
    let patched = story.patched("web");
    let took = *patched.last().unwrap() - now;
    assert!(took.num_milliseconds() <= 5, "{took}");
    assert!(is_none_told(&story));
    story.sleep_until("19:01");
    assert_eq!((story.replicas("db"), story.replicas("web")), (0, 0));
    // A start that waited is not late, and no boundary was skipped.
    let metrics = story.metrics();
    let late = "dayshift_transition_lateness_seconds_bucket{le=\"0.01\",action=\"start\"} 2";
    assert!(metrics.contains(late), "{metrics}");
    assert!(metrics.contains("dayshift_boundaries_skipped_total 0"));
}

#[test]
fn starts_without_a_late_dependency_and_reports_it() {
    let story = evening(&[
        ("web", "deploy/db; deploy/cache, 5m"),
        ("db", ""),
        ("cache", ""),
    ]);
    story.sleep_until("2026-11-23 09:00:01");
    ready(&story, "db", 3);
    ready(&story, "cache", 2);
    story.sleep_until("09:04:59");
    assert_eq!((story.replicas("web"), is_none_told(&story)), (0, true));
    story.sleep_until("09:05:01");
    assert_eq!(story.replicas("web"), 3);
    let expected = "web: started without deploy/cache, which was not ready after 5 min";
    assert_eq!(told(&story), [expected]);
    story.sleep_until("18:00");
    assert_eq!((told(&story).len(), waiting(&story)), (1, "0".to_owned()));
}

#[test]
fn restarted_controller_continues_the_same_wait() {
    let mut story = app_and_database();
    for time in ["2026-11-23 09:04", "09:09:50"] {
        story.sleep_until(time);
        story.kill_scalers();
        story.start_scaler(Settings::default());
        story.settle();
        assert_eq!(
            (story.replicas("web"), waiting(&story)),
            (0, "1".to_owned())
        );
    }
    story.sleep_until("09:10:01");
    assert_eq!((story.replicas("web"), told(&story).len()), (3, 1));
}

#[test]
fn two_controllers_start_it_once() {
    let mut story = app_and_database();
    story.start_scaler(Settings::default());
    story.sleep_until("2026-11-23 09:01");
    ready(&story, "db", 3);
    story.pass(Duration::from_secs(5));
    let starts = story.events("web");
    let starts = starts.iter().filter(|it| it.starts_with("Started"));
    assert_eq!((story.replicas("web"), starts.count()), (3, 1));
    assert!(is_none_told(&story));
}

#[test]
fn stop_edit_pause_or_removal_ends_a_wait() {
    for (key, text) in [
        ("sleep-until", Some("2026-11-23 12:00")),
        ("pause", Some("true")),
        ("hours", Some("Mon-Fri 11:00-19:00")),
        ("hours", None),
        ("exclude", Some("true")),
    ] {
        let story = app_and_database();
        story.sleep_until("2026-11-23 09:02");
        story.annotate("web", key, text);
        assert_eq!(waiting(&story), "0", "{key}");
        ready(&story, "db", 3);
        story.sleep_until("10:59");
        assert_eq!(
            (story.replicas("web"), is_none_told(&story)),
            (0, true),
            "{key}"
        );
    }
    let story = evening(&[("web", "deploy/db, 6h"), ("db", "")]);
    story.annotate("web", "hours", Some("Mon-Fri 09:00-10:00"));
    story.sleep_until("2026-11-23 09:59");
    assert_eq!(waiting(&story), "1");
    story.sleep_until("10:01");
    ready(&story, "db", 3);
    story.sleep_until("18:00");
    assert_eq!((story.replicas("web"), is_none_told(&story)), (0, true));
    assert!(
        story
            .metrics()
            .contains("dayshift_boundaries_skipped_total 0")
    );
}

#[test]
fn wakes_and_ends_of_sleeps_wait_too() {
    let story = app_and_database();
    // One after another, as a command writes them: the database last.
    story.annotate("web", "wake-until", Some("2026-11-21 12:00"));
    story.pass(Duration::from_secs(2));
    story.annotate("db", "wake-until", Some("2026-11-21 12:00"));
    story.pass(Duration::from_secs(60));
    assert_eq!((story.replicas("db"), story.replicas("web")), (3, 0));
    ready(&story, "db", 3);
    assert_eq!((story.replicas("web"), is_none_told(&story)), (3, true));
    story.sleep_until("2026-11-23 09:00:01");
    ready(&story, "db", 3);
    for name in ["web", "db"] {
        story.annotate(name, "sleep-until", Some("2026-11-23 12:00"));
    }
    story.sleep_until("12:05");
    assert_eq!((story.replicas("db"), story.replicas("web")), (3, 0));
    ready(&story, "db", 3);
    assert_eq!((story.replicas("web"), is_none_told(&story)), (3, true));
}

#[test]
fn one_observation_of_readiness_is_enough() {
    let story = evening(&[
        ("web", "deploy/db; deploy/cache"),
        ("db", ""),
        ("cache", ""),
    ]);
    story.sleep_until("2026-11-23 09:00:01");
    for change in 0..200 {
        ready(&story, "db", 3 * (change % 2));
        story.pass(Duration::from_millis(10));
    }
    assert_eq!((story.replicas("web"), story.patched("web").len()), (0, 2));
    ready(&story, "cache", 3);
    assert_eq!((story.replicas("web"), is_none_told(&story)), (3, true));
}

#[test]
fn hundreds_of_waiting_starts_cost_no_request() {
    let story = Sandbox::at("2026-11-20 18:00 UTC");
    story.apply(deployment("db").replicas(3).hours(OFFICE));
    for number in 0..500 {
        let web = deployment(&format!("web-{number}"))
            .replicas(1)
            .hours(OFFICE);
        story.apply(web.annotation("dayshift/after", "deploy/db"));
    }
    story.sleep_until("2026-11-23 08:59");
    let before = sent(&story);
    story.sleep_until("2026-11-23 09:05");
    assert_eq!(
        (waiting(&story).as_str(), sent(&story) - before),
        ("500", 1)
    );
    ready(&story, "db", 3);
    story.pass(Duration::from_secs(10));
    assert_eq!(waiting(&story), "0");
    let runs = |it: &Value| it["spec"]["replicas"] == 1;
    assert_eq!(
        story
            .api
            .list("Deployment")
            .iter()
            .filter(|it| runs(it))
            .count(),
        500
    );
}
