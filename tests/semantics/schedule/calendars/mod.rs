//! Calendar files: what is in them, and what wants to do harm.
//!
//! The judges are lists that people and other programs have written: public holidays, which were
//! compared with the Python package `holidays` 0.109, and `recurrences.txt`, whose days are those
//! of python-dateutil 2.9.

use chrono::{Datelike, NaiveDate, NaiveTime, TimeDelta, Weekday};
use dayshift::schedule::{
    Action, Calendar, CalendarError, CalendarName, CalendarReason, Calendars, ExceptedDates, Hours,
    Reason, Rule, Schedule, Zone,
};
use proptest::prelude::*;
use std::sync::Arc;

const GERMANY: &[u8] = include_bytes!("../../../../docs/holidays/germany.ics");
const USA: &[u8] = include_bytes!("usa.ics");

/// The public holidays of all of Germany in 2026.
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

fn date(text: &str) -> NaiveDate {
    text.parse().unwrap()
}

fn year(year: i32) -> impl Iterator<Item = NaiveDate> {
    let first = NaiveDate::from_ymd_opt(year, 1, 1).unwrap();
    first.iter_days().take_while(move |it| it.year() == year)
}

/// One event of these lines.
fn event(lines: &str) -> String {
    format!("BEGIN:VCALENDAR\r\nBEGIN:VEVENT\r\n{lines}\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n")
}

/// The dates of a file that are in 2026 and 2027, or why it is refused and in which line.
fn dates(file: &str) -> Result<Vec<String>, (usize, CalendarReason)> {
    let calendar = Calendar::parse(file.as_bytes()).map_err(|it| (it.line(), it.reason()))?;
    let days = year(2026).chain(year(2027));
    let days = days.filter(|it| calendar.contains(*it));
    Ok(days.map(|it| it.to_string()).collect())
}

#[test]
fn the_holidays_of_two_countries_are_those_that_people_know() {
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
    // Fixed feasts go on for ever; the calendar is good for as long as the floating ones are known.
    let germany = Calendar::parse(GERMANY).unwrap();
    assert_eq!(germany.ends_on(), Some(date("2029-05-21")));
    assert!(germany.contains(date("2150-12-25")) && !germany.contains(date("2030-04-19")));
    assert_eq!(
        Calendar::parse(USA).unwrap().ends_on(),
        Some(date("2027-12-31"))
    );
}

#[test]
fn a_year_of_office_hours_starts_on_every_other_working_day() {
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
        let except = ExceptedDates::parse_with("calendar:x", &calendars).unwrap();
        let zone = Zone::parse(zone).unwrap();
        let hours = Hours::parse("Mon-Fri 09:00-19:00").unwrap();
        let schedule = Schedule::new(Rule::Hours(hours), except, zone);
        let instant = |text: &str| zone.instant(date(text).and_time(NaiveTime::MIN));
        let all = schedule.boundaries(
            instant("2026-01-01"),
            instant("2027-01-01"),
            TimeDelta::zero(),
        );
        let starts = all.filter(|it| it.action == Action::Start);
        let starts: Vec<_> = starts
            .map(|it| it.at.with_timezone(&zone.tz()).naive_local())
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
fn recurrences_are_those_of_another_program() {
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
fn events_are_read_as_they_are_written() {
    for (lines, expected) in [
        ("DTSTART;VALUE=DATE:20261225", &["2026-12-25"][..]),
        // Some leave the parameter out.
        ("DTSTART:20261225", &["2026-12-25"]),
        ("dtstart;value=date:20261225", &["2026-12-25"]),
        // Ends are exclusive, but an end on the first day is meant as that day.
        (
            "DTSTART:20261230\r\nDTEND:20270102",
            &["2026-12-30", "2026-12-31", "2027-01-01"],
        ),
        ("DTSTART:20261225\r\nDTEND:20261225", &["2026-12-25"]),
        (
            "DTSTART:20261225\r\nDURATION:P2D",
            &["2026-12-25", "2026-12-26"],
        ),
        (
            "DTSTART:20261225\r\nDURATION:PT48H",
            &["2026-12-25", "2026-12-26"],
        ),
        // From midnight to midnight is whole days, in whatever zone, known or not.
        (
            "DTSTART;TZID=Europe/Berlin:20261225T000000\r\nDTEND;TZID=Europe/Berlin:20261227T000000",
            &["2026-12-25", "2026-12-26"],
        ),
        (
            "DTSTART;TZID=\"Mars: Olympus;Mons\":20261225T000000\r\nDTEND;TZID=X:20261226T000000",
            &["2026-12-25"],
        ),
        ("DTSTART:20261225T000000Z\r\nDURATION:P1D", &["2026-12-25"]),
        (
            "DTSTART:20261225\r\nRRULE:FREQ=DAILY;COUNT=4\r\nEXDATE:20261226\r\nEXDATE;VALUE=DATE:20261228,20261230",
            &["2026-12-25", "2026-12-27"],
        ),
        (
            "DTSTART:20261225\r\nRDATE;VALUE=DATE:20260403,20270326\r\nRDATE;VALUE=PERIOD:20270501T000000Z/P1D",
            &["2026-04-03", "2026-12-25", "2027-03-26", "2027-05-01"],
        ),
        (
            "DTSTART:20261225\r\nRRULE:FREQ=DAILY;UNTIL=20261226T235959Z",
            &["2026-12-25", "2026-12-26"],
        ),
        (
            "DTSTART:20200101\r\nRRULE:FREQ=YEARLY",
            &["2026-01-01", "2027-01-01"],
        ),
        // What is shown as free and what is private counts, what nobody here reads does not matter.
        (
            "DTSTART:20261225\r\nTRANSP:TRANSPARENT\r\nCLASS:PRIVATE\r\nX-ANY;A=\"b:c\":d",
            &["2026-12-25"],
        ),
        // An alarm in an event has a duration of its own.
        (
            "DTSTART:20261225\r\nBEGIN:VALARM\r\nTRIGGER:-PT15M\r\nDURATION:nonsense\r\nEND:VALARM",
            &["2026-12-25"],
        ),
        // Dates outside of the years of schedules are left out, but not what reaches into them.
        (
            "DTSTART:16000101\r\nRRULE:FREQ=YEARLY",
            &["2026-01-01", "2027-01-01"],
        ),
    ] {
        let expected: Vec<_> = expected.iter().map(|it| (*it).to_owned()).collect();
        assert_eq!(dates(&event(lines)), Ok(expected.clone()), "{lines}");
        // Lines may end in LF alone, a file may begin with a byte order mark, and be folded anywhere.
        let plain = format!("\u{feff}{}", event(lines).replace("\r\n", "\n"));
        assert_eq!(dates(&plain), Ok(expected.clone()), "{lines}");
        let folded: String = event(lines)
            .split("\r\n")
            .map(|line| {
                let characters: Vec<_> = line.chars().collect();
                let parts = characters.chunks(3).map(|it| it.iter().collect::<String>());
                parts.collect::<Vec<_>>().join("\r\n ") + "\r\n"
            })
            .collect();
        assert_eq!(dates(&folded), Ok(expected), "{lines}");
    }
}

#[test]
fn events_at_times_of_day_and_cancelled_ones_do_not_count() {
    let rest = "END:VEVENT\r\nBEGIN:VEVENT\r\nDTSTART:20261225";
    for (lines, timed) in [
        ("DTSTART:20260101T090000\r\nDTEND:20260101T170000", 1),
        ("DTSTART;TZID=Nowhere/Land:20260101T090000", 1),
        // Midnight alone is an instant.
        ("DTSTART:20260101T000000", 1),
        ("DTSTART:20260101T000000Z\r\nDTEND:20260101T120000Z", 1),
        // Its recurrence does not matter then.
        ("DTSTART:20260101T090000\r\nRRULE:FREQ=SECONDLY", 1),
        ("DTSTART:20260101\r\nSTATUS:CANCELLED", 0),
        (
            "DTSTART:20260101\r\nstatus:cancelled\r\nRRULE:FREQ=DAILY",
            0,
        ),
    ] {
        let file = event(&format!("{lines}\r\n{rest}"));
        assert_eq!(dates(&file), Ok(vec!["2026-12-25".to_owned()]), "{lines}");
        let calendar = Calendar::parse(file.as_bytes()).unwrap();
        assert_eq!(calendar.timed_events(), timed, "{lines}");
    }
}

#[test]
fn one_recurrence_may_be_moved_or_cancelled_by_an_event_of_its_own() {
    let file = event(
        "UID:a\r\nDTSTART:20260101\r\nRRULE:FREQ=MONTHLY;COUNT=4\r\nEND:VEVENT\r\n\
         BEGIN:VEVENT\r\nUID:a\r\nRECURRENCE-ID;VALUE=DATE:20260201\r\nDTSTART:20260203\r\nEND:VEVENT\r\n\
         BEGIN:VEVENT\r\nUID:a\r\nRECURRENCE-ID:20260301\r\nDTSTART:20260301\r\nSTATUS:CANCELLED\r\nEND:VEVENT\r\n\
         BEGIN:VEVENT\r\nUID:b\r\nDTSTART:20260101\r\nRRULE:FREQ=MONTHLY;COUNT=1",
    );
    let expected = ["2026-01-01", "2026-02-03", "2026-04-01"].map(str::to_owned);
    assert_eq!(dates(&file), Ok(expected.to_vec()));
}

#[test]
fn what_cannot_be_read_is_said_with_its_line() {
    use CalendarReason as Why;
    let whole = |line: usize| line + 2;
    for (lines, line, why) in [
        ("SUMMARY:x", 2, Why::NoStart),
        ("DTSTART:2026-12-25", 1, Why::NotADate),
        ("DTSTART:20260229", 1, Why::NotADate),
        ("DTSTART:20261225T2500", 1, Why::NotADate),
        ("DTSTART:20261225\r\nDTSTART:20261226", 2, Why::Twice),
        ("DTSTART:20261225\r\nDTEND:20261224", 2, Why::BadEnd),
        ("DTSTART:20261225\r\nDTEND:20261225T120000", 2, Why::BadEnd),
        ("DTSTART:20261225\r\nDURATION:PT5H", 2, Why::BadEnd),
        ("DTSTART:20261225\r\nDURATION:-P1D", 2, Why::NotADuration),
        ("DTSTART:20261225\r\nRRULE:YEARLY", 2, Why::BadRule),
        ("DTSTART:20261225\r\nRRULE:COUNT=2", 2, Why::BadRule),
        (
            "DTSTART:20261225\r\nRRULE:FREQ=YEARLY;COUNT=0",
            2,
            Why::BadRule,
        ),
        (
            "DTSTART:20261225\r\nRRULE:FREQ=YEARLY;INTERVAL=0",
            2,
            Why::BadRule,
        ),
        (
            "DTSTART:20261225\r\nRRULE:FREQ=YEARLY;INTERVAL=99999999",
            2,
            Why::BadRule,
        ),
        (
            "DTSTART:20261225\r\nRRULE:FREQ=YEARLY;BYMONTH=13",
            2,
            Why::BadRule,
        ),
        (
            "DTSTART:20261225\r\nRRULE:FREQ=YEARLY;BYDAY=XX",
            2,
            Why::BadRule,
        ),
        (
            "DTSTART:20261225\r\nRRULE:FREQ=YEARLY;BYDAY=0MO",
            2,
            Why::BadRule,
        ),
        (
            "DTSTART:20261225\r\nRRULE:FREQ=YEARLY;BYDAY=日月",
            2,
            Why::BadRule,
        ),
        (
            "DTSTART:20261225\r\nRRULE:FREQ=WEEKLY;BYDAY=1MO",
            2,
            Why::BadRule,
        ),
        (
            "DTSTART:20261225\r\nRRULE:FREQ=YEARLY;BYEASTER=-2",
            2,
            Why::BadRule,
        ),
        (
            "DTSTART:20261225\r\nRRULE:FREQ=YEARLY;BYWEEKNO=1",
            2,
            Why::Unsupported,
        ),
        ("DTSTART:20261225\r\nRRULE:FREQ=HOURLY", 2, Why::Unsupported),
        (
            "DTSTART:20261225\r\nEXRULE:FREQ=YEARLY",
            2,
            Why::Unsupported,
        ),
        (
            "DTSTART:20261225\r\nRECURRENCE-ID;RANGE=THISANDFUTURE:20261225",
            2,
            Why::Unsupported,
        ),
        (
            "DTSTART:20261225\r\nEXDATE:20261225,tomorrow",
            2,
            Why::NotADate,
        ),
        ("DTSTART:20261225\r\nno colon", 2, Why::NotALine),
        ("DTSTART:20261225\r\n\0\0\0", 2, Why::NotALine),
        ("DTSTART:20261225\r\nEND:VTODO", 2, Why::WrongEnd),
        ("DTSTART:20261225\r\nBEGIN:VCALENDAR", 2, Why::NotACalendar),
        ("DTSTART:20261225T090000", 3, Why::NoDates),
        ("DTSTART:20261225\r\nEXDATE:20261225", 4, Why::NoDates),
        ("DTSTART:22000101", 3, Why::NoDates),
    ] {
        assert_eq!(dates(&event(lines)), Err((whole(line), why)), "{lines}");
    }
    for (file, line, why) in [
        ("", 1, Why::NotACalendar),
        ("\r\n\r\n", 1, Why::NotACalendar),
        (
            "<!DOCTYPE html>\n<title>Log in</title>",
            1,
            Why::NotACalendar,
        ),
        ("{\"error\": \"not found\"}", 1, Why::NotACalendar),
        ("B\0E\0G\0I\0N\0:\0V\0", 1, Why::NotACalendar),
        ("BEGIN:VEVENT\nEND:VEVENT", 1, Why::NotACalendar),
        ("BEGIN:VCALENDAR\nEND:VCALENDAR", 2, Why::NoDates),
        (
            "BEGIN:VCALENDAR\nBEGIN:VEVENT\nDTSTART:20261225",
            3,
            Why::Unfinished,
        ),
        (
            "BEGIN:VCALENDAR\nEND:VCALENDAR\nDTSTART:20261225",
            3,
            Why::NotACalendar,
        ),
    ] {
        assert_eq!(dates(file), Err((line, why)), "{file}");
    }
    let error = Calendar::parse(event("DTSTART:\u{1b}[2J20261225").as_bytes()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "line 3: `\\u{1b}[2J20261225` is not a date; dates are written as `20261225`"
    );
}

/// Each would take a gigabyte or a year, if nothing bounded it.
#[test]
fn files_that_want_to_do_harm_are_refused_or_read_at_once() {
    use CalendarReason as Why;
    let daily = "BEGIN:VEVENT\nDTSTART:19700101\nRRULE:FREQ=DAILY\nEND:VEVENT\n";
    let never =
        "BEGIN:VEVENT\nDTSTART:19700101\nRRULE:FREQ=DAILY;BYMONTH=2;BYMONTHDAY=30\nEND:VEVENT\n";
    let many =
        |events: &str, count| format!("BEGIN:VCALENDAR\n{}END:VCALENDAR", events.repeat(count));
    for (file, why) in [
        (many(daily, 2), Some(Why::TooManyDates)),
        (many(never, 10_000), Some(Why::TooMuchWork)),
        (many(daily, 100_000), Some(Why::TooLarge)),
        (
            "BEGIN:VCALENDAR\n".to_owned() + &"X".repeat(1 << 20),
            Some(Why::TooLarge),
        ),
        (
            "BEGIN:VCALENDAR\n".to_owned() + &"X".repeat(1 << 19),
            Some(Why::NotALine),
        ),
        (
            "BEGIN:VCALENDAR\n".to_owned() + &"BEGIN:VEVENT\n".repeat(50_000),
            Some(Why::TooDeep),
        ),
        (" ".repeat(1 << 20), Some(Why::NotACalendar)),
        ("\n ".repeat(1 << 19), Some(Why::NotACalendar)),
        (
            event("DTSTART:20261225\nRRULE:FREQ=YEARLY;COUNT=4294967295"),
            None,
        ),
        (
            event("DTSTART:20261225\nRRULE:FREQ=YEARLY;COUNT=4294967296"),
            Some(Why::BadRule),
        ),
        (event("DTSTART:00010101\nDURATION:P4294967295W"), None),
        (
            event("DTSTART:00010101\nDTEND:99991231\nRRULE:FREQ=YEARLY;INTERVAL=36600"),
            None,
        ),
        (
            event(&format!(
                "DTSTART:20261225\nRDATE:20261225{}",
                ",20261225".repeat(90_000)
            )),
            None,
        ),
        (
            event(&format!(
                "DTSTART:20261225\nRDATE:20261225{}",
                ",20261225".repeat(110_000)
            )),
            Some(Why::TooManyDates),
        ),
        (
            event(&format!(
                "DTSTART:20200101\nRRULE:FREQ=YEARLY;BYDAY=MO{}",
                ",MO".repeat(100_000)
            )),
            Some(Why::TooMuchWork),
        ),
        (
            event(&format!(
                "DTSTART:20261225\nSUMMARY:{}",
                "日\\,".repeat(100_000)
            )),
            None,
        ),
    ] {
        let result = Calendar::parse(file.as_bytes());
        let shown = &file[..file.len().min(60)];
        assert_eq!(
            result.as_ref().err().map(CalendarError::reason),
            why,
            "{shown}"
        );
        if let Ok(calendar) = result {
            let summary = calendar.summary_on(date("2026-12-25")).unwrap_or_default();
            assert!(summary.chars().count() <= 100);
        }
    }
}

#[test]
fn a_name_that_is_not_known_is_pointed_at() {
    let calendar = Arc::new(Calendar::parse(GERMANY).unwrap());
    let name = |name| CalendarName::parse(name).unwrap();
    let both = Calendars::new([(name("fr"), calendar.clone()), (name("de"), calendar)]);
    for (text, found, message) in [
        (
            "2026-12-24; calendar:dee ;2026-01-01",
            "dee",
            "`dee` is not a calendar that is known here; the known ones are: de, fr",
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
        let error = ExceptedDates::parse_with(text, &both).unwrap_err();
        assert_eq!(&text[error.span()], found);
        assert_eq!(error.to_string(), message);
    }
    let error = ExceptedDates::parse("calendar:de").unwrap_err();
    assert_eq!(
        error.to_string(),
        "`de` is not a calendar that is known here; give its file, as in `--calendar de=FILE.ics`"
    );
    assert!(matches!(error.reason(), Reason::UnknownCalendar { .. }));
    // Whoever does not care for the dates takes any name, and knows that they are missing.
    let any = ExceptedDates::parse_with("calendar:xx", &Calendars::default().or_any()).unwrap();
    assert!(any.is_empty() && !any.are_known());
    assert!(
        ExceptedDates::parse_with("calendar: de; calendar:fr;calendar:de", &both)
            .unwrap()
            .are_known()
    );
}

/// Dates that are written, and those of calendars, in one list or in several, are the same dates.
#[test]
fn dates_are_the_same_wherever_they_stand() {
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
            let one = ExceptedDates::parse(&all.join(";")).unwrap();
            let other =
                ExceptedDates::parse_with(&written.join(";"), &Calendars::new(known)).unwrap();
            let rule = [
                "09:00-19:00",
                "Mon-Fri 22:00-06:00",
                "00:00-24:00",
                "Sat 10:00-12:00,11:00-10:00",
            ][rule];
            let schedule = |except| {
                Schedule::new(
                    Rule::Hours(Hours::parse(rule).unwrap()),
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
                    one.says(at, TimeDelta::zero()),
                    other.says(at, TimeDelta::zero())
                );
                at += TimeDelta::hours(23);
            }
            Ok(())
        })
        .unwrap();
}
