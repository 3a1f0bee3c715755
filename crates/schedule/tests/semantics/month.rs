//! Days within the month: in all months from 1970 to 2199, and as proposals for other cron
//! dialects.

use std::collections::BTreeMap;

use chrono::{DateTime, Datelike, NaiveDate, TimeDelta, TimeZone, Utc};
use dayshift_schedule::{
    Action, ExcludedDates, Hours, Proposal, Schedule, ScheduleRule, Times, Zone,
};

use crate::texts::{Nth, UNITS};

fn all() -> impl Iterator<Item = Nth> {
    (0..5).flat_map(|nth| (0..UNITS.len()).map(move |unit| Nth(nth, unit)))
}

fn starts(times: Times) -> Schedule {
    let rule = ScheduleRule::start_and_stop(Some(times), None);
    Schedule::new(rule, ExcludedDates::default(), Zone::UTC)
}

fn of_hours(text: &str, except: &str) -> Schedule {
    let except = match except {
        "" => ExcludedDates::default(),
        dates => ExcludedDates::parse(dates).unwrap(),
    };
    let rule = ScheduleRule::Hours(Hours::parse(text).unwrap());
    Schedule::new(rule, except, Zone::UTC)
}

/// The boundaries from a date on: `+` starts, `-` stops.
fn shown(schedule: &Schedule, from: &str, count: usize) -> Vec<String> {
    let from: NaiveDate = from.parse().unwrap();
    let from = from.and_hms_opt(0, 0, 0).unwrap().and_utc();
    let all = schedule.boundaries(from, DateTime::<Utc>::MAX_UTC, TimeDelta::zero());
    let all = all.take(count).map(|it| {
        let sign = if it.action == Action::Stop { '-' } else { '+' };
        format!("{sign}{}", it.at.format("%a %Y-%m-%d %H:%M"))
    });
    all.collect()
}

#[test]
fn each_form_occurs_once_in_each_month_from_1970_to_2199() {
    let first: NaiveDate = "1970-01-01".parse().unwrap();
    let all_days = first.iter_days().take_while(|it| it.year() < 2200);
    let is_compared = |year| matches!(year, 1970 | 1972 | 2024..=2031 | 2100 | 2199);
    let days: Vec<_> = all_days.filter(|it| is_compared(it.year())).collect();
    for nth in all() {
        let schedule = starts(Times::parse(&format!("{} 09:30", nth.text())).unwrap());
        let ends = (
            Utc.timestamp_opt(-86_400, 0).unwrap(),
            DateTime::<Utc>::MAX_UTC,
        );
        let found = schedule.boundaries(ends.0, ends.1, TimeDelta::zero());
        let found: Vec<_> = found.map(|it| it.at).collect();
        let back =
            |at: DateTime<Utc>| schedule.latest_at(at - TimeDelta::seconds(1), TimeDelta::zero());
        let backwards = std::iter::successors(back(ends.1), |it| back(it.at));
        let mut backwards: Vec<_> = backwards.map(|it| it.at).collect();
        backwards.reverse();
        assert_eq!(backwards, found, "{}", nth.text());

        // Count to the one day of each month on which the form matches.
        let mut expected = BTreeMap::new();
        for date in &days {
            if nth.matches(*date) {
                let at = date.and_hms_opt(9, 30, 0).unwrap().and_utc();
                let before = expected.insert((date.year(), date.month()), at);
                assert_eq!(before, None, "{}", nth.text());
            }
        }
        assert_eq!((found.len(), expected.len()), (230 * 12, 12 * 12));
        let compared = found.into_iter().filter(|it| is_compared(it.year()));
        assert!(compared.eq(expected.into_values()), "{}", nth.text());
    }
}

#[test]
fn window_belongs_to_the_day_on_which_it_begins() {
    for (text, except, expected) in [
        (
            "last Fri 22:00-06:00",
            "",
            [
                "+Fri 2026-11-27 22:00",
                "-Sat 2026-11-28 06:00",
                "+Fri 2026-12-25 22:00",
            ],
        ),
        // Across the end of a month and of a year.
        (
            "LAST Day 20:00-06:00",
            "",
            [
                "+Mon 2026-11-30 20:00",
                "-Tue 2026-12-01 06:00",
                "+Thu 2026-12-31 20:00",
            ],
        ),
        (
            "last day 20:00-06:00",
            "2026-12-01; 2026-12-31",
            [
                "+Mon 2026-11-30 20:00",
                "-Tue 2026-12-01 06:00",
                "+Sun 2027-01-31 20:00",
            ],
        ),
        // Together with windows of every week, which touch.
        (
            "Thu 09:00-17:00; last weekday 17:00-19:00,08:00-10:00",
            "",
            [
                "+Thu 2026-11-26 09:00",
                "-Thu 2026-11-26 17:00",
                "+Mon 2026-11-30 08:00",
            ],
        ),
        (
            "Mon 09:00-17:00; last weekday 17:00-19:00,08:00-10:00",
            "2026-11-23",
            [
                "+Mon 2026-11-30 08:00",
                "-Mon 2026-11-30 19:00",
                "+Mon 2026-12-07 09:00",
            ],
        ),
        (
            "daily 00:00-24:00; first day 09:00-10:00",
            "2027-06-01",
            ["-Tue 2027-06-01 00:00", "+Wed 2027-06-02 00:00", ""],
        ),
    ] {
        let expected: Vec<_> = expected.into_iter().filter(|it| !it.is_empty()).collect();
        let schedule = of_hours(text, except);
        assert_eq!(shown(&schedule, "2026-11-20", 3), expected, "{text}");
        for pair in expected.windows(2) {
            let at = |text: &str| {
                let local = chrono::NaiveDateTime::parse_from_str(&text[5..], "%Y-%m-%d %H:%M");
                local.unwrap().and_utc()
            };
            let before = at(pair[1]) - TimeDelta::seconds(1);
            let latest = schedule.latest_at(before, TimeDelta::zero()).unwrap();
            assert_eq!(latest.at, at(pair[0]), "{text}");
        }
    }
}

#[test]
fn excluded_date_drops_the_start_of_its_month() {
    let times = |text| Some(Times::parse(text).unwrap());
    let rule = ScheduleRule::start_and_stop(times("first Mon 09:00"), times("last weekday 18:00"));
    let except = ExcludedDates::parse("2026-12-07; 2026-12-31").unwrap();
    let schedule = Schedule::new(rule, except, Zone::UTC);
    assert_eq!(
        shown(&schedule, "2026-11-23", 3),
        [
            "-Mon 2026-11-30 18:00",
            "-Thu 2026-12-31 18:00",
            "+Mon 2027-01-04 09:00"
        ]
    );
}

/// croner is the oracle: it reads the characters that this dialect rejects.
#[test]
fn proposals_for_other_cron_dialects_have_the_same_times() {
    let mut advised = 0;
    for day in ["L", "1W", "LW", "15W", "L-3", "*"] {
        let week = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];
        let signs = ["#1", "#2", "#3", "#4", "#5", "#L", "L"];
        let week = week
            .iter()
            .flat_map(|day| signs.iter().map(move |it| format!("{day}{it}")));
        for week in week.chain(["*".to_owned()]) {
            let text = format!("30 9,17 {day} * {week}");
            let Err(error) = Times::parse(&text) else {
                assert_eq!(text, "30 9,17 * * *");
                continue;
            };
            let is_proposed = error
                .message()
                .contains(" in other crons and is not supported");
            assert!(is_proposed, "{text}: {error}");
            let Some(Proposal::Replace { text: instead, .. }) = error.proposal() else {
                continue;
            };
            advised += 1;
            let schedule = starts(Times::parse(&instead).unwrap());
            let theirs: croner::Cron = text.replace("#L", "L").parse().unwrap();
            let mut at: DateTime<Utc> = "2026-11-20T18:00:00Z".parse().unwrap();
            for _ in 0..100 {
                let next = schedule.next_after(at, TimeDelta::zero()).unwrap().at;
                assert_eq!(
                    next,
                    theirs.find_next_occurrence(&at, false).unwrap(),
                    "{text}"
                );
                at = next;
            }
        }
    }
    // Three forms of the month, and the first four or the last of each weekday.
    assert_eq!(advised, 3 + 7 * 5, "{advised}");
}

/// Users who restrict both fields often expect that a date must match both. If days within the
/// month can express this, it is proposed.
#[test]
fn dates_that_match_both_day_fields_are_proposed_as_days_within_the_month() {
    for (text, expected) in [
        ("0 9 1-7 * 1", Some(Some("first Mon 09:00"))),
        (
            "30 8,18 8-14 * Tue,Thu",
            Some(Some("second Tue,second Thu 08:30,18:30")),
        ),
        ("0 9 22-28 * 7", Some(Some("fourth Sun 09:00"))),
        ("0 0 9 15-21 * Wed", Some(Some("third Wed 09:00"))),
        ("0 9 25-31 * 5", Some(None)),
        ("0 9 1,15 * 1-5", Some(None)),
        ("0 9 1-7 6 1", Some(None)),
        ("30 0 9 1-7 * 1", Some(None)),
        ("*/5 9 1-7 * 1", Some(None)),
        ("0 9 1-7 * *", None),
        ("0 9 * * 1", None),
        ("first Mon 09:00", None),
    ] {
        let both = Times::parse(text).unwrap().either_day_cron();
        let found = both.as_ref().map(|cron| cron.both_days.as_deref());
        assert_eq!(found, expected, "{text}");
        let Some(both) = both.and_then(|cron| cron.both_days) else {
            continue;
        };
        // Each time is one of the original times, on a day that also matches the other field.
        let (own, both) = (
            starts(Times::parse(text).unwrap()),
            starts(Times::parse(&both).unwrap()),
        );
        let from = "2026-11-20T18:00:00Z".parse().unwrap();
        let until = from + TimeDelta::days(1000);
        let own: Vec<_> = own.boundaries(from, until, TimeDelta::zero()).collect();
        let both: Vec<_> = both.boundaries(from, until, TimeDelta::zero()).collect();
        assert!(both.len() > 30 && both.len() < own.len(), "{text}");
        assert!(both.iter().all(|it| own.contains(it)), "{text}");
    }
}
