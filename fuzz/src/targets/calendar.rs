//! A calendar file.

use dayshift_schedule::{Calendar, CalendarName, Calendars, ExcludedDates};

/// Checks one input.
pub fn run(bytes: &[u8]) {
    let calendar = match Calendar::parse(bytes) {
        Ok(calendar) => calendar,
        Err(error) => {
            let lines = bytes.iter().filter(|it| **it == b'\n').count() + 1;
            assert!((1..=lines).contains(&error.line()), "{error}");
            let message = error.to_string();
            assert!(!message.contains(char::is_control), "{message:?}");
            assert!(message.len() < 500, "{message:?}");
            return;
        }
    };
    let last = calendar
        .last()
        .expect("a calendar without dates is rejected");
    assert!(calendar.contains(last), "{last}");
    assert!(calendar.ends_on().is_none_or(|it| it <= last), "{last}");
    let next = last
        .succ_opt()
        .expect("dates continue after the years of schedules");
    assert!(!calendar.contains(next), "{next}");
    for date in [last, next] {
        let summary = calendar.summary_on(date);
        assert_eq!(summary.is_some(), calendar.contains(date), "{date}");
        assert!(summary.is_none_or(|it| it.chars().count() <= 100), "{date}");
    }
    let name = CalendarName::parse("x").expect("the name is valid");
    let calendars = Calendars::new([(name, calendar.into())]);
    let except =
        ExcludedDates::parse_with("calendar:x", &calendars).expect("the calendar is known");
    assert_eq!(except.last(), Some(last));
    // Line endings should make no difference.
    if !bytes.contains(&b'\r') {
        let lines: Vec<_> = bytes.split(|it| *it == b'\n').collect();
        let same = Calendar::parse(&lines.join(&b"\r\n"[..]));
        assert!(
            same.is_ok_and(|same| calendars.iter().all(|(_, it)| *it == same))
                || bytes.len() > Calendar::MAX_FILE / 2
        );
    }
}
