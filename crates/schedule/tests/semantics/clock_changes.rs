//! Schedules on days with clock changes, in zones with unusual changes.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use chrono::{DateTime, NaiveDate, Offset, TimeDelta, TimeZone, Utc};
use chrono_tz::Tz;
use dayshift_schedule::{Boundary, ExcludedDates, Hours, Schedule, ScheduleRule, Times, Zone};

use crate::model::{Clocks, moved};
use crate::texts::{Item, On, Window, dates_text, joined};

/// Zones, and the first and last year in which to find clock changes.
const ZONES: [(&str, i32, i32); 24] = [
    ("Europe/Berlin", 2026, 2026),
    ("Europe/Dublin", 2026, 2026),        // winter is the saving time
    ("Europe/London", 1971, 1971),        // the end of three years of summer time
    ("America/New_York", 2026, 2026),     // changes at 02:00
    ("America/Sao_Paulo", 2018, 2018),    // a gap at midnight
    ("America/Havana", 2025, 2025),       // also a gap at midnight
    ("America/Santiago", 2026, 2026),     // a minute before midnight in UTC
    ("America/St_Johns", 2011, 2011),     // changed at 00:01
    ("America/Caracas", 2016, 2016),      // half an hour, permanently
    ("America/Scoresbysund", 2024, 2024), // a new zone and a new rule
    ("Asia/Beirut", 2026, 2026),
    ("Asia/Gaza", 2026, 2026),
    ("Asia/Pyongyang", 2015, 2018),
    ("Asia/Tehran", 2022, 2022),
    ("Africa/Cairo", 2026, 2026),
    ("Africa/Casablanca", 2025, 2025),   // backward for Ramadan
    ("Africa/El_Aaiun", 2014, 2014),     // four times in one year
    ("Antarctica/Troll", 2026, 2026),    // two hours
    ("Australia/Lord_Howe", 2026, 2026), // half an hour
    ("Pacific/Chatham", 2026, 2026),     // at 02:45
    ("Pacific/Apia", 2011, 2011),        // a skipped day
    ("Pacific/Kiritimati", 1994, 1995),  // another skipped day
    ("Pacific/Kwajalein", 1993, 1993),   // another skipped day
    ("Pacific/Norfolk", 2015, 2019),
];

/// All clock changes of these zones in these years.
pub(crate) static CHANGES: LazyLock<Vec<(Tz, DateTime<Utc>)>> = LazyLock::new(|| {
    let of_zone = |(name, first, last): (&str, i32, i32)| {
        let zone: Tz = name.parse().unwrap();
        let changes = changes(zone, first, last);
        assert!(
            !changes.is_empty(),
            "{name} changes nothing from {first} to {last}"
        );
        changes.into_iter().map(move |at| (zone, at))
    };
    ZONES.into_iter().flat_map(of_zone).collect()
});

/// The instants of the clock changes of a zone in these years.
fn changes(zone: Tz, first: i32, last: i32) -> Vec<DateTime<Utc>> {
    let year = |year| Utc.with_ymd_and_hms(year, 1, 1, 0, 0, 0).unwrap();
    let offset = |at: DateTime<Utc>| zone.offset_from_utc_datetime(&at.naive_utc()).fix();
    let minute = TimeDelta::minutes(1);
    let mut changes = Vec::new();
    let mut hour = year(first);
    while hour < year(last + 1) {
        let next = hour + TimeDelta::hours(1);
        if offset(hour) != offset(next) {
            let mut minutes = std::iter::successors(Some(hour), |at| Some(*at + minute));
            changes.extend(minutes.find(|&at| offset(at) != offset(hour)));
        }
        hour = next;
    }
    changes
}

/// Compares the library with the model on three days around a clock change: all boundaries in
/// order, and all queries at and next to those within four hours.
#[track_caller]
pub(crate) fn compare(
    schedule: &Schedule,
    expected: &[Boundary],
    delay: TimeDelta,
    middle: DateTime<Utc>,
    description: &str,
) {
    let (from, until) = (middle - TimeDelta::hours(36), middle + TimeDelta::hours(36));
    let inside = |it: &&Boundary| from <= it.at && it.at < until;
    let expected_inside: Vec<_> = expected.iter().filter(inside).copied().collect();
    let found: Vec<_> = schedule.boundaries(from, until, delay).collect();
    assert_eq!(found, expected_inside, "{description}");

    let beside = |it: &Boundary| [-1, 0, 1].map(|second| it.at + TimeDelta::seconds(second));
    for at in expected_inside
        .iter()
        .flat_map(beside)
        .chain([from, middle, until])
    {
        let newest = expected.iter().rfind(|it| it.at <= at);
        // For later boundaries, the model might not know the next stop.
        let known = middle + TimeDelta::hours(42);
        let next = expected
            .iter()
            .find(|it| it.at > at)
            .filter(|it| it.at < known);
        if newest.is_some() {
            assert_eq!(
                schedule.latest_at(at, delay).as_ref(),
                newest,
                "before {at}: {description}"
            );
            assert_eq!(
                schedule.action_at(at, delay),
                newest.map(|it| it.action),
                "at {at}: {description}"
            );
        }
        if next.is_some() {
            assert_eq!(
                schedule.next_after(at, delay).as_ref(),
                next,
                "after {at}: {description}"
            );
        }
    }
}

fn each_change(mut check: impl FnMut(Tz, DateTime<Utc>, &Clocks)) {
    let reach = TimeDelta::days(4);
    for &(zone, middle) in CHANGES.iter() {
        check(
            zone,
            middle,
            &Clocks::watched(zone, middle - reach, middle + reach),
        );
    }
}

/// No dates, and the dates around the change.
fn some_dates(zone: Tz, middle: DateTime<Utc>) -> [BTreeSet<NaiveDate>; 3] {
    let date = middle.with_timezone(&zone).date_naive();
    [
        BTreeSet::new(),
        BTreeSet::from([date]),
        BTreeSet::from([date.pred_opt().unwrap()]),
    ]
}

/// Excluded dates and delays are tested separately.
fn delays(dates: &BTreeSet<NaiveDate>) -> Vec<TimeDelta> {
    let seconds: &[i64] = if dates.is_empty() {
        &[0, 1799, 3600]
    } else {
        &[0]
    };
    seconds.iter().copied().map(TimeDelta::seconds).collect()
}

fn except(dates: &BTreeSet<NaiveDate>) -> ExcludedDates {
    if dates.is_empty() {
        return ExcludedDates::default();
    }
    ExcludedDates::parse(&dates_text(dates)).unwrap()
}

#[test]
fn starts_and_stops_agree_with_the_model_at_clock_changes() {
    let night = [0, 1, 2, 3, 4, 23];
    let pairs: [(Item, Item); 10] = [
        (Item::daily(&["02:10"]), Item::daily(&["02:50"])),
        (Item::daily(&["02:50"]), Item::daily(&["02:10"])),
        (Item::daily(&["02:30"]), Item::daily(&["02:30"])),
        (Item::daily(&["00:00"]), Item::daily(&["23:59"])),
        (
            Item::daily(&["00:10", "12:00"]),
            Item::daily(&["00:50", "23:30"]),
        ),
        (Item::cron(&[0, 30], &[2]), Item::cron(&[30], &[2, 3])),
        (
            Item::cron(&[30], &[1, 2, 3]),
            Item::cron(&[15, 45], &[0, 1, 2]),
        ),
        (Item::cron(&[5, 35], &night), Item::cron(&[0, 40], &night)),
        (
            Item::daily(&["01:45"]),
            Item::cron(&[0, 10, 20, 30, 40, 50], &night),
        ),
        (
            Item::Days(On::Week(0b100_0000), vec![crate::texts::clock("02:15")]),
            Item::daily(&["03:00"]),
        ),
    ];
    each_change(|zone, middle, clocks| {
        for (start, stop) in &pairs {
            let excepts = some_dates(zone, middle);
            let (starts, stops) = (std::slice::from_ref(start), std::slice::from_ref(stop));
            let unmoved = clocks.of_times(starts, stops, &excepts);
            for (dates, unmoved) in excepts.iter().zip(&unmoved) {
                let rule = ScheduleRule::start_and_stop(
                    Some(Times::parse(&start.text()).unwrap()),
                    Some(Times::parse(&stop.text()).unwrap()),
                );
                let schedule =
                    Schedule::new(rule, except(dates), Zone::parse(zone.name()).unwrap());
                for delay in delays(dates) {
                    let description = format!(
                        "{zone} {middle}: start {}, stop {}, except {dates:?}, delay {delay}",
                        start.text(),
                        stop.text()
                    );
                    compare(
                        &schedule,
                        &moved(unmoved, delay),
                        delay,
                        middle,
                        &description,
                    );
                }
            }
        }
    });
}

#[test]
fn hours_agree_with_the_model_at_clock_changes() {
    let rules: [Vec<Window>; 9] = [
        vec![Window::daily("09:00", "19:00")],
        vec![Window::daily("02:10", "02:50")],
        vec![Window::daily("01:30", "02:30")],
        vec![Window::daily("22:00", "02:15")],
        vec![Window::daily("00:00", "00:00")],
        vec![
            Window::daily("01:00", "02:10"),
            Window::daily("02:40", "04:00"),
        ],
        vec![
            Window::daily("23:30", "00:30"),
            Window::daily("00:45", "01:15"),
        ],
        vec![Window(
            On::Week(0b100_0000),
            crate::texts::clock("00:00"),
            crate::texts::clock("00:00"),
        )],
        vec![
            Window::daily("12:00", "11:45"),
            Window::daily("23:00", "01:00"),
        ],
    ];
    each_change(|zone, middle, clocks| {
        for windows in &rules {
            for dates in some_dates(zone, middle) {
                let unmoved = clocks.of_hours(windows, &dates);
                let text = joined(windows.iter().map(Window::text));
                let rule = ScheduleRule::Hours(Hours::parse(&text).unwrap());
                let schedule =
                    Schedule::new(rule, except(&dates), Zone::parse(zone.name()).unwrap());
                for delay in delays(&dates) {
                    let description =
                        format!("{zone} {middle}: hours {text}, except {dates:?}, delay {delay}");
                    compare(
                        &schedule,
                        &moved(&unmoved, delay),
                        delay,
                        middle,
                        &description,
                    );
                }
            }
        }
    });
}

/// Expected values that were written manually, to check the model too.
#[test]
fn berlin_clock_changes_have_the_documented_boundaries() {
    let berlin = Zone::parse("Europe/Berlin").unwrap();
    let times = |start: &str, stop: &str| {
        ScheduleRule::start_and_stop(
            Some(Times::parse(start).unwrap()),
            Some(Times::parse(stop).unwrap()),
        )
    };
    for (rule, from, expected) in [
        // The DST gap from 02:00 to 03:00 (+02:00): only the later boundary remains.
        (
            times("02:10", "02:50"),
            "2026-03-28T12:00:00Z",
            vec!["stop at 2026-03-29T01:00:00Z"],
        ),
        (
            times("02:50", "02:10"),
            "2026-03-28T12:00:00Z",
            vec!["start at 2026-03-29T01:00:00Z"],
        ),
        // Two times coincide, and another is in the same gap: the last one applies.
        (
            times("02:00,02:15", "02:00,02:59"),
            "2026-03-28T12:00:00Z",
            vec!["stop at 2026-03-29T01:00:00Z"],
        ),
        (
            times("02:00,02:30", "02:00,02:15"),
            "2026-03-28T12:00:00Z",
            vec!["start at 2026-03-29T01:00:00Z"],
        ),
        // The DST overlap from 03:00 back to 02:00 (+01:00): only the first time.
        (
            times("02:10", "02:50"),
            "2026-10-24T12:00:00Z",
            vec![
                "start at 2026-10-25T00:10:00Z",
                "stop at 2026-10-25T00:50:00Z",
            ],
        ),
        (
            times("*/30 * * * *", "03:10"),
            "2026-10-25T00:00:00Z",
            vec![
                "start at 2026-10-25T00:00:00Z",
                "start at 2026-10-25T00:30:00Z",
                "start at 2026-10-25T02:00:00Z",
                "stop at 2026-10-25T02:10:00Z",
            ],
        ),
        // A window within the gap disappears.
        (
            ScheduleRule::Hours(Hours::parse("02:10-02:50").unwrap()),
            "2026-03-28T12:00:00Z",
            vec![],
        ),
    ] {
        let schedule = Schedule::new(rule, ExcludedDates::default(), berlin);
        let from: DateTime<Utc> = from.parse().unwrap();
        let until = from + TimeDelta::hours(16);
        let found: Vec<_> = schedule
            .boundaries(from, until, TimeDelta::zero())
            .take(4)
            .map(|it| it.to_string())
            .collect();
        assert_eq!(found, expected);
    }
}
