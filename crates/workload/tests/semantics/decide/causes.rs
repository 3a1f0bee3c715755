//! The cause of a change: the clock, a user's request, or a correction.

use dayshift_workload::{Cause, ChangeKind, Decision, Label};

use crate::decide::object::{Object, at_night, office, utc};

/// Decides and applies the next change.
fn next(object: &mut Object) -> (ChangeKind, Cause) {
    let Decision::Write(change) = object.decide() else {
        panic!("nothing is decided at {}", object.now);
    };
    let result = (change.kind, change.cause);
    object.write(change);
    result
}

const fn request(seen: chrono::DateTime<chrono::Utc>) -> Cause {
    Cause::Request { seen }
}

#[test]
fn a_late_boundary_is_caused_by_the_clock() {
    for now in ["2026-11-20 19:00", "2026-11-20 19:30"] {
        let mut object = office(3);
        object.until("2026-11-20 12:00").away_until(now);
        let expected = Cause::Clock(utc("2026-11-20 19:00"));
        assert_eq!(next(&mut object), (ChangeKind::Stop, expected), "{now}");
    }
}

#[test]
fn an_override_is_caused_by_a_request_and_its_end_by_the_clock_or_a_request() {
    let seen = utc("2026-11-20 20:00");
    let mut object = at_night(3);
    object.edit("wake-until", Some("2026-11-20 22:00"));
    assert_eq!(next(&mut object), (ChangeKind::Wake, request(seen)));
    let mut cut_short = object.clone();

    object.away_until("2026-11-20 22:00:01");
    let end = Cause::Clock(utc("2026-11-20 22:00"));
    assert_eq!(next(&mut object), (ChangeKind::Stop, end));

    cut_short.away_until("2026-11-20 21:00");
    cut_short.edit("wake-until", None);
    cut_short.away_until("2026-11-20 21:00:03");
    let seen = utc("2026-11-20 21:00");
    assert_eq!(next(&mut cut_short), (ChangeKind::Stop, request(seen)));
}

#[test]
fn a_hidden_override_is_caused_by_the_clock() {
    let mut object = office(3);
    object.until("2026-11-20 10:00");
    object
        .edit("wake-until", Some("2026-11-20 12:00"))
        .edit("sleep-until", Some("2026-11-20 14:00"));
    next(&mut object);
    object.away_until("2026-11-20 12:00");
    let end = Cause::Clock(utc("2026-11-20 12:00"));
    assert_eq!(next(&mut object), (ChangeKind::Sleep, end));
}

/// The controller was down when the sleep ended, or the start waits for its dependencies.
#[test]
fn a_wake_during_a_sleep_stays_a_request_after_the_sleep_has_ended() {
    let mut object = at_night(3);
    object.edit("sleep-until", Some("2026-11-20 22:00"));
    assert_eq!(next(&mut object).0, ChangeKind::Sleep);
    object.away_until("2026-11-20 21:00");
    object.edit("wake-until", Some("2026-11-20 23:00"));
    object.away_until("2026-11-20 22:30");
    let seen = utc("2026-11-20 21:00");
    assert_eq!(next(&mut object), (ChangeKind::Wake, request(seen)));
}

/// A webhook denies every patch between the edit and the start.
#[test]
fn a_start_of_an_edited_schedule_that_could_not_be_adopted_before_is_caused_by_the_clock() {
    let mut object = at_night(3);
    object.edit("hours", Some("Mon-Fri 09:00-19:00; Fri 21:00-23:00"));
    object.away_until("2026-11-20 21:00:05");
    let start = Cause::Clock(utc("2026-11-20 21:00"));
    assert_eq!(next(&mut object), (ChangeKind::Start, start));

    let mut object = at_night(3);
    object.away_until("2026-11-20 21:00:05");
    object.edit("hours", Some("Mon-Fri 09:00-19:00; Fri 21:00-23:00"));
    object.away_until("2026-11-20 21:00:10");
    let seen = utc("2026-11-20 21:00:05");
    assert_eq!(next(&mut object), (ChangeKind::Start, request(seen)));
}

#[test]
fn a_correction_can_start_or_stop() {
    let mut object = at_night(3);
    object.edit("enforce", Some("true")).scale(1);
    assert_eq!(next(&mut object), (ChangeKind::Enforce, Cause::Correction));
    object.label(Label::Next, None);
    assert_eq!(next(&mut object), (ChangeKind::Correct, Cause::Correction));
    object
        .label(Label::State, Some("woken"))
        .label(Label::Next, Some("2026-01-01T00.00.00Z"));
    assert_eq!(next(&mut object), (ChangeKind::Stop, Cause::Correction));
}
