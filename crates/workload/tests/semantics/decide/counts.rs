//! The counts after a start and a stop.

use dayshift_workload::{DefaultSchedule, Key};

use crate::decide::object::{Object, office};

#[test]
fn a_start_combines_the_saved_and_the_observed_count() {
    for (day, night, morning) in [
        (5, None, 5),
        (5, Some(1), 5), // a manual 1 while stopped: the next start restores 5
        (5, Some(6), 6), // a manual 6 is kept
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
fn a_manual_0_after_a_start_stays_0() {
    let mut object = office(3);
    object
        .until("2026-11-20 09:30")
        .scale(0)
        .until("2026-11-23 20:00");
    assert_eq!((object.replicas(), object.saved()), (0, Some(0)));
    object.scale(2).until("2026-11-25 09:00");
    assert_eq!(object.replicas(), 2, "until a user raises it");
}

/// The labels of an adopted workload do not contain that it ran, so a controller that restarts after the
/// manual change starts it with 1.
#[test]
fn an_observed_manual_0_before_the_first_boundary_stays_0() {
    for (restarts, saved, expected) in [(false, Some(0), 0), (true, None, 1)] {
        let mut object = office(3);
        object.until("2026-11-19 15:00").scale(0);
        assert_eq!(object.saved(), None);
        if restarts {
            object.restart();
        }
        object.until("2026-11-19 20:00");
        assert_eq!((object.replicas(), object.saved()), (0, saved));
        object.until("2026-11-20 12:00");
        assert_eq!(object.replicas(), expected, "{restarts}");
    }
}

/// A 0 that was there first is not a user's intent, and neither is one of a `scale` boundary.
#[test]
fn a_0_that_no_user_has_set_after_a_running_count_becomes_1() {
    let mut found = office(0);
    found.until("2026-11-20 09:00");
    assert_eq!(found.replicas(), 1);

    let mut scaled = office(3);
    scaled
        .edit("hours", None)
        .edit("scale", Some("09:00 = 4; 19:00 = 0"))
        .until("2026-11-19 20:00");
    assert_eq!((scaled.replicas(), scaled.saved()), (0, None));
    scaled
        .edit("scale", None)
        .edit("hours", Some("Mon-Fri 09:00-19:00"))
        .until("2026-11-20 09:00");
    assert_eq!(scaled.replicas(), 1);
}

#[test]
fn exact_counts_are_applied() {
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
        .apply();
    assert_eq!((object.replicas(), object.saved()), (1, Some(5)));
}

#[test]
fn lowering_stop_replicas_then_losing_labels_keeps_the_count() {
    let mut object = office(5);
    object
        .edit("stop-replicas", Some("1"))
        .until("2026-11-19 20:00");
    object.edit("stop-replicas", None).replace(1).apply();
    object.edit("hours", Some("Mon-Fri 08:00-19:00")).apply();
    assert_eq!((object.replicas(), object.saved()), (1, Some(5)));
}

/// A schedule on the Namespace is no reason to start a workload that a user keeps at 0.
#[test]
fn a_count_of_0_is_kept_by_an_inherited_schedule() {
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
fn an_inherited_schedule_restores_counts_and_a_wake_raises_a_kept_0() {
    let mut object = Object::new("2026-11-19 12:00", 3);
    object
        .in_namespace(&[("hours", "Mon-Fri 09:00-19:00")])
        .until("2026-11-20 10:00");
    assert_eq!(object.replicas(), 3);
    let mut object = Object::new("2026-11-19 20:00", 0);
    object
        .in_namespace(&[("hours", "Mon-Fri 09:00-19:00")])
        .until("2026-11-20 10:00");
    object.edit("wake-until", Some("2026-11-20 12:00")).apply();
    assert_eq!(object.replicas(), 1);
    // A manual increase shows that it should run.
    let mut object = Object::new("2026-11-19 20:00", 0);
    object
        .in_namespace(&[("hours", "Mon-Fri 09:00-19:00")])
        .until("2026-11-20 10:00");
    object.scale(2).until("2026-11-23 10:00");
    assert_eq!(object.replicas(), 2);
}

#[test]
fn the_default_schedule_of_the_controller_is_inherited_too() {
    let mut object = Object::new("2026-11-19 20:00", 0);
    let hours = [(Key::Hours, "Mon-Fri 09:00-19:00".to_owned())];
    object
        .by_default(&DefaultSchedule::from_texts(hours).unwrap())
        .until("2026-11-20 10:00");
    assert_eq!(object.replicas(), 0);
}
