//! A change made by hand while stopped is put back where that is wished.

use chrono::TimeDelta;
use dayshift_workload::{Label, Phase};

use crate::decide::object::{Object, at_night, office, utc};

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
fn enforce_leaves_what_runs_is_lower_adopted_or_paused() {
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
        object.now += TimeDelta::seconds(30);
        object.label(Label::Next, None).obey();
    }
    assert_eq!(object.writes - before, 3);
    object.until("2026-11-20 22:00");
    assert_eq!(object.replicas(), 0);
}

/// Stopped on Friday evening, with a grace of half an hour.
fn at_night_with_grace(replicas: u32) -> Object {
    let mut object = at_night(replicas);
    object.edit("enforce", Some("30m")).obey();
    object.told();
    object
}

#[test]
fn with_a_grace_what_a_hand_raises_is_stopped_when_that_is_over_and_told_before() {
    let mut object = at_night_with_grace(3);
    let due = object.scale(5).obey();
    assert_eq!(object.replicas(), 5);
    let soon = object.notices.last().unwrap();
    assert_eq!(soon.reason.to_string(), "StopsSoon");
    let expected = "the schedule says stopped, and `enforce` stops it at Fri 2026-11-20 20:30:00 UTC. To keep it up, run dayshift wake deploy/web -n dev --for 2h";
    assert_eq!(soon.text, expected);
    assert_eq!(due, Some(utc("2026-11-20 20:30")));
    object.until("2026-11-20 20:29");
    assert_eq!(object.told(), ["StopsSoon"], "once");
    assert_eq!(object.replicas(), 5);
    object.until("2026-11-20 20:30");
    assert_eq!((object.replicas(), object.saved()), (0, Some(5)));
    assert_eq!(object.told(), ["Enforced"]);
    object.until("2026-11-23 09:00");
    assert_eq!(object.replicas(), 5);
}

#[test]
fn what_is_lowered_again_within_the_grace_has_a_new_one_when_it_is_raised() {
    let mut object = at_night_with_grace(3);
    object.scale(1).until("2026-11-20 20:20");
    object.scale(0).until("2026-11-20 20:40");
    object.scale(2).until("2026-11-20 21:09");
    assert_eq!(object.replicas(), 2);
    object.until("2026-11-20 21:10");
    assert_eq!((object.replicas(), object.saved()), (0, Some(3)));
}

/// As an autoscaler does again and again: that is no new beginning.
#[test]
fn what_is_raised_further_within_the_grace_is_stopped_when_that_was_told() {
    let mut object = at_night_with_grace(3);
    object.scale(1).until("2026-11-20 20:10");
    object.scale(4).until("2026-11-20 20:20");
    object.scale(2).until("2026-11-20 20:25");
    object.scale(3).until("2026-11-20 20:29");
    assert_eq!(
        (object.replicas(), object.told()),
        (3, vec!["StopsSoon".into()])
    );
    object.until("2026-11-20 20:30");
    assert_eq!((object.replicas(), object.saved()), (0, Some(3)));
}

#[test]
fn what_appears_while_the_schedule_says_stopped_is_stopped_after_the_grace() {
    let mut object = Object::new("2026-11-20 22:00", 4).annotate("hours", "Mon-Fri 09:00-19:00");
    object.edit("enforce", Some("1h"));
    object.until("2026-11-20 22:59");
    assert_eq!(
        (object.replicas(), object.phase()),
        (4, Some(Phase::Adopted))
    );
    object.until("2026-11-20 23:00");
    assert_eq!((object.replicas(), object.saved()), (0, Some(4)));
    assert_eq!(object.phase(), Some(Phase::Stopped));
    object.until("2026-11-23 09:00");
    assert_eq!(object.replicas(), 4);
    // By day nothing is stopped.
    let mut object = Object::new("2026-11-20 12:00", 4).annotate("hours", "Mon-Fri 09:00-19:00");
    object.edit("enforce", Some("1h")).until("2026-11-20 18:59");
    assert_eq!(object.replicas(), 4);
}

/// While nothing can be written, as under a webhook that refuses all patches, no grace passes.
#[test]
fn a_grace_begins_when_it_is_told_of_and_lasts_all_its_time() {
    let mut object = Object::new("2026-11-20 22:00", 4).annotate("hours", "Mon-Fri 09:00-19:00");
    object.edit("enforce", Some("30m"));
    object.away_until("2026-11-20 23:10").obey();
    assert_eq!(object.told(), ["StopsSoon"]);
    object.until("2026-11-20 23:39");
    assert_eq!(object.replicas(), 4);
    object.until("2026-11-20 23:40");
    assert_eq!(
        (object.replicas(), object.told()),
        (0, vec!["Enforced".into()])
    );
}

/// Somebody writes another `next` again and again: with calendars that is put right once, in case
/// it is another scaler's, and `enforce` goes on.
#[test]
fn a_next_of_other_calendars_keeps_no_grace_from_passing() {
    let mut object = at_night_with_grace(3);
    object.calendar("2026-12-24");
    object.edit("except", Some("calendar:de")).obey();
    object.scale(5).obey();
    for minute in ["20:05", "20:10", "20:15"] {
        object.until(&format!("2026-11-20 {minute}"));
        object.label(Label::Next, Some("2026-11-30T09.00.00Z"));
        object.obey();
    }
    assert_ne!(object.next().unwrap(), "2026-11-23T09.00.00Z");
    object.until("2026-11-20 21:00");
    assert_eq!((object.replicas(), object.saved()), (0, Some(5)));
}

#[test]
fn a_start_before_the_grace_is_over_comes_first_and_a_wake_keeps_it_up() {
    let mut object = at_night_with_grace(3);
    object.until("2026-11-23 08:45").scale(5);
    object.until("2026-11-23 09:20");
    assert_eq!(object.replicas(), 5);
    assert!(!object.told().contains(&"StopsSoon".to_owned()));
    let mut object = at_night_with_grace(3);
    object.scale(5).obey();
    object.edit("wake-until", Some("2026-11-20 23:00"));
    object.until("2026-11-20 22:59");
    assert_eq!(object.replicas(), 5);
    object.until("2026-11-20 23:00");
    assert_eq!(object.replicas(), 0, "the schedule says stopped at its end");
}

#[test]
fn after_a_restart_the_grace_begins_anew_and_thrice_is_enough() {
    let mut object = at_night_with_grace(3);
    object.scale(5).until("2026-11-20 20:20");
    object.restart().until("2026-11-20 20:49");
    assert_eq!(object.replicas(), 5);
    object.until("2026-11-20 20:50");
    assert_eq!(object.replicas(), 0);
    // The first since the restart is no repetition yet.
    for hour in ["20 21", "20 22", "20 23", "21 00"] {
        object.away_until(&format!("2026-11-{hour}:00")).scale(1);
        object.until(&format!("2026-11-{hour}:40"));
    }
    assert_eq!(object.replicas(), 1, "hands off until the next boundary");
    assert!(object.told().contains(&"CorrectionLimitReached".to_owned()));
}
