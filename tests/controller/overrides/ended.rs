//! Ended overrides, and annotations of an older revision that restore them.

use std::time::Duration;

use dayshift_controller::Settings;
use kube_in_memory::Fault;
use serde_json::{Value, json};

use crate::sandbox::{Sandbox, deployment};

/// Friday 20:00, stopped since 19:00 with 3 saved.
fn at_night() -> Sandbox {
    let story = Sandbox::at("2026-11-20 18:00 UTC");
    story.apply(deployment("web").replicas(3).hours("Mon-Fri 09:00-19:00"));
    story.sleep_until("20:00:30");
    story
}

/// Friday 10:00, running since 09:00.
fn by_day() -> Sandbox {
    let story = Sandbox::at("2026-11-20 08:00 UTC");
    story.apply(deployment("web").replicas(3).hours("Mon-Fri 09:00-19:00"));
    story.sleep_until("10:00:30");
    story
}

fn annotations(story: &Sandbox) -> Value {
    story.object("web")["metadata"]["annotations"].clone()
}

/// The effect of `kubectl rollout undo` on annotations: exactly those of the older revision.
fn undo(story: &Sandbox, then: &Value) {
    let mut patch = then.clone();
    for name in annotations(story).as_object().unwrap().keys() {
        if then.get(name).is_none() {
            patch[name] = Value::Null;
        }
    }
    let patch = json!({"metadata": {"annotations": patch}});
    story.api.merge("Deployment", "dev", "web", &patch).unwrap();
    story.settle();
}

fn seen(story: &Sandbox) -> (i32, String) {
    (story.replicas("web"), story.label("web", "state").unwrap())
}

/// The override annotations, and those that belong to them, on the object.
fn left(story: &Sandbox) -> Vec<String> {
    let all = ["pause", "wake-until", "sleep-until", "override-began"];
    let now = annotations(story);
    let names = all.map(|key| format!("dayshift/{key}")).into_iter();
    names.filter(|name| now.get(name).is_some()).collect()
}

#[test]
fn rollout_undo_revives_no_ended_override() {
    for (key, phase, by_night, after) in [
        ("wake-until", "woken", true, (0, "stopped")),
        ("sleep-until", "slept", false, (3, "running")),
        ("pause", "paused", false, (3, "adopted")),
    ] {
        let story = if by_night { at_night() } else { by_day() };
        story.annotate("web", key, Some("2026-11-20 23:30"));
        assert_eq!(seen(&story).1, phase);
        assert_eq!(
            left(&story),
            [format!("dayshift/{key}"), "dayshift/override-began".into()]
        );
        let during = annotations(&story);
        story.annotate("web", key, None);
        let after = (after.0, after.1.to_owned());
        assert_eq!((seen(&story), left(&story)), (after.clone(), Vec::new()));
        story.api.forget_requests();
        undo(&story, &during);
        assert_eq!((seen(&story), left(&story)), (after, Vec::new()), "{key}");
        assert_eq!(story.events("web").last().unwrap(), "OverrideExpired");
        assert_eq!(story.patched("web").len(), 1, "{key}");

        story.annotate("web", key, Some("2026-11-20 23:30"));
        assert_eq!(seen(&story).1, phase, "a new one with the same text counts");
    }
}

#[test]
fn rollout_undo_ends_an_override_permanently() {
    let story = at_night();
    let before = annotations(&story);
    story.annotate("web", "wake-until", Some("2026-11-20 23:00"));
    let during = annotations(&story);
    undo(&story, &before);
    assert_eq!(seen(&story), (0, "stopped".to_owned()));
    undo(&story, &during);
    assert_eq!(seen(&story), (0, "stopped".to_owned()));
    assert_eq!(left(&story), [""; 0]);
}

#[test]
fn rollout_undo_without_a_controller_revives_no_pause() {
    let mut story = by_day();
    story.annotate("web", "pause", Some("true"));
    let during = annotations(&story);
    story.annotate("web", "pause", None);
    story.kill_scalers();
    undo(&story, &during);
    story.start_scaler(Settings::default());
    assert_eq!(left(&story), [""; 0]);
    story.sleep_until("19:01");
    assert_eq!(
        seen(&story),
        (0, "stopped".to_owned()),
        "not paused for good"
    );
}

/// The guard: the new override has the same value as the old one that is restored.
#[test]
fn override_replaced_by_an_undo_does_not_begin() {
    let story = by_day();
    let slowly = Fault::Delay(Duration::from_secs(5));
    story.api.fail_next(|line| line.verb == "patch", slowly);
    story.annotate("web", "sleep-until", Some("2026-11-20 23:30"));
    story.annotate("web", "override-began", Some("2026-11-19T10:00:00Z"));
    story.pass(Duration::from_secs(10));
    assert_eq!(seen(&story), (3, "running".to_owned()));
    assert_eq!(left(&story), [""; 0]);
}

/// The guard: the removed old override has the same value as the new one.
#[test]
fn new_override_during_the_removal_of_an_old_one_applies() {
    let story = by_day();
    story.annotate("web", "sleep-until", Some("2026-11-20 23:30"));
    let during = annotations(&story);
    story.annotate("web", "sleep-until", None);
    let slowly = Fault::Delay(Duration::from_secs(5));
    story.api.fail_next(|line| line.verb == "patch", slowly);
    undo(&story, &during);
    story.annotate("web", "override-began", None);
    story.pass(Duration::from_secs(10));
    assert_eq!(seen(&story), (0, "slept".to_owned()));
}

#[test]
fn dry_run_continues_as_if_it_had_written() {
    let mut story = by_day();
    story.kill_scalers();
    story.api.forget_requests();
    story.start_scaler(Settings {
        dry_run: true,
        ..Settings::default()
    });
    story.annotate("web", "sleep-until", Some("2026-11-20 12:00"));
    story.sleep_until("2026-11-21 12:00");
    assert_eq!(story.requests("patch").len(), 0);
    let metrics = story.telemetry.render();
    for (action, count) in [("start", 1), ("stop", 2)] {
        let line = format!(
            "dayshift_transitions_total{{action=\"{action}\",outcome=\"dry_run\"}} {count}"
        );
        assert!(metrics.contains(&line), "{line}: {metrics}");
    }
}
