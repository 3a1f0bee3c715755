//! Texts that are made to be costly: what is asked of them is answered in a bounded number of steps,
//! and rightly.

use std::{fmt::Write as _, sync::Arc, time::Instant};

use chrono::{DateTime, TimeDelta, Utc};
use dayshift::schedule::{
    Action, Calendar, CalendarName, Calendars, ExceptedDates, Hours, Schedule, ScheduleRule, Times,
    Zone, parse_scale,
};

fn at(text: &str) -> DateTime<Utc> {
    text.parse().unwrap()
}

fn times(start: &str, stop: &str) -> ScheduleRule {
    ScheduleRule::start_and_stop(Times::parse(start).ok(), Times::parse(stop).ok())
}

fn hours(text: &str) -> ScheduleRule {
    ScheduleRule::Hours(Hours::parse(text).unwrap())
}

/// As many items as go into 4 kB.
fn many(item: impl Fn(u32) -> String) -> String {
    let mut text = item(0);
    for nth in 1.. {
        let next = item(nth);
        if text.len() + 1 + next.len() > 4096 {
            break;
        }
        write!(text, ";{next}").unwrap();
    }
    text
}

/// A calendar of every day of the week that `rule` repeats.
fn calendar(rule: &str, first: &str) -> ExceptedDates {
    let file = format!(
        "BEGIN:VCALENDAR\nBEGIN:VEVENT\nDTSTART;VALUE=DATE:{first}\nRRULE:{rule}\nEND:VEVENT\nEND:VCALENDAR\n"
    );
    let calendar = Calendar::parse(file.as_bytes()).unwrap();
    let name = CalendarName::parse("x").unwrap();
    let known = Calendars::new([(name, Arc::new(calendar))]);
    ExceptedDates::parse_with("calendar:x", &known).unwrap()
}

fn schedules() -> Vec<(&'static str, Schedule)> {
    let none = ExceptedDates::default;
    let berlin = Zone::parse("Europe/Berlin").unwrap();
    let every_second = many(|nth| format!("* * 0-23 * * {}", nth % 7));
    let leap_days = many(|nth| format!("{} {} 29 2 *", nth % 60, nth / 60));
    let each_day = many(|nth| format!("0 0 {} {} *", 1 + nth % 28, 1 + nth / 28 % 12));
    let counts = many(|nth| format!("{} {} 29 2 * = {}", nth % 60, nth / 60, nth + 1));
    let always =
        "Mon-Sat 00:00-24:00; first Sun,second Sun,third Sun,fourth Sun,last Sun 00:00-24:00";
    let scale = |text: &str| ScheduleRule::Times(parse_scale(text).unwrap());
    let schedule = |rule, except| Schedule::new(rule, except, berlin);
    vec![
        (
            "each second",
            schedule(times("* * * * * *", "* * * * * *"), none()),
        ),
        (
            "many each second",
            schedule(times(&every_second, &every_second), none()),
        ),
        ("leap days", schedule(times(&leap_days, &leap_days), none())),
        (
            "leap days without a stop",
            schedule(times(&leap_days, ""), none()),
        ),
        (
            "days of the month",
            schedule(times(&each_day, &leap_days), none()),
        ),
        ("counts", schedule(scale(&counts), none())),
        (
            "every Saturday",
            schedule(
                hours("Sat 10:00-14:00"),
                calendar("FREQ=WEEKLY", "19700103"),
            ),
        ),
        (
            "the same as times",
            schedule(times("Sat 10:00", ""), calendar("FREQ=WEEKLY", "19700103")),
        ),
        (
            "every first",
            schedule(
                times(&each_day, ""),
                calendar("FREQ=DAILY;INTERVAL=1", "19700101"),
            ),
        ),
        ("always", schedule(hours(always), none())),
        (
            "always but once",
            schedule(hours(always), ExceptedDates::parse("2190-01-01").unwrap()),
        ),
    ]
}

#[test]
fn no_text_is_answered_slowly() {
    let now = at("2026-11-20T18:00:00Z");
    for (name, schedule) in schedules() {
        for delay in [TimeDelta::zero(), TimeDelta::hours(1)] {
            let began = Instant::now();
            let _ = schedule.next_after(now, delay);
            let _ = schedule.latest_at(now, delay);
            let _ = schedule.says(now, delay);
            // Unoptimized, and beside other tests.
            let taken = began.elapsed();
            assert!(taken.as_millis() < 1_500, "{name}: {taken:?}");
        }
    }
}

#[test]
fn the_next_start_or_stop_has_no_cap_of_boundaries() {
    let now = at("2026-11-20T18:00:00Z");
    let zero = TimeDelta::zero();
    let schedule =
        |start, stop| Schedule::new(times(start, stop), ExceptedDates::default(), Zone::UTC);
    for (start, stop, brings_up, delay, expected) in [
        (
            "@yearly",
            "*/15 * * * *",
            true,
            0,
            Some("2027-01-01T00:00:00Z"),
        ),
        (
            "@yearly",
            "*/15 * * * *",
            true,
            600,
            Some("2027-01-01T00:10:00Z"),
        ),
        (
            "0 0 29 2 *",
            "* * * * *",
            true,
            3600,
            Some("2028-02-29T00:00:59Z"),
        ),
        // Each of these stops but the last coincides with a start.
        ("*/15 * * * *", "*/15 * * * *; 0 0 1 1 *", false, 0, None),
        (
            "*/15 * * * *",
            "0 * * * *; 1 0 1 1 *",
            false,
            0,
            Some("2027-01-01T00:01:00Z"),
        ),
        (
            "* * * * *",
            "* * * * *; 30 0 0 29 2 *",
            false,
            60,
            Some("2028-02-29T00:00:30Z"),
        ),
        ("09:00", "09:00; 2190-01-01 09:00", false, 0, None),
        (
            "09:00",
            "09:00; 2190-01-01 09:01",
            false,
            0,
            Some("2190-01-01T09:01:00Z"),
        ),
        ("09:00", "", false, 0, None),
    ] {
        let delay = TimeDelta::seconds(delay);
        let next = schedule(start, stop).next_that(brings_up, now, delay);
        assert_eq!(next.map(|it| it.at), expected.map(at), "{start} / {stop}");
        assert!(next.is_none_or(|it| it.action.brings_up() == brings_up));
    }
    // On an excepted date nothing starts, so that its stop counts.
    let except = ExceptedDates::parse("2090-05-05").unwrap();
    let once = Schedule::new(times("09:00", "09:00"), except, Zone::UTC);
    let stop = once.next_that(false, now, zero).unwrap();
    assert_eq!(
        (stop.at, stop.action),
        (at("2090-05-05T09:00:00Z"), Action::Stop)
    );
}
