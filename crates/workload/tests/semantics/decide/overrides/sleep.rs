//! `sleep-until`.

use dayshift_workload::{Key, Phase};

use crate::decide::object::{Object, office};

/// Running on Friday, put to sleep from 10:00 until 12:00.
fn slept(replicas: u32) -> Object {
    let mut object = office(replicas);
    object.until("2026-11-20 10:00").reasons();
    object.edit("sleep-until", Some("2026-11-20 12:00")).apply();
    object
}

#[test]
fn sleep_begins_like_a_stop_and_its_end_follows_the_schedule() {
    let mut object = slept(3);
    assert_eq!(
        (object.replicas(), object.saved(), object.phase()),
        (0, Some(3), Some(Phase::Slept))
    );
    object.until("2026-11-20 12:00");
    assert_eq!(
        (object.replicas(), object.saved(), object.phase()),
        (3, None, Some(Phase::Running)),
        "the latest boundary decides: the start of 09:00, before the sleep"
    );
    assert_eq!(object.annotation(Key::SleepUntil), None);
    assert_eq!(object.reasons(), ["Slept", "Started"]);
}

#[test]
fn sleep_keeps_a_manual_0() {
    let mut object = office(3);
    object.until("2026-11-20 10:00").scale(0);
    object
        .edit("sleep-until", Some("2026-11-20 12:00"))
        .until("2026-11-20 13:00");
    assert_eq!(object.replicas(), 0);
}

#[test]
fn sleep_with_an_edit_ends_by_the_new_schedule() {
    let mut object = slept(3);
    object.edit("hours", Some("Mon-Fri 08:00-20:00")).apply();
    assert_eq!(
        (object.replicas(), object.saved(), object.phase()),
        (0, Some(3), Some(Phase::Slept))
    );
    assert_eq!(object.reasons(), ["Slept", "ScheduleChanged"]);
    object.until("2026-11-20 12:00");
    assert_eq!(object.replicas(), 3, "08:00 was before the adoption");
}

#[test]
fn sleep_ends_with_a_start_without_any_boundary() {
    for (key, text) in [("stop", "2026-12-24 18:00"), ("hours", "00:00-24:00")] {
        let mut object = Object::new("2026-11-20 10:00", 3).annotate(key, text);
        object.apply();
        object
            .edit("sleep-until", Some("2026-11-20 12:00"))
            .until("2026-11-20 11:00");
        assert_eq!(object.replicas(), 0);
        object.until("2026-11-20 12:00");
        assert_eq!(object.replicas(), 3, "{text}");
    }
}

#[test]
fn sleep_keeps_the_saved_count_without_a_valid_schedule() {
    let mut object = slept(3);
    object.edit("hours", None).apply();
    assert!(
        object.observed.error.is_some(),
        "there is nothing to override"
    );
    object.edit("sleep-until", None).apply();
    assert_eq!((object.replicas(), object.saved()), (0, Some(3)));
    assert!(object.reasons().contains(&"ScheduleRemoved".to_owned()));

    let mut object = slept(3);
    object
        .edit("hours", Some("Mon-Fry 09:00-19:00"))
        .until("2026-11-20 15:00");
    assert_eq!((object.replicas(), object.saved()), (0, Some(3)));
    object.edit("hours", Some("Mon-Fri 09:00-19:00")).apply();
    assert_eq!(
        (object.replicas(), object.phase()),
        (3, Some(Phase::Running))
    );
}

#[test]
fn a_wake_after_a_sleep_starts_and_a_sleep_after_a_wake_stops() {
    let mut object = slept(3);
    object
        .edit("sleep-until", None)
        .edit("wake-until", Some("2026-11-20 22:00"))
        .until("2026-11-20 20:00");
    assert_eq!((object.replicas(), object.phase()), (3, Some(Phase::Woken)));
    let before = object.writes;
    object
        .edit("wake-until", None)
        .edit("sleep-until", Some("2026-11-23 10:00"))
        .apply();
    assert_eq!((object.replicas(), object.phase()), (0, Some(Phase::Slept)));
    assert_eq!(object.writes - before, 1);
}

#[test]
fn sleep_hidden_by_a_wake_begins_after_it() {
    let mut object = office(3);
    object.until("2026-11-20 10:00");
    object
        .edit("wake-until", Some("2026-11-20 12:00"))
        .edit("sleep-until", Some("2026-11-20 14:00"))
        .until("2026-11-20 11:00");
    assert_eq!(object.replicas(), 3);
    object.until("2026-11-20 12:00");
    assert_eq!((object.replicas(), object.phase()), (0, Some(Phase::Slept)));
    assert_eq!(object.annotation(Key::WakeUntil), None);
    object.until("2026-11-20 14:00");
    assert_eq!(object.replicas(), 3);
}
