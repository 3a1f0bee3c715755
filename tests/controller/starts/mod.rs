//! Started workloads become ready, or an Event reports them.

mod waits;

use std::time::Duration;

use chrono::TimeDelta;
use dayshift_controller::Settings;
use serde_json::{Value, json};

use crate::sandbox::{Sandbox, deployment};

const OFFICE: &str = "Mon-Fri 09:00-19:00";
const QUOTA: &str = "pods \"web-1\" is forbidden: exceeded quota: team, requested: pods=1";

/// Three replicas of `web` that were started on Monday at 09:00, a second ago.
fn monday() -> Sandbox {
    let story = Sandbox::at("2026-11-20 18:00 UTC");
    story.apply(deployment("web").replicas(3).hours(OFFICE));
    shows(&story, 3, &json!([]));
    story.sleep_until("2026-11-23 09:00:01");
    assert_eq!(story.replicas("web"), 3);
    story
}

/// Writes the status of `web` as the Deployment controller does.
fn shows(story: &Sandbox, ready: u32, conditions: &Value) {
    let generation = story.object("web")["metadata"]["generation"].clone();
    let status = json!({
        "observedGeneration": generation, "readyReplicas": ready, "conditions": conditions,
    });
    let set = story.api.set_status("Deployment", "dev", "web", status);
    set.unwrap();
    story.settle();
}

fn told(story: &Sandbox) -> Vec<String> {
    let mut events = story.api.list("Event");
    events.retain(|event| event["reason"] == "NotReady");
    let note = |event: &Value| event["note"].as_str().unwrap().to_owned();
    events.iter().map(note).collect()
}

fn short_of_quota() -> Value {
    json!([
        {"type": "Available", "status": "False", "message": "no minimum availability"},
        {"type": "ReplicaFailure", "status": "True", "message": QUOTA},
    ])
}

#[test]
fn reports_a_quota_failure_once_with_the_message_of_kubernetes() {
    let story = monday();
    shows(&story, 1, &short_of_quota());
    story.sleep_until("09:09:59");
    assert_eq!((told(&story), story.requests("get").len()), (vec![], 0));
    story.sleep_until("09:10:01");
    let expected = format!(
        "1 of 3 replicas are ready 10 min after the start: {QUOTA}. To see more, run kubectl describe deployment/web -n dev"
    );
    assert_eq!(told(&story), [expected]);
    assert_eq!(story.requests("get").len(), 1);
    let patches = story.patched("web").len();
    for change in 0..200 {
        shows(&story, change % 4, &short_of_quota());
        story.pass(Duration::from_millis(10));
    }
    story.sleep_until("18:59");
    assert_eq!((told(&story).len(), story.requests("get").len()), (1, 1));
    assert_eq!(story.patched("web").len(), patches);
}

#[test]
fn reports_nothing_if_ready_in_time_or_stopped_again() {
    let story = monday();
    shows(&story, 0, &json!([]));
    story.sleep_until("09:09:50");
    shows(&story, 3, &json!([]));
    story.sleep_until("09:20");
    let story_of_a_sleep = monday();
    shows(&story_of_a_sleep, 0, &json!([]));
    story_of_a_sleep.annotate("web", "sleep-until", Some("2026-11-23 12:00"));
    story_of_a_sleep.sleep_until("09:20");
    for story in [story, story_of_a_sleep] {
        assert_eq!((told(&story), story.requests("get").len()), (vec![], 0));
    }
}

#[test]
fn status_from_before_the_start_is_not_ready() {
    let story = monday();
    // The status shows 3 of 3 ready, as on Friday.
    story.sleep_until("09:10:01");
    assert_eq!(told(&story).len(), 1);
}

#[test]
fn restarted_controller_reports_unready_starts_once() {
    let mut story = monday();
    shows(&story, 0, &json!([]));
    story.sleep_until("09:05");
    story.kill_scalers();
    story.start_scaler(Settings::default());
    story.sleep_until("09:10:01");
    assert_eq!(told(&story).len(), 1);
    story.kill_scalers();
    story.start_scaler(Settings::default());
    story.sleep_until("09:40");
    assert_eq!(told(&story).len(), 1);
}

#[test]
fn ready_within_is_a_setting() {
    for (within, expected) in [(TimeDelta::minutes(30), 1), (TimeDelta::zero(), 0)] {
        let mut story = monday();
        shows(&story, 0, &json!([]));
        story.kill_scalers();
        story.start_scaler(Settings {
            ready_within: within,
            ..Settings::default()
        });
        story.sleep_until("09:29:59");
        assert_eq!(told(&story).len(), 0);
        story.sleep_until("09:30:01");
        assert_eq!(told(&story).len(), expected, "{within}");
    }
}

/// The value of the metric.
fn counted(story: &Sandbox) -> usize {
    let metrics = story.metrics();
    let count = |line: &str| {
        line.strip_prefix("dayshift_not_ready_workloads ")?
            .parse()
            .ok()
    };
    metrics.lines().find_map(count).unwrap()
}

#[test]
fn ready_within_comes_from_the_object_or_its_namespace() {
    let on_object = |story: &Sandbox, text: &str| {
        story.annotate("web", "ready-within", Some(text));
    };
    let on_namespace = |story: &Sandbox, text: &str| {
        story.api.namespace("dev");
        let key = "dayshift/ready-within";
        let annotated = story
            .api
            .annotate_of("Namespace", "", "dev", key, Some(text));
        annotated.unwrap();
        story.settle();
    };
    for (annotate, text, at) in [
        (&on_object as &dyn Fn(&Sandbox, &str), "30m", Some("09:30")),
        (&on_object, "2m", Some("09:02")),
        (&on_object, "0", None),
        (&on_namespace, "20m", Some("09:20")),
    ] {
        let story = monday();
        shows(&story, 0, &json!([]));
        let patches = story.patched("web").len();
        annotate(&story, text);
        assert_eq!(story.error("web"), None);
        if let Some(at) = at {
            story.sleep_until(at);
            let minutes = at.trim_start_matches("09:").trim_start_matches('0');
            story.pass(Duration::from_secs(1));
            assert!(
                told(&story)[0].contains(&format!(" {minutes} min after")),
                "{text}"
            );
        }
        story.sleep_until("10:00");
        let expected = usize::from(at.is_some());
        assert_eq!(
            (told(&story).len(), counted(&story)),
            (expected, expected),
            "{text}"
        );
        assert_eq!(
            story.patched("web").len(),
            patches,
            "nothing is written: {text}"
        );
    }
}

#[test]
fn reports_no_unready_start_before_the_time_of_the_object() {
    let story = monday();
    shows(&story, 0, &json!([]));
    story.annotate("web", "ready-within", Some("30m"));
    story.sleep_until("09:29:58");
    assert_eq!((told(&story).len(), counted(&story)), (0, 0));
    story.sleep_until("09:30:01");
    assert_eq!((told(&story).len(), counted(&story)), (1, 1));
}
