//! `enforce`: manual changes while stopped are reverted.

use chrono::TimeDelta;
use dayshift_workload::{Label, Phase};

use crate::decide::object::{Object, at_night, office, utc};

fn at_night_enforced(replicas: u32) -> Object {
    let mut object = at_night(replicas);
    object.edit("enforce", Some("true")).apply();
    object.reasons();
    object
}

#[test]
fn enforce_reverts_a_manual_increase_and_saves_the_larger_count() {
    for (manual, morning) in [(2, 3), (8, 8)] {
        let mut object = at_night_enforced(3);
        object.scale(manual).apply();
        assert_eq!(
            (object.replicas(), object.reasons()),
            (0, vec!["Enforced".into()])
        );
        object.until("2026-11-23 09:00");
        assert_eq!(object.replicas(), morning, "{manual}");
    }
}

#[test]
fn enforce_corrects_three_times_until_the_next_boundary() {
    let mut object = at_night_enforced(3);
    for expected in [0, 0, 0, 1, 1] {
        object.scale(1).apply();
        assert_eq!(object.replicas(), expected);
    }
    let text = object.notices.last().unwrap().text.clone();
    let expected = "another client keeps reverting dayshift's changes";
    assert!(text.starts_with(expected), "{text}");
    assert_eq!(
        object.reasons()[..4],
        ["Enforced", "Enforced", "Enforced", "CorrectionLimitReached"]
    );
    object.until("2026-11-24 20:00").scale(1).apply();
    assert_eq!((object.replicas(), object.saved()), (0, Some(3)));
}

#[test]
fn enforce_ignores_running_lower_adopted_and_paused_workloads() {
    let mut object = office(3);
    object.edit("enforce", Some("true"));
    for count in [5, 0] {
        object.scale(count).until("2026-11-19 15:00");
        assert_eq!(object.replicas(), count, "adopted");
    }
    object.scale(3).until("2026-11-20 10:00");
    object.scale(5).apply();
    assert_eq!(object.replicas(), 5, "running");
    object.edit("stop-replicas", Some("2"));
    object.until("2026-11-20 20:00").scale(0).apply();
    assert_eq!(object.replicas(), 0, "lower than stopped");
    object.edit("pause", Some("true")).scale(4).apply();
    assert_eq!(object.replicas(), 4, "paused");
}

#[test]
fn enforce_applies_to_a_sleep_and_restores_labels_in_the_same_write() {
    let mut object = office(3);
    object
        .edit("enforce", Some("true"))
        .edit("sleep-until", Some("2026-11-19 16:00"))
        .until("2026-11-19 15:00");
    let before = object.writes;
    object.replace(2).apply();
    assert_eq!((object.replicas(), object.saved()), (0, Some(3)));
    assert_eq!(object.writes - before, 1);
    object.until("2026-11-19 16:00");
    assert_eq!(object.replicas(), 3);
}

#[test]
fn label_corrections_during_an_override_are_limited_too() {
    let mut object = at_night(3);
    object.edit("wake-until", Some("2026-11-20 22:00")).apply();
    let before = object.writes;
    for _ in 0..10 {
        object.now += TimeDelta::seconds(30);
        object.label(Label::Next, None).apply();
    }
    assert_eq!(object.writes - before, 3);
    object.until("2026-11-20 22:00");
    assert_eq!(object.replicas(), 0);
}

/// A stop that never comes is not announced. The Warning is repeated while the workload runs, because
/// the API server deletes an Event after an hour.
#[test]
fn a_count_at_the_correction_limit_is_reported_again_and_announces_no_stop() {
    for enforce in ["1m", "true"] {
        let mut object = at_night_enforced(3);
        object.edit("enforce", Some(enforce)).apply();
        for _ in 0..3 {
            object.scale(1).apply();
            object.now += TimeDelta::minutes(1);
            object.apply();
            assert_eq!(object.replicas(), 0, "{enforce}");
        }
        object.reasons();
        let due = object.scale(1).apply();
        assert_eq!(object.reasons(), ["CorrectionLimitReached"], "{enforce}");
        assert_eq!(due, Some(object.now + TimeDelta::minutes(30)));
        object.until("2026-11-20 23:00");
        let told = object.reasons();
        assert!(told.len() >= 4, "{enforce}: {told:?}");
        assert!(told.iter().all(|reason| reason == "CorrectionLimitReached"));
        assert_eq!(object.replicas(), 1);
        // It lasts as long as the condition.
        object.scale(0).until("2026-11-21 03:00");
        assert_eq!(object.reasons(), [""; 0], "{enforce}");
        object.until("2026-11-23 09:00");
        assert_eq!(object.replicas(), 3, "{enforce}");
    }
}

/// Stopped on Friday evening, with a grace period of half an hour.
fn at_night_with_grace(replicas: u32) -> Object {
    let mut object = at_night(replicas);
    object.edit("enforce", Some("30m")).apply();
    object.reasons();
    object
}

#[test]
fn enforce_with_a_grace_period_sends_an_event_and_stops_after_it() {
    let mut object = at_night_with_grace(3);
    let due = object.scale(5).apply();
    assert_eq!(object.replicas(), 5);
    let soon = object.notices.last().unwrap();
    assert_eq!(soon.reason.to_string(), "StopsSoon");
    let expected = "the schedule specifies stopped; dayshift/enforce stops it at Fri 2026-11-20 \
        20:30:00 UTC. To keep it running, run `dayshift wake deploy/web -n dev --for 2h`";
    assert_eq!(soon.text, expected);
    assert_eq!(due, Some(utc("2026-11-20 20:30")));
    object.until("2026-11-20 20:29");
    assert_eq!(object.reasons(), ["StopsSoon"], "one Event");
    assert_eq!(object.replicas(), 5);
    object.until("2026-11-20 20:30");
    assert_eq!((object.replicas(), object.saved()), (0, Some(5)));
    assert_eq!(object.reasons(), ["Enforced"]);
    object.until("2026-11-23 09:00");
    assert_eq!(object.replicas(), 5);
}

#[test]
fn lowering_within_the_grace_period_resets_it() {
    let mut object = at_night_with_grace(3);
    object.scale(1).until("2026-11-20 20:20");
    object.scale(0).until("2026-11-20 20:40");
    object.scale(2).until("2026-11-20 21:09");
    assert_eq!(object.replicas(), 2);
    object.until("2026-11-20 21:10");
    assert_eq!((object.replicas(), object.saved()), (0, Some(3)));
}

/// Autoscalers do this repeatedly, and it should not extend the grace period.
#[test]
fn raising_further_within_the_grace_period_does_not_extend_it() {
    let mut object = at_night_with_grace(3);
    object.scale(1).until("2026-11-20 20:10");
    object.scale(4).until("2026-11-20 20:20");
    object.scale(2).until("2026-11-20 20:25");
    object.scale(3).until("2026-11-20 20:29");
    assert_eq!(
        (object.replicas(), object.reasons()),
        (3, vec!["StopsSoon".into()])
    );
    object.until("2026-11-20 20:30");
    assert_eq!((object.replicas(), object.saved()), (0, Some(3)));
}

#[test]
fn a_workload_created_outside_running_hours_is_stopped_after_the_grace_period() {
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
    // Within running hours nothing is stopped.
    let mut object = Object::new("2026-11-20 12:00", 4).annotate("hours", "Mon-Fri 09:00-19:00");
    object.edit("enforce", Some("1h")).until("2026-11-20 18:59");
    assert_eq!(object.replicas(), 4);
}

/// If no patch is accepted, for example because of a webhook, the grace period does not begin.
#[test]
fn a_grace_period_begins_with_its_event_and_lasts_in_full() {
    let mut object = Object::new("2026-11-20 22:00", 4).annotate("hours", "Mon-Fri 09:00-19:00");
    object.edit("enforce", Some("30m"));
    object.away_until("2026-11-20 23:10").apply();
    assert_eq!(object.reasons(), ["StopsSoon"]);
    object.until("2026-11-20 23:39");
    assert_eq!(object.replicas(), 4);
    object.until("2026-11-20 23:40");
    assert_eq!(
        (object.replicas(), object.reasons()),
        (0, vec!["Enforced".into()])
    );
}

/// If another client keeps writing another `next`, that is corrected once with calendars, in case
/// another controller wrote it, and `enforce` continues.
#[test]
fn a_next_label_from_other_calendars_does_not_extend_the_grace_period() {
    let mut object = at_night_with_grace(3);
    object.calendar("2026-12-24");
    object.edit("except", Some("calendar:de")).apply();
    object.scale(5).apply();
    for minute in ["20:05", "20:10", "20:15"] {
        object.until(&format!("2026-11-20 {minute}"));
        object.label(Label::Next, Some("2026-11-30T09.00.00Z"));
        object.apply();
    }
    assert_ne!(object.next().unwrap(), "2026-11-23T09.00.00Z");
    object.until("2026-11-20 21:00");
    assert_eq!((object.replicas(), object.saved()), (0, Some(5)));
}

#[test]
fn a_start_or_a_wake_within_the_grace_period_prevents_the_stop() {
    let mut object = at_night_with_grace(3);
    object.until("2026-11-23 08:45").scale(5);
    object.until("2026-11-23 09:20");
    assert_eq!(object.replicas(), 5);
    assert!(!object.reasons().contains(&"StopsSoon".to_owned()));
    let mut object = at_night_with_grace(3);
    object.scale(5).apply();
    object.edit("wake-until", Some("2026-11-20 23:00"));
    object.until("2026-11-20 22:59");
    assert_eq!(object.replicas(), 5);
    object.until("2026-11-20 23:00");
    assert_eq!(object.replicas(), 0, "stopped at the end of the wake");
}

#[test]
fn a_restart_resets_the_grace_period_and_corrections_stay_limited() {
    let mut object = at_night_with_grace(3);
    object.scale(5).until("2026-11-20 20:20");
    object.restart().until("2026-11-20 20:49");
    assert_eq!(object.replicas(), 5);
    object.until("2026-11-20 20:50");
    assert_eq!(object.replicas(), 0);
    // The first correction since the restart is not a repetition yet.
    for hour in ["20 21", "20 22", "20 23", "21 00"] {
        object.away_until(&format!("2026-11-{hour}:00")).scale(1);
        object.until(&format!("2026-11-{hour}:40"));
    }
    assert_eq!(
        object.replicas(),
        1,
        "no correction until the next boundary"
    );
    assert!(
        object
            .reasons()
            .contains(&"CorrectionLimitReached".to_owned())
    );
}
