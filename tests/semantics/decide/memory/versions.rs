//! The fingerprint of the version before.

use dayshift::workload::{Label, Phase};

use crate::decide::object::{Object, at_night, office};

/// `printf 'u1\nhours=19:Mon-Fri 09:00-19:00' | sha256sum`
const V1: &str = "v1-bdd742bc2f61eed5";

fn of_version_1(mut object: Object) -> Object {
    object.label(Label::Fingerprint, Some(V1)).restart();
    object
}

fn fingerprint(object: &Object) -> String {
    object
        .observed
        .labels
        .text(Label::Fingerprint)
        .unwrap()
        .to_owned()
}

#[test]
fn it_is_taken_over_without_a_write_and_replaced_by_the_next_one() {
    for object in [office(3), at_night(3)] {
        let mut object = of_version_1(object);
        let (writes, phase) = (object.writes, object.phase());
        object.obey();
        assert_eq!((object.writes, object.phase()), (writes, phase));
        assert_eq!(fingerprint(&object), V1);
        object.until("2026-11-23 09:00");
        assert_eq!(object.replicas(), 3);
        assert!(fingerprint(&object).starts_with("v2-"));
    }
}

#[test]
fn whatever_is_written_next_replaces_it() {
    let mut object = of_version_1(at_night(3));
    object.edit("wake-until", Some("2026-11-20 22:00")).obey();
    assert!(fingerprint(&object).starts_with("v2-"));

    let mut object = of_version_1(at_night(3));
    object.label(Label::Next, None).obey();
    assert!(fingerprint(&object).starts_with("v2-"), "healed");

    let mut object = of_version_1(at_night(3));
    object.edit("pause", Some("true")).obey();
    assert!(fingerprint(&object).starts_with("v2-"));
}

#[test]
fn an_edit_or_a_copy_of_it_keeps_the_count_because_it_does_not_say_which() {
    let mut edited = of_version_1(at_night(5));
    edited
        .scale(1)
        .edit("hours", Some("Mon-Fri 08:00-19:00"))
        .restart()
        .obey();
    assert_eq!(edited.phase(), Some(Phase::Adopted));
    assert_eq!(edited.saved(), Some(5));

    let mut copy = of_version_1(at_night(5));
    copy.copy().scale(1).obey();
    assert_eq!(copy.phase(), Some(Phase::Adopted));
    assert_eq!(copy.saved(), Some(5), "as today's do while they are down");
}

#[test]
fn an_override_that_began_under_it_ends_and_stays_ended() {
    let mut object = office(3);
    object.until("2026-11-20 10:00");
    object.edit("sleep-until", Some("2026-11-20 18:00")).obey();
    object.observed.override_began = None;
    let mut object = of_version_1(object);
    object.obey();
    assert_eq!((object.replicas(), object.phase()), (0, Some(Phase::Slept)));
    assert_eq!(object.began(), Some("2026-11-20T10:00:00Z"));
    let during = object.clone();
    object.edit("sleep-until", None).obey();
    object.undo(&during).obey();
    assert_eq!(object.replicas(), 3);
}

#[test]
fn a_returned_schedule_is_a_new_one_by_either_version() {
    for version_1 in [false, true] {
        let mut object = at_night(5);
        if version_1 {
            object = of_version_1(object);
        }
        object.edit("hours", None).obey();
        object
            .edit("hours", Some("Mon-Fri 09:00-19:00"))
            .restart()
            .obey();
        assert_eq!(object.phase(), Some(Phase::Adopted));
        object.until("2026-11-23 09:00");
        assert_eq!(object.replicas(), 5);
    }
}
