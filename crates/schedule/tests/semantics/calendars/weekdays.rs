//! Weekdays that are excluded for years: the remaining dates should be found in both directions.

use std::sync::Arc;

use chrono::{Datelike as _, NaiveDate, TimeDelta, TimeZone as _, Utc, Weekday};
use dayshift_schedule::{
    Calendar, CalendarName, Calendars, ExcludedDates, Hours, Schedule, ScheduleRule, Times,
    TreatedDates, Zone,
};

/// A recurring event: its text, and whether it occurs on a date.
type Recurring = (&'static str, fn(NaiveDate) -> bool);

const SATURDAYS: Recurring = ("20260103\nRRULE:FREQ=WEEKLY;UNTIL=20350101", |date| {
    date.weekday() == Weekday::Sat && date >= day(2026, 1, 3) && date <= day(2035, 1, 1)
});
const EVEN_SATURDAYS: Recurring = ("20260103\nRRULE:FREQ=WEEKLY;INTERVAL=2", |date| {
    (date - day(2026, 1, 3)).num_days().rem_euclid(14) == 0 && date >= day(2026, 1, 3)
});
const ODD_SATURDAYS: Recurring = ("20260110\nRRULE:FREQ=WEEKLY;INTERVAL=2;COUNT=200", |date| {
    let days = (date - day(2026, 1, 10)).num_days();
    days.rem_euclid(14) == 0 && (0..200 * 14).contains(&days)
});
const EACH_DAY: Recurring = ("20270101\nRRULE:FREQ=DAILY;UNTIL=20330615", |date| {
    (day(2027, 1, 1)..=day(2033, 6, 15)).contains(&date)
});

const fn day(year: i32, month: u32, day: u32) -> NaiveDate {
    NaiveDate::from_ymd_opt(year, month, day).unwrap()
}

fn calendars(events: &[Recurring]) -> (String, Calendars) {
    let known = events.iter().enumerate().map(|(at, (event, _))| {
        let file = format!(
            "BEGIN:VCALENDAR\nBEGIN:VEVENT\nDTSTART;VALUE=DATE:{event}\nEND:VEVENT\nEND:VCALENDAR\n"
        );
        let name = CalendarName::parse(&format!("c{at}")).unwrap();
        (name, Arc::new(Calendar::parse(file.as_bytes()).unwrap()))
    });
    let names: Vec<_> = (0..events.len())
        .map(|at| format!("calendar:c{at}"))
        .collect();
    (names.join(";"), Calendars::new(known))
}

/// Whether a rule matches a date that counts as the given weekday.
type IsOn = fn(NaiveDate, Weekday) -> bool;

/// Times at 10:00, and the dates that they match.
const RULES: [(&str, IsOn); 6] = [
    ("Sat 10:00", |_, counted| counted == Weekday::Sat),
    ("Tue,Sat 10:00", |_, counted| {
        matches!(counted, Weekday::Tue | Weekday::Sat)
    }),
    ("first Sat 10:00", |date, _| {
        date.weekday() == Weekday::Sat && date.day() <= 7
    }),
    ("0 10 * 3 Sat", |date, counted| {
        counted == Weekday::Sat && date.month() == 3
    }),
    ("0 10 13 * *", |date, _| date.day() == 13),
    ("0 10 13 2 Sat", |date, counted| {
        date.month() == 2 && (date.day() == 13 || counted == Weekday::Sat)
    }),
];

#[test]
fn finds_the_remaining_dates_of_weekdays_excluded_for_years() {
    for events in [
        &[SATURDAYS][..],
        &[EVEN_SATURDAYS],
        &[EVEN_SATURDAYS, ODD_SATURDAYS],
        &[EACH_DAY],
        &[EACH_DAY, SATURDAYS],
    ] {
        let (text, known) = calendars(events);
        let is_excepted = |date| events.iter().any(|(_, is_on)| is_on(date));
        for treated in [None, Some((day(2029, 5, 9), Weekday::Sat))] {
            let counted = |date: NaiveDate| match treated {
                Some((treated, weekday)) if treated == date => weekday,
                _ => date.weekday(),
            };
            for (times, is_on) in RULES {
                let is_start =
                    |date: &NaiveDate| is_on(*date, counted(*date)) && !is_excepted(*date);
                let windows = format!("{}-11:00", times.replace("0 10 ", ""));
                let mut rules = vec![ScheduleRule::start_and_stop(Times::parse(times).ok(), None)];
                if !times.starts_with('0') {
                    rules.push(ScheduleRule::Hours(Hours::parse(&windows).unwrap()));
                }
                for rule in rules {
                    let except = ExcludedDates::parse_with(&text, &known).unwrap();
                    let mut schedule = Schedule::new(rule, except, Zone::UTC);
                    if let Some((date, weekday)) = treated {
                        let text = format!("{date} = {weekday}");
                        schedule = schedule.with_treated_dates(TreatedDates::parse(&text).unwrap());
                    }
                    for from in [
                        day(2026, 1, 1),
                        day(2028, 7, 9),
                        day(2029, 5, 8),
                        day(2036, 1, 1),
                    ] {
                        let at = Utc.from_utc_datetime(&from.and_hms_opt(9, 0, 0).unwrap());
                        let next = schedule.next_after(at, TimeDelta::zero());
                        let after = from.iter_days().take(40 * 366).find(is_start);
                        let case = format!("{times} but {text} from {from}, {treated:?}");
                        let found = next.map(|it| it.at.date_naive());
                        assert!(after.is_none() || found == after, "{case}: {found:?}");
                    }
                    for to in [day(2036, 1, 1), day(2031, 3, 4), day(2029, 5, 10)] {
                        let at = Utc.from_utc_datetime(&to.and_hms_opt(9, 0, 0).unwrap());
                        let latest = schedule.latest_at(at, TimeDelta::zero());
                        let dates = std::iter::successors(to.pred_opt(), NaiveDate::pred_opt);
                        let before = dates.take(40 * 366).find(is_start);
                        let case = format!("{times} but {text} to {to}, {treated:?}");
                        let found = latest.map(|it| it.at.date_naive());
                        assert_eq!(found, before, "{case}");
                    }
                }
            }
        }
    }
}
