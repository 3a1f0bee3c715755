//! Dates by name: a calendar that changes acts forwards only.

use crate::decide::object::{Object, utc};
use dayshift_workload::events::EventReason;
use dayshift_workload::{Decision, Label, Phase};

/// Running hours of working days, but not on the dates of the calendar; seen on Thursday.
fn with_hours(dates: &str) -> Object {
    let mut object = Object::new("2026-11-19 12:00", 3);
    object.calendar(dates);
    let mut object = object
        .annotate("hours", "Mon-Fri 09:00-19:00")
        .annotate("except", "calendar:de; 2026-11-24");
    object.obey();
    object
}

/// The same as starts and stops.
fn with_times(dates: &str) -> Object {
    let mut object = Object::new("2026-11-19 12:00", 3);
    object.calendar(dates);
    let mut object = object
        .annotate("start", "Mon-Fri 09:00")
        .annotate("stop", "Mon-Fri 19:00")
        .annotate("except", "2026-11-24; calendar:de");
    object.obey();
    object
}

const FRIDAY: &str = "2026-11-20";
const NO_DAY: &str = "2030-01-01";

#[test]
fn nothing_starts_on_a_date_of_the_calendar() {
    for mut object in [with_hours(FRIDAY), with_times(FRIDAY)] {
        object.until("2026-11-20 12:00");
        assert_eq!((object.replicas(), object.saved()), (0, Some(3)));
        object.until("2026-11-23 09:00");
        assert_eq!(object.replicas(), 3);
        object.until("2026-11-24 12:00");
        assert_eq!(object.replicas(), 0, "the date that is written counts too");
    }
}

#[test]
fn a_date_that_is_added_takes_its_start_away() {
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
fn a_start_that_a_change_puts_into_the_past_is_not_made_up_for() {
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
            object.restart().obey();
            assert_eq!((object.replicas(), object.saved()), (0, Some(3)));
            object.until("2026-11-23 09:00");
            assert_eq!(object.replicas(), 3);
        }
    }
}

#[test]
fn a_boundary_that_another_calendar_brings_into_the_past_is_not_made_up_for() {
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

    // What comes after the change is done.
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
fn a_change_while_a_patch_is_on_its_way_is_not_forgotten() {
    let mut object = Object::new("2026-11-19 12:00", 0);
    object.calendar(FRIDAY);
    let mut object = object
        .annotate("start", "2026-11-20 09:00")
        .annotate("except", "calendar:de");
    object.until("2026-11-20 10:00");
    object.observed.labels.set(Label::State, None);
    let Decision::Write(correction) = object.decide() else {
        panic!("nothing is put right");
    };
    object.away_until("2026-11-20 10:00:01");
    object.take_calendar(NO_DAY);
    object.write(correction);
    object.until("2026-11-20 12:00");
    assert_eq!(object.replicas(), 0);
}

#[test]
fn a_date_that_is_added_too_late_stops_nothing() {
    // The windows of that date are gone, with their ends: it runs until the next stop.
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

    // Stops of their own are dropped on no date.
    let mut object = with_times(NO_DAY);
    object.until("2026-11-20 10:00");
    object.calendar(FRIDAY);
    assert_eq!(object.replicas(), 3);
    object.until("2026-11-20 19:00");
    assert_eq!((object.replicas(), object.saved()), (0, Some(3)));
}

#[test]
fn a_change_that_concerns_no_boundary_to_come_writes_nothing() {
    let mut object = with_hours(FRIDAY);
    object.until("2026-11-19 20:00");
    let before = object.writes;
    object.calendar("2026-11-20; 2027-05-01");
    object.until("2026-11-20 20:00");
    assert_eq!(object.writes, before);
}

#[test]
fn changes_of_the_calendar_are_no_corrections() {
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
fn a_boundary_that_waits_to_be_done_is_done_all_the_same() {
    let mut object = with_hours(NO_DAY);
    object.until("2026-11-19 20:00");
    // Nobody looked at nine o'clock, and another date changes before anybody does.
    object.away_until("2026-11-20 09:05").calendar("2027-05-01");
    assert_eq!(object.replicas(), 3);
    assert_eq!(object.state().last, Some(utc("2026-11-20 09:00")));
}

#[test]
fn a_change_of_the_calendar_is_no_edit() {
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
fn while_something_holds_a_change_waits_for_its_end() {
    let mut object = with_hours(FRIDAY);
    object.until("2026-11-20 10:00");
    object.edit("wake-until", Some("2026-11-20 12:00")).obey();
    assert_eq!(object.replicas(), 3);
    object.calendar(NO_DAY);
    assert_eq!(object.next().unwrap(), "2026-11-20T12.00.00Z");
    // At its end the schedule as it is then decides.
    object.until("2026-11-20 12:00");
    assert_eq!(
        (object.replicas(), object.phase()),
        (3, Some(Phase::Running))
    );

    let mut object = with_hours(FRIDAY);
    object.until("2026-11-20 10:00");
    object.edit("pause", Some("true")).obey();
    object.calendar(NO_DAY);
    object.until("2026-11-20 12:00");
    object.edit("pause", None).obey();
    assert_eq!(object.replicas(), 3, "held down, and it says running");
}

#[test]
fn a_calendar_that_is_not_known_changes_nothing_until_it_is() {
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

/// The only start is on a date of the calendar, which loses that date while nobody is there: the
/// label `next` says that nothing was to come.
#[test]
fn a_start_that_a_restart_finds_behind_it_is_not_made_up_for() {
    let only = |dates: &str| {
        let mut object = Object::new("2026-11-19 12:00", 0);
        object.calendar(dates);
        let object = object.annotate("start", "2026-11-20 09:00; 2026-11-27 09:00");
        let mut object = object.annotate("except", "calendar:de");
        object.obey();
        object
    };
    let mut object = only("2026-11-20; 2026-11-27");
    assert_eq!(object.next().unwrap(), "never");
    object.away_until("2026-11-20 12:00");
    object.restart_with_calendar("2026-11-27").obey();
    assert_eq!(
        (object.replicas(), object.next().unwrap()),
        (0, "never".into())
    );
    // The one to come is done all the same.
    object.restart_with_calendar(NO_DAY).obey();
    assert_eq!(object.next().unwrap(), "2026-11-27T09.00.00Z");
    object.until("2026-11-27 09:00");
    assert_eq!(object.replicas(), 1);

    // What was to come when nobody was there is made up for, as ever.
    let mut object = only("2026-11-27");
    object.away_until("2026-11-20 12:00").restart().obey();
    assert_eq!(object.replicas(), 1);
}
