//! Overrides, pauses and `enforce`, as plain annotations.

mod ended;

use std::time::Duration;

use chrono::TimeDelta;
use dayshift_controller::Settings;
use kube_in_memory::{Fault, Status};

use crate::sandbox::{Sandbox, default_with, deployment};

/// Friday 20:00, stopped since 19:00 with 3 saved.
fn at_night() -> Sandbox {
    let scenario = Sandbox::at("2026-11-20 18:00 UTC");
    scenario.apply(deployment("web").replicas(3).hours("Mon-Fri 09:00-19:00"));
    scenario.sleep_until("20:00:30"); // Events of the stop are an hour old by then
    scenario.api.forget_requests();
    scenario
}

fn seen(scenario: &Sandbox) -> (i32, String, Option<String>) {
    (
        scenario.replicas("web"),
        scenario.label("web", "state").unwrap(),
        scenario.label("web", "saved-replicas"),
    )
}

fn expect(replicas: i32, state: &str, saved: Option<&str>) -> (i32, String, Option<String>) {
    (replicas, state.to_owned(), saved.map(str::to_owned))
}

fn annotation(scenario: &Sandbox, key: &str) -> Option<String> {
    let annotations = &scenario.object("web")["metadata"]["annotations"];
    let text = annotations[format!("dayshift/{key}")].as_str();
    text.map(str::to_owned)
}

#[test]
fn wake_needs_one_patch_at_its_start_and_one_at_its_end() {
    let scenario = at_night();
    scenario.annotate("web", "wake-until", Some("2026-11-20 22:00"));
    assert_eq!(seen(&scenario), expect(3, "woken", None));
    assert_eq!(
        scenario.label("web", "next").unwrap(),
        "2026-11-20T22.00.00Z"
    );
    scenario.sleep_until("22:30");
    assert_eq!(seen(&scenario), expect(0, "stopped", Some("3")));
    assert_eq!(annotation(&scenario, "wake-until"), None);
    let patched = scenario.patched("web");
    assert_eq!(patched.len(), 2);
    assert_eq!(patched[1], scenario.utc("2026-11-20 22:00"));
    assert_eq!(scenario.requests("get").len(), 0);
    assert_eq!(scenario.events("web"), ["Stopped"]);
}

/// The Event names the earlier end and the author. A longer override has none.
#[test]
fn reports_an_override_that_a_user_shortens() {
    let scenario = at_night();
    scenario.annotate("web", "wake-until", Some("2026-11-20 23:00"));
    scenario.annotate("web", "wake-until", Some("2026-11-20 23:30"));
    scenario.annotate("web", "reason", Some("deploy"));
    scenario.annotate("web", "wake-until", Some("2026-11-20 22:00"));
    scenario.sleep_until("21:00");
    assert_eq!(scenario.events("web"), ["Woken", "OverrideShortened"]);
    let events = scenario.api.list("Event");
    let shortened = events
        .iter()
        .find(|event| event["reason"] == "OverrideShortened")
        .unwrap();
    assert_eq!(
        shortened["note"],
        "it is overridden by `wake-until` until Fri 2026-11-20 22:00:00 UTC instead of Fri 2026-11-20 \
         23:30:00 UTC, reason: deploy"
    );
    assert_eq!(shortened["type"], "Normal");
    scenario.annotate("web", "pause", Some("true"));
    scenario.annotate("web", "pause", Some("2026-11-21 12:00"));
    assert_eq!(
        scenario.events("web"),
        ["Woken", "OverrideShortened", "Paused", "OverrideShortened"]
    );
}

#[test]
fn restarts_during_an_override_and_across_its_end() {
    let mut scenario = at_night();
    scenario.annotate("web", "wake-until", Some("2026-11-20 22:00"));
    scenario.kill_controllers();
    scenario.scale("web", 4);
    scenario.start_controller(Settings::default());
    scenario.sleep_until("21:00");
    assert_eq!(seen(&scenario), expect(4, "woken", None));
    assert_eq!(
        scenario.patched("web").len(),
        1,
        "the override has already begun"
    );
    scenario.kill_controllers();
    scenario.sleep_until("2026-11-21 12:00");
    scenario.start_controller(Settings::default());
    scenario.settle();
    assert_eq!(seen(&scenario), expect(0, "stopped", Some("4")));
    assert_eq!(annotation(&scenario, "wake-until"), None);
}

#[test]
fn removes_an_override_that_ended_without_a_controller() {
    let mut scenario = at_night();
    scenario.kill_controllers();
    scenario.annotate("web", "wake-until", Some("2026-11-20 22:00"));
    scenario.sleep_until("23:00");
    scenario.start_controller(Settings::default());
    scenario.settle();
    assert_eq!(seen(&scenario), expect(0, "stopped", Some("3")));
    assert_eq!(annotation(&scenario, "wake-until"), None);
    assert_eq!(scenario.events("web"), ["OverrideExpired"]);
}

#[test]
fn decides_again_if_an_override_is_edited_during_its_patch() {
    let scenario = at_night();
    scenario.annotate("web", "wake-until", Some("2026-11-20 22:00"));
    scenario.api.forget_requests();
    let slowly = Fault::Delay(Duration::from_secs(5));
    scenario.api.fail_next(|line| line.verb == "patch", slowly);
    scenario.sleep_until("22:00:02");
    scenario.annotate("web", "wake-until", Some("2026-11-20 23:00"));
    scenario.sleep_until("22:30");
    assert_eq!(seen(&scenario), expect(3, "woken", None));
    let patches = scenario.requests("patch");
    assert_eq!(patches[0].code, Some(422), "{patches:?}");
    scenario.sleep_until("23:00");
    assert_eq!(seen(&scenario), expect(0, "stopped", Some("3")));
}

#[test]
fn resends_a_lost_patch_at_the_end_of_an_override() {
    for fault in [
        Fault::DropBefore,
        Fault::DropAfter,
        Fault::Answer(Status::internal("etcd is away")),
    ] {
        let scenario = at_night();
        scenario.annotate("web", "sleep-until", Some("2026-11-23 10:00"));
        scenario.sleep_until("2026-11-23 09:30");
        assert_eq!(seen(&scenario), expect(0, "slept", Some("3")), "{fault:?}");
        scenario
            .api
            .fail_next(|line| line.verb == "patch", fault.clone());
        scenario.sleep_until("10:01");
        assert_eq!(seen(&scenario), expect(3, "running", None), "{fault:?}");
        assert_eq!(annotation(&scenario, "sleep-until"), None, "{fault:?}");
    }
}

#[test]
fn edits_during_an_override_apply_at_its_end() {
    let scenario = at_night();
    scenario.annotate("web", "wake-until", Some("2026-11-20 22:00"));
    scenario.annotate("web", "hours", Some("Mon-Fri 09:00-23:00"));
    assert_eq!(seen(&scenario), expect(3, "woken", None));
    let reported = scenario.events("web");
    assert_eq!(reported, ["Woken", "ScheduleChanged"]);
    scenario.sleep_until("22:30");
    assert_eq!(seen(&scenario), expect(3, "running", None));
    scenario.sleep_until("23:00");
    assert_eq!(seen(&scenario), expect(0, "stopped", Some("3")));
}

#[test]
fn pause_changes_nothing_and_its_end_adopts() {
    let scenario = Sandbox::at("2026-11-20 18:00 UTC");
    scenario.apply(deployment("web").replicas(3).hours("Mon-Fri 09:00-19:00"));
    scenario.annotate("web", "pause", Some("2026-11-21 12:00"));
    scenario.scale("web", 5);
    scenario.sleep_until("2026-11-21 11:00");
    assert_eq!(seen(&scenario), expect(5, "paused", None));
    scenario.sleep_until("12:01");
    assert_eq!(seen(&scenario), expect(5, "adopted", None));
    assert_eq!(annotation(&scenario, "pause"), None);
    assert_eq!(
        scenario.label("web", "next").unwrap(),
        "2026-11-23T09.00.00Z"
    );
    assert_eq!(scenario.events("web"), ["Resumed"]);
}

#[test]
fn clock_step_ends_no_override_early_or_twice() {
    let scenario = at_night();
    scenario.annotate("web", "wake-until", Some("2026-11-20 22:00"));
    scenario.step_clock(TimeDelta::minutes(-30));
    scenario.pass(Duration::from_secs(5));
    assert_eq!(seen(&scenario), expect(3, "woken", None));
    scenario.step_clock(TimeDelta::hours(3));
    scenario.pass(Duration::from_secs(5));
    assert_eq!(seen(&scenario), expect(0, "stopped", Some("3")));
    scenario.step_clock(TimeDelta::minutes(-50));
    scenario.pass(Duration::from_secs(5));
    assert_eq!(seen(&scenario), expect(0, "stopped", Some("3")));
}

#[test]
fn enforces_three_times_between_two_boundaries() {
    let scenario = at_night();
    scenario.sleep_until("21:00");
    scenario.annotate("web", "enforce", Some("true"));
    assert_eq!(
        scenario.patched("web").len(),
        0,
        "enforce sends nothing yet"
    );
    for expected in [0, 0, 0, 2, 2] {
        scenario.scale("web", 2);
        assert_eq!(scenario.replicas("web"), expected);
    }
    assert_eq!(
        scenario.events("web"),
        ["Enforced", "Enforced", "Enforced", "CorrectionLimitReached"]
    );
    scenario.sleep_until("2026-11-23 09:01");
    assert_eq!(seen(&scenario), expect(3, "running", None));
    scenario.sleep_until("20:00");
    scenario.scale("web", 8);
    assert_eq!(seen(&scenario), expect(0, "stopped", Some("8")));
}

/// The Warning is repeated within the hour that an Event lives, and no stop is announced that never
/// comes. The repetition is no boundary.
#[test]
fn a_given_up_count_is_reported_for_as_long_as_it_lasts() {
    let scenario = at_night();
    scenario.sleep_until("21:00");
    scenario.annotate("web", "enforce", Some("8s"));
    for _ in 0..3 {
        scenario.scale("web", 2);
        scenario.pass(Duration::from_secs(9));
        assert_eq!(scenario.replicas("web"), 0);
    }
    let before = scenario.events("web").len();
    scenario.scale("web", 2);
    scenario.pass(Duration::from_secs(60));
    assert_eq!(scenario.replicas("web"), 2);
    assert_eq!(scenario.events("web")[before..], ["CorrectionLimitReached"]);
    assert!(scenario.snapshot().objects[0].is_at_correction_limit);
    let patches = scenario.patched("web").len();
    // The API server deletes an Event after an hour.
    for minutes in 1..=18 {
        scenario.pass(Duration::from_secs(10 * 60));
        let events = scenario.events("web");
        let events = events.iter().filter(|it| *it == "CorrectionLimitReached");
        assert!(
            (1..=3).contains(&events.count()),
            "after {minutes}0 minutes"
        );
    }
    assert_eq!(scenario.patched("web").len(), patches);
    scenario.scale("web", 0);
    scenario.sleep_until("2026-11-23 09:01");
    assert_eq!(seen(&scenario), expect(3, "running", None));
    assert_eq!(scenario.events("web"), ["Started"]);
    assert!(!scenario.snapshot().objects[0].is_at_correction_limit);
}

#[test]
fn two_controllers_make_each_change_once() {
    let mut scenario = at_night();
    scenario.start_controller(Settings::default());
    scenario.annotate("web", "wake-until", Some("2026-11-20 22:00"));
    scenario.sleep_until("22:30");
    scenario.annotate("web", "enforce", Some("true"));
    scenario.scale("web", 1);
    assert_eq!(seen(&scenario), expect(0, "stopped", Some("3")));
    assert_eq!(scenario.patched("web").len(), 3);
}

#[test]
fn dry_run_reports_each_change_once_and_writes_nothing() {
    let mut scenario = at_night();
    scenario.kill_controllers();
    let dry = default_with(|settings| settings.dry_run = true);
    scenario.start_controller(dry);
    scenario.annotate("web", "wake-until", Some("2026-11-20 22:00"));
    scenario.sleep_until("23:00");
    scenario.scale("web", 1);
    assert_eq!(scenario.requests("patch").len(), 0);
    let metrics = scenario.telemetry.render();
    for action in ["start", "stop"] {
        let line =
            format!("dayshift_transitions_total{{action=\"{action}\",outcome=\"dry_run\"}} 1");
        assert!(metrics.contains(&line), "{metrics}");
    }
    assert_eq!(
        annotation(&scenario, "wake-until").unwrap(),
        "2026-11-20 22:00"
    );
}

/// A deployment while the workload is stopped: it is announced, and stopped after the grace period with its
/// count saved.
#[test]
fn stops_a_deployment_made_while_stopped_after_the_grace() {
    let scenario = Sandbox::at("2026-11-20 20:00 UTC");
    scenario.apply(
        deployment("web")
            .replicas(3)
            .hours("Mon-Fri 09:00-19:00")
            .annotation("dayshift/enforce", "30m"),
    );
    scenario.sleep_until("20:29");
    assert_eq!(scenario.replicas("web"), 3);
    scenario.sleep_until("20:30");
    assert_eq!(scenario.replicas("web"), 0);
    assert_eq!(
        scenario.label("web", "saved-replicas").as_deref(),
        Some("3")
    );
    assert_eq!(scenario.events("web"), ["StopsSoon", "Enforced"]);
    // A manual increase has the same grace period; a later start is not affected.
    scenario.scale("web", 5);
    scenario.sleep_until("20:59");
    assert_eq!(scenario.replicas("web"), 5);
    scenario.sleep_until("21:01");
    assert_eq!(scenario.replicas("web"), 0);
    assert_eq!(
        scenario.patched("web").len(),
        3,
        "one adoption and two stops"
    );
    scenario.sleep_until("2026-11-23 09:00");
    assert_eq!(scenario.replicas("web"), 5);
}

/// A webhook denies all patches for longer than the grace period. When it allows them again, the workload
/// must not stop without notice.
#[test]
fn grace_begins_when_the_change_is_observed() {
    let scenario = Sandbox::at("2026-11-20 20:00 UTC");
    scenario.api.on_request(|line| {
        let refused = Fault::Answer(Status::internal("away"));
        (line.verb == "patch").then_some(refused)
    });
    scenario.apply(
        deployment("web")
            .replicas(3)
            .hours("Mon-Fri 09:00-19:00")
            .annotation("dayshift/enforce", "10m"),
    );
    scenario.sleep_until("20:20");
    assert_eq!(scenario.events("web"), ["ScaleFailed"]);
    scenario.api.on_request(|_| None);
    while scenario.events("web").len() == 1 {
        scenario.pass(Duration::from_secs(1));
    }
    assert_eq!(scenario.events("web"), ["ScaleFailed", "StopsSoon"]);
    scenario.pass(Duration::from_secs(598));
    assert_eq!(scenario.replicas("web"), 3);
    scenario.pass(Duration::from_secs(2));
    assert_eq!(scenario.replicas("web"), 0);
    assert_eq!(
        scenario.events("web"),
        ["ScaleFailed", "StopsSoon", "Enforced"]
    );
}
