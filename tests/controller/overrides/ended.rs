//! Ended overrides, and annotations of an older revision that restore them.

use std::time::Duration;

use dayshift_controller::Settings;
use kube_in_memory::Fault;
use serde_json::{Value, json};

use crate::sandbox::{Sandbox, deployment};

/// Friday 20:00, stopped since 19:00 with 3 saved.
fn at_night() -> Sandbox {
    let scenario = Sandbox::at("2026-11-20 18:00 UTC");
    scenario.apply(deployment("web").replicas(3).hours("Mon-Fri 09:00-19:00"));
    scenario.sleep_until("20:00:30");
    scenario
}

/// Friday 10:00, running since 09:00.
fn by_day() -> Sandbox {
    let scenario = Sandbox::at("2026-11-20 08:00 UTC");
    scenario.apply(deployment("web").replicas(3).hours("Mon-Fri 09:00-19:00"));
    scenario.sleep_until("10:00:30");
    scenario
}

fn annotations(scenario: &Sandbox) -> Value {
    scenario.object("web")["metadata"]["annotations"].clone()
}

/// The effect of `kubectl rollout undo` on annotations: exactly those of the older revision.
fn undo(scenario: &Sandbox, then: &Value) {
    let mut patch = then.clone();
    for name in annotations(scenario).as_object().unwrap().keys() {
        if then.get(name).is_none() {
            patch[name] = Value::Null;
        }
    }
    let patch = json!({"metadata": {"annotations": patch}});
    scenario
        .api
        .merge("Deployment", "dev", "web", &patch)
        .unwrap();
    scenario.settle();
}

fn seen(scenario: &Sandbox) -> (i32, String) {
    (
        scenario.replicas("web"),
        scenario.label("web", "state").unwrap(),
    )
}

/// The override annotations, and those that belong to them, on the object.
fn left(scenario: &Sandbox) -> Vec<String> {
    let all = ["pause", "wake-until", "sleep-until", "override-began"];
    let now = annotations(scenario);
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
        let scenario = if by_night { at_night() } else { by_day() };
        scenario.annotate("web", key, Some("2026-11-20 23:30"));
        assert_eq!(seen(&scenario).1, phase);
        assert_eq!(
            left(&scenario),
            [format!("dayshift/{key}"), "dayshift/override-began".into()]
        );
        let during = annotations(&scenario);
        scenario.annotate("web", key, None);
        let after = (after.0, after.1.to_owned());
        assert_eq!(
            (seen(&scenario), left(&scenario)),
            (after.clone(), Vec::new())
        );
        scenario.api.forget_requests();
        undo(&scenario, &during);
        assert_eq!(
            (seen(&scenario), left(&scenario)),
            (after, Vec::new()),
            "{key}"
        );
        assert_eq!(scenario.events("web").last().unwrap(), "OverrideExpired");
        assert_eq!(scenario.patched("web").len(), 1, "{key}");

        scenario.annotate("web", key, Some("2026-11-20 23:30"));
        assert_eq!(
            seen(&scenario).1,
            phase,
            "a new override with the same value applies"
        );
    }
}

#[test]
fn rollout_undo_ends_an_override_permanently() {
    let scenario = at_night();
    let before = annotations(&scenario);
    scenario.annotate("web", "wake-until", Some("2026-11-20 23:00"));
    let during = annotations(&scenario);
    undo(&scenario, &before);
    assert_eq!(seen(&scenario), (0, "stopped".to_owned()));
    undo(&scenario, &during);
    assert_eq!(seen(&scenario), (0, "stopped".to_owned()));
    assert_eq!(left(&scenario), [""; 0]);
}

#[test]
fn rollout_undo_without_a_controller_revives_no_pause() {
    let mut scenario = by_day();
    scenario.annotate("web", "pause", Some("true"));
    let during = annotations(&scenario);
    scenario.annotate("web", "pause", None);
    scenario.kill_controllers();
    undo(&scenario, &during);
    scenario.start_controller(Settings::default());
    assert_eq!(left(&scenario), [""; 0]);
    scenario.sleep_until("19:01");
    assert_eq!(
        seen(&scenario),
        (0, "stopped".to_owned()),
        "not paused permanently"
    );
}

/// The undo restores an old override whose value equals the new one, so only the guarded patch can distinguish
/// them.
#[test]
fn override_replaced_by_an_undo_does_not_begin() {
    let scenario = by_day();
    let slowly = Fault::Delay(Duration::from_secs(5));
    scenario.api.fail_next(|line| line.verb == "patch", slowly);
    scenario.annotate("web", "sleep-until", Some("2026-11-20 23:30"));
    scenario.annotate("web", "override-began", Some("2026-11-19T10:00:00Z"));
    scenario.pass(Duration::from_secs(10));
    assert_eq!(seen(&scenario), (3, "running".to_owned()));
    assert_eq!(left(&scenario), [""; 0]);
}

/// A user adds a new override, whose value equals the old one, while the old one is being removed.
#[test]
fn new_override_during_the_removal_of_an_old_one_applies() {
    let scenario = by_day();
    scenario.annotate("web", "sleep-until", Some("2026-11-20 23:30"));
    let during = annotations(&scenario);
    scenario.annotate("web", "sleep-until", None);
    let slowly = Fault::Delay(Duration::from_secs(5));
    scenario.api.fail_next(|line| line.verb == "patch", slowly);
    undo(&scenario, &during);
    scenario.annotate("web", "override-began", None);
    scenario.pass(Duration::from_secs(10));
    assert_eq!(seen(&scenario), (0, "slept".to_owned()));
}

#[test]
fn dry_run_continues_as_if_it_had_written() {
    let mut scenario = by_day();
    scenario.kill_controllers();
    scenario.api.forget_requests();
    scenario.start_with(|settings| settings.dry_run = true);
    scenario.annotate("web", "sleep-until", Some("2026-11-20 12:00"));
    scenario.sleep_until("2026-11-21 12:00");
    assert_eq!(scenario.requests("patch").len(), 0);
    let metrics = scenario.telemetry.render();
    for (action, count) in [("start", 1), ("stop", 2)] {
        let line = format!(
            "dayshift_transitions_total{{action=\"{action}\",outcome=\"dry_run\"}} {count}"
        );
        assert!(metrics.contains(&line), "{line}: {metrics}");
    }
}
