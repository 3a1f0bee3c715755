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
    let scenario = Sandbox::at("2026-11-20 08:00 UTC");
    scenario.apply(deployment("web").replicas(3).hours("09:00-19:00"));
    scenario.sleep_until("19:30");
    assert_eq!(
        scenario.events("web"),
        ["Stopped"],
        "the first start found it running"
    );
    scenario.sleep_until("2026-11-21 10:00");
    let at =
        ["2026-11-20 09:00", "2026-11-20 19:00", "2026-11-21 09:00"].map(|at| scenario.utc(at));
    assert_eq!(scenario.patched("web")[1..], at);
}

/// From noon on a Tuesday to noon on a Tuesday two weeks later: the clocks change, or the year ends.
#[test]
fn office_hours_are_exact_across_clock_changes() {
    for (from, until) in [
        ("2026-10-27", "2026-11-10"),
        ("2026-12-22", "2027-01-05"),
        ("2027-03-09", "2027-03-23"),
    ] {
        let scenario = Sandbox::of_deployments_at(&format!("{from} 12:00 America/New_York"));
        let web = deployment("web").replicas(3).hours("Mon-Fri 09:00-19:00");
        scenario.apply(web.annotation("dayshift/timezone", "America/New_York"));
        scenario.sleep_until(&format!("{until} 12:00"));
        let patches = scenario.patched("web");
        let local: Vec<_> = patches[1..]
            .iter()
            .map(|at| {
                at.with_timezone(&chrono_tz::America::New_York)
                    .format("%H:%M:%S%.3f")
            })
            .map(|at| at.to_string())
            .collect();
        let expected = ["19:00:00.000", "09:00:00.000"].into_iter().cycle();
        assert_eq!(local, expected.take(20).collect::<Vec<_>>(), "from {from}");
        assert_eq!(scenario.replicas("web"), 3);
    }
}

#[test]
fn time_zone_flag_applies_if_the_object_has_none() {
    let mut scenario = Sandbox::empty_at("2026-11-20 08:00 Asia/Tokyo");
    let tokyo = Zone::parse("Asia/Tokyo").unwrap();
    scenario.start_with(|settings| settings.default_zone = tokyo);
    scenario.apply(
        deployment("tokyo")
            .start("09:00")
            .annotation("dayshift/replicas", "2"),
    );
    let berlin = deployment("berlin")
        .start("09:00")
        .annotation("dayshift/timezone", "Europe/Berlin");
    scenario.apply(berlin.annotation("dayshift/replicas", "2"));
    scenario.sleep_until("09:00");
    assert_eq!(
        (scenario.replicas("tokyo"), scenario.replicas("berlin")),
        (2, 1)
    );
    scenario.sleep_until("17:00");
    assert_eq!(scenario.replicas("berlin"), 2);
}

#[test]
fn catches_up_once_on_missed_boundaries() {
    let mut scenario = Sandbox::at("2026-11-20 18:00 UTC");
    scenario.apply(deployment("web").replicas(3).hours("Mon-Fri 09:00-19:00"));
    scenario.stop_controllers();
    scenario.sleep_until("2026-11-24 10:00");
    scenario.api.forget_requests();
    scenario.start_controller(Settings::default());
    assert_eq!(scenario.replicas("web"), 3);
    assert_eq!(
        scenario.label("web", "last").unwrap(),
        "2026-11-24T09.00.00Z"
    );
    assert_eq!(scenario.patched("web").len(), 1);
}

#[test]
fn controller_with_a_wrong_clock_writes_nothing() {
    let scenario = Sandbox::at("2026-11-20 18:00 UTC");
    scenario.apply(deployment("web").replicas(3).hours("09:00-19:00"));
    // The server's clock moves too, so only the responses before the step disagree with it.
    let before = scenario.api.requests().len();
    scenario.api.on_request(|_| Some(Fault::Hang));
    scenario.step_clock(TimeDelta::hours(2));
    assert_eq!(
        scenario.replicas("web"),
        3,
        "only the stepped clock shows a time after 19:00"
    );
    let unready = scenario.telemetry.ready().unwrap_err();
    assert!(
        unready.iter().any(|why| why.contains("clock")),
        "{unready:?}"
    );
    scenario.api.clear_fault();
    scenario.pass(Duration::from_secs(20));
    assert_eq!(
        scenario.telemetry.ready(),
        Ok(()),
        "the server confirms the time"
    );
    assert_eq!(scenario.replicas("web"), 0);
    assert!(scenario.api.requests().len() - before < 10);
    scenario.telemetry.set(Condition::Clock, true);
}

#[test]
fn first_observation_by_a_wrong_clock_does_not_act_on_the_past() {
    let mut scenario = Sandbox::empty_at("2026-11-20 18:00 UTC");
    scenario.server_is_ahead(2 * 3600); // it is 20:00; the stop of 19:00 has passed
    scenario.start_controller(Settings::default());
    scenario.apply(deployment("web").replicas(3).hours("09:00-19:00"));
    scenario.pass(Duration::from_secs(60));
    assert!(scenario.telemetry.ready().is_err());
    assert_eq!(scenario.label("web", "state"), None, "nothing is written");
    scenario.server_is_ahead(0);
    scenario.step_clock(TimeDelta::hours(2));
    scenario.pass(Duration::from_secs(20));
    assert_eq!(
        (
            scenario.replicas("web"),
            scenario.label("web", "state").unwrap()
        ),
        (3, "adopted".into())
    );
    assert_eq!(
        scenario.label("web", "last").unwrap(),
        "2026-11-20T20.00.00Z"
    );
}

#[test]
fn detects_writes_of_a_clock_far_ahead_after_its_correction() {
    let mut scenario = Sandbox::empty_at("2026-11-20 18:00 UTC");
    scenario.start_with(|settings| settings.max_clock_skew = None);
    scenario.apply(deployment("web").replicas(3).hours("09:00-19:00"));
    scenario.step_clock(TimeDelta::days(2));
    assert_eq!(
        scenario.label("web", "last").unwrap(),
        "2026-11-22T09.00.00Z"
    );
    scenario.step_clock(TimeDelta::days(-2));
    assert_eq!(scenario.label("web", "state").unwrap(), "adopted");
    scenario.sleep_until("19:00");
    assert_eq!(scenario.replicas("web"), 0);
}

/// Without a pause the loop would spin, and this test would never end.
#[test]
fn queued_work_waits_while_the_clock_is_wrong() {
    let scenario = Sandbox::at("2026-11-20 18:00 UTC");
    scenario.apply(deployment("web").replicas(3).stop("18:30"));
    scenario.sleep_until("18:29");
    scenario.api.on_request(|line| {
        (line.verb == "patch").then(|| Fault::Answer(Status::internal("etcd is away")))
    });
    scenario.sleep_until("18:30"); // it is queued again, and sending pauses
    scenario.server_is_ahead(3600);
    scenario.pass(Duration::from_secs(60));
    scenario.api.close_watches();
    scenario.pass(Duration::from_secs(60));
    assert!(scenario.telemetry.ready().is_err());
    scenario.api.clear_fault();
    scenario.server_is_ahead(0);
    scenario.pass(Duration::from_secs(60));
    assert_eq!(scenario.replicas("web"), 0);
}

#[test]
fn first_observation_after_suspend_does_not_act_on_the_past() {
    let scenario = Sandbox::at("2026-11-20 18:00 UTC");
    scenario.apply(deployment("web").replicas(3).stop("23:30"));
    scenario.clock.step(TimeDelta::hours(5)); // the server's clock moves too
    scenario.apply(deployment("new").replicas(3).stop("20:00"));
    scenario.pass(Duration::from_secs(10));
    assert_eq!(
        scenario.label("new", "last").unwrap(),
        "2026-11-20T23.00.00Z"
    );
    assert_eq!(scenario.replicas("new"), 3);
}

#[test]
fn accepts_a_clock_within_the_allowed_skew() {
    let scenario = Sandbox::at("2026-11-20 18:00 UTC");
    scenario.apply(deployment("web").replicas(3).hours("09:00-19:00"));
    scenario.step_clock(TimeDelta::seconds(29));
    assert_eq!(scenario.telemetry.ready(), Ok(()));
}

#[test]
fn idle_controller_sends_only_watch_requests() {
    let scenario = Sandbox::at("2026-11-20 10:00 UTC");
    for name in ["a", "b", "c"] {
        scenario.apply(deployment(name).hours("09:00-19:00"));
    }
    scenario.api.forget_requests();
    scenario.sleep_until("18:59");
    let other: Vec<_> = scenario
        .api
        .requests()
        .into_iter()
        .filter(|line| line.verb != "watch")
        .collect();
    assert_eq!(other, []);
}
