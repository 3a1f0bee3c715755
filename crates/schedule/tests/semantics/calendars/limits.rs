//! Bounds on the work for a file: recurrences that began long ago, and hostile files.

use dayshift_schedule::{Calendar, CalendarError, CalendarReason};

use super::reading::{date, dates, event};

/// Outlook writes birthdays without a year with a start in 1604.
#[test]
fn recurrences_from_long_ago_start_at_the_years_of_schedules() {
    let birthdays = |count: usize, rule: &str| {
        let one = |number: usize| {
            let (month, day) = (number % 12 + 1, number % 28 + 1);
            format!(
                "BEGIN:VEVENT\r\nDTSTART:1604{month:02}{day:02}\r\nRRULE:{rule}\r\nEND:VEVENT\r\n"
            )
        };
        let events: String = (0..count).map(one).collect();
        format!("BEGIN:VCALENDAR\r\n{events}END:VCALENDAR\r\n")
    };
    let found = dates(&birthdays(400, "FREQ=YEARLY")).unwrap();
    // Numbers that agree modulo 12 and 28 agree modulo 84.
    assert_eq!(found.len(), 2 * 84);
    // With COUNT they end in 1703, in 2026, or later.
    for (count, expected) in [(100, 0), (423, 1), (424, 2), (500, 2)] {
        let lines = format!("DTSTART:16040101\r\nRRULE:FREQ=YEARLY;COUNT={count}");
        let found = dates(&event(&lines)).map_or(0, |it| it.len());
        assert_eq!(found, expected, "{count}");
    }
    // The expected days are those of python-dateutil.
    for (lines, expected) in [
        // Every other week from a Sunday on: the first day and its week determine which weeks.
        (
            "DTSTART:16041219\r\nRRULE:FREQ=WEEKLY;INTERVAL=2600;BYDAY=SU,TU",
            &["2003-08-05", "2003-08-10"][..],
        ),
        (
            "DTSTART:16040229\r\nRRULE:FREQ=YEARLY;INTERVAL=3",
            &["1976-02-29", "1988-02-29", "2000-02-29"],
        ),
        (
            "DTSTART:16040131\r\nRRULE:FREQ=MONTHLY;INTERVAL=1207",
            &["2006-05-31"],
        ),
        (
            "DTSTART:16040101\r\nRRULE:FREQ=DAILY;INTERVAL=36600",
            &["2004-10-30"],
        ),
        // It began before the years of schedules, and extends into them.
        (
            "DTSTART:19691230\r\nDTEND:19700103\r\nRRULE:FREQ=YEARLY;INTERVAL=900",
            &["1970-01-01", "1970-01-02"],
        ),
    ] {
        let calendar = Calendar::parse(event(lines).as_bytes()).unwrap();
        let all = date("1969-12-01").iter_days().take(14_000);
        let found: Vec<_> = all.filter(|it| calendar.contains(*it)).collect();
        assert_eq!(
            found.iter().map(ToString::to_string).collect::<Vec<_>>(),
            expected,
            "{lines}"
        );
    }
}

/// Without bounds, each of these would take a gigabyte of memory or a year of time.
#[test]
fn hostile_files_are_rejected_or_parsed_fast() {
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
