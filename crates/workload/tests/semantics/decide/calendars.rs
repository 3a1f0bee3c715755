//! Named dates: a changed calendar affects only future boundaries.

use crate::decide::object::{Object, utc};
use dayshift_workload::events::EventReason;
use dayshift_workload::{Decision, Label, Phase};

/// Running hours on working days except the calendar dates, observed on Thursday.
fn with_hours(dates: &str) -> Object {
    let mut object = Object::new("2026-11-19 12:00", 3);
    object.calendar(dates);
    let mut object = object
        .annotate("hours", "Mon-Fri 09:00-19:00")
        .annotate("except", "calendar:de; 2026-11-24");
    object.apply();
    object
}

/// The same schedule with starts and stops.
fn with_times(dates: &str) -> Object {
    let mut object = Object::new("2026-11-19 12:00", 3);
    object.calendar(dates);
    let mut object = object
        .annotate("start", "Mon-Fri 09:00")
        .annotate("stop", "Mon-Fri 19:00")
        .annotate("except", "2026-11-24; calendar:de");
    object.apply();
    object
}

const FRIDAY: &str = "2026-11-20";
const NO_DAY: &str = "2030-01-01";

#[test]
fn nothing_starts_on_an_excluded_calendar_date() {
    for mut object in [with_hours(FRIDAY), with_times(FRIDAY)] {
        object.until("2026-11-20 12:00");
        assert_eq!((object.replicas(), object.saved()), (0, Some(3)));
        object.until("2026-11-23 09:00");
        assert_eq!(object.replicas(), 3);
        object.until("2026-11-24 12:00");
        assert_eq!(object.replicas(), 0, "dates in the annotation apply too");
    }
}

#[test]
fn an_added_date_removes_its_start() {
    for mut object in [with_hours(NO_DAY), with_times(NO_DAY)] {
        object.until("2026-11-19 20:00");
        assert_eq!(object.next().unwrap(), "2026-11-20T09.00.00Z");
        object.calendar(FRIDAY);
        assert_ne!(object.next().unwrap(), "2026-11-20T09.00.00Z");
        object.until("2026-11-20 12:00");
        assert_eq!((object.replicas(), object.saved()), (0, Some(3)));
        object.until("2026-11-23 09:00");
        assert_eq!((object.replicas(), object.saved()), (3, None));
    }
}

#[test]
fn a_start_moved_into_the_past_is_not_carried_out() {
    for restarts in [false, true] {
        for mut object in [with_hours(FRIDAY), with_times(FRIDAY)] {
            object.until("2026-11-20 10:00");
            if restarts {
                object.restart();
            }
            object.calendar(NO_DAY);
            assert_eq!(object.replicas(), 0);
            assert_eq!(object.next().unwrap(), "2026-11-20T19.00.00Z");
            object.until("2026-11-20 18:59");
            object.restart().apply();
            assert_eq!((object.replicas(), object.saved()), (0, Some(3)));
            object.until("2026-11-23 09:00");
            assert_eq!(object.replicas(), 3);
        }
    }
}

#[test]
fn a_boundary_that_a_calendar_change_adds_in_the_past_is_not_carried_out() {
    let mut object = Object::new("2026-11-19 12:00", 0);
    object.calendar(FRIDAY);
    let mut object = object
        .annotate("start", "2026-11-20 09:00")
        .annotate("except", "calendar:de");
    object.until("2026-11-20 10:00");
    assert_eq!(object.next().unwrap(), "never");
    object.calendar(NO_DAY);
    object.until("2026-11-20 12:00");
    assert_eq!(object.replicas(), 0);

    // Boundaries after the change are carried out.
    let mut object = Object::new("2026-11-19 12:00", 0);
    object.calendar(FRIDAY);
    let mut object = object
        .annotate("start", "2026-11-20 09:00")
        .annotate("except", "calendar:de");
    object.until("2026-11-20 08:00");
    object.calendar(NO_DAY);
    object.until("2026-11-20 09:00");
    assert_eq!(object.replicas(), 1);
}

#[test]
fn a_calendar_change_during_a_patch_is_applied() {
    let mut object = Object::new("2026-11-19 12:00", 0);
    object.calendar(FRIDAY);
    let mut object = object
        .annotate("start", "2026-11-20 09:00")
        .annotate("except", "calendar:de");
    object.until("2026-11-20 10:00");
    object.observed.labels.set(Label::State, None);
    let Decision::Write(correction) = object.decide() else {
        panic!("no correction");
    };
    object.away_until("2026-11-20 10:00:01");
    object.take_calendar(NO_DAY);
    object.write(correction);
    object.until("2026-11-20 12:00");
    assert_eq!(object.replicas(), 0);
}

#[test]
fn a_date_that_is_added_after_its_start_stops_nothing() {
    // The windows of that date are removed with their ends, so it runs until the next stop.
    let mut object = with_hours(NO_DAY);
    object.until("2026-11-20 10:00");
    object.calendar(FRIDAY);
    assert_eq!(
        (object.replicas(), object.phase()),
        (3, Some(Phase::Running))
    );
    object.until("2026-11-23 12:00");
    assert_eq!(object.replicas(), 3);
    object.until("2026-11-23 19:00");
    assert_eq!(object.replicas(), 0);

    // Separate stops are not skipped on any date.
    let mut object = with_times(NO_DAY);
    object.until("2026-11-20 10:00");
    object.calendar(FRIDAY);
    assert_eq!(object.replicas(), 3);
    object.until("2026-11-20 19:00");
    assert_eq!((object.replicas(), object.saved()), (0, Some(3)));
}

#[test]
fn a_calendar_change_without_effect_on_future_boundaries_writes_nothing() {
    let mut object = with_hours(FRIDAY);
    object.until("2026-11-19 20:00");
    let before = object.writes;
    object.calendar("2026-11-20; 2027-05-01");
    object.until("2026-11-20 20:00");
    assert_eq!(object.writes, before);
}

#[test]
fn calendar_changes_are_not_corrections() {
    let mut object = with_hours(NO_DAY);
    object.until("2026-11-19 20:00");
    for round in 0..9 {
        object.calendar(FRIDAY);
        assert_eq!(object.next().unwrap(), "2026-11-23T09.00.00Z", "{round}");
        object.calendar(NO_DAY);
        assert_eq!(object.next().unwrap(), "2026-11-20T09.00.00Z", "{round}");
    }
    object.until("2026-11-20 09:00");
    assert_eq!(object.replicas(), 3);
}

#[test]
fn a_due_boundary_is_carried_out_despite_a_calendar_change() {
    let mut object = with_hours(NO_DAY);
    object.until("2026-11-19 20:00");
    // Nothing is decided at 09:00, and another date changes before the next decision.
    object.away_until("2026-11-20 09:05").calendar("2027-05-01");
    assert_eq!(object.replicas(), 3);
    assert_eq!(object.state().last, Some(utc("2026-11-20 09:00")));
}

#[test]
fn a_calendar_change_is_not_an_edit() {
    let mut object = with_hours(NO_DAY);
    object.until("2026-11-19 20:00");
    let (before, notices) = (object.state().fingerprint, object.notices.len());
    object.calendar(FRIDAY);
    assert_eq!(object.state().fingerprint, before);
    assert_eq!(
        (object.phase(), object.saved()),
        (Some(Phase::Stopped), Some(3))
    );
    assert_eq!(object.notices.len(), notices);
}

#[test]
fn a_calendar_change_during_an_override_takes_effect_at_its_end() {
    let mut object = with_hours(FRIDAY);
    object.until("2026-11-20 10:00");
    object.edit("wake-until", Some("2026-11-20 12:00")).apply();
    assert_eq!(object.replicas(), 3);
    object.calendar(NO_DAY);
    assert_eq!(object.next().unwrap(), "2026-11-20T12.00.00Z");
    // At its end the current schedule decides.
    object.until("2026-11-20 12:00");
    assert_eq!(
        (object.replicas(), object.phase()),
        (3, Some(Phase::Running))
    );

    let mut object = with_hours(FRIDAY);
    object.until("2026-11-20 10:00");
    object.edit("pause", Some("true")).apply();
    object.calendar(NO_DAY);
    object.until("2026-11-20 12:00");
    object.edit("pause", None).apply();
    assert_eq!(
        object.replicas(),
        3,
        "stopped although the schedule requires it to run"
    );
}

#[test]
fn an_unknown_calendar_changes_nothing_until_it_is_loaded() {
    let mut object = Object::new("2026-11-19 12:00", 3)
        .annotate("hours", "Mon-Fri 09:00-19:00")
        .annotate("except", "2026-11-24; calendar:de");
    object.until("2026-11-19 20:00");
    assert_eq!((object.replicas(), object.next()), (3, None));
    let error = object.observed.error.clone().unwrap();
    assert!(
        error.contains("`de` is not a known calendar; give its file"),
        "{error}"
    );
    assert!(
        object
            .notices
            .iter()
            .any(|it| it.reason == EventReason::InvalidSchedule)
    );
    object.restart().calendar(FRIDAY);
    assert_eq!(object.observed.error, None);
    object.until("2026-11-23 12:00");
    assert_eq!(object.replicas(), 3);
    object.until("2026-11-23 19:00");
    assert_eq!(object.replicas(), 0);
}

/// The only start is on a calendar date that is removed while no controller runs. The label `next`
/// shows that no boundary was expected.
#[test]
fn a_start_that_is_in_the_past_after_a_restart_is_not_carried_out() {
    let only = |dates: &str| {
        let mut object = Object::new("2026-11-19 12:00", 0);
        object.calendar(dates);
        let object = object.annotate("start", "2026-11-20 09:00; 2026-11-27 09:00");
        let mut object = object.annotate("except", "calendar:de");
        object.apply();
        object
    };
    let mut object = only("2026-11-20; 2026-11-27");
    assert_eq!(object.next().unwrap(), "never");
    object.away_until("2026-11-20 12:00");
    object.restart_with_calendar("2026-11-27").apply();
    assert_eq!(
        (object.replicas(), object.next().unwrap()),
        (0, "never".into())
    );
    // The expected boundary is carried out nevertheless.
    object.restart_with_calendar(NO_DAY).apply();
    assert_eq!(object.next().unwrap(), "2026-11-27T09.00.00Z");
    object.until("2026-11-27 09:00");
    assert_eq!(object.replicas(), 1);

    // If a boundary was expected while no controller ran, it is carried out as usual.
    let mut object = only("2026-11-27");
    object.away_until("2026-11-20 12:00").restart().apply();
    assert_eq!(object.replicas(), 1);
}
