//! Fingerprints of other versions.

use dayshift_workload::{Label, Phase};

use crate::decide::object::{Object, at_night, office};

/// Label values that are not fingerprints of this version. One of them is a single hash of the UID
/// and the schedule: `printf 'u1\nhours=19:Mon-Fri 09:00-19:00' | sha256sum`.
const UNREADABLE: [&str; 5] = [
    "v1-bdd742bc2f61eed5",
    "v1-bdd742bc2f61eed5-bdd742bc2f61eed5",
    "v0-x",
    "v2-bdd742bc2f61eed5",
    "yes",
];

fn fingerprint(object: &Object) -> &str {
    object.observed.labels.text(Label::Fingerprint).unwrap()
}

#[test]
fn an_object_with_an_invalid_fingerprint_is_adopted_and_keeps_its_count() {
    for text in UNREADABLE {
        for (mut object, count) in [(office(3), 3), (at_night(3), 0)] {
            let ours = fingerprint(&object).to_owned();
            let saved = object.saved();
            object
                .label(Label::Fingerprint, Some(text))
                .restart()
                .apply();
            assert_eq!(object.phase(), Some(Phase::Adopted), "{text}");
            assert_eq!(
                (object.replicas(), object.saved()),
                (count, saved),
                "{text}"
            );
            assert_eq!(fingerprint(&object), ours, "{text}");
            object.until("2026-11-23 09:00");
            assert_eq!(object.replicas(), 3, "{text}");
        }
    }
}

#[test]
fn the_running_controller_restores_a_remembered_fingerprint() {
    for text in UNREADABLE {
        let mut object = at_night(3);
        let ours = fingerprint(&object).to_owned();
        object.label(Label::Fingerprint, Some(text)).apply();
        assert_eq!(object.phase(), Some(Phase::Stopped), "{text}");
        assert_eq!(fingerprint(&object), ours, "{text}");
    }
}

#[test]
fn an_object_with_a_fingerprint_of_a_later_version_is_ignored() {
    for text in ["v3-x", "v3-0123456789abcdef-0123456789abcdef", "v27-"] {
        let mut object = at_night(3);
        let writes = object.writes;
        object
            .label(Label::Fingerprint, Some(text))
            .restart()
            .until("2026-11-23 12:00");
        assert_eq!((object.replicas(), object.writes), (0, writes), "{text}");
    }
}

#[test]
fn a_returned_schedule_is_a_new_one() {
    let mut object = at_night(5);
    object.edit("hours", None).apply();
    object
        .edit("hours", Some("Mon-Fri 09:00-19:00"))
        .restart()
        .apply();
    assert_eq!(object.phase(), Some(Phase::Adopted));
    object.until("2026-11-23 09:00");
    assert_eq!(object.replicas(), 5);
}
