//! Overdue changes, from the object only.

use chrono::{DateTime, TimeDelta, Utc};
use dayshift_schedule::{Action, Zone};
use dayshift_workload::{Duty, Kind, Label, OVERDUE_GRACE, Overdue, Phase, predicted_action, read};

use crate::decide::object::{Object, utc};

const GRACE: &str = "2026-11-20 19:00:10";

/// The result for an observer who knows the object and the time of its last change.
fn overdue(web: &Object, changed: Option<&str>, now: &str) -> Option<Overdue> {
    let parsed = read(&web.observed.inputs, &Zone::UTC.into());
    Overdue::find(&parsed, &web.observed, changed.map(utc), utc(now))
}

fn office() -> Object {
    let mut web = Object::new("2026-11-20 08:00", 3).annotate("hours", "Mon-Fri 09:00-19:00");
    web.until("2026-11-20 18:00");
    web
}

fn boundary(overdue: Option<Overdue>) -> Option<(Action, DateTime<Utc>)> {
    match overdue?.duty {
        Duty::Boundary(it) => Some((it.action, it.at)),
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_latest_boundary_is_overdue_after_the_grace_period() {
    let web = office();
    let changed = Some("2026-11-20 08:00");
    assert_eq!(OVERDUE_GRACE, TimeDelta::seconds(10));
    assert_eq!(overdue(&web, changed, "2026-11-20 19:00:09"), None);
    let stop = Some((Action::Stop, utc("2026-11-20 19:00")));
    assert_eq!(boundary(overdue(&web, changed, GRACE)), stop);
    assert_eq!(
        boundary(overdue(&web, changed, "2026-11-23 09:00:09")),
        stop
    );
    let start = Some((Action::Start, utc("2026-11-23 09:00")));
    assert_eq!(
        boundary(overdue(&web, changed, "2026-11-23 09:00:10")),
        start
    );
}

#[test]
fn a_boundary_that_was_carried_out_is_not_overdue() {
    let mut web = office();
    web.until("2026-11-20 20:00");
    assert_eq!(overdue(&web, None, "2026-11-20 20:00"), None);
    web.scale(2);
    assert_eq!(
        overdue(&web, None, "2026-11-20 20:00"),
        None,
        "manual changes are allowed"
    );
    web.observed.deleting = true;
    assert_eq!(overdue(&web, None, "2026-11-24 20:00"), None);
}

#[test]
fn a_schedule_that_was_not_adopted_is_overdue_since_its_last_change() {
    let new = Object::new("2026-11-20 18:00", 3).annotate("hours", "Mon-Fri 09:00-19:00");
    let mut edited = office();
    edited.edit("hours", Some("Mon-Fri 09:00-18:30"));
    for web in [new, edited] {
        let changed = Some("2026-11-20 18:00");
        assert_eq!(overdue(&web, changed, "2026-11-20 18:00:09"), None);
        let expected = Overdue {
            duty: Duty::Adopt,
            since: Some(utc("2026-11-20 18:00")),
            is_start: false,
        };
        assert_eq!(
            overdue(&web, changed, "2026-11-20 18:00:10"),
            Some(expected)
        );
        assert!(overdue(&web, None, "2026-11-20 18:00").is_some());
    }
}

#[test]
fn an_override_that_does_not_begin_or_end_is_overdue() {
    let mut web = office();
    web.edit("sleep-until", Some("2026-11-20 21:00"));
    let changed = Some("2026-11-20 18:00");
    assert_eq!(overdue(&web, changed, "2026-11-20 18:00:09"), None);
    let begin = overdue(&web, changed, "2026-11-20 18:00:10").unwrap();
    assert!(matches!(begin.duty, Duty::Begin(it) if it.phase() == Phase::Slept));

    web.until("2026-11-20 18:01");
    assert_eq!(
        overdue(&web, None, "2026-11-20 21:00:09"),
        None,
        "the override is applied"
    );
    let expected = Overdue {
        duty: Duty::End(Phase::Slept),
        since: Some(utc("2026-11-20 21:00")),
        is_start: false,
    };
    assert_eq!(overdue(&web, None, "2026-11-20 21:00:10"), Some(expected));

    web.edit("sleep-until", None);
    let expected = Overdue {
        since: Some(utc("2026-11-20 18:05")),
        is_start: true,
        ..expected
    };
    let changed = Some("2026-11-20 18:05");
    assert_eq!(overdue(&web, changed, "2026-11-20 18:05:09"), None);
    assert_eq!(overdue(&web, changed, "2026-11-20 18:06"), Some(expected));
}

#[test]
fn nothing_is_overdue_during_a_pause_or_with_an_error() {
    let mut web = office();
    web.edit("pause", Some("true"));
    web.until("2026-11-20 18:30");
    assert_eq!(overdue(&web, None, "2026-11-24 12:00"), None);
    let mut bad = office();
    bad.edit("hours", Some("9-5"));
    assert_eq!(overdue(&bad, None, "2026-11-24 12:00"), None);
}

#[test]
fn labels_changed_by_other_clients_are_not_overdue() {
    let mut web = office();
    web.until("2026-11-20 20:00");
    // The stop was carried out, whatever the label `next` is.
    web.label(Label::Next, None);
    assert_eq!(overdue(&web, None, "2026-11-20 20:00"), None);
    // A boundary before the object's own `next` is not due, for example after the zone has changed.
    let mut web = office();
    web.label(Label::Next, Some("2026-11-20T19.30.00Z"));
    assert_eq!(overdue(&web, None, "2026-11-20 19:31"), None);
}

#[test]
fn an_override_with_a_new_end_is_overdue_by_its_annotation() {
    let mut web = office();
    web.edit("sleep-until", Some("2026-11-20 21:00"));
    web.until("2026-11-20 18:01");
    web.edit("sleep-until", Some("2026-11-20 22:00"));
    let changed = Some("2026-11-20 18:05");
    assert_eq!(
        overdue(&web, changed, "2026-11-20 21:01"),
        None,
        "the override is active"
    );
    let over = overdue(&web, changed, "2026-11-20 22:01").unwrap();
    assert_eq!(over.duty, Duty::End(Phase::Slept));
    assert_eq!(over.since, Some(utc("2026-11-20 22:00")));
}

/// Compared with a controller that runs at that time.
#[test]
fn the_predicted_action_matches_the_decision() {
    let office = |replicas, more: &[(&str, &str)]| {
        let mut web = Object::new("2026-11-20 08:00", replicas);
        web.edit("hours", Some("Mon-Fri 09:00-19:00"));
        for (key, text) in more {
            web.edit(key, Some(text));
        }
        web
    };
    let until = |mut web: Object, at: &str| {
        web.until(at);
        web
    };
    // Stopped, with an override until noon.
    let held = |more: &[(&str, &str)], key: &str, text: &str| {
        let mut web = until(office(3, more), "2026-11-20 20:00");
        web.edit(key, Some(text));
        until(web, "2026-11-20 21:00")
    };
    let noon = "2026-11-23 12:00";
    let mut copy = held(&[], "pause", noon);
    copy.copy();
    let mut edited = until(office(3, &[]), "2026-11-20 20:00");
    edited.edit("hours", Some("Mon-Fri 10:00-18:00"));
    let mut by_counts =
        Object::new("2026-11-20 08:00", 2).of_kind(&Kind::HORIZONTAL_POD_AUTOSCALER);
    by_counts.edit("scale", Some("09:00 = 4; 19:00 = 1"));
    let mut switched = Object::new("2026-11-20 08:00", 1).of_kind(&Kind::CRON_JOB);
    switched.edit("hours", Some("Mon-Fri 09:00-19:00"));
    let mut without_fingerprint = until(office(3, &[]), "2026-11-20 20:00");
    without_fingerprint.label(Label::Fingerprint, None);
    let start = Some(Action::Start);
    for (name, web, expected) in [
        ("adopted", until(office(3, &[]), "2026-11-20 08:30"), start),
        (
            "running",
            until(office(3, &[]), "2026-11-20 10:00"),
            Some(Action::Stop),
        ),
        ("stopped", until(office(3, &[]), "2026-11-20 20:00"), start),
        (
            "count",
            until(by_counts.clone(), "2026-11-20 08:30"),
            Some(Action::Scale(4)),
        ),
        (
            "lower count",
            until(by_counts, "2026-11-20 10:00"),
            Some(Action::Scale(1)),
        ),
        ("switch", until(switched, "2026-11-20 20:00"), start),
        ("asleep", held(&[], "sleep-until", noon), start),
        // It runs at that time and keeps running.
        ("awake", held(&[], "wake-until", noon), None),
        (
            "awake over a stop",
            held(&[], "wake-until", "2026-11-23 23:00"),
            Some(Action::Stop),
        ),
        ("paused over a start", held(&[], "pause", noon), start),
        (
            "paused to a stop",
            held(&[], "pause", "2026-11-23 19:00"),
            Some(Action::Stop),
        ),
        (
            "paused between boundaries",
            held(&[], "pause", "2026-11-21 12:00"),
            None,
        ),
        (
            "paused with a count of 0",
            held(&[("replicas", "0")], "pause", noon),
            None,
        ),
        ("a copy that is paused", copy, None),
        ("without its fingerprint", without_fingerprint, start),
    ] {
        let next = web.state().next_at().unwrap();
        let parsed = read(&web.observed.inputs, &Zone::UTC.into());
        let action = predicted_action(&parsed, &web.observed, next);
        assert_eq!(action, expected, "{name}");
        let mut scaler = web.clone();
        scaler
            .restart()
            .until(&next.format("%Y-%m-%d %H:%M").to_string());
        let done = match scaler.phase().unwrap() {
            Phase::Running | Phase::Woken if web.inputs_of("scale").is_some() => {
                Some(Action::Scale(scaler.replicas()))
            }
            _ if scaler.phase() == Some(Phase::Running)
                && web.phase() == Some(Phase::Woken)
                && scaler.replicas() == web.replicas() =>
            {
                None
            }
            Phase::Running | Phase::Woken => start,
            Phase::Stopped | Phase::Slept => Some(Action::Stop),
            Phase::Adopted | Phase::Paused => None,
        };
        assert_eq!(done, expected, "{name}: done");
    }
    // A schedule that does not match the label is adopted first.
    let parsed = read(&edited.observed.inputs, &Zone::UTC.into());
    assert_eq!(
        predicted_action(&parsed, &edited.observed, utc("2026-11-20 21:00")),
        None
    );
    assert_eq!(
        predicted_action(&parsed, &edited.observed, utc("2026-11-23 12:00")),
        start
    );
}
