//! KEDA's cron trigger: it is active if its end comes before its next start.

use chrono_tz::Tz;
use proptest::prelude::*;

use super::clocks::{Minute, PERIODS, minutes};
use super::converted::{Planned, change, convert, rule_ids};
use super::cron_oracle::Cron as Oracle;

/// A trigger: start, end, count.
pub(crate) type Cron = (String, String, u64);

pub(crate) fn scaled_object(triggers: &[Cron], zone: &str, more: &str) -> String {
    let triggers = triggers.iter().map(|(start, end, count)| {
        format!("    - type: cron\n      metadata:\n        timezone: {zone}\n        start: {start}\n        end: {end}\n        desiredReplicas: '{count}'\n")
    });
    let triggers: String = triggers.collect();
    format!(
        "apiVersion: keda.sh/v1alpha1\nkind: ScaledObject\nmetadata:\n  name: web\nspec:\n  scaleTargetRef:\n    name: web\n  minReplicaCount: 1\n{more}  triggers:\n{triggers}---\napiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: web\n"
    )
}

/// Whether it is active in each minute, as far as its next time is known.
pub(crate) fn active(minutes: &[Minute], (start, end, _): &Cron) -> Vec<Option<bool>> {
    let (start, end) = (Oracle::new(start), Oracle::new(end));
    let mut next = None;
    let mut active: Vec<_> = minutes
        .iter()
        .rev()
        .map(|minute| {
            let state = next;
            // Times that clocks show twice occur once.
            if !minute.is_repeated {
                if end.matches(minute) {
                    next = Some(true);
                }
                if start.matches(minute) {
                    next = Some(false);
                }
            }
            state
        })
        .collect();
    active.reverse();
    active
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Daily, with alternating starts and ends.
    #[test]
    fn sets_the_counts_of_the_triggers(
        triggers in prop::collection::vec(
            (4..14_u32, 0..60_u32, 14..24_u32, 0..60_u32, prop::sample::select(vec!["*", "1-5", "0,6"]), 2..9_u64),
            1..4,
        ),
        zone in prop::sample::select(vec!["Asia/Kolkata", "Europe/Berlin", "America/New_York"]),
    ) {
        let triggers: Vec<Cron> = triggers.into_iter().map(|(from, minute, to, end, days, count)| {
            (format!("{minute} {from} * * {days}"), format!("{end} {to} * * {days}"), count)
        }).collect();
        let conversion = convert(&scaled_object(&triggers, zone, ""));
        prop_assert_eq!(rule_ids(&conversion), ["delete-after"]);
        let change = change(&conversion);
        let zone: Tz = zone.parse().unwrap();
        for period in PERIODS {
            let planned = Planned::of(change, period);
            let minutes = minutes(zone, period.0, period.1);
            let all: Vec<_> = triggers.iter().map(|it| active(&minutes, it)).collect();
            for (nth, minute) in minutes.iter().enumerate() {
                let states: Option<Vec<bool>> = all.iter().map(|it| it[nth]).collect();
                let Some(states) = states else { continue };
                let counts = states.iter().zip(&triggers).filter(|it| *it.0).map(|it| it.1.2);
                let wanted = counts.max().unwrap_or(1);
                if let Some(count) = planned.count(minute.at) {
                    prop_assert_eq!(count, wanted, "{:?} {:?}", minute, change);
                }
            }
        }
    }
}

#[test]
pub(crate) fn applies_an_end_without_a_start() {
    // On Friday evening, the end on Saturday comes before the next start, so KEDA keeps it active until
    // Sunday evening.
    let trigger = ("0 8 * * 1-5".to_owned(), "0 20 * * *".to_owned(), 3);
    let conversion = convert(&scaled_object(std::slice::from_ref(&trigger), "UTC", ""));
    assert_eq!(rule_ids(&conversion), ["delete-after", "turns"]);
    let period = ("2027-07-05T00:00:00Z", "2027-07-19T00:00:00Z");
    let planned = Planned::of(change(&conversion), period);
    let minutes = minutes(Tz::UTC, period.0, period.1);
    let active = active(&minutes, &trigger);
    let differ: Vec<_> = minutes
        .iter()
        .zip(&active)
        .filter(|(minute, active)| {
            active.is_some_and(|it| it != planned.runs(minute.at).unwrap_or(false))
        })
        .map(|it| it.0)
        .collect();
    assert!(!differ.is_empty());
    let is_weekend = |it: &&Minute| it.weekday() >= 4;
    assert!(differ.iter().all(is_weekend), "{:?}", differ[0]);
}

#[test]
fn reports_settings_without_an_equivalent() {
    let day = ("0 6 * * *".to_owned(), "0 20 * * *".to_owned(), 10);
    let text = scaled_object(std::slice::from_ref(&day), "Asia/Kolkata", "");
    let conversion = convert(&text);
    let set: Vec<_> = change(&conversion)
        .set
        .iter()
        .map(|(name, text)| format!("{name}: {text}"))
        .collect();
    assert_eq!(
        set,
        [
            "dayshift/start: 06:00",
            "dayshift/stop: 20:00",
            "dayshift/timezone: Asia/Kolkata",
            "dayshift/replicas: 10",
            "dayshift/stop-replicas: 1"
        ]
    );
    let beside = text.replace("---", "    - type: cpu\n      metadata: {value: '50'}\n---");
    assert_eq!(rule_ids(&convert(&beside)), ["triggers"]);
    let monthly = scaled_object(
        &[
            day.clone(),
            ("0 6 1 * *".to_owned(), "0 20 1 * *".to_owned(), 20),
        ],
        "UTC",
        "",
    );
    assert!(rule_ids(&convert(&monthly)).contains(&"triggers"));
    for (from, to, expected) in [
        (
            "timezone: Asia/Kolkata",
            "timezone: Asia/Klkata",
            "not-read",
        ),
        ("'10'", "'0'", "no-equivalent"),
        ("0 20 * * *", "0 25 * * *", "not-read"),
    ] {
        assert_eq!(
            rule_ids(&convert(&text.replace(from, to))),
            [expected],
            "{to}"
        );
    }
    let capped = scaled_object(
        &[day],
        "UTC",
        "  maxReplicaCount: 4\n  idleReplicaCount: 0\n",
    );
    let set = &change(&convert(&capped)).set.clone();
    assert_eq!((&*set[3].1, &*set[4].1), ("4", "0"));
    let raised = text.replace(
        "minReplicaCount: 1",
        "minReplicaCount: 12\n  idleReplicaCount: 0",
    );
    let set = &change(&convert(&raised)).set.clone();
    assert_eq!((&*set[3].1, &*set[4].1), ("12", "0"));
}

/// KEDA does not scale paused objects, like dayshift/pause.
#[test]
fn a_paused_object_stays_paused() {
    let day = ("0 6 * * *".to_owned(), "0 20 * * *".to_owned(), 10);
    let text = scaled_object(&[day], "UTC", "");
    for (annotation, is_paused) in [
        ("autoscaling.keda.sh/paused: 'true'", true),
        ("autoscaling.keda.sh/paused: 'yes'", true),
        ("autoscaling.keda.sh/paused: ''", true),
        ("autoscaling.keda.sh/paused: 'False'", false),
        ("autoscaling.keda.sh/paused-replicas: '2'", true),
        ("team: a", false),
    ] {
        let with = format!("  name: web\n  annotations:\n    {annotation}\nspec");
        let conversion = convert(&text.replacen("  name: web\nspec", &with, 1));
        let expected = if is_paused {
            vec!["delete-after", "forced"]
        } else {
            vec!["delete-after"]
        };
        assert_eq!(rule_ids(&conversion), expected, "{annotation}");
        let pause = ("dayshift/pause".to_owned(), "true".to_owned());
        assert_eq!(
            change(&conversion).set.contains(&pause),
            is_paused,
            "{annotation}"
        );
    }
}

#[test]
fn scaling_modifiers_are_reported() {
    let day = ("0 6 * * *".to_owned(), "0 20 * * *".to_owned(), 10);
    let more =
        "  advanced:\n    scalingModifiers:\n      formula: \"work * 2\"\n      target: '2'\n";
    let conversion = convert(&scaled_object(std::slice::from_ref(&day), "UTC", more));
    assert_eq!(
        (conversion.changes.len(), rule_ids(&conversion)),
        (0, vec!["triggers"])
    );
    let none = more.replace("\n      formula: \"work * 2\"\n      target: '2'", " {}");
    let conversion = convert(&scaled_object(std::slice::from_ref(&day), "UTC", &none));
    assert_eq!(rule_ids(&conversion), ["delete-after"], "{none}");
    let job = scaled_object(&[day], "UTC", "").replace("ScaledObject", "ScaledJob");
    let conversion = convert(&job);
    assert_eq!(
        (conversion.changes.len(), rule_ids(&conversion)),
        (0, vec!["no-equivalent"])
    );
    assert!(rule_ids(&convert(&job.replace("type: cron", "type: cpu"))).is_empty());
}
