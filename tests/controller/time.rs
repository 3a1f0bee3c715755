//! Boundaries, clocks and counts.

use std::time::Duration;

use chrono::TimeDelta;
use dayshift_controller::{Condition, Settings};
use dayshift_schedule::Zone;
use kube_in_memory::{Fault, Status};

use crate::sandbox::{Sandbox, deployment};

#[test]
fn start_restores_the_saved_count_after_a_manual_change() {
    for (by_hand, morning) in [(1, 5), (6, 6)] {
        let night = Sandbox::at("2026-11-20 18:00 Asia/Tokyo");
        let web = deployment("web").replicas(5).hours("Mon-Fri 09:00-19:00");
        night.apply(web.annotation("dayshift/timezone", "Asia/Tokyo"));
        night.sleep_until("23:00");
        assert_eq!(night.replicas("web"), 0);
        night.scale("web", by_hand);
        night.sleep_until("2026-11-23 09:01");
        assert_eq!(night.replicas("web"), morning);
    }
}

#[test]
fn every_patch_arrives_exactly_on_time() {
    let story = Sandbox::at("2026-11-20 08:00 UTC");
    story.apply(deployment("web").replicas(3).hours("09:00-19:00"));
    story.sleep_until("19:30");
    assert_eq!(
        story.events("web"),
        ["Stopped"],
        "the first start found it running"
    );
    story.sleep_until("2026-11-21 10:00");
    let at = ["2026-11-20 09:00", "2026-11-20 19:00", "2026-11-21 09:00"].map(|at| story.utc(at));
    assert_eq!(story.patched("web")[1..], at);
}

#[test]
fn a_year_of_office_hours_across_clock_changes() {
    let story = Sandbox::of_deployments_at("2026-06-30 12:00 America/New_York");
    story.api.remember_requests(usize::MAX);
    let web = deployment("web").replicas(3).hours("Mon-Fri 09:00-19:00");
    story.apply(web.annotation("dayshift/timezone", "America/New_York"));
    story.sleep_until("2027-06-30 12:00");
    let patches = story.patched("web");
    let local: Vec<_> = patches[1..]
        .iter()
        .map(|at| {
            at.with_timezone(&chrono_tz::America::New_York)
                .format("%H:%M:%S%.3f")
        })
        .map(|at| at.to_string())
        .collect();
    // 261 working days from noon on a Tuesday to noon on a Wednesday a year later.
    assert_eq!(local.len(), 522);
    assert!(
        local.iter().step_by(2).all(|at| at == "19:00:00.000"),
        "{local:?}"
    );
    assert!(
        local
            .iter()
            .skip(1)
            .step_by(2)
            .all(|at| at == "09:00:00.000"),
        "{local:?}"
    );
    assert_eq!(story.replicas("web"), 3);
}

#[test]
fn time_zone_flag_applies_if_the_object_has_none() {
    let mut story = Sandbox::empty_at("2026-11-20 08:00 Asia/Tokyo");
    let tokyo = Zone::parse("Asia/Tokyo").unwrap();
    story.start_scaler(Settings {
        default_zone: tokyo,
        ..Settings::default()
    });
    story.apply(
        deployment("tokyo")
            .start("09:00")
            .annotation("dayshift/replicas", "2"),
    );
    let berlin = deployment("berlin")
        .start("09:00")
        .annotation("dayshift/timezone", "Europe/Berlin");
    story.apply(berlin.annotation("dayshift/replicas", "2"));
    story.sleep_until("09:00");
    assert_eq!((story.replicas("tokyo"), story.replicas("berlin")), (2, 1));
    story.sleep_until("17:00");
    assert_eq!(story.replicas("berlin"), 2);
}

#[test]
fn catches_up_once_on_missed_boundaries() {
    let mut story = Sandbox::at("2026-11-20 18:00 UTC");
    story.apply(deployment("web").replicas(3).hours("Mon-Fri 09:00-19:00"));
    story.stop_scalers();
    story.sleep_until("2026-11-24 10:00");
    story.api.forget_requests();
    story.start_scaler(Settings::default());
    assert_eq!(story.replicas("web"), 3);
    assert_eq!(story.label("web", "last").unwrap(), "2026-11-24T09.00.00Z");
    assert_eq!(story.patched("web").len(), 1);
}

#[test]
fn wrong_clock_is_detected_and_does_nothing() {
    let story = Sandbox::at("2026-11-20 18:00 UTC");
    story.apply(deployment("web").replicas(3).hours("09:00-19:00"));
    // The server's clock is the same, so only earlier responses disagree.
    let before = story.api.requests().len();
    story.api.on_request(|_| Some(Fault::Hang));
    story.step_clock(TimeDelta::hours(2));
    assert_eq!(
        story.replicas("web"),
        3,
        "it is past 19:00, but who says so?"
    );
    let unready = story.telemetry.ready().unwrap_err();
    assert!(
        unready.iter().any(|why| why.contains("clock")),
        "{unready:?}"
    );
    story.api.serve_well();
    story.pass(Duration::from_secs(20));
    assert_eq!(story.telemetry.ready(), Ok(()), "the server says so");
    assert_eq!(story.replicas("web"), 0);
    assert!(story.api.requests().len() - before < 10);
    story.telemetry.set(Condition::Clock, true);
}

#[test]
fn first_observation_by_a_wrong_clock_does_not_act_on_the_past() {
    let mut story = Sandbox::empty_at("2026-11-20 18:00 UTC");
    story.server_is_ahead(2 * 3600); // it is 20:00; the stop of 19:00 has passed
    story.start_scaler(Settings::default());
    story.apply(deployment("web").replicas(3).hours("09:00-19:00"));
    story.pass(Duration::from_secs(60));
    assert!(story.telemetry.ready().is_err());
    assert_eq!(story.label("web", "state"), None, "nothing is written");
    story.server_is_ahead(0);
    story.step_clock(TimeDelta::hours(2));
    story.pass(Duration::from_secs(20));
    assert_eq!(
        (story.replicas("web"), story.label("web", "state").unwrap()),
        (3, "adopted".into())
    );
    assert_eq!(story.label("web", "last").unwrap(), "2026-11-20T20.00.00Z");
}

#[test]
fn detects_writes_of_a_clock_far_ahead_after_its_correction() {
    let mut story = Sandbox::empty_at("2026-11-20 18:00 UTC");
    story.start_scaler(Settings {
        max_clock_skew: None,
        ..Settings::default()
    });
    story.apply(deployment("web").replicas(3).hours("09:00-19:00"));
    story.step_clock(TimeDelta::days(2));
    assert_eq!(story.label("web", "last").unwrap(), "2026-11-22T09.00.00Z");
    story.step_clock(TimeDelta::days(-2));
    assert_eq!(story.label("web", "state").unwrap(), "adopted");
    story.sleep_until("19:00");
    assert_eq!(story.replicas("web"), 0);
}

/// Without a pause the loop would spin, and this test would never end.
#[test]
fn queued_work_waits_while_the_clock_is_wrong() {
    let story = Sandbox::at("2026-11-20 18:00 UTC");
    story.apply(deployment("web").replicas(3).stop("18:30"));
    story.sleep_until("18:29");
    story.api.on_request(|line| {
        (line.verb == "patch").then(|| Fault::Answer(Status::internal("etcd is away")))
    });
    story.sleep_until("18:30"); // it is queued again, and sending pauses
    story.server_is_ahead(3600);
    story.pass(Duration::from_secs(60));
    story.api.close_watches();
    story.pass(Duration::from_secs(60));
    assert!(story.telemetry.ready().is_err());
    story.api.serve_well();
    story.server_is_ahead(0);
    story.pass(Duration::from_secs(60));
    assert_eq!(story.replicas("web"), 0);
}

#[test]
fn first_observation_after_suspend_does_not_act_on_the_past() {
    let story = Sandbox::at("2026-11-20 18:00 UTC");
    story.apply(deployment("web").replicas(3).stop("23:30"));
    story.clock.step(TimeDelta::hours(5)); // the server's clock moves too
    story.apply(deployment("new").replicas(3).stop("20:00"));
    story.pass(Duration::from_secs(10));
    assert_eq!(story.label("new", "last").unwrap(), "2026-11-20T23.00.00Z");
    assert_eq!(story.replicas("new"), 3);
}

#[test]
fn accepts_a_clock_within_the_allowed_skew() {
    let story = Sandbox::at("2026-11-20 18:00 UTC");
    story.apply(deployment("web").replicas(3).hours("09:00-19:00"));
    story.step_clock(TimeDelta::seconds(29));
    assert_eq!(story.telemetry.ready(), Ok(()));
}

#[test]
fn idle_controller_sends_only_watch_requests() {
    let story = Sandbox::at("2026-11-20 10:00 UTC");
    for name in ["a", "b", "c"] {
        story.apply(deployment(name).hours("09:00-19:00"));
    }
    story.api.forget_requests();
    story.sleep_until("18:59");
    let other: Vec<_> = story
        .api
        .requests()
        .into_iter()
        .filter(|line| line.verb != "watch")
        .collect();
    assert_eq!(other, []);
}
