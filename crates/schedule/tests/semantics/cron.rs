//! Cron in UTC, without clock changes: known dates, every minute of a year, and croner as an
//! oracle.

use chrono::{DateTime, Datelike, NaiveDateTime, TimeDelta, TimeZone, Timelike, Utc};
use dayshift_schedule::{Action, ExcludedDates, Schedule, ScheduleRule, Times, Zone};
use proptest::prelude::*;

fn cron(text: &str) -> Schedule {
    let start = Times::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"));
    let rule = ScheduleRule::start_and_stop(Some(start), None);
    Schedule::new(rule, ExcludedDates::default(), Zone::UTC)
}

fn utc(text: &str) -> DateTime<Utc> {
    text.parse::<NaiveDateTime>().unwrap().and_utc()
}

#[test]
fn finds_the_previous_and_the_next_time() {
    for (text, at, latest, next) in [
        (
            "30 9 * * *",
            "2026-11-20T09:30:00",
            "2026-11-20T09:30:00",
            "2026-11-21T09:30:00",
        ),
        (
            "30 9 * * *",
            "2026-11-20T09:29:59",
            "2026-11-19T09:30:00",
            "2026-11-20T09:30:00",
        ),
        (
            "0 0 31 * *",
            "2026-11-20T00:00:00",
            "2026-10-31T00:00:00",
            "2026-12-31T00:00:00",
        ),
        (
            "5 10 15 * * *",
            "2026-11-20T15:10:06",
            "2026-11-20T15:10:05",
            "2026-11-21T15:10:05",
        ),
        (
            "0 0 1 1 *",
            "2026-01-01T00:00:00",
            "2026-01-01T00:00:00",
            "2027-01-01T00:00:00",
        ),
        // The 13th, and every Friday.
        (
            "0 0 13 * 5",
            "2026-11-10T00:00:00",
            "2026-11-06T00:00:00",
            "2026-11-13T00:00:00",
        ),
        (
            "0 0 13 * 5",
            "2026-11-13T00:00:00",
            "2026-11-13T00:00:00",
            "2026-11-20T00:00:00",
        ),
        // 2100 is not a leap year, so there are eight years between two dates. (robfig/cron stops
        // searching after five.)
        (
            "0 0 29 2 *",
            "2098-01-01T00:00:00",
            "2096-02-29T00:00:00",
            "2104-02-29T00:00:00",
        ),
    ] {
        let (cron, at) = (cron(text), utc(at));
        let zero = TimeDelta::zero();
        assert_eq!(cron.latest_at(at, zero).unwrap().at, utc(latest), "{text}");
        assert_eq!(cron.next_after(at, zero).unwrap().at, utc(next), "{text}");
        assert_eq!(cron.action_at(at, zero), Some(Action::Start));
    }
}

#[test]
fn matches_each_minute_of_a_leap_year_by_its_fields() {
    type Predicate = fn(&DateTime<Utc>) -> bool;
    let cases: [(&str, Predicate); 4] = [
        ("*/13 3,22 10-20/3 * Tue", |at| {
            at.minute() % 13 == 0
                && [3, 22].contains(&at.hour())
                && ([10, 13, 16, 19].contains(&at.day()) || at.weekday() == chrono::Weekday::Tue)
        }),
        ("7 */5 * 2,12 1-5", |at| {
            at.minute() == 7
                && at.hour() % 5 == 0
                && [2, 12].contains(&at.month())
                && at.weekday().num_days_from_monday() < 5
        }),
        ("59 23 31 * ?", |at| {
            (at.day(), at.hour(), at.minute()) == (31, 23, 59)
        }),
        ("0 0 */3 * 7", |at| {
            at.hour() + at.minute() == 0
                && (at.day() % 3 == 1 || at.weekday() == chrono::Weekday::Sun)
        }),
    ];
    let (from, until) = (utc("2028-01-01T00:00:00"), utc("2029-01-01T00:00:00"));
    for (text, matches) in cases {
        let schedule = cron(text);
        let minutes = std::iter::successors(Some(from), |at| Some(*at + TimeDelta::minutes(1)));
        let expected: Vec<_> = minutes
            .take_while(|at| *at < until)
            .filter(matches)
            .collect();
        let boundaries = schedule.boundaries(from, until, TimeDelta::zero());
        assert_eq!(
            boundaries.map(|it| it.at).collect::<Vec<_>>(),
            expected,
            "{text}"
        );

        let second = TimeDelta::seconds(1);
        let latest = |at: DateTime<Utc>| schedule.latest_at(at - second, TimeDelta::zero());
        let backwards = std::iter::successors(latest(until), |it| latest(it.at));
        let mut backwards: Vec<_> = backwards
            .map(|it| it.at)
            .take_while(|at| *at >= from)
            .collect();
        backwards.reverse();
        assert_eq!(backwards, expected, "{text} backwards");
    }
}

/// A field that this dialect and croner read alike: without `N/step`, and without a star in a
/// list.
fn field(least: u32, most: u32) -> impl Strategy<Value = String> {
    let value = (least..=most, least..=most, 1_u32..20, 0..4).prop_map(|(a, b, step, kind)| {
        let (from, to) = (a.min(b), a.max(b));
        match kind {
            0 | 1 => format!("{a}"),
            2 => format!("{from}-{to}"),
            _ => format!("{from}-{to}/{step}"),
        }
    });
    prop_oneof![
        2 => Just("*".to_owned()),
        1 => (2_u32..20).prop_map(|step| format!("*/{step}")),
        4 => prop::collection::vec(value, 1..4).prop_map(|values| values.join(",")),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, ..ProptestConfig::default() })]

    #[test]
    fn agrees_with_croner_without_clock_changes(
        seconds in prop::option::of(field(0, 59)),
        minute in field(0, 59),
        hour in field(0, 23),
        day in field(1, 28),
        month in field(1, 12),
        weekday in field(0, 7),
        at in 0_i64..4_000_000_000,
    ) {
        let seconds = seconds.map_or_else(String::new, |it| format!("{it} "));
        let text = format!("{seconds}{minute} {hour} {day} {month} {weekday}");
        let ours = cron(&text);
        let theirs: croner::Cron = text.parse().unwrap();
        let at = Utc.timestamp_opt(at, 0).unwrap();
        let next = ours.next_after(at, TimeDelta::zero()).map(|it| it.at);
        prop_assert_eq!(next, theirs.find_next_occurrence(&at, false).ok(), "{}", text);
        let latest = ours.latest_at(at, TimeDelta::zero()).map(|it| it.at);
        let previous = theirs.find_previous_occurrence(&at, true).ok();
        // Only croner has results before 1970.
        if previous.is_some_and(|it| it.timestamp() >= 0) {
            prop_assert_eq!(latest, previous, "{} backwards", text);
        }
    }
}
