//! Schedules of up to 4 kB that are built to be expensive: a decision about any of them takes a
//! bounded number of instructions, so that one object cannot block all others.

use std::{fmt::Write as _, sync::Arc};

use chrono::{DateTime, TimeDelta, Utc};
use dayshift_schedule::{
    Calendar, CalendarName, Calendars, ExcludedDates, Hours, Schedule, ScheduleRule, Times, Zone,
    parse_scale,
};

use crate::case::{Case, Operation, operation};

pub(crate) fn cases() -> Vec<Case> {
    let one = |name, prepare| Case {
        name,
        each_of: 1,
        twice: true,
        instructions: true,
        prepare,
    };
    vec![
        one("costly text: each second", || {
            let text = "* * * * * *";
            asked(times(text, text), ExcludedDates::default())
        }),
        one("costly text: many crons of each second", || {
            let text = many(|nth| format!("* * 0-23 * * {}", nth % 7));
            asked(times(&text, &text), ExcludedDates::default())
        }),
        one("costly text: leap days that coincide", || {
            let text = leap_days();
            asked(times(&text, &text), ExcludedDates::default())
        }),
        one("costly text: days of the month", || {
            asked(
                times(&days_of_month(), &leap_days()),
                ExcludedDates::default(),
            )
        }),
        one("costly text: counts of leap days", || {
            let counts = many(|nth| format!("{} {} 29 2 * = {}", nth % 60, nth / 60, nth + 1));
            let counts = ScheduleRule::Times(parse_scale(&counts).unwrap());
            asked(counts, ExcludedDates::default())
        }),
        one("costly text: each Saturday excepted", || {
            let saturdays = calendar("FREQ=WEEKLY", "19700103");
            asked(hours("Sat 10:00-14:00"), saturdays)
        }),
        one("costly text: each first Saturday excepted", || {
            let saturdays = calendar("FREQ=WEEKLY", "19700103");
            asked(hours("first Sat 10:00-14:00"), saturdays)
        }),
        one("costly text: starts on Saturdays, each excepted", || {
            let saturdays = calendar("FREQ=WEEKLY", "19700103");
            asked(times("Sat 10:00; 0 9 * 3 Sat", "Sat 14:00"), saturdays)
        }),
        one("costly text: each day excepted", || {
            asked(
                times(&days_of_month(), ""),
                calendar("FREQ=DAILY", "19700101"),
            )
        }),
        one("costly text: each 13th excepted", || {
            let days = calendar("FREQ=MONTHLY;BYMONTHDAY=13", "19700113");
            asked(times("0 9 13 * *", "Sun 14:00"), days)
        }),
        one("costly text: hours of each first Monday excepted", || {
            let mondays = calendar("FREQ=MONTHLY;BYDAY=1MO", "19700105");
            asked(hours("first Mon 10:00-14:00"), mondays)
        }),
        one("costly text: hours without an end but one", || {
            let always = "Mon-Sat 00:00-24:00; \
                          first Sun,second Sun,third Sun,fourth Sun,last Sun 00:00-24:00";
            asked(hours(always), ExcludedDates::parse("2190-01-01").unwrap())
        }),
    ]
}

/// The queries that a decision sends to a schedule, with the maximum jitter.
fn asked(rule: ScheduleRule, except: ExcludedDates) -> Operation {
    let berlin = Zone::parse("Europe/Berlin").unwrap();
    let schedule = Schedule::new(rule, except, berlin);
    let now: DateTime<Utc> = "2026-11-20T18:00:00Z".parse().unwrap();
    operation(schedule, move |schedule| {
        let delay = TimeDelta::hours(1);
        let next = schedule.next_after(now, delay);
        let latest = schedule.latest_at(now, delay);
        (next, latest, schedule.action_at(now, delay))
    })
}

fn times(start: &str, stop: &str) -> ScheduleRule {
    ScheduleRule::start_and_stop(Times::parse(start).ok(), Times::parse(stop).ok())
}

fn hours(text: &str) -> ScheduleRule {
    ScheduleRule::Hours(Hours::parse(text).unwrap())
}

fn leap_days() -> String {
    many(|nth| format!("{} {} 29 2 *", nth % 60, nth / 60))
}

fn days_of_month() -> String {
    many(|nth| format!("0 0 {} {} *", 1 + nth % 28, 1 + nth / 28 % 12))
}

/// As many items as fit into 4 kB.
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

/// The dates of a calendar that repeats by `rule` from `first` on.
fn calendar(rule: &str, first: &str) -> ExcludedDates {
    let file = format!(
        "BEGIN:VCALENDAR\nBEGIN:VEVENT\nDTSTART;VALUE=DATE:{first}\nRRULE:{rule}\nEND:VEVENT\nEND:VCALENDAR\n"
    );
    let calendar = Calendar::parse(file.as_bytes()).unwrap();
    let name = CalendarName::parse("x").unwrap();
    let known = Calendars::new([(name, Arc::new(calendar))]);
    ExcludedDates::parse_with("calendar:x", &known).unwrap()
}
