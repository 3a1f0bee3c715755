//! An adoption restores a workload that dayshift has stopped if the schedule requires it to run
//! now: after an edit, after an override, and after a boundary that was missed for too long.

use dayshift_workload::{Kind, Label, Phase};

use crate::decide::object::{Object, at_night, office};

/// Stopped on Friday at 19:00 with this saved count. Now it is Saturday, 11:00.
fn on_saturday(saved: u32) -> Object {
    let mut object = at_night(saved);
    object.until("2026-11-21 11:00");
    object.reasons();
    object
}

#[test]
fn adoption_of_an_edit_starts_a_stopped_workload_in_the_same_patch() {
    let mut object = on_saturday(3);
    let before = object.writes;
    object.edit("hours", Some("Mon-Sat 09:00-19:00")).apply();
    assert_eq!(
        (object.replicas(), object.saved(), object.phase()),
        (3, None, Some(Phase::Running))
    );
    assert_eq!(object.writes - before, 1);
    assert_eq!(object.next().unwrap(), "2026-11-21T19.00.00Z");
    let note = object.notices.pop().unwrap();
    assert_eq!(note.reason.to_string(), "ScheduleChanged");
    assert_eq!(
        note.text,
        "the schedule was edited, and it should be running now: scaled from 0 to 3; next is the \
            stop of Sat 2026-11-21 19:00:00 UTC"
    );
    object.until("2026-11-21 20:00");
    assert_eq!((object.replicas(), object.saved()), (0, Some(3)));
}

/// The resulting count, and whether the saved count is kept.
#[test]
fn adoption_starts_only_if_the_new_schedule_requires_it() {
    let hours = |text: &'static str| vec![("hours", Some(text))];
    let times = |start: Option<&'static str>, stop: Option<&'static str>| {
        vec![("hours", None), ("start", start), ("stop", stop)]
    };
    let scale = |text: &'static str| vec![("hours", None), ("scale", Some(text))];
    let with = |key: &'static str, text: &'static str| {
        vec![("hours", Some("Mon-Sat 09:00-19:00")), (key, Some(text))]
    };
    for (edits, runs) in [
        (hours("00:00-24:00"), 3),
        (hours("Sat 12:00-14:00"), 0),
        (hours("Mon-Fri 08:00-19:00"), 0),
        (times(Some("09:00"), Some("19:00")), 3),
        (times(Some("12:00"), Some("10:00")), 0),
        // Before its first boundary a schedule requires nothing.
        (times(Some("2026-12-01 09:00"), None), 0),
        (times(Some("2026-12-01 09:00"), Some("2026-12-01 19:00")), 0),
        (scale("08:00 = 5; 19:00 = 0"), 5),
        (scale("08:00 = 2; 19:00 = 0"), 2),
        (scale("08:00 = 0; 19:00 = 5"), 0),
        (with("replicas", "2"), 2),
        (with("replicas", "0"), 0),
        (with("except", "2026-11-21"), 0),
        // The start of today is still in the future.
        (
            vec![("hours", Some("Sat 10:30-14:00")), ("jitter", Some("1h"))],
            0,
        ),
        (
            vec![("hours", Some("Sat 09:00-14:00")), ("jitter", Some("1h"))],
            3,
        ),
        (with("exclude", "true"), 0),
        (with("pause", "true"), 0),
    ] {
        let mut object = on_saturday(3);
        for (key, text) in &edits {
            object.edit(key, *text);
        }
        object.apply();
        let saved = (runs == 0).then_some(3);
        assert_eq!(
            (object.replicas(), object.saved()),
            (runs, saved),
            "{edits:?}"
        );
    }
}

/// A manual change while stopped does not prevent the start, as at a boundary.
#[test]
fn adoption_raises_to_the_saved_count_and_never_lowers() {
    for (stop_replicas, seen, exact, runs) in [
        (0, 1, None, 5),
        (0, 5, None, 5),
        (0, 6, None, 6),
        (1, 1, None, 5),
        (2, 2, Some("1"), 2),
        (0, 3, Some("2"), 3),
    ] {
        let mut object = office(5);
        object
            .edit("stop-replicas", Some(&stop_replicas.to_string()))
            .until("2026-11-21 11:00");
        object.scale(seen);
        object
            .edit("replicas", exact)
            .edit("hours", Some("Mon-Sat 09:00-19:00"))
            .apply();
        assert_eq!(object.replicas(), runs, "{stop_replicas} {seen} {exact:?}");
    }
}

#[test]
fn an_edited_namespace_default_is_adopted_like_an_edit() {
    let mut object = Object::new("2026-11-19 12:00", 3);
    object
        .in_namespace(&[("hours", "Mon-Fri 09:00-19:00")])
        .until("2026-11-21 11:00");
    assert_eq!((object.replicas(), object.saved()), (0, Some(3)));
    object
        .in_namespace(&[("hours", "Mon-Sat 09:00-19:00")])
        .apply();
    assert_eq!((object.replicas(), object.saved()), (3, None));
}

#[test]
fn adoption_resumes_a_suspended_cron_job() {
    let mut object = office(1).of_kind(&Kind::CRON_JOB);
    object.until("2026-11-21 11:00");
    object.edit("hours", Some("Mon-Sat 09:00-19:00")).apply();
    assert_eq!((object.replicas(), object.saved()), (1, None));
}

#[test]
fn adoption_keeps_a_manual_0_from_running_hours() {
    let mut object = office(3);
    object.until("2026-11-20 10:00").scale(0);
    object.edit("hours", Some("Mon-Fri 09:00-20:00")).apply();
    assert_eq!((object.replicas(), object.saved()), (0, Some(0)));
}

/// The count was saved for another object.
#[test]
fn adoption_does_not_start_a_copy() {
    for edited in [false, true] {
        let mut object = on_saturday(3);
        object.copy();
        let hours = if edited {
            "Mon-Sun 08:00-19:00"
        } else {
            "Mon-Fri 09:00-19:00"
        };
        object.edit("hours", Some(hours)).apply();
        assert_eq!(
            (object.replicas(), object.saved(), object.phase()),
            (0, Some(3), Some(Phase::Adopted))
        );
        object.until("2026-11-23 09:00");
        assert_eq!(object.replicas(), 3, "restored by the next start");
    }
}

/// Another controller with a fast clock might have stopped it, and would stop it again.
#[test]
fn adoption_does_not_start_if_the_state_is_too_far_ahead() {
    let mut object = at_night(3);
    object.until("2026-11-23 08:00");
    object
        .label(Label::Last, Some("2026-11-24T19.00.00Z"))
        .restart()
        .away_until("2026-11-23 12:00")
        .apply();
    assert_eq!(
        (object.replicas(), object.saved(), object.phase()),
        (0, Some(3), Some(Phase::Adopted))
    );
}

/// The saved count might belong to an older schedule.
#[test]
fn adding_a_removed_schedule_again_starts_nothing() {
    let mut object = on_saturday(3);
    object.edit("hours", None).apply();
    object.edit("hours", Some("00:00-24:00")).apply();
    assert_eq!((object.replicas(), object.saved()), (0, Some(3)));
}

#[test]
fn an_edit_during_an_override_takes_effect_at_its_end() {
    for ends_at_once in [false, true] {
        let mut object = office(3);
        object.until("2026-11-20 10:00");
        object
            .edit("sleep-until", Some("2026-11-21 12:00"))
            .until("2026-11-21 11:00");
        if ends_at_once {
            object.edit("sleep-until", None);
        }
        object.edit("hours", Some("Mon-Sat 09:00-19:00")).apply();
        let expected = if ends_at_once { 3 } else { 0 };
        assert_eq!(object.replicas(), expected, "{ends_at_once}");
        object.until("2026-11-21 12:00");
        assert_eq!((object.replicas(), object.saved()), (3, None));
    }
}

#[test]
fn adoption_after_the_catch_up_limit_starts_a_stopped_workload() {
    let times = |object: Object| {
        object
            .annotate("start", "2026-11-20 09:00; 2026-11-30 09:00")
            .annotate("stop", "2026-11-19 19:00")
    };
    let mut object = times(Object::new("2026-11-19 12:00", 5));
    object.until("2026-11-19 20:00").reasons();
    object.away_until("2026-11-25 12:00").restart().apply();
    assert_eq!(
        (object.replicas(), object.saved(), object.phase()),
        (5, None, Some(Phase::Running))
    );
    let note = object.notices.pop().unwrap();
    assert_eq!(note.reason.to_string(), "BoundaryMissed");
    assert!(note.text.contains("scaled from 0 to 5"), "{}", note.text);
    // If a user keeps it at 0, nothing is saved.
    let mut object = times(Object::new("2026-11-19 12:00", 0));
    object.until("2026-11-19 20:00");
    object.away_until("2026-11-25 12:00").restart().apply();
    assert_eq!(object.replicas(), 0);
}

#[test]
fn correcting_to_another_schedule_starts_and_an_error_does_not() {
    let mut object = at_night(3);
    object.edit("hours", Some("x")).until("2026-11-23 12:00");
    assert_eq!((object.replicas(), object.saved()), (0, Some(3)));
    object.edit("hours", Some("Mon-Fri 09:00-18:00")).apply();
    assert_eq!(
        (object.replicas(), object.saved(), object.phase()),
        (3, None, Some(Phase::Running))
    );
}

/// Two controllers observe different versions of a Namespace for some time, and both write as soon
/// as they can.
#[test]
fn two_controllers_with_different_namespace_versions_start_once_and_converge() {
    let (old, new) = ("Mon-Fri 09:00-19:00", "Mon-Sat 09:00-19:00");
    let mut one = Object::new("2026-11-19 12:00", 3);
    one.in_namespace(&[("hours", old)])
        .until("2026-11-21 11:00");
    let mut other = one.clone();
    other.restart().apply();
    one.in_namespace(&[("hours", new)]);
    let mut counts = vec![0];
    let (mut scaler, mut waiting) = (&mut one, &mut other);
    for _ in 0..40 {
        scaler.apply();
        counts.push(scaler.replicas());
        waiting.see(scaler);
        std::mem::swap(&mut scaler, &mut waiting);
    }
    counts.dedup();
    assert_eq!(counts, [0, 3], "started once, and not stopped again");
    let writes = one.writes + other.writes;
    other.in_namespace(&[("hours", new)]).apply();
    one.see(&other).apply();
    other.see(&one).apply();
    assert!(
        one.writes + other.writes <= writes + 2,
        "the controllers converge"
    );
    assert_eq!(
        (one.replicas(), one.saved().filter(|it| *it > 0)),
        (3, None)
    );
}
