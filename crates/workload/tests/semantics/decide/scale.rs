//! `scale`: exact counts at times.

use crate::decide::object::{Object, utc};
use dayshift_workload::events::EventReason;
use dayshift_workload::{
    Decision, Label, Override, OverrideCommand, OverrideError, ParseContext, ParsedInputs, Phase,
    SyncAction, read,
};

const STEPS: &str = "Mon-Fri 08:00 = 5; 12:00 = 10; 19:00 = 0";

/// Adopted at noon on Thursday 2026-11-19, just after the step to 10.
fn stepped(replicas: u32) -> Object {
    let mut object = Object::new("2026-11-19 12:00:01", replicas).annotate("scale", STEPS);
    object.apply();
    object
}

#[test]
fn each_scale_step_sets_its_count_and_saves_nothing() {
    let mut object = stepped(3);
    assert_eq!(
        (object.replicas(), object.phase()),
        (3, Some(Phase::Adopted))
    );
    for (at, count, phase) in [
        ("2026-11-19 19:00", 0, Phase::Stopped),
        ("2026-11-20 08:00", 5, Phase::Running),
        ("2026-11-20 12:00", 10, Phase::Running),
        ("2026-11-20 19:00", 0, Phase::Stopped),
        ("2026-11-21 12:00", 10, Phase::Running), // every day, while 08:00 is on weekdays
    ] {
        let before = object.writes;
        object.until(at);
        let seen = (object.replicas(), object.saved(), object.phase());
        assert_eq!(seen, (count, None, Some(phase)), "{at}");
        assert_eq!(object.writes - before, 1, "{at}");
    }
}

#[test]
fn a_scale_step_replaces_a_manual_count_in_both_directions() {
    for (manual, expected) in [(0, 10), (7, 10), (20, 10)] {
        let mut object = stepped(3);
        object
            .until("2026-11-20 08:30")
            .scale(manual)
            .until("2026-11-20 11:59");
        assert_eq!(object.replicas(), manual, "manual changes are allowed");
        object.until("2026-11-20 12:00");
        assert_eq!(object.replicas(), expected);
    }
}

#[test]
fn a_wake_sets_the_largest_scale_count_and_never_lowers() {
    for (count, woken) in [(0, 10), (4, 10), (12, 12)] {
        let mut object = stepped(3);
        object.until("2026-11-19 22:00").scale(count);
        object.edit("wake-until", Some("2026-11-19 23:00")).apply();
        assert_eq!(object.replicas(), woken, "woken from {count}");
        object.until("2026-11-19 23:00");
        assert_eq!(
            (object.replicas(), object.saved()),
            (0, None),
            "the step of 19:00"
        );
    }
}

#[test]
fn a_sleep_sets_0_and_its_end_sets_the_count_of_the_latest_step() {
    let mut object = stepped(3);
    object.until("2026-11-20 09:00");
    object.edit("sleep-until", Some("2026-11-20 13:00")).apply();
    assert_eq!(object.replicas(), 0);
    object.until("2026-11-20 13:00");
    assert_eq!((object.replicas(), object.saved()), (10, None));
}

#[test]
fn a_missed_scale_step_is_carried_out_once() {
    let mut object = stepped(3);
    object.away_until("2026-11-20 12:30").restart().apply();
    assert_eq!(
        (object.replicas(), object.phase()),
        (10, Some(Phase::Running))
    );
    assert_eq!(
        object.observed.labels.text(Label::Last),
        Some("2026-11-20T12.00.00Z")
    );
}

#[test]
fn enforce_applies_to_a_scale_of_0_and_not_to_other_counts() {
    let mut object = stepped(3);
    object
        .edit("enforce", Some("true"))
        .until("2026-11-20 09:00");
    object.scale(6).apply();
    assert_eq!(object.replicas(), 6);
    object.until("2026-11-20 20:00").scale(2).apply();
    assert_eq!(object.replicas(), 0);
}

#[test]
fn an_excluded_date_skips_steps_up_and_keeps_steps_down() {
    let mut object = stepped(3).annotate("except", "2026-11-20");
    object
        .until("2026-11-19 20:00")
        .scale(2)
        .until("2026-11-20 18:59");
    assert_eq!(object.replicas(), 2);
    object.until("2026-11-20 19:00");
    assert_eq!(object.replicas(), 0);
}

#[test]
fn the_event_contains_the_count_and_the_next_step() {
    let mut object = stepped(3);
    object.until("2026-11-20 08:00");
    let note = object.notices.last().unwrap();
    assert_eq!(note.reason, EventReason::Scaled);
    assert_eq!(
        note.text,
        "scaled from 0 to 5 by the scale to 5 of Fri 2026-11-20 08:00:00 UTC; \
         next is the scale to 10 of Fri 2026-11-20 12:00:00 UTC"
    );
}

#[test]
fn scale_cannot_be_combined_with_other_schedules() {
    for (key, text) in [
        ("start", "09:00"),
        ("stop", "19:00"),
        ("hours", "09:00-19:00"),
        ("replicas", "3"),
        ("stop-replicas", "1"),
    ] {
        let mut object = stepped(3).annotate(key, text);
        object.apply();
        let error = object.observed.error.clone().unwrap();
        assert!(
            error.contains("scale") && error.contains(key),
            "{key}: {error}"
        );
        assert!(
            matches!(object.decide(), Decision::Wait { due: None }),
            "{key}"
        );
        assert_eq!(object.replicas(), 3);
    }
}

#[test]
fn changing_between_scale_and_hours_keeps_the_count() {
    let mut object = stepped(3);
    object.until("2026-11-20 12:30");
    object
        .edit("scale", None)
        .edit("hours", Some("09:00-19:00"))
        .until("2026-11-20 20:00");
    assert_eq!((object.replicas(), object.saved()), (0, Some(10)));
    object
        .edit("hours", None)
        .edit("scale", Some(STEPS))
        .apply();
    assert_eq!(
        (object.replicas(), object.saved()),
        (0, Some(10)),
        "a start never lowers"
    );
    object.until("2026-11-21 12:00");
    assert_eq!((object.replicas(), object.saved()), (10, None));
}

#[test]
fn sync_sets_the_current_scale_count_until_the_next_step() {
    for (state, replicas) in [
        ("adopted", 3),
        ("scaled manually", 8),
        ("scaled manually", 0),
    ] {
        let mut object = stepped(3).annotate("enforce", "true");
        object.apply();
        object.until("2026-11-20 08:00");
        if state == "adopted" {
            object = Object::new("2026-11-20 08:00:01", replicas).annotate("scale", STEPS);
            object.apply();
        }
        object.scale(replicas);
        let SyncAction::Count { change, until } = sync(&object).unwrap().unwrap() else {
            panic!("{state}: an override cannot set 5");
        };
        assert_eq!(until, Some(utc("2026-11-20 12:00")));
        // A CLI command writes it, not this controller.
        object.observed.labels = change.state.to_labels();
        object.scale(change.replicas.get());
        let writes = object.writes;
        assert_eq!(sync(&object), Ok(None), "{state}");
        object.until("2026-11-20 11:59");
        assert_eq!(object.replicas(), 5, "{state}");
        assert_eq!(object.writes, writes, "manual changes are kept");
        object.until("2026-11-20 12:00");
        assert_eq!((object.replicas(), object.saved()), (10, None), "{state}");
    }
}

#[test]
fn sync_uses_an_override_if_one_sets_the_count() {
    let largest = stepped(3);
    let wake = Override::Wake(utc("2026-11-19 19:00"));
    let expected = SyncAction::Command(OverrideCommand::Begin(wake));
    assert_eq!(sync(&largest), Ok(Some(expected)));
    // A wake would keep a count above the largest one.
    let mut above = stepped(3);
    above.scale(12);
    assert!(
        matches!(sync(&above), Ok(Some(SyncAction::Count { change, .. })) if change.replicas.get() == 10)
    );
    let mut night = stepped(3);
    night.until("2026-11-19 20:00").scale(2);
    let sleep = Override::Sleep(utc("2026-11-20 08:00"));
    let expected = SyncAction::Command(OverrideCommand::Begin(sleep));
    assert_eq!(sync(&night), Ok(Some(expected)));
}

fn sync(object: &Object) -> Result<Option<SyncAction>, OverrideError> {
    match read(&object.observed.inputs, &ParseContext::default()) {
        ParsedInputs::Scheduled(spec) => SyncAction::plan(&spec, &object.observed, object.now),
        other => panic!("{other:?}"),
    }
}
