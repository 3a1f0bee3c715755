//! Overrides, pauses and `enforce`, as plain annotations.

mod ended;

use std::time::Duration;

use chrono::TimeDelta;
use dayshift_controller::Settings;
use kube_in_memory::{Fault, Status};

use crate::sandbox::{Sandbox, deployment};

/// Friday 20:00, stopped since 19:00 with 3 saved.
fn at_night() -> Sandbox {
    let story = Sandbox::at("2026-11-20 18:00 UTC");
    story.apply(deployment("web").replicas(3).hours("Mon-Fri 09:00-19:00"));
    story.sleep_until("20:00:30"); // Events of the stop are an hour old by then
    story.api.forget_requests();
    story
}

fn seen(story: &Sandbox) -> (i32, String, Option<String>) {
    (
        story.replicas("web"),
        story.label("web", "state").unwrap(),
        story.label("web", "saved-replicas"),
    )
}

fn expect(replicas: i32, state: &str, saved: Option<&str>) -> (i32, String, Option<String>) {
    (replicas, state.to_owned(), saved.map(str::to_owned))
}

fn annotation(story: &Sandbox, key: &str) -> Option<String> {
    let annotations = &story.object("web")["metadata"]["annotations"];
    let text = annotations[format!("dayshift/{key}")].as_str();
    text.map(str::to_owned)
}

#[test]
fn wake_needs_one_patch_at_its_start_and_one_at_its_end() {
    let story = at_night();
    story.annotate("web", "wake-until", Some("2026-11-20 22:00"));
    assert_eq!(seen(&story), expect(3, "woken", None));
    assert_eq!(story.label("web", "next").unwrap(), "2026-11-20T22.00.00Z");
    story.sleep_until("22:30");
    assert_eq!(seen(&story), expect(0, "stopped", Some("3")));
    assert_eq!(annotation(&story, "wake-until"), None);
    let patched = story.patched("web");
    assert_eq!(patched.len(), 2);
    assert_eq!(patched[1], story.utc("2026-11-20 22:00"));
    assert_eq!(story.requests("get").len(), 0);
    assert_eq!(story.events("web"), ["Stopped"]);
}

#[test]
fn restarts_during_an_override_and_across_its_end() {
    let mut story = at_night();
    story.annotate("web", "wake-until", Some("2026-11-20 22:00"));
    story.kill_scalers();
    story.scale("web", 4);
    story.start_scaler(Settings::default());
    story.sleep_until("21:00");
    assert_eq!(seen(&story), expect(4, "woken", None));
    assert_eq!(story.patched("web").len(), 1, "it has begun already");
    story.kill_scalers();
    story.sleep_until("2026-11-21 12:00");
    story.start_scaler(Settings::default());
    story.settle();
    assert_eq!(seen(&story), expect(0, "stopped", Some("4")));
    assert_eq!(annotation(&story, "wake-until"), None);
}

#[test]
fn removes_an_override_that_ended_without_a_controller() {
    let mut story = at_night();
    story.kill_scalers();
    story.annotate("web", "wake-until", Some("2026-11-20 22:00"));
    story.sleep_until("23:00");
    story.start_scaler(Settings::default());
    story.settle();
    assert_eq!(seen(&story), expect(0, "stopped", Some("3")));
    assert_eq!(annotation(&story, "wake-until"), None);
    assert_eq!(story.events("web"), ["OverrideExpired"]);
}

#[test]
fn decides_again_if_an_override_is_edited_during_its_patch() {
    let story = at_night();
    story.annotate("web", "wake-until", Some("2026-11-20 22:00"));
    story.api.forget_requests();
    let slowly = Fault::Delay(Duration::from_secs(5));
    story.api.fail_next(|line| line.verb == "patch", slowly);
    story.sleep_until("22:00:02");
    story.annotate("web", "wake-until", Some("2026-11-20 23:00"));
    story.sleep_until("22:30");
    assert_eq!(seen(&story), expect(3, "woken", None));
    let patches = story.requests("patch");
    assert_eq!(patches[0].code, Some(422), "{patches:?}");
    story.sleep_until("23:00");
    assert_eq!(seen(&story), expect(0, "stopped", Some("3")));
}

#[test]
fn resends_a_lost_patch_at_the_end_of_an_override() {
    for fault in [
        Fault::DropBefore,
        Fault::DropAfter,
        Fault::Answer(Status::internal("etcd is away")),
    ] {
        let story = at_night();
        story.annotate("web", "sleep-until", Some("2026-11-23 10:00"));
        story.sleep_until("2026-11-23 09:30");
        assert_eq!(seen(&story), expect(0, "slept", Some("3")), "{fault:?}");
        story
            .api
            .fail_next(|line| line.verb == "patch", fault.clone());
        story.sleep_until("10:01");
        assert_eq!(seen(&story), expect(3, "running", None), "{fault:?}");
        assert_eq!(annotation(&story, "sleep-until"), None, "{fault:?}");
    }
}

#[test]
fn edits_during_an_override_apply_at_its_end() {
    let story = at_night();
    story.annotate("web", "wake-until", Some("2026-11-20 22:00"));
    story.annotate("web", "hours", Some("Mon-Fri 09:00-23:00"));
    assert_eq!(seen(&story), expect(3, "woken", None));
    let told = story.events("web");
    assert_eq!(told, ["Woken", "ScheduleChanged"]);
    story.sleep_until("22:30");
    assert_eq!(seen(&story), expect(3, "running", None));
    story.sleep_until("23:00");
    assert_eq!(seen(&story), expect(0, "stopped", Some("3")));
}

#[test]
fn pause_changes_nothing_and_its_end_adopts() {
    let story = Sandbox::at("2026-11-20 18:00 UTC");
    story.apply(deployment("web").replicas(3).hours("Mon-Fri 09:00-19:00"));
    story.annotate("web", "pause", Some("2026-11-21 12:00"));
    story.scale("web", 5);
    story.sleep_until("2026-11-21 11:00");
    assert_eq!(seen(&story), expect(5, "paused", None));
    story.sleep_until("12:01");
    assert_eq!(seen(&story), expect(5, "adopted", None));
    assert_eq!(annotation(&story, "pause"), None);
    assert_eq!(story.label("web", "next").unwrap(), "2026-11-23T09.00.00Z");
    assert_eq!(story.events("web"), ["Resumed"]);
}

#[test]
fn clock_step_ends_no_override_early_or_twice() {
    let story = at_night();
    story.annotate("web", "wake-until", Some("2026-11-20 22:00"));
    story.step_clock(TimeDelta::minutes(-30));
    story.pass(Duration::from_secs(5));
    assert_eq!(seen(&story), expect(3, "woken", None));
    story.step_clock(TimeDelta::hours(3));
    story.pass(Duration::from_secs(5));
    assert_eq!(seen(&story), expect(0, "stopped", Some("3")));
    story.step_clock(TimeDelta::minutes(-50));
    story.pass(Duration::from_secs(5));
    assert_eq!(seen(&story), expect(0, "stopped", Some("3")));
}

#[test]
fn enforces_three_times_between_two_boundaries() {
    let story = at_night();
    story.sleep_until("21:00");
    story.annotate("web", "enforce", Some("true"));
    assert_eq!(story.patched("web").len(), 0, "it asks for nothing now");
    for expected in [0, 0, 0, 2, 2] {
        story.scale("web", 2);
        assert_eq!(story.replicas("web"), expected);
    }
    assert_eq!(
        story.events("web"),
        ["Enforced", "Enforced", "Enforced", "CorrectionLimitReached"]
    );
    story.sleep_until("2026-11-23 09:01");
    assert_eq!(seen(&story), expect(3, "running", None));
    story.sleep_until("20:00");
    story.scale("web", 8);
    assert_eq!(seen(&story), expect(0, "stopped", Some("8")));
}

#[test]
fn two_controllers_make_each_change_once() {
    let mut story = at_night();
    story.start_scaler(Settings::default());
    story.annotate("web", "wake-until", Some("2026-11-20 22:00"));
    story.sleep_until("22:30");
    story.annotate("web", "enforce", Some("true"));
    story.scale("web", 1);
    assert_eq!(seen(&story), expect(0, "stopped", Some("3")));
    assert_eq!(story.patched("web").len(), 3);
}

#[test]
fn dry_run_reports_each_change_once_and_writes_nothing() {
    let mut story = at_night();
    story.kill_scalers();
    let dry = Settings {
        dry_run: true,
        ..Settings::default()
    };
    story.start_scaler(dry);
    story.annotate("web", "wake-until", Some("2026-11-20 22:00"));
    story.sleep_until("23:00");
    story.scale("web", 1);
    assert_eq!(story.requests("patch").len(), 0);
    let metrics = story.telemetry.render();
    for action in ["start", "stop"] {
        let line =
            format!("dayshift_transitions_total{{action=\"{action}\",outcome=\"dry_run\"}} 1");
        assert!(metrics.contains(&line), "{metrics}");
    }
    assert_eq!(
        annotation(&story, "wake-until").unwrap(),
        "2026-11-20 22:00"
    );
}

/// A deployment while stopped: it is reported, and stopped after the grace with its count saved.
#[test]
fn stops_a_deployment_made_while_stopped_after_the_grace() {
    let story = Sandbox::at("2026-11-20 20:00 UTC");
    story.apply(
        deployment("web")
            .replicas(3)
            .hours("Mon-Fri 09:00-19:00")
            .annotation("dayshift/enforce", "30m"),
    );
    story.sleep_until("20:29");
    assert_eq!(story.replicas("web"), 3);
    story.sleep_until("20:30");
    assert_eq!(story.replicas("web"), 0);
    assert_eq!(story.label("web", "saved-replicas").as_deref(), Some("3"));
    assert_eq!(story.events("web"), ["StopsSoon", "Enforced"]);
    // A manual increase has the same grace, and a start is a start.
    story.scale("web", 5);
    story.sleep_until("20:59");
    assert_eq!(story.replicas("web"), 5);
    story.sleep_until("21:01");
    assert_eq!(story.replicas("web"), 0);
    assert_eq!(story.patched("web").len(), 3, "one adoption and two stops");
    story.sleep_until("2026-11-23 09:00");
    assert_eq!(story.replicas("web"), 5);
}

/// A webhook denies all patches for longer than the grace: no workload is stopped without notice
/// when it allows them again.
#[test]
fn grace_begins_when_the_change_is_observed() {
    let story = Sandbox::at("2026-11-20 20:00 UTC");
    story.api.on_request(|line| {
        let refused = Fault::Answer(Status::internal("away"));
        (line.verb == "patch").then_some(refused)
    });
    story.apply(
        deployment("web")
            .replicas(3)
            .hours("Mon-Fri 09:00-19:00")
            .annotation("dayshift/enforce", "10m"),
    );
    story.sleep_until("20:20");
    assert_eq!(story.events("web"), ["ScaleFailed"]);
    story.api.on_request(|_| None);
    while story.events("web").len() == 1 {
        story.pass(Duration::from_secs(1));
    }
    assert_eq!(story.events("web"), ["ScaleFailed", "StopsSoon"]);
    story.pass(Duration::from_secs(598));
    assert_eq!(story.replicas("web"), 3);
    story.pass(Duration::from_secs(2));
    assert_eq!(story.replicas("web"), 0);
    assert_eq!(
        story.events("web"),
        ["ScaleFailed", "StopsSoon", "Enforced"]
    );
}
