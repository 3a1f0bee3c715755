//! If another client keeps reverting corrections, dayshift stops until the next boundary, and sends
//! one Warning.

use chrono::TimeDelta;
use dayshift_workload::events::{EventReason, EventText};
use dayshift_workload::{Label, Phase};

use crate::decide::object::{Object, at_night, office, utc};

/// A change that another client makes repeatedly.
type RepeatedChange<'a> = &'a dyn Fn(&mut Object);

/// The number of writes and Warnings if the change is made ten times, every half minute.
fn fight(object: &mut Object, change: RepeatedChange<'_>) -> (usize, usize) {
    object.reasons();
    let before = object.writes;
    for _ in 0..10 {
        object.now += TimeDelta::seconds(30);
        change(object);
        object.apply();
    }
    let reasons = object.reasons();
    let warned = reasons
        .iter()
        .filter(|reason| *reason == "CorrectionLimitReached");
    (object.writes - before, warned.count())
}

fn pin(label: Label, text: &str) -> impl Fn(&mut Object) {
    move |object| {
        object.label(label, Some(text));
    }
}

#[test]
fn the_warning_about_the_correction_limit_contains_its_commands() {
    let mut object = at_night(3);
    for _ in 0..10 {
        object.now += TimeDelta::seconds(30);
        object.label(Label::State, Some("running")).apply();
    }
    let is_warning = |it: &&EventText| it.reason == EventReason::CorrectionLimitReached;
    let text = &object.notices.iter().find(is_warning).unwrap().text;
    let commands = "To apply the schedule now, run `dayshift sync deploy/web -n dev`; to see which client \
        it is, run `kubectl get deployment/web -n dev -o yaml --show-managed-fields`";
    assert!(text.ends_with(commands), "{text}");
}

#[test]
fn a_pinned_label_is_corrected_three_times_between_boundaries() {
    for (label, text) in [
        (Label::State, "woken"),
        (Label::State, "slept"),
        (Label::State, "paused"),
        (Label::State, "adopted"),
        (Label::State, "asleep"),
        (Label::Last, "2027-06-01T00.00.00Z"),
        (Label::Last, "2026-01-01T00.00.00Z"),
        (Label::Last, "yesterday"),
        (Label::Next, "2026-01-01T00.00.00Z"),
        (Label::Fingerprint, "v1-0123456789abcdef"),
        (Label::Fingerprint, "v2-0123456789abcdef-0123456789abcdef"),
    ] {
        let change = pin(label, text);
        let mut object = office(3);
        object.until("2026-11-20 10:00");
        for (boundary, count) in [
            ("2026-11-20 19:00", 0),
            ("2026-11-23 09:00", 3),
            ("2026-11-23 19:00", 0),
        ] {
            let (writes, warned) = fight(&mut object, &change);
            assert!(
                writes <= 3,
                "{label:?}={text}: {writes} writes before {boundary}"
            );
            assert!(warned == 1, "{label:?}={text}: {warned} before {boundary}");
            object.until(boundary);
            assert_eq!(object.replicas(), count, "{label:?}={text} at {boundary}");
        }
    }
}

#[test]
fn a_pinned_label_is_corrected_three_times_during_an_override() {
    for key in ["wake-until", "sleep-until", "pause"] {
        for text in ["running", "stopped", "adopted", "woken", "slept", "paused"] {
            let mut object = office(3);
            object.until("2026-11-20 10:00");
            object.edit(key, Some("2026-11-20 15:00")).apply();
            let (writes, _) = fight(&mut object, &pin(Label::State, text));
            assert!(writes <= 3, "{key}, state={text}: {writes}");
            object.until("2026-11-23 10:00");
            assert_eq!(object.replicas(), 3, "{key}, state={text}");
        }
    }
}

#[test]
fn a_clock_set_back_is_no_correction_and_does_not_reset_the_limit() {
    let mut object = office(3);
    object.until("2026-11-20 10:00");
    fight(&mut object, &pin(Label::Next, "2026-01-01T00.00.00Z"));
    object.now = utc("2026-11-18 12:00");
    object
        .label(Label::Next, Some("2026-11-20T19.00.00Z"))
        .apply();
    assert_eq!(object.state().last, Some(utc("2026-11-18 12:00")));
    assert_eq!(object.reasons(), ["StateFromFuture"]);

    let mut object = office(3);
    object.edit("pause", Some("true")).apply();
    object.now = utc("2026-11-18 12:00");
    let (writes, _) = fight(&mut object, &pin(Label::Next, "2026-01-01T00.00.00Z"));
    assert!(writes <= 3, "{writes}");
}

#[test]
fn labels_without_a_schedule_are_removed_three_times() {
    let mut object = office(3);
    object.edit("hours", None).apply();
    let change = pin(Label::State, "running");
    assert_eq!(fight(&mut object, &change), (3, 1));
    object.until("2026-11-30 12:00");
    assert_eq!(
        fight(&mut object, &change),
        (0, 0),
        "no boundary has been reached"
    );
    object.edit("hours", Some("Mon-Fri 09:00-19:00")).apply();
    assert_eq!(
        object.phase(),
        Some(Phase::Adopted),
        "the schedule was adopted"
    );
}

#[test]
fn labels_removed_by_a_replace_are_restored_three_times() {
    let mut object = at_night(5);
    let change = |object: &mut Object| {
        object.replace(object.replicas());
    };
    for boundary in ["2026-11-23 09:00", "2026-11-23 19:00"] {
        assert_eq!(fight(&mut object, &change), (3, 1), "before {boundary}");
        object.until(boundary);
    }
    object.until("2026-11-24 09:00");
    assert_eq!(object.replicas(), 5, "each boundary is still carried out");
}

#[test]
fn a_removed_error_is_restored_three_times() {
    let mut object = office(3);
    object.edit("hours", Some("x")).apply();
    let change = |object: &mut Object| {
        object.observed.error = None;
        object.scale(3);
    };
    assert_eq!(fight(&mut object, &change), (3, 1));
}

#[test]
fn an_ended_override_that_is_restored_is_removed_three_times() {
    let mut object = office(3);
    object.until("2026-11-20 10:00");
    object.edit("sleep-until", Some("2027-06-01 12:00")).apply();
    let during = object.clone();
    object.edit("sleep-until", None).apply();
    let change = |object: &mut Object| {
        object.undo(&during);
    };
    assert_eq!(fight(&mut object, &change), (3, 1));
    assert_eq!(object.replicas(), 3, "the correction does not scale");
}

#[test]
fn user_changes_are_never_limited() {
    let mut object = office(3);
    object.until("2026-11-20 10:00").reasons();
    for _ in 0..10 {
        object.edit("hours", Some("Mon-Fri 08:00-19:00")).apply();
        object.edit("hours", Some("Mon-Fri 09:00-19:00")).apply();
        object.edit("pause", Some("true")).apply();
        object.edit("pause", None).apply();
        object.edit("sleep-until", Some("2026-11-20 15:00")).apply();
        object.edit("sleep-until", None).apply();
        object.edit("hours", Some("x")).apply();
        object.edit("hours", Some("Mon-Fri 09:00-19:00")).apply();
    }
    assert!(
        !object
            .reasons()
            .contains(&"CorrectionLimitReached".to_owned())
    );
    assert_eq!(
        (object.replicas(), object.phase()),
        (3, Some(Phase::Running))
    );
}

/// For some seconds of a rolling update, an old and a new process run with different flags. That is
/// not a fight.
#[test]
fn the_last_correction_is_delayed_by_30_seconds() {
    let mut object = office(3);
    object.until("2026-11-20 10:00").reasons();
    let before = object.writes;
    let change = pin(Label::State, "adopted");
    for _ in 0..5 {
        change(&mut object);
        let due = object.apply();
        let boundary = utc("2026-11-20 19:00");
        let is_last = object.writes - before == 2 && object.phase() == Some(Phase::Adopted);
        let waits = Some(utc("2026-11-20 10:00") + TimeDelta::seconds(30));
        assert_eq!(due, if is_last { waits } else { Some(boundary) });
    }
    assert_eq!(
        (object.writes - before, object.phase()),
        (2, Some(Phase::Adopted))
    );
    object.now += TimeDelta::seconds(30);
    object.apply();
    assert_eq!(
        (object.writes - before, object.phase()),
        (3, Some(Phase::Running))
    );
    assert!(object.reasons().is_empty(), "no further Event");
}
