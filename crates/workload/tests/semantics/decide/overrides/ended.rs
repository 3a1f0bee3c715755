//! An override that has ended stays ended, even if `kubectl rollout undo` restores the annotations
//! of an older revision.

use dayshift_workload::{Key, Phase};

use crate::decide::object::{Object, at_night, office};

type Case = (Object, &'static str, Phase, u32, (u32, Phase));

/// Overrides on Friday at 10:00, each with its end, phase and count, and with the count and phase
/// after its end.
fn overrides() -> [Case; 3] {
    let mut day = office(3);
    day.until("2026-11-20 10:00");
    let mut night = at_night(3);
    night.until("2026-11-20 21:00");
    [
        (
            day.clone(),
            "sleep-until",
            Phase::Slept,
            0,
            (3, Phase::Running),
        ),
        (day, "pause", Phase::Paused, 3, (3, Phase::Adopted)),
        (night, "wake-until", Phase::Woken, 3, (0, Phase::Stopped)),
    ]
}

/// Friday before midnight.
const END: &str = "2026-11-20 23:00";

#[test]
fn override_began_is_on_the_object_while_an_override_is_active() {
    for (mut object, key, phase, count, _) in overrides() {
        object.edit(key, Some(END)).apply();
        assert_eq!((object.phase(), object.replicas()), (Some(phase), count));
        let began = object.now.format("%Y-%m-%dT%H:%M:%SZ").to_string();
        assert_eq!(object.began(), Some(&*began), "{key}");
        let writes = object.writes;
        object.restart().apply();
        assert_eq!(object.writes, writes, "{key}");
        object.until("2026-11-20 23:30");
        assert_eq!((object.began(), object.writes), (None, writes + 1), "{key}");
    }
}

#[test]
fn a_rollout_undo_does_not_restore_a_removed_override() {
    for restarts in [false, true] {
        for (mut object, key, _, _, over) in overrides() {
            object.edit(key, Some(END)).apply();
            let during = object.clone();
            object.edit(key, None).apply();
            assert_eq!((object.replicas(), object.phase().unwrap()), over, "{key}");
            object.reasons();
            object.undo(&during);
            if restarts {
                object.restart();
            }
            object.apply();
            assert_eq!((object.replicas(), object.phase().unwrap()), over, "{key}");
            assert_eq!((object.inputs_of(key), object.began()), (None, None));
            assert_eq!(object.reasons(), ["OverrideExpired"], "{key}");
        }
    }
}

#[test]
fn a_rollout_undo_does_not_restore_an_override_with_another_end() {
    for (mut object, key, _, _, _) in overrides() {
        object.edit(key, Some("2027-06-01 12:00")).apply();
        let during = object.clone();
        object.edit(key, Some(END)).until("2026-11-20 23:30");
        let (count, phase) = (object.replicas(), object.phase());
        object.undo(&during).apply();
        assert_eq!((object.replicas(), object.phase()), (count, phase), "{key}");
        assert_eq!((object.inputs_of(key), object.began()), (None, None));
    }
    let mut object = office(3);
    object.edit("pause", Some("true")).apply();
    let during = object.clone();
    object.edit("pause", None).apply();
    object.undo(&during).until("2026-11-20 20:00");
    assert_eq!(object.replicas(), 0, "not paused permanently");
}

#[test]
fn a_new_override_equal_to_an_ended_one_takes_effect() {
    for undone in [false, true] {
        for (mut object, key, phase, count, _) in overrides() {
            object.edit(key, Some(END)).apply();
            let during = object.clone();
            object.edit(key, None).apply();
            if undone {
                object.undo(&during).apply();
            }
            object.edit(key, Some(END)).apply();
            assert_eq!(
                (object.phase(), object.replicas()),
                (Some(phase), count),
                "{key}"
            );
        }
    }
}

#[test]
fn a_rollout_undo_within_the_same_override_changes_nothing() {
    for (mut object, key, phase, count, _) in overrides() {
        object.edit(key, Some(END)).apply();
        let during = object.clone();
        let writes = object.writes;
        object.undo(&during).apply();
        assert_eq!(object.writes, writes, "{key}");
        object.edit("hours", Some("Mon-Fri 08:00-19:00")).apply();
        object.undo(&during).apply();
        assert_eq!(
            (object.phase(), object.replicas()),
            (Some(phase), count),
            "{key}"
        );
    }
}

#[test]
fn a_rollout_undo_to_an_ended_override_ends_the_active_one() {
    let mut object = office(3);
    object.until("2026-11-20 10:00");
    object.edit("wake-until", Some(END)).apply();
    let woken = object.clone();
    object.edit("wake-until", None).until("2026-11-20 11:00");
    object.edit("sleep-until", Some(END)).apply();
    assert_eq!(object.replicas(), 0);
    object.undo(&woken).apply();
    assert_eq!(
        (object.replicas(), object.phase()),
        (3, Some(Phase::Running))
    );
    assert_eq!(object.annotation(Key::WakeUntil), None);
    assert_eq!(object.began(), None);
}

#[test]
fn a_hidden_override_begins_when_the_other_ends() {
    let mut object = office(3);
    object.until("2026-11-20 10:00");
    object.edit("sleep-until", Some(END)).apply();
    object.edit("pause", Some("2026-11-20 12:00")).apply();
    assert_eq!(object.phase(), Some(Phase::Paused));
    object.until("2026-11-20 13:00");
    assert_eq!((object.replicas(), object.phase()), (0, Some(Phase::Slept)));
    object.until("2026-11-20 23:30");
    assert_eq!(object.began(), None);
}

#[test]
fn a_leftover_override_began_is_removed() {
    for (mut object, key, _, _, over) in overrides() {
        object.edit(key, Some(END)).apply();
        let began = object.observed.override_began.clone();
        object.edit(key, None).apply();
        object.observed.override_began = began;
        object.scale(over.0).apply();
        assert_eq!((object.began(), object.replicas()), (None, over.0), "{key}");
    }
    let mut object = office(3);
    object.edit("pause", Some("true")).apply();
    object.edit("pause", None).edit("hours", None).apply();
    assert_eq!(object.began(), None, "removed with the schedule");
}

#[test]
fn an_invalid_schedule_keeps_override_began() {
    for (mut object, key, _, _, over) in overrides() {
        object.edit(key, Some(END)).apply();
        let during = object.clone();
        object.edit(key, None).apply();
        object.undo(&during).edit("jitter", Some("x")).apply();
        assert!(object.observed.error.is_some() && object.began().is_some());
        object.edit("jitter", None).apply();
        assert_eq!(object.replicas(), over.0, "{key}");
        assert_eq!((object.inputs_of(key), object.began()), (None, None));
    }
}

#[test]
fn override_began_without_labels_is_ignored() {
    let mut object = Object::new("2026-11-20 10:00", 3)
        .annotate("hours", "Mon-Fri 09:00-19:00")
        .annotate("sleep-until", END);
    object.observed.override_began = Some("2026-11-19T10:00:00Z".into());
    object.restart().apply();
    assert_eq!(
        (object.replicas(), object.phase()),
        (3, Some(Phase::Adopted))
    );
    assert_eq!(object.reasons(), ["OverrideExpired"]);
}

#[test]
fn a_replace_during_an_override_changes_nothing() {
    for (mut object, key, phase, count, _) in overrides() {
        object.edit(key, Some(END)).apply();
        object.observed.override_began = None;
        object.replace(count).apply();
        assert_eq!(
            (object.phase(), object.replicas()),
            (Some(phase), count),
            "{key}"
        );
        assert!(object.began().is_some(), "{key}");
    }
}
