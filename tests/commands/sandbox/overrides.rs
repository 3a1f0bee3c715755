//! Overrides, pauses and enforcement in the sandbox.

use chrono::{DateTime, TimeDelta, Utc};
use dayshift::sandbox::{EventKind, Simulation, Speed, TimelineEvent, UserAction, UserChange};
use dayshift_cluster::clock::Clock;
use dayshift_controller::Settings;
use dayshift_workload::Kind;
use serde_json::{Map, Value, json};

const FRIDAY: &str = "2026-11-20T08:00:00Z";

fn utc(text: &str) -> DateTime<Utc> {
    text.parse().unwrap()
}

/// Three replicas from 09:00 to 19:00 with additional annotations.
fn office(more: &[(&str, &str)]) -> Value {
    let mut annotations: Map<String, Value> = Map::new();
    for (key, text) in more.iter().chain(&[("hours", "09:00-19:00")]) {
        annotations.insert(format!("dayshift/{key}"), json!(text));
    }
    json!({
        "apiVersion": "apps/v1", "kind": "Deployment",
        "metadata": {"name": "web", "namespace": "default", "annotations": annotations},
        "spec": {
            "replicas": 3, "selector": {"matchLabels": {"app": "web"}},
            "template": {
                "metadata": {"labels": {"app": "web"}},
                "spec": {"containers": [{"name": "web", "image": "nginx"}]},
            },
        },
    })
}

/// The events of a day, with the counts before and after each.
fn a_day_of(manifest: &Value, actions: Vec<UserAction>) -> Vec<(EventKind, u32, u32)> {
    let from = utc(FRIDAY);
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .unwrap();
    runtime.block_on(async {
        let mut stage = Simulation::new(Clock::simulated(from), Settings::default());
        stage.load(manifest).unwrap();
        let mut all = Vec::new();
        let tell = |reported: &TimelineEvent| {
            all.push((
                reported.kind.clone(),
                reported.from.get(),
                reported.to.get(),
            ));
            Ok(())
        };
        let until = from + TimeDelta::days(1);
        let played = stage.play(until, actions, Speed::Max, tell, std::future::pending());
        played.await.unwrap().finish().await;
        all
    })
}

#[test]
fn shows_the_beginning_and_the_end_of_an_override() {
    for (key, begins, expected) in [
        (
            "wake-until",
            EventKind::Wake(utc("2026-11-20T22:00:00Z")),
            [(3, 3), (3, 0)],
        ),
        (
            "sleep-until",
            EventKind::Sleep(utc("2026-11-20T22:00:00Z")),
            [(3, 0), (0, 0)],
        ),
    ] {
        let reported = a_day_of(&office(&[(key, "2026-11-20 22:00")]), Vec::new());
        let [first, second] = expected.map(|(from, to)| (from, to));
        assert_eq!(
            reported,
            [
                (begins, first.0, first.1),
                (EventKind::Stop, second.0, second.1)
            ]
        );
    }
}

#[test]
fn shows_a_pause_and_continues_with_the_schedule() {
    let reported = a_day_of(&office(&[("pause", "2026-11-20 18:00")]), Vec::new());
    let until = Some(utc("2026-11-20T18:00:00Z"));
    assert_eq!(
        reported,
        [
            (EventKind::Pause(until), 3, 3),
            (EventKind::Resume, 3, 3),
            (EventKind::Stop, 3, 0)
        ]
    );
}

#[test]
fn an_enforced_count_is_not_shown_as_a_manual_change() {
    let action = UserAction {
        kind: Kind::DEPLOYMENT,
        at: utc("2026-11-20T20:00:00Z"),
        namespace: "default".into(),
        name: "web".into(),
        change: UserChange::Scale(2),
    };
    let command = action.command().unwrap();
    let reported = a_day_of(&office(&[("enforce", "true")]), vec![action]);
    assert_eq!(
        reported[2..],
        [
            (EventKind::Stop, 3, 0),
            (EventKind::UserAction(command), 0, 2),
            (EventKind::Enforce, 2, 0)
        ]
    );
}
