//! The behavior of kube-green, kubernetes-cronhpa-controller and KEDA at single times.

use chrono::TimeDelta;
use chrono_tz::Tz;

use crate::convert::clocks::minutes;
use crate::convert::converted::{Planned, change, convert, rule_ids};
use crate::convert::cron_hpa::{cron_hpa, utc_jobs};
use crate::convert::cron_oracle::Cron;
use crate::convert::keda::{active, scaled_object};
use crate::convert::kube_green::sleep_info;

const PERIOD: (&str, &str) = ("2027-07-05T00:00:00Z", "2027-07-12T00:00:00Z");

#[test]
pub(super) fn prefers_the_start_in_the_same_minute() {
    // kube-green alternates: it sleeps on one evening and wakes on the next.
    let text = sleep_info("*", "20:00", Some("20:00"), "UTC", "");
    let conversion = convert(&text);
    let planned = Planned::of(&conversion.changes[0], PERIOD);
    let cron = Cron::new("0 20 * * *");
    let mut sleeps = false;
    let mut differ = 0;
    for minute in minutes(Tz::UTC, PERIOD.0, PERIOD.1) {
        sleeps ^= cron.matches(&minute);
        assert_eq!(planned.runs(minute.at), Some(true), "{minute:?}");
        differ += u32::from(sleeps);
    }
    // Four evenings of seven, of which the last has four hours.
    assert_eq!(differ, 3 * 1440 + 4 * 60);
}

#[test]
pub(super) fn two_jobs_in_one_minute_are_not_converted() {
    // The controller runs both in an undefined order.
    let jobs = [
        ("0 0 8 * * *".to_owned(), 5),
        ("0 0 8 * * 1-5".to_owned(), 3),
        ("0 0 20 * * *".to_owned(), 0),
    ];
    let conversion = utc_jobs(&cron_hpa(&[], &jobs));
    assert!(conversion.changes.is_empty(), "{conversion:#?}");
    assert!(
        rule_ids(&conversion).contains(&"no-equivalent"),
        "{conversion:#?}"
    );
}

#[test]
pub(super) fn stops_without_a_cooldown() {
    let trigger = ("0 6 * * *".to_owned(), "0 20 * * *".to_owned(), 10);
    let text = scaled_object(
        std::slice::from_ref(&trigger),
        "UTC",
        "  cooldownPeriod: 300\n",
    );
    let conversion = convert(&text);
    let planned = Planned::of(change(&conversion), PERIOD);
    let all = minutes(Tz::UTC, PERIOD.0, PERIOD.1);
    let active = active(&all, &trigger);
    let mut until = None;
    let mut differ = 0;
    for (minute, active) in all.iter().zip(active) {
        let Some(active) = active else { continue };
        if active {
            until = Some(minute.at + TimeDelta::seconds(60 + 300));
        }
        // KEDA scales down after this time without an active trigger.
        let Some(theirs) = until.map(|it| minute.at < it) else {
            continue;
        };
        if planned.runs(minute.at) != Some(theirs) {
            assert!((1200..1205).contains(&minute.of_day()), "{minute:?}");
            differ += 1;
        }
    }
    assert!(differ >= 6 * 5 && differ % 5 == 0, "{differ}");
}
