//! Dates that count as another weekday.

use chrono::{DateTime, NaiveDate, TimeDelta, Utc};
use dayshift_schedule::{
    Action, Calendar, CalendarName, Calendars, ExcludedDates, Hours, Schedule, ScheduleRule, Times,
    TreatedDates, Zone, parse_scale,
};

fn rule(key: &str, text: &str) -> ScheduleRule {
    match key {
        "start" => ScheduleRule::start_and_stop(Some(Times::parse(text).unwrap()), None),
        "stop" => ScheduleRule::start_and_stop(None, Some(Times::parse(text).unwrap())),
        "hours" => ScheduleRule::Hours(Hours::parse(text).unwrap()),
        "scale" => ScheduleRule::Times(parse_scale(text).unwrap()),
        _ => panic!("{key}"),
    }
}

fn schedule(rule: ScheduleRule, treated: &str, except: &str) -> Schedule {
    let except = match except {
        "" => ExcludedDates::default(),
        dates => ExcludedDates::parse(dates).unwrap(),
    };
    let schedule = Schedule::new(rule, except, Zone::UTC);
    schedule.with_treated_dates(TreatedDates::parse(treated).unwrap())
}

/// The boundaries of some days, formatted.
fn shown(schedule: &Schedule, from: &str, days: i64) -> Vec<String> {
    let from: NaiveDate = from.parse().unwrap();
    let from = from.and_hms_opt(0, 0, 0).unwrap().and_utc();
    let all = schedule.boundaries(from, from + TimeDelta::days(days), TimeDelta::zero());
    let all = all.map(|it| {
        let action = match it.action {
            Action::Start => "+".to_owned(),
            Action::Stop => "-".to_owned(),
            Action::Scale(count) => format!("{count}@"),
        };
        format!("{action}{}", it.at.format("%a %d %H:%M"))
    });
    all.collect()
}

/// China's make-up working days around National Day in 2026: Saturday 10 October counts as a
/// Monday. The rows show the days from Wednesday the 7th on, with Sunday's hours on the 8th.
#[test]
fn treated_date_follows_the_rule_of_its_weekday() {
    let treated = "2026-10-08 = Sun; 2026-10-10 = Monday";
    for (key, text, expected) in [
        (
            "hours",
            "Mon-Fri 09:00-18:00",
            vec![
                "+Wed 07 09:00",
                "-Wed 07 18:00",
                "+Fri 09 09:00",
                "-Fri 09 18:00",
                "+Sat 10 09:00",
                "-Sat 10 18:00",
            ],
        ),
        // A window belongs to the day on which it begins, and to the weekday that this day counts
        // as.
        (
            "hours",
            "Sun,Mon 22:00-06:00",
            vec![
                "+Thu 08 22:00",
                "-Fri 09 06:00",
                "+Sat 10 22:00",
                "-Sun 11 06:00",
                "+Sun 11 22:00",
            ],
        ),
        ("start", "Mon 09:00; Sat 10:00", vec!["+Sat 10 09:00"]),
        (
            "stop",
            "Thu,Sat,Sun 20:00",
            vec!["-Thu 08 20:00", "-Sun 11 20:00"],
        ),
        (
            "scale",
            "weekdays 08:00 = 5; weekends 08:00 = 1",
            vec![
                "5@Wed 07 08:00",
                "1@Thu 08 08:00",
                "5@Fri 09 08:00",
                "5@Sat 10 08:00",
                "1@Sun 11 08:00",
            ],
        ),
        // In cron, the day of week changes and the day of month does not.
        ("start", "0 9 * * 1", vec!["+Sat 10 09:00"]),
        ("start", "0 9 10 * Thu", vec!["+Sat 10 09:00"]),
        (
            "start",
            "0 9 8,9 10 *",
            vec!["+Thu 08 09:00", "+Fri 09 09:00"],
        ),
        ("start", "0 9 * * 0", vec!["+Thu 08 09:00", "+Sun 11 09:00"]),
        // Days within the month use the weekdays of the calendar.
        (
            "start",
            "second Sat,second Mon,first Thu 09:00",
            vec!["+Sat 10 09:00"],
        ),
        ("start", "2026-10-10 12:00", vec!["+Sat 10 12:00"]),
    ] {
        let schedule = schedule(rule(key, text), treated, "");
        assert_eq!(shown(&schedule, "2026-10-07", 5), expected, "{key}: {text}");
    }
}

#[test]
fn excluded_date_has_no_starts_even_if_it_is_treated() {
    let hours = rule("hours", "Mon-Fri 09:00-18:00");
    let both = schedule(hours, "2026-10-10..2026-10-11 = Mon", "2026-10-10");
    assert_eq!(
        shown(&both, "2026-10-10", 2),
        ["+Sun 11 09:00", "-Sun 11 18:00"]
    );
}

/// The oracle compares all boundaries of two months.
#[test]
fn is_affected_by_treated_dates_agrees_with_the_boundaries() {
    let (from, until): (NaiveDate, NaiveDate) =
        ("2026-10-01".parse().unwrap(), "2026-12-01".parse().unwrap());
    let (mut changed, mut unchanged) = (0, 0);
    for (key, text) in [
        ("hours", "Mon-Fri 09:00-18:00"),
        ("hours", "Mon 09:00-18:00; Tue 09:00-12:00,11:00-18:00"),
        ("hours", "Sun 22:00-08:00; Mon 06:00-18:00; Tue 00:00-18:00"),
        ("hours", "daily 00:00-24:00; Sat 10:00-11:00"),
        ("hours", "second Sat 10:00-14:00; Mon,Sat 10:00-14:00"),
        ("hours", "Fri 20:00-10:00; Sat 09:00-10:00"),
        ("start", "Mon-Fri 09:00; Sat 10:00"),
        ("start", "*/5 9-17 * * Mon-Fri"),
        ("start", "*/30 * * * *"),
        ("start", "0 9 10 * Thu"),
        ("start", "0 9 1-15 * *"),
        ("start", "2026-10-10 12:00; 0 12 * * 6"),
        ("stop", "second Sat,first Mon 20:00"),
        (
            "scale",
            "weekdays 08:00 = 5; Mon 09:00 = 1; Sat,Sun 08:00 = 1",
        ),
        ("scale", "0 8 * * * = 5; 0 8 * * 2 = 5; 0 9 1 * 3 = 0"),
    ] {
        for treated in [
            "2026-10-10 = Mon",
            "2026-10-12 = Tue",
            "2026-10-12 = Mon",
            "2026-10-13..2026-10-14 = Wed",
            "2026-10-11 = Sat; 2026-10-16 = Thu",
            "2026-10-05..2026-11-20 = Fri",
        ] {
            for except in ["", "2026-10-10..2026-10-12"] {
                let with = schedule(rule(key, text), treated, except);
                let without = Schedule::new(rule(key, text), with.except().clone(), Zone::UTC);
                let [with_all, without_all] = [&with, &without].map(|schedule| {
                    let [from, until] = [from, until].map(|date| date.and_time(Default::default()));
                    schedule.boundaries(from.and_utc(), until.and_utc(), TimeDelta::zero())
                });
                let expected = !with_all.eq(without_all);
                let found = with.is_affected_by_treated_dates(from, until);
                assert_eq!(found, expected, "{key}: {text}, {treated}, except {except}");
                if expected {
                    changed += 1;
                } else {
                    unchanged += 1;
                }
            }
        }
    }
    assert!(changed > 40 && unchanged > 40, "{changed}, {unchanged}");
    // This should not depend on how often something happens on these dates.
    for (text, expected) in [("* * * * * *", false), ("* * * * * Mon-Sat", true)] {
        let each_second = schedule(rule("start", text), "2026-10-05..2026-11-20 = Sun", "");
        assert_eq!(
            each_second.is_affected_by_treated_dates(from, until),
            expected,
            "{text}"
        );
    }
    // Dates before or after the given range have no effect.
    let monday = schedule(rule("start", "Mon 09:00"), "2026-10-10 = Mon", "");
    let tenth: NaiveDate = "2026-10-10".parse().unwrap();
    assert!(monday.is_affected_by_treated_dates(tenth, tenth + TimeDelta::days(1)));
    assert!(!monday.is_affected_by_treated_dates(from, tenth));
    assert!(!monday.is_affected_by_treated_dates(tenth + TimeDelta::days(1), until));
}

#[test]
fn calendar_can_define_the_treated_dates() {
    let file = "BEGIN:VCALENDAR\nBEGIN:VEVENT\nDTSTART;VALUE=DATE:20261010\nSUMMARY:补班\n\
                END:VEVENT\nBEGIN:VEVENT\nDTSTART;VALUE=DATE:20260920\nEND:VEVENT\nEND:VCALENDAR";
    let calendar = Calendar::parse(file.as_bytes()).unwrap();
    let known = Calendars::new([(CalendarName::parse("makeup").unwrap(), calendar.into())]);
    let treated =
        TreatedDates::parse_with("2027-01-01=Sun; calendar: makeup = Fri", &known).unwrap();
    let day: NaiveDate = "2026-10-10".parse().unwrap();
    assert_eq!(treated.day_of_week(day), Some(chrono::Weekday::Fri));
    let (name, summary) = treated.named(day).unwrap();
    assert_eq!((name.as_str(), summary), ("makeup", "补班"));
    assert_eq!(treated.named("2027-01-01".parse().unwrap()), None);
    assert_eq!(treated.last().unwrap().to_string(), "2027-01-01");
    let fridays = Schedule::new(
        rule("start", "Fri 09:00"),
        ExcludedDates::default(),
        Zone::UTC,
    );
    let fridays = fridays.with_treated_dates(treated);
    assert_eq!(
        shown(&fridays, "2026-10-10", 7),
        ["+Sat 10 09:00", "+Fri 16 09:00"]
    );
    assert_eq!(fridays.calendars().count(), 1);
    // The same date with two weekdays, at any position.
    for (text, found) in [
        (
            "calendar:makeup = Fri; 2026-10-09..2026-10-11 = Mon",
            "2026-10-09..2026-10-11",
        ),
        ("2026-10-10=Mon; calendar:makeup=Fri", "calendar:makeup"),
        (
            "calendar:makeup = Fri; calendar:makeup = Sat",
            "calendar:makeup",
        ),
    ] {
        let error = TreatedDates::parse_with(text, &known).unwrap_err();
        assert_eq!(&text[error.span()], found);
        let first = if text.ends_with("Sat") {
            "2026-09-20"
        } else {
            "2026-10-10"
        };
        let message = format!("has {first}, which is already treated as another day");
        assert!(error.to_string().contains(&message), "{error}");
    }
    assert!(TreatedDates::parse_with("calendar:makeup=Fri;calendar:makeup = fri", &known).is_ok());
}

#[test]
fn error_points_at_the_invalid_treated_date() {
    for (item, found, message) in [
        (
            "2026-10-10",
            "2026-10-10",
            "has no date or no day of the week; write for example",
        ),
        ("= Mon", "= Mon", "has no date or no day"),
        ("2026-10-10 =", "2026-10-10 =", "has no date or no day"),
        ("Mon = 2026-10-10", "Mon", "is not a date"),
        (
            "2026-10-10 = Mon-Fri",
            "Mon-Fri",
            "is not one day of the week",
        ),
        (
            "2026-10-10 = weekdays",
            "weekdays",
            "is not one day of the week",
        ),
        (
            "2026-10-10 = Mon = Tue",
            "Mon = Tue",
            "is not one day of the week",
        ),
        (
            "2026-10-10 = first Mon",
            "first Mon",
            "is not one day of the week",
        ),
        (
            "2026-02-30 = Mon",
            "2026-02-30",
            "is a date that does not exist",
        ),
        (
            "2026-10-12..2026-10-10 = Mon",
            "2026-10-12..2026-10-10",
            "ends before it begins",
        ),
        (
            "calendar: = Mon",
            "calendar:",
            "is not the name of a calendar",
        ),
        ("calendar:de = Mon", "de", "is not a known calendar"),
        (
            "2026-01-01..2026-02-01 = Tue",
            "2026-01-01..2026-02-01",
            "has 2026-01-05, which is already treated as another day",
        ),
    ] {
        let text = format!("2026-01-05 = Mon; {item} ;2026-03-01=Sun");
        let error = TreatedDates::parse(&text).unwrap_err();
        assert_eq!(&text[error.span()], found, "{item}: {error}");
        assert!(error.to_string().contains(message), "{item}: {error}");
    }
    for text in ["", "2026-10-10 = Mon;"] {
        assert!(TreatedDates::parse(text).is_err());
    }
    // The same date with the same weekday twice is allowed.
    let twice = TreatedDates::parse("2026-10-10 = Mon; 2026-10-09..2026-10-11 = MONDAY").unwrap();
    assert_eq!(
        twice,
        TreatedDates::parse("2026-10-09..2026-10-11=mon").unwrap()
    );
}

/// `Search` and `Hours` have tests beside their code that such ranges are skipped month by month.
#[test]
fn two_hundred_years_of_treated_dates_have_no_boundary() {
    let from: DateTime<Utc> = "2026-11-20T18:00:00Z".parse().unwrap();
    let zero = TimeDelta::zero();
    let far = "1970-01-01..2199-12-31 = Sun";
    for (key, text) in [
        ("hours", "Mon-Sat 09:00-18:00"),
        ("hours", "daily 00:00-24:00"),
        ("start", "Mon 09:00"),
        ("stop", "* * * * Mon"),
        ("scale", "Sat 09:00 = 3"),
    ] {
        let schedule = schedule(rule(key, text), far, "");
        assert_eq!(schedule.next_after(from, zero), None, "{text}");
        let latest = schedule.latest_at(from, zero);
        assert!(latest.is_none_or(|it| it.at.timestamp() <= 0), "{text}");
    }
    let some: Vec<_> = (0..200)
        .map(|it| format!("{}-03-0{} = Sun", 1971 + it, 1 + it % 9))
        .collect();
    let schedule = schedule(rule("hours", "daily 00:00-24:00"), &some.join(";"), "");
    assert_eq!(schedule.next_after(from, zero), None);
}
