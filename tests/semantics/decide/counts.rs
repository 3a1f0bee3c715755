//! Which count a start and a stop leave.

use crate::decide::object::office;

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
fn nor_does_lowering_it_before_labels_were_lost() {
    let mut object = office(5);
    object
        .edit("stop-replicas", Some("1"))
        .until("2026-11-19 20:00");
    object.edit("stop-replicas", None).replace(1).obey();
    object.edit("hours", Some("Mon-Fri 08:00-19:00")).obey();
    assert_eq!((object.replicas(), object.saved()), (1, Some(5)));
}
