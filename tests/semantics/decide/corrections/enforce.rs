//! Rule 12: a change made by hand while stopped is put back where that is wished.

use dayshift::workload::Label;

use crate::decide::object::{Object, at_night, office};

fn at_night_enforced(replicas: u32) -> Object {
    let mut object = at_night(replicas);
    object.edit("enforce", Some("true")).obey();
    object.told();
    object
}

#[test]
fn what_a_hand_raises_at_night_is_put_back_and_the_larger_count_kept() {
    for (hand, morning) in [(2, 3), (8, 8)] {
        let mut object = at_night_enforced(3);
        object.scale(hand).obey();
        assert_eq!(
            (object.replicas(), object.told()),
            (0, vec!["Enforced".into()])
        );
        object.until("2026-11-23 09:00");
        assert_eq!(object.replicas(), morning, "{hand}");
    }
}

#[test]
fn three_times_and_then_hands_off_until_the_next_boundary() {
    let mut object = at_night_enforced(3);
    for expected in [0, 0, 0, 1, 1] {
        object.scale(1).obey();
        assert_eq!(object.replicas(), expected);
    }
    let text = object.notices.last().unwrap().text.clone();
    // It runs, so there is nothing to wake.
    let command = "kubectl get deployment/web -n dev -o yaml --show-managed-fields";
    assert!(text.ends_with(command), "{text}");
    assert_eq!(
        object.told()[..4],
        ["Enforced", "Enforced", "Enforced", "CorrectionLimitReached"]
    );
    object.until("2026-11-24 20:00").scale(1).obey();
    assert_eq!((object.replicas(), object.saved()), (0, Some(3)));
}

#[test]
fn it_lets_be_what_runs_what_was_lowered_and_what_is_adopted_or_paused() {
    let mut object = office(3);
    object.edit("enforce", Some("true"));
    for count in [5, 0] {
        object.scale(count).until("2026-11-19 15:00");
        assert_eq!(object.replicas(), count, "adopted");
    }
    object.scale(3).until("2026-11-20 10:00");
    object.scale(5).obey();
    assert_eq!(object.replicas(), 5, "running");
    object.edit("stop-replicas", Some("2"));
    object.until("2026-11-20 20:00").scale(0).obey();
    assert_eq!(object.replicas(), 0, "lower than stopped");
    object.edit("pause", Some("true")).scale(4).obey();
    assert_eq!(object.replicas(), 4, "paused");
}

#[test]
fn a_sleep_is_kept_to_and_lost_labels_come_back_in_the_same_write() {
    let mut object = office(3);
    object
        .edit("enforce", Some("true"))
        .edit("sleep-until", Some("2026-11-19 16:00"))
        .until("2026-11-19 15:00");
    let before = object.writes;
    object.replace(2).obey();
    assert_eq!((object.replicas(), object.saved()), (0, Some(3)));
    assert_eq!(object.writes - before, 1);
    object.until("2026-11-19 16:00");
    assert_eq!(object.replicas(), 3);
}

#[test]
fn labels_put_wrong_inside_an_override_are_a_fight_too() {
    let mut object = at_night(3);
    object.edit("wake-until", Some("2026-11-20 22:00")).obey();
    let before = object.writes;
    for _ in 0..10 {
        object.label(Label::Next, None).obey();
    }
    assert_eq!(object.writes - before, 3);
    object.until("2026-11-20 22:00");
    assert_eq!(object.replicas(), 0);
}
