//! A bad schedule changes nothing.

use crate::decide::object::{Object, at_night, office};
use dayshift::workload::Phase;

#[test]
fn it_is_told_once_and_the_state_stays() {
    let mut object = at_night(3);
    object.told();
    let last = object.state().last;
    object
        .edit("hours", Some("Mon-Fry 09:00-19:00"))
        .until("2026-11-24 12:00");
    assert_eq!(
        (object.replicas(), object.saved(), object.next()),
        (0, Some(3), None)
    );
    assert_eq!(object.state().last, last);
    assert_eq!(object.told(), ["InvalidSchedule"]);
    let error = object.observed.error.as_deref().unwrap();
    assert!(
        error.contains("dayshift/hours") && error.contains("Fry"),
        "{error}"
    );
}

#[test]
fn undoing_the_typo_resumes_and_catches_up() {
    let mut object = at_night(3);
    object
        .edit("hours", Some("Mon-Fry 09:00-19:00"))
        .until("2026-11-23 12:00");
    object.edit("hours", Some("Mon-Fri 09:00-19:00")).obey();
    assert_eq!(
        (object.replicas(), object.observed.error.as_deref()),
        (3, None)
    );
    assert_eq!(object.next().unwrap(), "2026-11-23T19.00.00Z");
}

#[test]
fn undoing_it_before_anything_was_missed_changes_no_count() {
    let mut object = at_night(3);
    object.edit("hours", Some("x")).obey();
    object.edit("hours", Some("Mon-Fri 09:00-19:00")).obey();
    assert_eq!((object.replicas(), object.saved()), (0, Some(3)));
    assert_eq!(object.phase(), Some(Phase::Stopped));
    assert_eq!(object.next().unwrap(), "2026-11-23T09.00.00Z");
}

#[test]
fn correcting_it_to_another_schedule_adopts() {
    let mut object = at_night(3);
    object.edit("hours", Some("x")).until("2026-11-23 12:00");
    object.edit("hours", Some("Mon-Fri 09:00-18:00")).obey();
    assert_eq!((object.replicas(), object.saved()), (0, Some(3)));
    assert_eq!(object.phase(), Some(Phase::Adopted));
}

#[test]
fn a_misspelt_key_beside_a_right_one_is_refused() {
    let mut object = Object::new("2026-11-20 12:00", 3)
        .annotate("strat", "09:00")
        .annotate("stop", "19:00");
    object.until("2026-11-21 12:00");
    assert_eq!(object.replicas(), 3);
    let error = object.observed.error.as_deref().unwrap();
    assert!(
        error.contains("dayshift/strat") && error.contains("`start`"),
        "{error}"
    );
}

#[test]
fn hours_beside_start_or_stop_are_refused() {
    let mut object = office(3);
    object.edit("stop", Some("18:00")).obey();
    assert!(
        object
            .observed
            .error
            .as_deref()
            .unwrap()
            .contains("beside `stop`")
    );
}

#[test]
fn a_misspelt_override_is_refused_rather_than_passed_over() {
    for key in ["pause", "wake-until", "sleep-until", "enforce"] {
        let mut object = office(3);
        object.edit(key, Some("tonight")).until("2026-11-20 20:00");
        assert_eq!(object.replicas(), 3, "{key}");
        assert!(object.observed.error.as_deref().unwrap().contains(key));
    }
}
