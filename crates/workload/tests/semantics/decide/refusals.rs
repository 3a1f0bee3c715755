//! An invalid schedule changes nothing.

use crate::decide::object::{Object, at_night, office};
use dayshift_workload::{Annotations, Inputs, Key, Kind, ParseContext, ParsedInputs, Phase, read};

#[test]
fn an_invalid_schedule_sends_one_event_and_keeps_the_state() {
    let mut object = at_night(3);
    object.reasons();
    let (last, next) = (object.state().last, object.next());
    object
        .edit("hours", Some("Mon-Fry 09:00-19:00"))
        .until("2026-11-24 12:00");
    assert_eq!((object.replicas(), object.saved()), (0, Some(3)));
    assert_eq!((object.state().last, object.next()), (last, next));
    assert_eq!(object.reasons(), ["InvalidSchedule"]);
    let error = object.observed.error.as_deref().unwrap();
    assert!(
        error.contains("dayshift/hours") && error.contains("Fry"),
        "{error}"
    );
}

#[test]
fn correcting_a_typo_resumes_and_catches_up() {
    let mut object = at_night(3);
    object
        .edit("hours", Some("Mon-Fry 09:00-19:00"))
        .until("2026-11-23 12:00");
    object.edit("hours", Some("Mon-Fri 09:00-19:00")).apply();
    assert_eq!(
        (object.replicas(), object.observed.error.as_deref()),
        (3, None)
    );
    assert_eq!(object.next().unwrap(), "2026-11-23T19.00.00Z");
}

#[test]
fn correcting_a_typo_before_any_boundary_keeps_the_count() {
    let mut object = at_night(3);
    object.edit("hours", Some("x")).apply();
    object.edit("hours", Some("Mon-Fri 09:00-19:00")).apply();
    assert_eq!((object.replicas(), object.saved()), (0, Some(3)));
    assert_eq!(object.phase(), Some(Phase::Stopped));
    assert_eq!(object.next().unwrap(), "2026-11-23T09.00.00Z");
}

#[test]
fn correcting_to_another_schedule_adopts() {
    let mut object = at_night(3);
    object.edit("hours", Some("x")).until("2026-11-23 12:00");
    object.edit("hours", Some("Mon-Fri 09:00-11:00")).apply();
    assert_eq!((object.replicas(), object.saved()), (0, Some(3)));
    assert_eq!(object.phase(), Some(Phase::Adopted));
}

#[test]
fn a_misspelled_key_next_to_a_valid_one_is_rejected() {
    let mut object = Object::new("2026-11-20 12:00", 3)
        .annotate("strat", "09:00")
        .annotate("stop", "19:00");
    object.until("2026-11-21 12:00");
    assert_eq!(object.replicas(), 3);
    let error = object.observed.error.as_deref().unwrap();
    assert!(
        error.contains("dayshift/strat") && error.contains("`start`"),
        "{error}"
    );
}

#[test]
fn hours_with_start_or_stop_is_rejected() {
    let mut object = office(3);
    object.edit("stop", Some("18:00")).apply();
    assert!(
        object
            .observed
            .error
            .as_deref()
            .unwrap()
            .contains("cannot be combined with `stop`; remove `stop` or `hours`")
    );
}

#[test]
fn a_misspelled_override_is_rejected() {
    for key in ["pause", "wake-until", "sleep-until", "enforce"] {
        let mut object = office(3);
        object.edit(key, Some("tonight")).until("2026-11-20 20:00");
        assert_eq!(object.replicas(), 3, "{key}");
        assert!(object.observed.error.as_deref().unwrap().contains(key));
    }
}

/// A user wrote the count on the object. The Namespace might be right for everything else in it, so
/// only that user can fix the problem.
#[test]
fn reports_replicas_beside_an_inherited_scale_on_the_workload() {
    for key in ["replicas", "stop-replicas"] {
        let mut object = Object::new("2026-11-20 10:00", 3).annotate(key, "2");
        object.in_namespace(&[("scale", "09:00 = 5; 19:00 = 0")]);
        object.until("2026-11-20 12:00");
        assert_eq!(object.reasons(), ["InvalidSchedule"], "{key}");
        let error = object.observed.error.clone().unwrap();
        let own = format!("dayshift/{key}: `2` on the object");
        assert!(
            error.starts_with(&own)
                && error.contains("cannot be combined with `scale` on the Namespace"),
            "{error}"
        );
        assert_eq!(object.replicas(), 3);
        object.edit(key, None).until("2026-11-20 19:01");
        assert_eq!(
            (object.replicas(), object.observed.error.as_deref()),
            (0, None)
        );
    }
}

#[test]
fn an_own_schedule_with_inherited_counts_is_followed() {
    let mut steps = Object::new("2026-11-20 08:00", 3).annotate("scale", "09:00 = 5; 19:00 = 0");
    steps.in_namespace(&[("replicas", "2"), ("stop-replicas", "1")]);
    steps.until("2026-11-20 10:00");
    assert_eq!(
        (steps.replicas(), steps.observed.error.as_deref()),
        (5, None)
    );
    // If it has its own hours, the inherited scale is not in force, and its count is valid.
    let mut hours = Object::new("2026-11-20 08:00", 3)
        .annotate("hours", "09:00-19:00")
        .annotate("replicas", "2");
    hours.in_namespace(&[("scale", "09:00 = 5; 19:00 = 0")]);
    hours.until("2026-11-20 10:00");
    assert_eq!(
        (hours.replicas(), hours.observed.error.as_deref()),
        (2, None)
    );
}

/// A problem is reported on the object, unless its Namespace by itself is invalid and reports it.
/// Otherwise no user would see why nothing is scaled.
#[test]
fn every_rejection_is_reported_on_the_object_or_its_namespace() {
    let texts = |key: Key| match key {
        Key::Start => &["08:00", "* * * * * *", "25:00"][..],
        Key::Stop => &["19:00", "* * * * * *", "25:00"],
        Key::Hours => &["08:00-19:00", "19"],
        Key::Scale => &["08:00 = 3; 19:00 = 0", "08:00"],
        Key::Timezone => &["Asia/Tokyo", "Asia/Tokio"],
        Key::Replicas | Key::StopReplicas => &["2", "two"],
        Key::Jitter => &["1h", "2h"],
        Key::Notice | Key::ReadyWithin => &["1h", "25h"],
        Key::Except => &["2026-12-24", "calendar:none"],
        Key::TreatAs => &["2026-12-24 = Sun", "calendar:none = Mon"],
        Key::StopAfter => &["8h", "8"],
        Key::Extra => &["2026-12-24 09:00-18:00", "2026-12-24 09:00"],
        Key::After => &["sts/db; deploy/cache, 5m", "the database"],
        Key::WakeUntil | Key::SleepUntil => &["2026-12-24 18:00", "tonight"],
        _ => &["true", "maybe"],
    };
    let each = Key::ALL
        .into_iter()
        .flat_map(|key| texts(key).iter().map(move |it| (key, *it)));
    let each: Vec<_> = each.collect();
    let two = each.iter().flat_map(|a| each.iter().map(|b| vec![*a, *b]));
    let two = two.filter(|it| it[0].0 < it[1].0);
    let pairs: Vec<_> = each.iter().map(|it| vec![*it]).chain(two).collect();
    let read_with = |kind: &Kind, own: &[(Key, &str)], defaults: &[(Key, &str)]| {
        let inputs = own.iter().fold(Inputs::default(), |inputs, (key, text)| {
            inputs.with(*key, text)
        });
        let defaults = defaults
            .iter()
            .map(|(key, text)| (*key, (*text).to_owned()));
        let defaults = Annotations::from_texts(defaults);
        let inputs = inputs
            .with_counts(kind.counts())
            .with_defaults(Some(defaults.into()));
        read(&inputs, &ParseContext::default())
    };
    let mut silent = Vec::new();
    for defaults in &pairs {
        // The controller checks a Namespace with hours if it has no schedule.
        let has_schedule = defaults.iter().any(|(key, _)| Key::SCHEDULE.contains(key));
        let hours = [(Key::Hours, "00:00-24:00")];
        let beside = if has_schedule { &[][..] } else { &hours[..] };
        let alone = read_with(&Kind::DEPLOYMENT, beside, defaults);
        if matches!(alone, ParsedInputs::Invalid(_)) {
            continue;
        }
        let own = pairs.iter().filter(|own| own.len() + defaults.len() < 4);
        for own in own {
            for kind in Kind::BUILT_IN {
                let read = read_with(&kind, own, defaults);
                if let ParsedInputs::Invalid(refusal) = read
                    && refusal.is_inherited()
                {
                    silent.push(format!("{kind} {own:?} in {defaults:?}: {refusal}"));
                }
            }
        }
    }
    assert_eq!(silent.first(), None, "{} of them", silent.len());
}

/// The typo is corrected in the afternoon after a restart. Only the object shows which boundaries
/// were expected.
#[test]
fn correcting_a_typo_after_a_restart_catches_up_from_the_next_label() {
    for (from, edited, at, expected) in [
        // The start of Monday was next, so it is carried out.
        (
            "2026-11-20 20:00",
            "2026-11-21 10:00",
            "2026-11-23 12:00",
            3,
        ),
        // It was rejected half an hour before its start.
        (
            "2026-11-23 08:00",
            "2026-11-23 08:30",
            "2026-11-23 12:00",
            3,
        ),
    ] {
        let mut object = at_night(3);
        object.until(from).until(edited);
        object.edit("hours", Some("Mon-Fry 09:00-19:00")).apply();
        object.away_until(at).restart().apply();
        object
            .edit("hours", Some("Mon-Fri 09:00-19:00"))
            .restart()
            .apply();
        assert_eq!(
            (object.replicas(), object.phase()),
            (expected, Some(Phase::Running)),
            "{at}"
        );
    }
}

#[test]
fn a_corrected_schedule_without_missed_boundaries_does_nothing() {
    let mut object = Object::new("2026-11-19 12:00", 0).annotate("start", "2026-11-19 13:00");
    object.until("2026-11-19 14:00");
    assert_eq!(
        (object.replicas(), object.next().unwrap()),
        (1, "never".into())
    );
    object.edit("start", Some("2026-11-1913:00")).apply();
    assert_eq!(object.next().unwrap(), "never");
    object.away_until("2026-11-25 12:00").restart();
    object
        .scale(0)
        .edit("start", Some("2026-11-19 13:00"))
        .apply();
    assert_eq!(
        (object.replicas(), object.next().unwrap()),
        (0, "never".into())
    );
}
