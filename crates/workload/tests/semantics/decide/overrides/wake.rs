//! `wake-until`.

use dayshift_workload::{Decision, Key, Phase};

use crate::decide::object::{Object, at_night, office, utc};

/// Stopped on Friday at 19:00, woken at 20:00 until 22:00.
fn woken(replicas: u32) -> Object {
    let mut object = at_night(replicas);
    object.told();
    object
        .edit("wake-until", Some("2026-11-20 22:00"))
        .until("2026-11-20 20:00");
    object
}

#[test]
fn begins_as_a_start_and_ends_as_the_schedule_says() {
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
    assert_eq!(object.told(), ["Woken", "Stopped"]);
}

#[test]
fn is_one_write_when_it_begins_and_one_when_it_ends() {
    let mut object = at_night(3);
    let before = object.writes;
    object
        .edit("wake-until", Some("2026-11-23 12:00"))
        .until("2026-11-23 18:00"); // over Monday's start, which is not applied
    assert_eq!(object.writes - before, 2);
    assert_eq!(object.phase(), Some(Phase::Running));
}

#[test]
fn makes_a_saved_0_a_1_and_a_0_wanted_by_day_too() {
    let mut object = office(3);
    object.until("2026-11-20 10:00").scale(0);
    let mut by_day = object;
    by_day.edit("wake-until", Some("2026-11-20 12:00")).obey();
    assert_eq!(by_day.replicas(), 1);

    let mut object = office(3);
    object
        .until("2026-11-20 10:00")
        .scale(0)
        .until("2026-11-20 20:00");
    assert_eq!(object.saved(), Some(0));
    object.edit("wake-until", Some("2026-11-20 22:00")).obey();
    assert_eq!(object.replicas(), 1);
}

#[test]
fn passes_over_the_boundaries_inside() {
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
fn lets_hands_be_free_inside() {
    let mut object = woken(3);
    let before = object.writes;
    for count in [1, 0, 7] {
        object.scale(count).obey();
        assert_eq!(object.replicas(), count);
    }
    assert_eq!(object.writes, before);
    object.until("2026-11-20 22:00");
    assert_eq!((object.replicas(), object.saved()), (0, Some(7)));
}

#[test]
fn a_wake_that_is_removed_shortened_or_run_out_is_over() {
    for text in [None, Some("2026-11-20 18:30"), Some("2020-01-01 00:00")] {
        let mut object = woken(3);
        object.until("2026-11-20 21:00");
        object.edit("wake-until", text).obey();
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
            .obey();
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
    assert!(!object.told().contains(&"CorrectionLimitReached".to_owned()));
}

#[test]
fn a_wake_outlives_a_restart_and_its_end_is_caught_up_with() {
    let mut object = woken(3);
    let before = object.writes;
    object.restart().until("2026-11-20 21:00");
    assert_eq!(object.writes, before, "it has begun");
    object.away_until("2026-11-20 23:00").restart().obey();
    assert_eq!((object.replicas(), object.saved()), (0, Some(3)));
}

#[test]
fn a_wake_that_ended_before_the_catch_up_is_adopted() {
    for (now, expected) in [("2026-11-23 08:59", 0), ("2026-11-25 22:00:01", 3)] {
        let mut object = Object::new("2026-11-19 12:00", 3).annotate("stop", "2026-11-19 19:00");
        object.until("2026-11-20 20:00");
        object
            .edit("wake-until", Some("2026-11-20 22:00"))
            .until("2026-11-20 21:00");
        object.told();
        object.away_until(now).restart().obey();
        assert_eq!(object.replicas(), expected, "{now}");
        assert_eq!(object.annotation(Key::WakeUntil), None, "{now}");
        if expected == 3 {
            assert_eq!(object.told(), ["BoundaryMissed"]);
        }
    }
}

#[test]
fn a_clock_set_back_delays_no_end_and_takes_no_state_back() {
    let mut object = woken(3);
    object.until("2026-11-20 20:30");
    object.now = utc("2026-11-20 19:45");
    object.edit("wake-until", None);
    let Decision::Write(change) = object.decide() else {
        panic!("{:?}", object.decide());
    };
    assert!(change.boundary.unwrap().at <= object.now, "{change:?}");
    object.obey();
    assert_eq!(object.replicas(), 0);
    assert_eq!(object.state().last, Some(utc("2026-11-20 20:00")));
    assert_eq!(object.next().unwrap(), "2026-11-23T09.00.00Z");
}
