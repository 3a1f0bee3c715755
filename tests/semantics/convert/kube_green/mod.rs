//! SleepInfo: one cron expression for sleeping, one for waking up; it begins with a sleep.

mod counts;
mod patches;
mod refs;

use dayshift_manifest::convert::ChangeTarget;
use proptest::prelude::*;

use crate::convert::{
    clocks::{PERIODS, minutes},
    converted::{Planned, convert, rule_ids},
    cron_oracle::Cron,
};

pub(crate) fn sleep_info(
    weekdays: &str,
    sleep: &str,
    wake: Option<&str>,
    zone: &str,
    more: &str,
) -> String {
    let wake = wake.map_or(String::new(), |it| format!("  wakeUpAt: '{it}'\n"));
    format!(
        "apiVersion: kube-green.com/v1alpha1\nkind: SleepInfo\nmetadata:\n  name: working-hours\n  namespace: team\nspec:\n  weekdays: '{weekdays}'\n  sleepAt: '{sleep}'\n{wake}  timeZone: {zone}\n  suspendCronJobs: true\n{more}---\napiVersion: v1\nkind: Namespace\nmetadata:\n  name: team\n"
    )
}

/// Hours without a clock change.
fn time() -> impl Strategy<Value = String> {
    let hour =
        prop_oneof![4 => (4..24_u32).prop_map(|it| it.to_string()), 1 => Just("6-20/7".to_owned())];
    let minute = prop_oneof![4 => (0..60_u32).prop_map(|it| format!("{it:02}")), 1 => Just("*/20".to_owned())];
    (hour, minute).prop_map(|(hour, minute)| format!("{hour}:{minute}"))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn stops_and_starts_a_namespace_as_kube_green_does(
        weekdays in prop::sample::select(vec!["*", "1-5", "0,6", "1,3,5", "5", "0-6/2"]),
        (sleep, wake) in (time(), prop::option::weighted(0.8, time())),
        zone in prop::sample::select(vec!["Europe/Rome", "America/New_York", "UTC"]),
    ) {
        prop_assume!(Some(&sleep) != wake.as_ref());
        let text = sleep_info(weekdays, &sleep, wake.as_deref(), zone, "");
        let conversion = convert(&text);
        prop_assert_eq!(rule_ids(&conversion), ["delete-after"]);
        let change = &conversion.changes[0];
        let cron = |time: &str| {
            let (hour, minute) = time.split_once(':').unwrap();
            Cron::new(&format!("{minute} {hour} * * {weekdays}"))
        };
        let (sleep, wake) = (cron(&sleep), wake.as_deref().map(cron));
        for period in PERIODS {
            let planned = Planned::of(change, period);
            let mut state = None;
            for minute in minutes(zone.parse().unwrap(), period.0, period.1) {
                if minute.is_repeated {
                    continue;
                }
                let (sleeps, wakes) = (
                    sleep.matches(&minute),
                    wake.as_ref().is_some_and(|it| it.matches(&minute)),
                );
                state = match (sleeps, wakes) {
                    // kube-green alternates. In dayshift the start applies, which is a documented difference.
                    (_, true) => Some(true),
                    (true, false) => Some(false),
                    _ => state,
                };
                if let Some(state) = state {
                    prop_assert_eq!(planned.runs(minute.at), Some(state), "{:?} {:?}", minute, change);
                }
            }
        }
    }
}

#[test]
fn writes_exclude_on_excluded_objects() {
    let more = "  excludeRef:\n    - {apiVersion: apps/v1, kind: Deployment, name: api}\n    - {matchLabels: {keep: 'yes'}}\n";
    let objects = "---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {name: api, namespace: team}\n---\napiVersion: apps/v1\nkind: StatefulSet\nmetadata: {name: db, namespace: team, labels: {keep: 'yes'}}\n---\napiVersion: apps/v1\nkind: StatefulSet\nmetadata: {name: db, namespace: other, labels: {keep: 'yes'}}\n---\napiVersion: batch/v1\nkind: CronJob\nmetadata: {name: report, namespace: team}\n";
    let text = sleep_info("1-5", "20:00", Some("08:00"), "UTC", more)
        .replace("CronJobs: true", "CronJobs: false");
    let conversion = convert(&(text + objects));
    let excluded: Vec<_> = conversion
        .changes
        .iter()
        .filter(|it| it.set == [("dayshift/exclude".to_owned(), "true".to_owned())])
        .map(|it| match &it.target {
            ChangeTarget::Object(object) => object.to_string(),
            ChangeTarget::All {
                kinds, selector, ..
            } => format!("{kinds} {selector:?}"),
        })
        .collect();
    assert_eq!(
        excluded,
        [
            "Deployment team/api",
            "StatefulSet team/db",
            "CronJob team/report",
            "cronjobs None",
            "deployments,statefulsets Some(\"keep=yes\")",
        ]
    );
    assert_eq!(
        rule_ids(&conversion),
        ["elsewhere", "elsewhere", "delete-after"]
    );
}

/// `GetPatches` of kube-green's `sleepinfo_types.go` checks the kinds before any reference.
#[test]
fn only_the_suspended_kinds_are_scheduled() {
    let more = "  includeRef:\n    - {matchLabels: {app: shop}}\n";
    let objects = "---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web, namespace: team, labels: {app: shop}}\n---\napiVersion: batch/v1\nkind: CronJob\nmetadata: {name: report, namespace: team, labels: {app: shop}}\n---\napiVersion: batch/v1\nkind: CronJob\nmetadata: {name: other, namespace: team}\n";
    let text = sleep_info("1-5", "20:00", Some("08:00"), "UTC", more) + objects;
    let scheduled = |text: &str| -> Vec<String> {
        let changes = convert(text).changes.into_iter();
        let named = changes.map(|it| match it.target {
            ChangeTarget::Object(object) => object.to_string(),
            ChangeTarget::All { kinds, .. } => kinds,
        });
        named.collect()
    };
    let (web, report) = ("Deployment team/web", "CronJob team/report");
    let labelled = "deployments,statefulsets,cronjobs";
    assert_eq!(scheduled(&text), [web, report, labelled]);
    let text = text.replace("CronJobs: true", "CronJobs: false");
    assert_eq!(scheduled(&text), [web, "deployments,statefulsets"]);
    let text = text.replace("suspendCronJobs", "suspendDeployments");
    assert_eq!(scheduled(&text), ["statefulsets"]);
}

#[test]
fn ignores_empty_labels_beside_a_name() {
    for none in ["{}", "null"] {
        let more = format!(
            "  includeRef:\n    - {{apiVersion: apps/v1, kind: Deployment, name: web, matchLabels: {none}}}\n"
        );
        let text = sleep_info("1-5", "20:00", None, "UTC", &more)
            .replace("suspendCronJobs: true", "suspendStatefulSets: false");
        let conversion = convert(&text);
        let targets: Vec<_> = conversion.changes.iter().map(|it| &it.target).collect();
        let is_web = |it: &ChangeTarget| matches!(it, ChangeTarget::Object(it) if it.to_string() == "Deployment team/web");
        assert!(targets.len() == 1 && is_web(targets[0]), "{targets:?}");
    }
}

#[test]
fn reports_settings_without_an_equivalent() {
    for (more, weekdays, sleep, id) in [
        (
            "  patches:\n    - {target: {group: apps, kind: ReplicaSet}, patch: x}\n",
            "1-5",
            "20:00",
            "no-equivalent",
        ),
        ("", "1-5", "2000", "not-read"),
        ("", "1-9", "20:00", "not-read"),
        ("", "", "20:00", "not-read"),
    ] {
        let text = sleep_info(weekdays, sleep, None, "UTC", more);
        assert!(rule_ids(&convert(&text)).contains(&id), "{text}");
    }
    let text = sleep_info("1-5", "20:00", None, "Europe/Rmoe", "");
    assert_eq!(rule_ids(&convert(&text)), ["not-read"]);
}

#[test]
pub(crate) fn applies_a_wake_up_within_a_dst_gap() {
    // robfig/cron skips a time that does not exist, so the namespace sleeps a day longer.
    let text = sleep_info("*", "20:00", Some("02:30"), "Europe/Rome", "");
    let conversion = convert(&text);
    let period = ("2027-03-27T12:00:00Z", "2027-03-28T12:00:00Z");
    let planned = Planned::of(&conversion.changes[0], period);
    let all = minutes(chrono_tz::Europe::Rome, period.0, period.1);
    let wake = Cron::new("30 2 * * *");
    assert!(all.iter().all(|it| !wake.matches(it)));
    let woken = all
        .iter()
        .find(|it| it.of_day() < 720 && planned.runs(it.at) == Some(true));
    assert_eq!(woken.unwrap().of_day(), 3 * 60);
}
