//! Hostile text: long, strange, or with very long lists.

use chrono::{TimeDelta, TimeZone, Utc};
use dayshift_schedule::{
    Diagnostic, ExcludedDates, Hours, MAX_TEXT, Schedule, ScheduleRule, Times, Zone,
    parse_date_time, parse_jitter,
};
use proptest::prelude::*;

/// The result of each parser for one text.
fn parse_as_all_keys(text: &str) -> Vec<(&'static str, Option<Diagnostic>)> {
    vec![
        ("times", Times::parse(text).err()),
        ("hours", Hours::parse(text).err()),
        ("dates", ExcludedDates::parse(text).err()),
        ("zone", Zone::parse(text).err()),
        ("jitter", parse_jitter(text).err()),
        ("moment", parse_date_time(text, Zone::UTC).err()),
    ]
}

fn is_decent(text: &str, error: &Diagnostic) {
    let span = error.span();
    assert!(
        text.get(span.clone()).is_some(),
        "{span:?} is no part of {text:?}"
    );
    assert!(!span.is_empty() || text.is_empty(), "{text:?}: {error}");
    let message = error.to_string();
    assert!(message.len() < 500, "{message}");
    assert!(!message.contains(char::is_control), "{message:?}");
}

#[test]
fn long_and_strange_text_is_an_error() {
    for text in [
        "x".repeat(200_000),
        "日".repeat(70_000),
        "09:00;".repeat(40_000) + "09:00",
        "0 9 * * *;".repeat(1000) + "@daily",
        "Mon,".repeat(50_000) + "Mon 09:00",
        format!("{} * * * *", "1-5,".repeat(50_000)),
        "Mon-".repeat(1000),
        "1-".repeat(2000) + " * * * *",
        "0-18446744073709551616 * * * *".to_owned(),
        "2026-01-01..2999-12-31".to_owned(),
        "2026-01-01..".to_owned() + &"2026-01-01..".repeat(300),
        "\u{202e}\u{200b}\u{feff}".to_owned(),
        "\0\0\0".to_owned(),
        "\u{1b}[2J".to_owned(),
        "é".repeat(2048),
        "\u{301}".repeat(2000),
        "Europe/".repeat(500),
        ";".repeat(MAX_TEXT),
        ",".repeat(MAX_TEXT),
        "-".repeat(MAX_TEXT),
    ] {
        for (reader, error) in parse_as_all_keys(&text) {
            // A range to the year 9999 is also an error, because of its year.
            let error = error.unwrap_or_else(|| panic!("{reader} took {text:.60}"));
            is_decent(&text, &error);
        }
    }
}

/// The maximum that fits into 4 kB is parsed, and queries stay fast. The number of steps depends
/// neither on the number of equal items nor on the length of a range of dates.
#[test]
fn queries_of_the_longest_lists_are_fast() {
    let many = |item: &dyn Fn(usize) -> String, count: usize| {
        (0..count).map(item).collect::<Vec<_>>().join(";")
    };
    let times = [
        many(&|it| format!("{:02}:{:02}", it / 60 % 24, it % 60), 680),
        many(&|it| format!("{} * * * *", it % 60), 300),
        many(&|it| format!("0 0 29 2 *; {} 0 1 1 *", it % 60), 150),
        many(&|it| format!("20{:02}-01-01 00:00", it % 100), 240),
        many(
            &|it| {
                let unit = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun", "day"][it % 8];
                let nth = ["first", "third", "last"][it % 3];
                format!("{nth} {unit} {}:{:02}", it / 60, it % 60)
            },
            250,
        ),
    ];
    let except = many(
        &|it| format!("{}-01-02..{}-12-31", 1970 + it, 1970 + it),
        160,
    );
    let from = Utc.with_ymd_and_hms(2026, 11, 20, 18, 0, 0).unwrap();
    for text in times {
        let start = Some(Times::parse(&text).unwrap());
        let rule = ScheduleRule::start_and_stop(start.clone(), start);
        let except = ExcludedDates::parse(&except).unwrap();
        let schedule = Schedule::new(rule, except, Zone::parse("Europe/Berlin").unwrap());
        for delay in [TimeDelta::zero(), TimeDelta::hours(1)] {
            assert!(schedule.next_after(from, delay).is_some(), "{text:.60}");
            assert!(schedule.latest_at(from, delay).is_some(), "{text:.60}");
        }
    }
    let always = Hours::parse(&many(&|_| "00:00-24:00".to_owned(), 340)).unwrap();
    let forever = ExcludedDates::parse("2026-11-21..2199-12-31").unwrap();
    let schedule = Schedule::new(ScheduleRule::Hours(always), forever, Zone::UTC);
    let zero = TimeDelta::zero();
    let stop = schedule.next_after(from, zero).unwrap();
    assert_eq!(stop.to_string(), "stop at 2026-11-21T00:00:00Z");
    assert_eq!(schedule.next_after(stop.at, zero), None);
    assert_eq!(
        schedule.latest_at(chrono::DateTime::<Utc>::MAX_UTC, zero),
        Some(stop)
    );
    assert_eq!(schedule.latest_at(from, zero), None);
}

#[test]
fn queries_at_extreme_times_do_not_panic() {
    let ends = [
        chrono::DateTime::<Utc>::MIN_UTC,
        chrono::DateTime::<Utc>::MAX_UTC,
    ];
    for zone in ["UTC", "Pacific/Kiritimati", "America/Adak"] {
        let zone = Zone::parse(zone).unwrap();
        for rule in [
            ScheduleRule::Hours(Hours::parse("09:00-19:00").unwrap()),
            ScheduleRule::Hours(Hours::parse("22:00-06:00").unwrap()),
            ScheduleRule::Hours(Hours::parse("00:00-24:00").unwrap()),
            ScheduleRule::start_and_stop(Some(Times::parse("* * * * * *").unwrap()), None),
            ScheduleRule::start_and_stop(None, None),
        ] {
            let schedule = Schedule::new(rule, ExcludedDates::default(), zone);
            for delay in [TimeDelta::zero(), TimeDelta::MAX, TimeDelta::MIN] {
                let [first, last] = ends;
                assert_eq!(schedule.next_after(last, delay), None);
                assert_eq!(schedule.latest_at(first, delay), None);
                if let Some(next) = schedule.next_after(first, delay) {
                    assert!(next.at.timestamp().abs() < 3 * 86_400, "{next}");
                    assert_eq!(schedule.latest_at(next.at, delay), Some(next));
                    let newest = schedule.latest_at(last, delay).unwrap();
                    assert_eq!(schedule.next_after(newest.at, delay), None, "{newest}");
                    assert!(
                        newest.at.timestamp() > 7_258_118_400 - 2 * 86_400,
                        "{newest}"
                    );
                }
            }
        }
    }
}

proptest! {
    #[test]
    fn any_text_is_parsed_or_rejected_with_a_valid_span(text in "\\PC{0,40}") {
        for (_, error) in parse_as_all_keys(&text) {
            error.iter().for_each(|error| is_decent(&text, error));
        }
    }

    #[test]
    fn damaged_text_is_parsed_or_rejected_with_a_valid_span(
        text in prop::sample::select(vec![
            "Mon-Fri 09:00; Sat 10:00,22:00; 2026-12-24 18:00; */5 9-17 1,15 * Mon-Fri",
            "Mon-Fri 09:00-19:00; Sat 22:00-06:00, 07:00-24:00",
            "first Mon,last weekday 09:00; second day 22:00-06:00",
            "2026-12-28..2027-01-03; 2027-01-11",
            "1h30m10s",
            "2026-12-24T18:00:00.5+09:00",
        ]),
        at in any::<prop::sample::Index>(),
        damage in "[-–:;,. */@#LW0-9a-zé日\t\u{202e}]{0,3}",
    ) {
        let at = at.index(text.len());
        let damaged = format!("{}{damage}{}", &text[..at], &text[at + 1..]);
        for (_, error) in parse_as_all_keys(&damaged) {
            error.iter().for_each(|error| is_decent(&damaged, error));
        }
    }
}
