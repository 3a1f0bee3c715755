//! What was started becomes ready, or somebody is told.

use std::time::Duration;

use chrono::TimeDelta;
use dayshift::controller::Settings;
use serde_json::{Value, json};

use crate::sandbox::{Sandbox, deployment};

const OFFICE: &str = "Mon-Fri 09:00-19:00";
const QUOTA: &str = "pods \"web-1\" is forbidden: exceeded quota: team, requested: pods=1";

/// Three of `web` that were started on Monday at 09:00, a second ago.
fn monday() -> Sandbox {
    let story = Sandbox::at("2026-11-20 18:00 UTC");
    story.apply(deployment("web").replicas(3).hours(OFFICE));
    shows(&story, 3, &json!([]));
    story.sleep_until("2026-11-23 09:00:01");
    assert_eq!(story.replicas("web"), 3);
    story
}

/// What the Deployment controller writes into the status of `web`.
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
fn what_a_quota_keeps_down_is_told_once_with_the_words_of_kubernetes() {
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
fn what_is_ready_in_time_or_stopped_again_is_not_told() {
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
fn a_status_of_before_the_start_is_not_ready() {
    let story = monday();
    // It says that 3 of 3 are ready, as on Friday.
    story.sleep_until("09:10:01");
    assert_eq!(told(&story).len(), 1);
}

#[test]
fn a_controller_that_begins_anew_tells_what_is_due_then_and_nothing_twice() {
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
fn how_long_a_start_may_take_is_a_setting() {
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
