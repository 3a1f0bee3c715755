//! Rules for all overrides.

use chrono::TimeDelta;
use dayshift_workload::{Key, Phase};

use crate::decide::object::{Object, at_night, office};

#[test]
fn an_override_that_ended_before_it_was_observed_is_removed_with_an_event() {
    for key in [Key::WakeUntil, Key::SleepUntil, Key::Pause] {
        let mut object = office(3);
        object.edit(key.name(), Some("2026-11-19 11:00")).apply();
        assert_eq!(
            (object.replicas(), object.phase()),
            (3, Some(Phase::Adopted))
        );
        assert_eq!(object.annotation(key), None);
        assert_eq!(object.reasons(), ["OverrideExpired"]);
    }
}

#[test]
fn an_override_that_ends_normally_is_not_reported_as_expired() {
    let mut object = at_night(3);
    object.reasons();
    object
        .edit("sleep-until", Some("2026-11-20 22:00"))
        .until("2026-11-20 23:00");
    assert_eq!((object.replicas(), object.saved()), (0, Some(3)));
    assert_eq!(object.reasons(), ["Slept"]);
}

#[test]
fn an_ended_override_that_is_restored_repeatedly_is_kept() {
    let mut object = office(3);
    let before = object.writes;
    for _ in 0..10 {
        object.now += TimeDelta::seconds(30);
        object.edit("wake-until", Some("2026-11-19 11:00")).apply();
    }
    assert_eq!(object.writes - before, 3);
    object.until("2026-11-20 10:00");
    assert_eq!(object.annotation(Key::WakeUntil), None);
    assert_eq!(object.phase(), Some(Phase::Running));
}

#[test]
fn a_new_object_with_an_override_applies_it_immediately() {
    for (key, replicas, phase) in [
        ("wake-until", 3, Phase::Woken),
        ("sleep-until", 0, Phase::Slept),
        ("pause", 3, Phase::Paused),
    ] {
        let mut object = Object::new("2026-11-20 10:00", 3)
            .annotate("hours", "Mon-Fri 09:00-19:00")
            .annotate(key, "2026-11-20 12:00");
        object.apply();
        assert_eq!((object.replicas(), object.phase()), (replicas, Some(phase)));
        assert_eq!(object.writes, 1);
        object.until("2026-11-20 12:00");
        assert_eq!(object.replicas(), 3);
    }
}

#[test]
fn a_copy_scales_nothing_until_the_override_ends() {
    let mut object = at_night(3);
    object.edit("wake-until", Some("2026-11-20 22:00")).apply();
    object.copy().scale(2).until("2026-11-20 21:00");
    assert_eq!((object.replicas(), object.phase()), (2, Some(Phase::Woken)));
    object.until("2026-11-20 22:00");
    assert_eq!((object.replicas(), object.saved()), (0, Some(2)));

    let mut object = at_night(3);
    object.edit("wake-until", Some("2026-11-20 22:00")).apply();
    object.copy().edit("wake-until", None).apply();
    assert_eq!(
        (object.replicas(), object.phase()),
        (3, Some(Phase::Adopted))
    );
}

#[test]
fn a_rollout_undo_removes_an_override_or_restores_an_old_one() {
    let mut object = at_night(3);
    object.edit("wake-until", Some("2026-11-20 22:00")).apply();
    object.edit("wake-until", None).apply();
    assert_eq!((object.replicas(), object.saved()), (0, Some(3)));
    object.edit("wake-until", Some("2026-11-19 22:00")).apply();
    assert_eq!((object.replicas(), object.saved()), (0, Some(3)));
    assert_eq!(object.annotation(Key::WakeUntil), None);
}
