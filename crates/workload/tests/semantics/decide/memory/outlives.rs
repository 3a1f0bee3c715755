//! The saved count survives a changed schedule, a pause, a missed boundary and a state that is too
//! far ahead, also if the controller restarts in between.

use dayshift_workload::{Label, Phase};

use crate::decide::object::{Object, at_night, office};

/// Performs the steps, and restarts the controller after each if requested.
fn steps(object: &mut Object, restarts: bool, steps: &[&dyn Fn(&mut Object)]) {
    for step in steps {
        step(object);
        object.apply();
        if restarts {
            object.restart().apply();
        }
    }
}

fn pause(object: &mut Object) {
    object.edit("pause", Some("true"));
}

fn resume(object: &mut Object) {
    object.edit("pause", None);
}

fn edit(object: &mut Object) {
    object.edit("hours", Some("Mon-Fri 08:00-19:00"));
}

fn remove_schedule(object: &mut Object) {
    object.edit("hours", None);
}

fn scale_to_one(object: &mut Object) {
    object.scale(1);
}

fn scale_to_zero(object: &mut Object) {
    object.scale(0);
}

#[test]
fn the_saved_count_survives_every_kind_of_adoption() {
    let from_future = |object: &mut Object| {
        object.label(Label::Last, Some("2026-12-24T18.00.00Z"));
    };
    for restarts in [false, true] {
        for (case, path) in [
            (
                "pause",
                &[&scale_to_one as &dyn Fn(&mut Object), &pause, &resume][..],
            ),
            ("edit", &[&scale_to_one, &edit]),
            ("edit in a pause", &[&scale_to_one, &pause, &edit, &resume]),
            (
                "paused, then scaled manually",
                &[&pause, &scale_to_one, &resume],
            ),
            ("from the future", &[&scale_to_one, &from_future]),
        ] {
            let mut object = at_night(5);
            steps(&mut object, restarts, path);
            assert_eq!(object.replicas(), 1, "{case}, {restarts}");
            assert_eq!(object.phase(), Some(Phase::Adopted), "{case}, {restarts}");
            assert_eq!(object.saved(), Some(5), "{case}, {restarts}");
            object.until("2026-11-30 09:00");
            assert_eq!(object.replicas(), 5, "{case}, {restarts}");
        }
    }
}

#[test]
fn the_saved_count_survives_a_stop_missed_for_too_long() {
    let mut object = Object::new("2026-11-19 12:00", 5)
        .annotate("stop", "2026-11-19 19:00; 2026-11-20 19:00")
        .annotate("start", "2026-11-30 09:00");
    object.until("2026-11-19 20:00").scale(1);
    object.away_until("2026-11-25 12:00").restart().apply();
    assert_eq!((object.replicas(), object.saved()), (1, Some(5)));
    assert_eq!(object.phase(), Some(Phase::Adopted));
    object.until("2026-11-30 09:00");
    assert_eq!(object.replicas(), 5);
}

#[test]
fn a_manual_0_since_our_start_survives_too() {
    let twice_edited = |object: &mut Object| {
        object.edit("jitter", Some("1s"));
    };
    for restarts in [false, true] {
        for (case, path) in [
            (
                "pause",
                &[&scale_to_zero as &dyn Fn(&mut Object), &pause, &resume][..],
            ),
            (
                "paused, then scaled manually",
                &[&pause, &scale_to_zero, &resume],
            ),
            ("edit", &[&scale_to_zero, &edit]),
            ("edited twice", &[&edit, &scale_to_zero, &twice_edited]),
            ("edit in a pause", &[&pause, &edit, &scale_to_zero, &resume]),
        ] {
            let mut object = office(3);
            object.until("2026-11-20 10:00");
            assert_eq!(object.phase(), Some(Phase::Running));
            steps(&mut object, restarts, path);
            object.until("2026-11-20 20:00");
            assert_eq!(object.saved(), Some(0), "{case}, {restarts}");
            object.until("2026-11-23 10:00");
            assert_eq!(object.replicas(), 0, "{case}, {restarts}");
            object.scale(2).until("2026-11-24 10:00");
            assert_eq!(
                object.replicas(),
                2,
                "{case}, {restarts}: a manual count replaces the saved 0"
            );
        }
    }
}

#[test]
fn an_override_on_an_edited_schedule_uses_the_saved_count() {
    for (key, count) in [("wake-until", 5), ("sleep-until", 0)] {
        let mut object = at_night(5);
        object
            .scale(1)
            .edit("hours", Some("Mon-Fri 08:00-19:00"))
            .edit(key, Some("2026-11-20 22:00"))
            .apply();
        assert_eq!(object.replicas(), count, "{key}");
        object.until("2026-11-23 08:00");
        assert_eq!(object.replicas(), 5, "{key}");
    }
}

#[test]
fn removing_a_schedule_keeps_a_larger_saved_count_and_sends_an_event() {
    for (manual, saved) in [
        (0, Some(5)),
        (1, Some(5)),
        (4, Some(5)),
        (5, None),
        (6, None),
    ] {
        let mut object = at_night(5);
        object.scale(manual).reasons();
        steps(&mut object, true, &[&remove_schedule]);
        assert_eq!(
            (object.replicas(), object.saved()),
            (manual, saved),
            "{manual}"
        );
        let reason = saved.map(|_| "ScheduleRemoved".to_owned());
        assert_eq!(object.reasons(), Vec::from_iter(reason), "{manual}");
        let before = object.writes;
        object.until("2026-11-30 12:00");
        assert_eq!(object.writes, before, "{manual}");
    }
}

#[test]
fn the_warning_about_a_removed_schedule_contains_the_saved_count_and_the_command() {
    let mut object = at_night(5);
    object.scale(1).reasons();
    object.edit("hours", None).apply();
    let text = object.notices[0].text.clone();
    let expected = "it runs fewer replicas than were saved. To restore it to 5, run `dayshift restore deploy/web \
        -n dev`";
    assert!(text.ends_with(expected), "{text}");
}

#[test]
fn a_schedule_added_again_drops_the_saved_count_of_a_running_workload() {
    for (manual, saved) in [(0, Some(5)), (1, None)] {
        let mut object = at_night(5);
        object.scale(manual);
        steps(&mut object, true, &[&remove_schedule, &edit]);
        assert_eq!(object.saved(), saved, "{manual}");
    }
    let mut object = office(5);
    object
        .edit("stop-replicas", Some("1"))
        .until("2026-11-19 20:00");
    steps(&mut object, true, &[&remove_schedule, &edit]);
    assert_eq!(
        object.saved(),
        Some(5),
        "a workload at stop-replicas is stopped"
    );
}

#[test]
fn a_running_copy_drops_the_saved_count_in_every_adoption() {
    for key in [None, Some("pause"), Some("wake-until"), Some("sleep-until")] {
        let mut object = at_night(5);
        object.copy().scale(2);
        if let Some(key) = key {
            object.edit(key, Some("2026-11-20 22:00"));
        }
        object.until("2026-11-23 10:00");
        assert_eq!(object.replicas(), 2, "{key:?}");

        let mut object = at_night(5);
        object.copy();
        if let Some(key) = key {
            object.edit(key, Some("2026-11-20 22:00"));
        }
        object.until("2026-11-23 10:00");
        assert_eq!(object.replicas(), 5, "{key:?}");
    }
}

#[test]
fn a_copy_of_a_workload_with_a_manual_0_is_started() {
    let mut object = office(3);
    object.until("2026-11-20 10:00").scale(0).copy();
    object.until("2026-11-23 10:00");
    assert_eq!(object.replicas(), 1, "the 0 was set on the original");
}

#[test]
fn a_backup_without_a_fingerprint_keeps_its_saved_count() {
    let mut object = at_night(5);
    object
        .scale(1)
        .label(Label::Fingerprint, None)
        .restart()
        .until("2026-11-23 10:00");
    assert_eq!(
        object.replicas(),
        5,
        "without a fingerprint it is not treated as a copy"
    );
}
