//! CronHorizontalPodAutoscaler: each job sets its count when its cron expression matches.

mod texts;

use std::collections::BTreeSet;

use chrono::Datelike;
use chrono_tz::Tz;
use dayshift_manifest::convert::{Conversion, SpanDefaults};
use dayshift_schedule::Zone;
use proptest::prelude::*;

use crate::convert::{
    clocks::{PERIODS, minutes},
    converted::{Planned, change, convert, convert_at, rule_ids},
    cron_oracle::Cron,
};

pub(crate) fn cron_hpa(exclude: &[&str], jobs: &[(String, u32)]) -> String {
    let exclude: String = exclude.iter().map(|it| format!("    - '{it}'\n")).collect();
    let jobs = jobs.iter().enumerate().map(|(nth, (schedule, size))| {
        format!("    - name: job-{nth}\n      schedule: '{schedule}'\n      targetSize: {size}\n")
    });
    let jobs: String = jobs.collect();
    format!(
        "apiVersion: autoscaling.alibabacloud.com/v1beta1\nkind: CronHorizontalPodAutoscaler\nmetadata:\n  name: sample\nspec:\n  scaleTargetRef:\n    apiVersion: apps/v1beta2\n    kind: Deployment\n    name: web\n  excludeDates:\n{exclude}  jobs:\n{jobs}---\napiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: web\n"
    )
}

fn in_zone(zone: &str) -> SpanDefaults {
    SpanDefaults {
        zone: Some(Zone::parse(zone).unwrap()),
        days: None,
        ..SpanDefaults::default()
    }
}

/// Converts jobs in UTC.
pub(crate) fn utc_jobs(text: &str) -> Conversion {
    convert_at(text, "2027-01-01T00:00:00Z", in_zone("UTC"))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn sets_counts_at_the_same_times(
        jobs in prop::collection::vec(
            (0..60_u32, 4..24_u32, prop::sample::select(vec!["*", "1-5", "0,6", "3"]),
             prop::sample::select(vec!["*", "*", "*", "15", "1-7"]), 0..9_u32),
            1..4,
        ),
        zone in prop::sample::select(vec!["Asia/Shanghai", "Europe/Berlin"]),
        excludes_fridays in any::<bool>(),
    ) {
        // Two jobs at the same time of day can coincide, and are rejected.
        let times: BTreeSet<_> = jobs.iter().map(|it| (it.0, it.1)).collect();
        prop_assume!(times.len() == jobs.len());
        let jobs: Vec<_> = jobs.into_iter().map(|(minute, hour, week, month, size)| {
            let month = if excludes_fridays { "*" } else { month };
            (format!("0 {minute} {hour} {month} * {week}"), size)
        }).collect();
        let exclude = if excludes_fridays { &["* * * * * 5"][..] } else { &[] };
        let conversion = convert_at(&cron_hpa(exclude, &jobs), "2027-01-01T00:00:00Z", in_zone(zone));
        prop_assert_eq!(rule_ids(&conversion), ["delete-after"]);
        let change = change(&conversion);
        let zone: Tz = zone.parse().unwrap();
        let crons: Vec<_> = jobs.iter().map(|it| (Cron::new(it.0.strip_prefix("0 ").unwrap()), it.1)).collect();
        for period in PERIODS {
            let planned = Planned::of(change, period);
            let mut count = None;
            for minute in minutes(zone, period.0, period.1) {
                let is_off = excludes_fridays && minute.weekday() == 4;
                let due = crons.iter().filter(|(cron, _)| {
                    !minute.is_repeated && !is_off && cron.matches(&minute)
                });
                // If several jobs coincide, the larger count applies here; the controller has no defined
                // order.
                count = due.map(|it| u64::from(it.1)).max().or(count);
                if count.is_some() {
                    prop_assert_eq!(planned.count(minute.at), count, "{:?} {:?}", minute, change);
                }
            }
        }
    }
}

#[test]
fn converts_the_documented_forms() {
    for (schedule, expected) in [
        ("30 */1 * * * *", "30 */1 * * * * = 1"),
        ("0 */1 * * * *", "*/1 * * * * = 1"),
        ("@daily", "@daily = 1"),
        // The controller reads five fields with seconds first.
        ("0 30 8 * *", "08:30 = 1"),
        ("30 8 * * 1-5", "30 8 * * 1-5 * = 1"),
        ("@date 2027-10-27 21:54:00", "2027-10-27 21:54 = 1"),
        ("0 0 8 * * MON-FRI", "Mon-Fri 08:00 = 1"),
    ] {
        let text = cron_hpa(&[], &[(schedule.to_owned(), 1)]);
        let conversion = convert_at(&text, "2027-01-01T00:00:00Z", in_zone("UTC"));
        let set = &change(&conversion).set;
        assert_eq!(
            set[0],
            ("dayshift/scale".to_owned(), expected.to_owned()),
            "{schedule}"
        );
    }
}

#[test]
fn reports_settings_without_an_equivalent() {
    for (schedule, exclude, id) in [
        ("@every 1h", &[][..], "not-read"),
        ("0 0 8 */2 * 1", &[], "not-read"),
        ("0 8", &[], "not-read"),
        ("0 0 8 * * *", &["* * * 15 11 *"], "exclude-dates"),
    ] {
        let text = cron_hpa(exclude, &[(schedule.to_owned(), 1)]);
        let conversion = convert_at(&text, "2027-01-01T00:00:00Z", in_zone("UTC"));
        assert!(
            rule_ids(&conversion).contains(&id),
            "{schedule}: {conversion:?}"
        );
    }
    let text = cron_hpa(&[], &[("0 0 8 * * *".to_owned(), 1)]);
    assert_eq!(
        rule_ids(&convert(&text)),
        ["zone-of-controller", "delete-after"]
    );
    let hpa = text.replace(
        "kind: Deployment\n    name",
        "kind: HorizontalPodAutoscaler\n    name",
    );
    assert_eq!(rule_ids(&convert(&hpa)), ["no-equivalent"]);
    let once = text.replace("targetSize: 1", "targetSize: 1\n      runOnce: true");
    let conversion = convert_at(&once, "2027-03-01T12:00:00Z", in_zone("UTC"));
    assert_eq!(change(&conversion).set[0].1, "2027-03-02 08:00 = 1");
    assert_eq!(rule_ids(&conversion), ["delete-after", "once"]);
}

#[test]
pub(crate) fn scales_only_to_zero_on_an_excluded_date() {
    let jobs = [
        ("0 0 20 * * *".to_owned(), 3),
        ("0 0 8 * * *".to_owned(), 0),
    ];
    let conversion = utc_jobs(&cron_hpa(&["* * * 15 11 *"], &jobs));
    let period = ("2027-11-13T00:00:00Z", "2027-11-18T00:00:00Z");
    let planned = Planned::of(change(&conversion), period);
    let crons: Vec<_> = [("0 20 * * *", 3), ("0 8 * * *", 0)]
        .map(|(text, count)| (Cron::new(text), count))
        .into();
    let mut theirs = None;
    let mut differ = Vec::new();
    for minute in minutes(Tz::UTC, period.0, period.1) {
        let is_excluded = minute.local.day() == 15;
        let due = crons.iter().find(|it| it.0.matches(&minute));
        // The controller runs no job on an excluded date.
        theirs = due.filter(|_| !is_excluded).map(|it| it.1).or(theirs);
        if theirs.is_some() && planned.count(minute.at) != theirs {
            differ.push((minute.local.day(), minute.of_day()));
        }
    }
    // In the controller, the state of the evening before continues for the whole date. Here the hours end in
    // the evening, and no others begin on that date.
    let expected = (480..1440)
        .map(|it| (15, it))
        .chain((0..480).map(|it| (16, it)));
    assert_eq!(differ, expected.collect::<Vec<_>>());
}
