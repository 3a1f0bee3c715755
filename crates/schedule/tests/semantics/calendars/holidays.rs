//! The effect of calendars on schedules.

use super::reading::{date, event, year};
use chrono::{Datelike, NaiveDate, NaiveTime, TimeDelta, Weekday};
use dayshift_schedule::{
    Action, Calendar, CalendarName, Calendars, DiagnosticKind, ExcludedDates, Hours, Schedule,
    ScheduleRule, Zone,
};
use proptest::prelude::*;
use std::sync::Arc;

const GERMANY: &[u8] = include_bytes!("../../../../../docs/samples/germany.ics");
const USA: &[u8] = include_bytes!("usa.ics");

/// The public holidays in all of Germany in 2026.
const IN_GERMANY: [(&str, &str); 9] = [
    ("2026-01-01", "Neujahr"),
    ("2026-04-03", "Karfreitag"),
    ("2026-04-06", "Ostermontag"),
    ("2026-05-01", "Tag der Arbeit"),
    ("2026-05-14", "Christi Himmelfahrt"),
    ("2026-05-25", "Pfingstmontag"),
    ("2026-10-03", "Tag der Deutschen Einheit"),
    ("2026-12-25", "Erster Weihnachtstag"),
    ("2026-12-26", "Zweiter Weihnachtstag"),
];

/// The federal holidays of the USA in 2026, and the Friday on which one is observed.
const IN_THE_USA: [(&str, &str); 12] = [
    ("2026-01-01", "New Year's Day"),
    ("2026-01-19", "Martin Luther King Jr. Day"),
    ("2026-02-16", "Washington's Birthday"),
    ("2026-05-25", "Memorial Day"),
    ("2026-06-19", "Juneteenth National Independence Day"),
    ("2026-07-03", "Independence Day (observed)"),
    ("2026-07-04", "Independence Day"),
    ("2026-09-07", "Labor Day"),
    ("2026-10-12", "Columbus Day"),
    ("2026-11-11", "Veterans Day"),
    ("2026-11-26", "Thanksgiving Day"),
    ("2026-12-25", "Christmas Day"),
];

#[test]
fn public_holidays_of_two_countries_are_correct() {
    for (file, expected) in [(GERMANY, &IN_GERMANY[..]), (USA, &IN_THE_USA[..])] {
        let calendar = Calendar::parse(file).unwrap();
        let found: Vec<_> = year(2026)
            .filter_map(|it| Some((it, calendar.summary_on(it)?)))
            .collect();
        let expected: Vec<_> = expected
            .iter()
            .map(|(day, name)| (date(day), *name))
            .collect();
        assert_eq!(found, expected);
        assert_eq!(calendar.timed_events(), 0);
    }
    // Fixed holidays recur without an end, so the calendar ends with the last known movable
    // holiday.
    let germany = Calendar::parse(GERMANY).unwrap();
    assert_eq!(germany.ends_on(), Some(date("2029-05-21")));
    assert!(germany.contains(date("2150-12-25")) && !germany.contains(date("2030-04-19")));
    assert_eq!(
        Calendar::parse(USA).unwrap().ends_on(),
        Some(date("2027-12-31"))
    );
}

#[test]
fn office_hours_start_on_all_workdays_except_holidays() {
    for (file, zone, holidays) in [
        (
            GERMANY,
            "Europe/Berlin",
            IN_GERMANY.map(|(day, _)| day).to_vec(),
        ),
        (
            USA,
            "America/New_York",
            IN_THE_USA.map(|(day, _)| day).to_vec(),
        ),
    ] {
        let name = CalendarName::parse("x").unwrap();
        let calendars = Calendars::new([(name, Arc::new(Calendar::parse(file).unwrap()))]);
        let except = ExcludedDates::parse_with("calendar:x", &calendars).unwrap();
        let zone = Zone::parse(zone).unwrap();
        let hours = Hours::parse("Mon-Fri 09:00-19:00").unwrap();
        let schedule = Schedule::new(ScheduleRule::Hours(hours), except, zone);
        let instant = |text: &str| zone.instant(date(text).and_time(NaiveTime::MIN));
        let all = schedule.boundaries(
            instant("2026-01-01"),
            instant("2027-01-01"),
            TimeDelta::zero(),
        );
        let starts = all.filter(|it| it.action == Action::Start);
        let starts: Vec<_> = starts
            .map(|it| it.at.with_timezone(&zone).naive_local())
            .collect();
        let is_working = |it: &NaiveDate| !matches!(it.weekday(), Weekday::Sat | Weekday::Sun);
        let expected: Vec<_> = year(2026)
            .filter(is_working)
            .filter(|it| !holidays.contains(&it.to_string().as_str()))
            .map(|it| it.and_hms_opt(9, 0, 0).unwrap())
            .collect();
        assert_eq!(starts, expected);
    }
}

#[test]
fn recurrences_agree_with_dateutil() {
    let mut count = 0;
    for line in include_str!("recurrences.txt").lines() {
        let [first, rule, days] = *line.split(' ').collect::<Vec<_>>() else {
            panic!("{line}");
        };
        let file = event(&format!("DTSTART;VALUE=DATE:{first}\r\nRRULE:{rule}"));
        let calendar = Calendar::parse(file.as_bytes()).unwrap_or_else(|it| panic!("{line}: {it}"));
        let read = |day: &str| NaiveDate::parse_from_str(day, "%Y%m%d").unwrap();
        let days: Vec<_> = days.split(',').map(read).collect();
        let last = *days.last().unwrap();
        let found = days[0].iter_days().take_while(|it| *it <= last);
        let found: Vec<_> = found.filter(|it| calendar.contains(*it)).collect();
        assert_eq!(found, days, "{line}");
        assert!(!calendar.contains(days[0].pred_opt().unwrap()), "{line}");
        // The list has the first twelve days, or all of them.
        if days.len() < 12 {
            assert_eq!(calendar.last(), Some(last), "{line}");
        }
        count += 1;
    }
    assert_eq!(count, 330);
}

#[test]
fn error_points_at_an_unknown_calendar() {
    let calendar = Arc::new(Calendar::parse(GERMANY).unwrap());
    let name = |name| CalendarName::parse(name).unwrap();
    let both = Calendars::new([(name("fr"), calendar.clone()), (name("de"), calendar)]);
    for (text, found, message) in [
        (
            "2026-12-24; calendar:dee ;2026-01-01",
            "dee",
            "`dee` is not a known calendar; write `calendar:de`",
        ),
        (
            "calendar:fr;calendar:holidays",
            "holidays",
            "`holidays` is not a known calendar; give its file with `--calendar \
                holidays=FILE.ics`, or name a known one: de, fr",
        ),
        (
            "calendar: FR",
            "FR",
            "`FR` is not the name of a calendar; write for example `calendar:de`, and give its file with `--calendar de=FILE.ics`",
        ),
        (
            "calendar:",
            "calendar:",
            "`calendar:` is not the name of a calendar; write for example `calendar:de`, and give its file with `--calendar de=FILE.ics`",
        ),
    ] {
        let error = ExcludedDates::parse_with(text, &both).unwrap_err();
        assert_eq!(&text[error.span()], found);
        assert_eq!(error.to_string(), message);
    }
    let error = ExcludedDates::parse("calendar:de").unwrap_err();
    assert_eq!(
        error.to_string(),
        "`de` is not a known calendar; give its file with `--calendar de=FILE.ics`"
    );
    assert_eq!(error.kind(), DiagnosticKind::Calendar);
    // If the dates do not matter, any name is accepted, and the schedule reports that its
    // calendars are incomplete.
    let any =
        ExcludedDates::parse_with("calendar:xx", &Calendars::default().accepting_any()).unwrap();
    assert!(any.is_empty() && !are_known(any));
    let named = ExcludedDates::parse_with("calendar: de; calendar:fr;calendar:de", &both);
    assert!(are_known(named.unwrap()));
}

fn are_known(except: ExcludedDates) -> bool {
    let hours = ScheduleRule::Hours(Hours::parse("09:00-19:00").unwrap());
    Schedule::new(hours, except, Zone::UTC).has_all_calendars()
}

/// The dates should be the same, whether they are written, in a calendar, or in several lists.
#[test]
fn dates_are_equal_in_lists_and_calendars() {
    let mut runner = proptest::test_runner::TestRunner::new(ProptestConfig {
        cases: 300,
        ..ProptestConfig::default()
    });
    let spans = prop::collection::vec((0_i64..120, 1_i64..5, 0_usize..3), 1..12);
    runner
        .run(&(spans, 0_usize..4), |(spans, rule)| {
            let begin = date("2026-11-01");
            let day = |after: i64| begin + TimeDelta::days(after);
            let mut written = Vec::new();
            let mut files = [String::new(), String::new()];
            let mut all = Vec::new();
            for (first, length, place) in spans {
                let (from, to) = (day(first), day(first + length - 1));
                let text = format!("{from}..{to}");
                all.push(text.clone());
                match files.get_mut(place) {
                    Some(file) => {
                        let (from, end) =
                            (from.format("%Y%m%d"), day(first + length).format("%Y%m%d"));
                        *file +=
                            &format!("BEGIN:VEVENT\nDTSTART:{from}\nDTEND:{end}\nEND:VEVENT\n");
                    }
                    None => written.push(text),
                }
            }
            let mut known = Vec::new();
            for (name, file) in ["a", "b"]
                .into_iter()
                .zip(files)
                .filter(|(_, file)| !file.is_empty())
            {
                let file = format!("BEGIN:VCALENDAR\n{file}END:VCALENDAR");
                let calendar = Calendar::parse(file.as_bytes()).unwrap();
                known.push((CalendarName::parse(name).unwrap(), Arc::new(calendar)));
                written.push(format!("calendar:{name}"));
            }
            let one = ExcludedDates::parse(&all.join(";")).unwrap();
            let other =
                ExcludedDates::parse_with(&written.join(";"), &Calendars::new(known)).unwrap();
            let rule = [
                "09:00-19:00",
                "Mon-Fri 22:00-06:00",
                "00:00-24:00",
                "Sat 10:00-12:00,11:00-10:00",
            ][rule];
            let schedule = |except| {
                Schedule::new(
                    ScheduleRule::Hours(Hours::parse(rule).unwrap()),
                    except,
                    Zone::parse("Europe/Berlin").unwrap(),
                )
            };
            let (one, other) = (schedule(one), schedule(other));
            let mut at = date("2026-10-25").and_time(NaiveTime::MIN).and_utc();
            for _ in 0..150 {
                let (next, latest) = (
                    one.next_after(at, TimeDelta::zero()),
                    one.latest_at(at, TimeDelta::zero()),
                );
                prop_assert_eq!(next, other.next_after(at, TimeDelta::zero()));
                prop_assert_eq!(latest, other.latest_at(at, TimeDelta::zero()));
                prop_assert_eq!(
                    one.action_at(at, TimeDelta::zero()),
                    other.action_at(at, TimeDelta::zero())
                );
                at += TimeDelta::hours(23);
            }
            Ok(())
        })
        .unwrap();
}
