//! `wake-until`.

use dayshift_workload::{Decision, Key, Phase};

use crate::decide::object::{Object, at_night, office, utc};

/// Stopped on Friday at 19:00, woken from 20:00 until 22:00.
fn woken(replicas: u32) -> Object {
    let mut object = at_night(replicas);
    object.reasons();
    object
        .edit("wake-until", Some("2026-11-20 22:00"))
        .until("2026-11-20 20:00");
    object
}

#[test]
fn wake_begins_like_a_start_and_its_end_follows_the_schedule() {
    let mut object = woken(3);
    assert_eq!(
        (object.replicas(), object.saved(), object.phase()),
        (3, None, Some(Phase::Woken))
    );
    assert_eq!(object.next().unwrap(), "2026-11-20T22.00.00Z");
    object.until("2026-11-20 22:00");
    assert_eq!(
        (object.replicas(), object.saved(), object.phase()),
        (0, Some(3), Some(Phase::Stopped))
    );
    assert_eq!(object.next().unwrap(), "2026-11-23T09.00.00Z");
    assert_eq!(object.annotation(Key::WakeUntil), None);
    assert_eq!(object.reasons(), ["Woken", "Stopped"]);
}

#[test]
fn wake_takes_one_write_to_begin_and_one_to_end() {
    let mut object = at_night(3);
    let before = object.writes;
    object
        .edit("wake-until", Some("2026-11-23 12:00"))
        .until("2026-11-23 18:00"); // after Monday's start, which is skipped
    assert_eq!(object.writes - before, 2);
    assert_eq!(object.phase(), Some(Phase::Running));
}

/// Only the controller's memory has that count: after a restart, a wake raises a 0 to 1.
#[test]
fn wake_raises_a_saved_or_manual_0_to_the_last_observed_running_count() {
    for (restarts, expected) in [(false, 3), (true, 1)] {
        for (scaled, woken) in [
            ("2026-11-19 15:00", "2026-11-19 16:00"), // adopted
            ("2026-11-20 10:00", "2026-11-20 12:00"), // running
            ("2026-11-20 10:00", "2026-11-20 20:00"), // stopped at 0
        ] {
            let mut object = office(3);
            object.until(scaled).scale(0).until(woken);
            if restarts {
                object.restart();
            }
            object.edit("wake-until", Some("2026-11-20 22:00")).apply();
            assert_eq!(object.replicas(), expected, "{restarts} {scaled} {woken}");
        }
    }
}

#[test]
fn wake_restores_the_saved_count_rather_than_a_later_manual_one() {
    let mut object = at_night(5);
    object.scale(2).apply();
    object.scale(0).apply();
    object.edit("wake-until", Some("2026-11-20 22:00")).apply();
    assert_eq!(object.replicas(), 5);
}

#[test]
fn wake_skips_boundaries_before_its_end() {
    let mut object = office(3);
    object.until("2026-11-20 18:00");
    object
        .edit("wake-until", Some("2026-11-20 22:00"))
        .until("2026-11-20 21:59:59");
    assert_eq!(object.replicas(), 3, "the stop of 19:00 was inside");
    object.until("2026-11-20 22:00");
    assert_eq!((object.replicas(), object.saved()), (0, Some(3)));
}

#[test]
fn wake_allows_manual_changes() {
    let mut object = woken(3);
    let before = object.writes;
    for count in [1, 0, 7] {
        object.scale(count).apply();
        assert_eq!(object.replicas(), count);
    }
    assert_eq!(object.writes, before);
    object.until("2026-11-20 22:00");
    assert_eq!((object.replicas(), object.saved()), (0, Some(7)));
}

#[test]
fn a_wake_ends_if_it_is_removed_shortened_or_expired() {
    for text in [None, Some("2026-11-20 18:30"), Some("2020-01-01 00:00")] {
        let mut object = woken(3);
        object.until("2026-11-20 21:00");
        object.edit("wake-until", text).apply();
        assert_eq!(
            (object.replicas(), object.saved(), object.phase()),
            (0, Some(3), Some(Phase::Stopped)),
            "{text:?}"
        );
        assert_eq!(object.annotation(Key::WakeUntil), None);
        assert_eq!(object.state().last, Some(utc("2026-11-20 21:00")));
    }
}

#[test]
fn a_wake_that_is_extended_ends_at_its_last_time() {
    let mut object = woken(3);
    for hour in 21..24 {
        let writes = object.writes;
        object
            .edit("wake-until", Some(&format!("2026-11-20 {hour}:30")))
            .apply();
        let expected = format!("2026-11-20T{hour}.30.00Z");
        assert_eq!(object.next().unwrap(), expected);
        assert_eq!(object.writes - writes, 1);
    }
    object
        .edit("wake-until", Some("2026-11-21 02:00"))
        .until("2026-11-21 01:59");
    assert_eq!(object.replicas(), 3);
    object.until("2026-11-21 02:00");
    assert_eq!(object.replicas(), 0);
    assert!(
        !object
            .reasons()
            .contains(&"CorrectionLimitReached".to_owned())
    );
}

#[test]
fn a_wake_survives_a_restart_and_its_missed_end_is_carried_out() {
    let mut object = woken(3);
    let before = object.writes;
    object.restart().until("2026-11-20 21:00");
    assert_eq!(object.writes, before, "the wake has begun");
    object.away_until("2026-11-20 23:00").restart().apply();
    assert_eq!((object.replicas(), object.saved()), (0, Some(3)));
}

#[test]
fn a_wake_that_ended_before_the_catch_up_limit_is_adopted() {
    for (now, expected) in [("2026-11-23 08:59", 0), ("2026-11-25 22:00:01", 3)] {
        let mut object = Object::new("2026-11-19 12:00", 3).annotate("stop", "2026-11-19 19:00");
        object.until("2026-11-20 20:00");
        object
            .edit("wake-until", Some("2026-11-20 22:00"))
            .until("2026-11-20 21:00");
        object.reasons();
        object.away_until(now).restart().apply();
        assert_eq!(object.replicas(), expected, "{now}");
        assert_eq!(object.annotation(Key::WakeUntil), None, "{now}");
        if expected == 3 {
            assert_eq!(object.reasons(), ["BoundaryMissed"]);
        }
    }
}

#[test]
fn a_clock_set_back_delays_no_end_and_keeps_the_state() {
    let mut object = woken(3);
    object.until("2026-11-20 20:30");
    object.now = utc("2026-11-20 19:45");
    object.edit("wake-until", None);
    let Decision::Write(change) = object.decide() else {
        panic!("{:?}", object.decide());
    };
    assert!(change.boundary.unwrap().at <= object.now, "{change:?}");
    object.apply();
    assert_eq!(object.replicas(), 0);
    assert_eq!(object.state().last, Some(utc("2026-11-20 20:00")));
    assert_eq!(object.next().unwrap(), "2026-11-23T09.00.00Z");
}
