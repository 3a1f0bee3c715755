//! An override that has ended stays ended, though `kubectl rollout undo` brings back the
//! annotations of an older revision.

use dayshift_workload::{Key, Phase};

use crate::decide::object::{Object, at_night, office};

type Case = (Object, &'static str, Phase, u32, (u32, Phase));

/// Friday at 10:00, and an override with its end, its phase and its count; the count and the phase
/// once it is over.
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
fn when_it_began_stands_on_the_object_for_as_long_as_it_holds() {
    for (mut object, key, phase, count, _) in overrides() {
        object.edit(key, Some(END)).obey();
        assert_eq!((object.phase(), object.replicas()), (Some(phase), count));
        let began = object.now.format("%Y-%m-%dT%H:%M:%SZ").to_string();
        assert_eq!(object.began(), Some(&*began), "{key}");
        let writes = object.writes;
        object.restart().obey();
        assert_eq!(object.writes, writes, "{key}");
        object.until("2026-11-20 23:30");
        assert_eq!((object.began(), object.writes), (None, writes + 1), "{key}");
    }
}

#[test]
fn an_undo_brings_back_no_override_that_was_taken_away() {
    for restarts in [false, true] {
        for (mut object, key, _, _, over) in overrides() {
            object.edit(key, Some(END)).obey();
            let during = object.clone();
            object.edit(key, None).obey();
            assert_eq!((object.replicas(), object.phase().unwrap()), over, "{key}");
            object.told();
            object.undo(&during);
            if restarts {
                object.restart();
            }
            object.obey();
            assert_eq!((object.replicas(), object.phase().unwrap()), over, "{key}");
            assert_eq!((object.inputs_of(key), object.began()), (None, None));
            assert_eq!(object.told(), ["OverrideExpired"], "{key}");
        }
    }
}

#[test]
fn an_undo_brings_back_no_override_whose_end_was_moved_or_never_named() {
    for (mut object, key, _, _, _) in overrides() {
        object.edit(key, Some("2027-06-01 12:00")).obey();
        let during = object.clone();
        object.edit(key, Some(END)).until("2026-11-20 23:30");
        let (count, phase) = (object.replicas(), object.phase());
        object.undo(&during).obey();
        assert_eq!((object.replicas(), object.phase()), (count, phase), "{key}");
        assert_eq!((object.inputs_of(key), object.began()), (None, None));
    }
    let mut object = office(3);
    object.edit("pause", Some("true")).obey();
    let during = object.clone();
    object.edit("pause", None).obey();
    object.undo(&during).until("2026-11-20 20:00");
    assert_eq!(object.replicas(), 0, "not paused for good");
}

#[test]
fn a_new_override_with_the_text_of_an_ended_one_counts() {
    for undone in [false, true] {
        for (mut object, key, phase, count, _) in overrides() {
            object.edit(key, Some(END)).obey();
            let during = object.clone();
            object.edit(key, None).obey();
            if undone {
                object.undo(&during).obey();
            }
            object.edit(key, Some(END)).obey();
            assert_eq!(
                (object.phase(), object.replicas()),
                (Some(phase), count),
                "{key}"
            );
        }
    }
}

#[test]
fn an_undo_inside_it_to_a_revision_of_it_changes_nothing() {
    for (mut object, key, phase, count, _) in overrides() {
        object.edit(key, Some(END)).obey();
        let during = object.clone();
        let writes = object.writes;
        object.undo(&during).obey();
        assert_eq!(object.writes, writes, "{key}");
        object.edit("hours", Some("Mon-Fri 08:00-19:00")).obey();
        object.undo(&during).obey();
        assert_eq!(
            (object.phase(), object.replicas()),
            (Some(phase), count),
            "{key}"
        );
    }
}

#[test]
fn an_undo_inside_one_to_another_that_has_ended_ends_both() {
    let mut object = office(3);
    object.until("2026-11-20 10:00");
    object.edit("wake-until", Some(END)).obey();
    let woken = object.clone();
    object.edit("wake-until", None).until("2026-11-20 11:00");
    object.edit("sleep-until", Some(END)).obey();
    assert_eq!(object.replicas(), 0);
    object.undo(&woken).obey();
    assert_eq!(
        (object.replicas(), object.phase()),
        (3, Some(Phase::Running))
    );
    assert_eq!(object.annotation(Key::WakeUntil), None);
    assert_eq!(object.began(), None);
}

#[test]
fn one_below_another_begins_when_that_is_over() {
    let mut object = office(3);
    object.until("2026-11-20 10:00");
    object.edit("sleep-until", Some(END)).obey();
    object.edit("pause", Some("2026-11-20 12:00")).obey();
    assert_eq!(object.phase(), Some(Phase::Paused));
    object.until("2026-11-20 13:00");
    assert_eq!((object.replicas(), object.phase()), (0, Some(Phase::Slept)));
    object.until("2026-11-20 23:30");
    assert_eq!(object.began(), None);
}

#[test]
fn what_is_left_of_one_alone_is_put_away() {
    for (mut object, key, _, _, over) in overrides() {
        object.edit(key, Some(END)).obey();
        let began = object.observed.override_began.clone();
        object.edit(key, None).obey();
        object.observed.override_began = began;
        object.scale(over.0).obey();
        assert_eq!((object.began(), object.replicas()), (None, over.0), "{key}");
    }
    let mut object = office(3);
    object.edit("pause", Some("true")).obey();
    object.edit("pause", None).edit("hours", None).obey();
    assert_eq!(object.began(), None, "with the schedule");
}

#[test]
fn a_bad_schedule_keeps_it_for_when_it_is_good_again() {
    for (mut object, key, _, _, over) in overrides() {
        object.edit(key, Some(END)).obey();
        let during = object.clone();
        object.edit(key, None).obey();
        object.undo(&during).edit("jitter", Some("x")).obey();
        assert!(object.observed.error.is_some() && object.began().is_some());
        object.edit("jitter", None).obey();
        assert_eq!(object.replicas(), over.0, "{key}");
        assert_eq!((object.inputs_of(key), object.began()), (None, None));
    }
}

#[test]
fn one_of_a_manifest_without_our_labels_is_none_of_this_object() {
    let mut object = Object::new("2026-11-20 10:00", 3)
        .annotate("hours", "Mon-Fri 09:00-19:00")
        .annotate("sleep-until", END);
    object.observed.override_began = Some("2026-11-19T10:00:00Z".into());
    object.restart().obey();
    assert_eq!(
        (object.replicas(), object.phase()),
        (3, Some(Phase::Adopted))
    );
    assert_eq!(object.told(), ["OverrideExpired"]);
}

#[test]
fn a_replace_inside_it_changes_nothing() {
    for (mut object, key, phase, count, _) in overrides() {
        object.edit(key, Some(END)).obey();
        object.observed.override_began = None;
        object.replace(count).obey();
        assert_eq!(
            (object.phase(), object.replicas()),
            (Some(phase), count),
            "{key}"
        );
        assert!(object.began().is_some(), "{key}");
    }
}
