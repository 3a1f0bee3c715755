//! `pause`.

use dayshift_workload::{Key, Phase};

use crate::decide::object::{at_night, office};

#[test]
fn pause_changes_nothing_and_its_end_adopts() {
    for (text, end) in [("true", None), ("2026-11-21 12:00", Some(()))] {
        let mut object = office(3);
        object.edit("pause", Some(text)).until("2026-11-21 11:00");
        assert_eq!(
            (object.replicas(), object.phase()),
            (3, Some(Phase::Paused))
        );
        if end.is_none() {
            assert_eq!(object.next().unwrap(), "never");
            object.away_until("2026-11-21 12:00").edit("pause", None);
        }
        object.until("2026-11-21 12:00");
        assert_eq!(
            (object.replicas(), object.phase()),
            (3, Some(Phase::Adopted))
        );
        assert_eq!(object.annotation(Key::Pause), None);
        assert_eq!(object.next().unwrap(), "2026-11-23T09.00.00Z");
        assert_eq!(object.reasons(), ["Paused", "Resumed"]);
        object.until("2026-11-23 20:00");
        assert_eq!((object.replicas(), object.saved()), (0, Some(3)));
    }
}

/// The object's own pause has ended, and the time of the next stop has passed, without a decision.
#[test]
fn pause_of_the_namespace_applies_after_the_own_one() {
    for (pause, next) in [
        ("true", "never"),
        ("2026-11-21 12:00", "2026-11-21T12.00.00Z"),
    ] {
        let mut object = office(3);
        object.in_namespace(&[("pause", pause)]);
        object
            .edit("pause", Some("2026-11-19 18:00"))
            .until("2026-11-19 17:00");
        assert_eq!(object.next().unwrap(), "2026-11-19T18.00.00Z");
        let before = object.writes;
        object.away_until("2026-11-19 20:00").restart().apply();
        assert_eq!(
            (object.replicas(), object.phase(), object.next().unwrap()),
            (3, Some(Phase::Paused), next.to_owned())
        );
        assert_eq!(object.writes - before, 1);
    }
    // `false` disables the inherited pause, but a time in the past does not.
    let mut object = office(3);
    object.in_namespace(&[("pause", "true")]);
    object
        .edit("pause", Some("false"))
        .until("2026-11-19 20:00");
    assert_eq!(
        (object.replicas(), object.phase()),
        (0, Some(Phase::Stopped))
    );
}

#[test]
fn pause_keeps_the_saved_count_after_a_replace() {
    let mut object = at_night(5);
    object.edit("pause", Some("true")).apply();
    assert_eq!(object.saved(), Some(5));
    object.replace(0).until("2026-11-22 12:00");
    assert_eq!((object.replicas(), object.saved()), (0, Some(5)));
    object.edit("pause", None).apply();
    assert_eq!(
        (object.replicas(), object.phase()),
        (0, Some(Phase::Adopted))
    );
    object.until("2026-11-23 09:00");
    assert_eq!(object.replicas(), 5);
}

/// Stopped on Friday, and paused until after the start of Monday.
#[test]
fn pause_starts_a_stopped_workload_at_its_end() {
    for (until, reason) in [
        ("2026-11-23 09:00", "Started"),
        ("2026-11-23 12:00", "Resumed"),
        ("2026-11-23 18:59", "Resumed"),
    ] {
        let mut object = at_night(3);
        object.edit("pause", Some(until)).apply();
        object.reasons();
        let before = object.writes;
        object.until(until);
        assert_eq!(
            (object.replicas(), object.saved(), object.phase()),
            (3, None, Some(Phase::Running)),
            "{until}"
        );
        assert_eq!(object.writes - before, 1, "{until}");
        assert_eq!(object.reasons(), [reason], "{until}");
        assert_eq!(object.next().unwrap(), "2026-11-23T19.00.00Z", "{until}");
        object.until("2026-11-23 20:00");
        assert_eq!((object.replicas(), object.saved()), (0, Some(3)), "{until}");
    }
    let mut object = at_night(3);
    object.edit("pause", Some("true")).until("2026-11-23 12:00");
    object.edit("pause", None).restart().apply();
    assert_eq!(object.replicas(), 3, "removed while no controller ran");
}

#[test]
fn pause_carries_out_a_stop_at_its_exact_end_and_none_before() {
    for (until, count) in [("19:00:00", 0), ("19:00:01", 3), ("18:59:59", 0)] {
        let mut object = office(3);
        object
            .edit("pause", Some(&format!("2026-11-19T{until}Z")))
            .until("2026-11-19 20:00");
        assert_eq!(object.replicas(), count, "{until}");
    }
}

#[test]
fn pause_catches_up_with_boundaries_after_its_end() {
    let mut object = office(3);
    object
        .edit("pause", Some("2026-11-19 18:00"))
        .until("2026-11-19 17:00");
    let before = object.writes;
    object.away_until("2026-11-19 20:00").restart().apply();
    assert_eq!((object.replicas(), object.saved()), (0, Some(3)));
    assert_eq!(
        (object.writes - before, object.annotation(Key::Pause)),
        (1, None)
    );
}

#[test]
fn pause_during_a_wake_and_wake_during_a_pause() {
    let mut object = at_night(3);
    object.edit("wake-until", Some("2026-11-20 23:00")).apply();
    object
        .edit("pause", Some("2026-11-20 22:00"))
        .until("2026-11-20 21:00");
    assert_eq!(
        (object.replicas(), object.phase()),
        (3, Some(Phase::Paused))
    );
    object.until("2026-11-20 22:00");
    assert_eq!((object.replicas(), object.phase()), (3, Some(Phase::Woken)));
    object.until("2026-11-20 23:00");
    assert_eq!(object.replicas(), 0);

    let mut object = at_night(3);
    object
        .edit("wake-until", Some("2026-11-20 22:00"))
        .edit("pause", Some("2026-11-20 23:00"))
        .until("2026-11-20 23:30");
    assert_eq!((object.replicas(), object.saved()), (0, Some(3)));
    assert_eq!(object.annotation(Key::WakeUntil), None);
}

#[test]
fn pause_adopts_an_edit_only_at_its_end() {
    let mut object = office(3);
    object.edit("pause", Some("2026-11-20 12:00")).apply();
    let before = object.writes;
    object
        .edit("hours", Some("Mon-Fri 07:00-11:00"))
        .until("2026-11-20 11:30");
    assert_eq!(object.writes, before);
    object.until("2026-11-20 12:00");
    assert_eq!(
        (object.replicas(), object.phase()),
        (3, Some(Phase::Adopted))
    );
}

#[test]
fn a_backup_restored_during_a_pause_does_not_act_on_the_past() {
    let mut object = office(3);
    let before = object.observed.labels.clone();
    object.until("2026-11-20 20:00").scale(2);
    object.edit("pause", Some("true")).until("2026-11-20 21:00");
    object.observed.labels = before;
    object.edit("pause", None).apply();
    assert_eq!(
        (object.replicas(), object.phase()),
        (2, Some(Phase::Adopted)),
        "the stop of 19:00 was before the pause"
    );
}
