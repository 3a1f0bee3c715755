//! Which count a start and a stop leave.

use dayshift_workload::{DefaultSchedule, Key};

use crate::decide::object::{Object, office};

#[test]
fn what_the_night_saw_and_what_the_morning_makes_of_it() {
    for (day, night, morning) in [
        (5, None, 5),
        (5, Some(1), 5), // a 1 by hand at night is 5 again in the morning
        (5, Some(6), 6), // and a 6 stays 6
        (0, None, 1),    // a manifest's 0
        (0, Some(4), 4),
    ] {
        let mut object = office(day);
        object.until("2026-11-19 20:00");
        if let Some(count) = night {
            object.scale(count);
        }
        object.until("2026-11-20 09:00");
        assert_eq!(
            (object.replicas(), object.saved()),
            (morning, None),
            "{day} {night:?}"
        );
    }
}

#[test]
fn a_0_by_hand_after_a_start_stays_0() {
    let mut object = office(3);
    object
        .until("2026-11-20 09:30")
        .scale(0)
        .until("2026-11-23 20:00");
    assert_eq!((object.replicas(), object.saved()), (0, Some(0)));
    object.scale(2).until("2026-11-25 09:00");
    assert_eq!(object.replicas(), 2, "until somebody wants it again");
}

#[test]
fn exact_counts_are_kept_to() {
    let mut object = office(5);
    object
        .edit("replicas", Some("2"))
        .edit("stop-replicas", Some("1"));
    object.until("2026-11-19 20:00");
    assert_eq!((object.replicas(), object.saved()), (1, Some(5)));
    object.until("2026-11-20 09:00");
    assert_eq!(object.replicas(), 2);
}

#[test]
fn lowering_stop_replicas_in_the_same_edit_loses_no_count() {
    let mut object = office(5);
    object
        .edit("stop-replicas", Some("1"))
        .until("2026-11-19 20:00");
    object
        .edit("stop-replicas", None)
        .edit("hours", Some("Mon-Fri 08:00-19:00"))
        .obey();
    assert_eq!((object.replicas(), object.saved()), (1, Some(5)));
}

#[test]
fn lowering_stop_replicas_then_losing_labels_keeps_the_count() {
    let mut object = office(5);
    object
        .edit("stop-replicas", Some("1"))
        .until("2026-11-19 20:00");
    object.edit("stop-replicas", None).replace(1).obey();
    object.edit("hours", Some("Mon-Fri 08:00-19:00")).obey();
    assert_eq!((object.replicas(), object.saved()), (1, Some(5)));
}

/// A Namespace's schedule is no wish to run what somebody keeps at 0.
#[test]
fn what_is_kept_at_0_stays_there_on_a_schedule_that_is_inherited() {
    let hours = ("hours", "Mon-Fri 09:00-19:00");
    let times = [("start", "Mon-Fri 09:00"), ("stop", "Mon-Fri 19:00")];
    for (defaults, own, count) in [
        (&[hours][..], None, 0),
        (&times, None, 0),
        (&[hours, ("replicas", "3")], None, 0),
        (&[hours, ("stop-replicas", "2")], None, 0),
        (&[hours], Some(("timezone", "UTC")), 0),
        (&[hours], Some(("replicas", "2")), 2),
        (&[hours, ("replicas", "3")], Some(("replicas", "2")), 2),
        (&[hours], Some(("hours", "Mon-Fri 08:00-19:00")), 1),
        (
            &[hours, ("replicas", "3")],
            Some(("hours", "08:00-19:00")),
            3,
        ),
        (&[("scale", "09:00 = 4; 19:00 = 0")], None, 4),
    ] {
        let mut object = Object::new("2026-11-19 20:00", 0);
        object.in_namespace(defaults);
        if let Some((key, text)) = own {
            object.edit(key, Some(text));
        }
        for morning in ["2026-11-20 10:00", "2026-11-23 10:00", "2026-11-24 10:00"] {
            object.until(morning);
            assert_eq!(object.replicas(), count, "{defaults:?} {own:?} {morning}");
            object.restart();
        }
    }
}

#[test]
fn what_runs_on_an_inherited_schedule_comes_back_and_a_kept_0_can_be_woken() {
    let mut object = Object::new("2026-11-19 12:00", 3);
    object
        .in_namespace(&[("hours", "Mon-Fri 09:00-19:00")])
        .until("2026-11-20 10:00");
    assert_eq!(object.replicas(), 3);
    let mut object = Object::new("2026-11-19 20:00", 0);
    object
        .in_namespace(&[("hours", "Mon-Fri 09:00-19:00")])
        .until("2026-11-20 10:00");
    object.edit("wake-until", Some("2026-11-20 12:00")).obey();
    assert_eq!(object.replicas(), 1);
    // Scaled up by hand it is wanted.
    let mut object = Object::new("2026-11-19 20:00", 0);
    object
        .in_namespace(&[("hours", "Mon-Fri 09:00-19:00")])
        .until("2026-11-20 10:00");
    object.scale(2).until("2026-11-23 10:00");
    assert_eq!(object.replicas(), 2);
}

#[test]
fn the_default_schedule_of_the_scaler_is_inherited_too() {
    let mut object = Object::new("2026-11-19 20:00", 0);
    let hours = [(Key::Hours, "Mon-Fri 09:00-19:00".to_owned())];
    object
        .by_default(&DefaultSchedule::from_texts(hours).unwrap())
        .until("2026-11-20 10:00");
    assert_eq!(object.replicas(), 0);
}
