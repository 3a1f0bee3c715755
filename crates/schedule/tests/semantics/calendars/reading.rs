//! Helpers that read calendars.

use chrono::{Datelike, NaiveDate};
use dayshift_schedule::{Calendar, CalendarReason};

pub(super) fn date(text: &str) -> NaiveDate {
    text.parse().unwrap()
}

pub(super) fn year(year: i32) -> impl Iterator<Item = NaiveDate> {
    let first = NaiveDate::from_ymd_opt(year, 1, 1).unwrap();
    first.iter_days().take_while(move |it| it.year() == year)
}

/// A calendar with one event of these lines.
pub(super) fn event(lines: &str) -> String {
    format!("BEGIN:VCALENDAR\r\nBEGIN:VEVENT\r\n{lines}\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n")
}

/// The dates of a file in 2026 and 2027, or the error and its line.
pub(super) fn dates(file: &str) -> Result<Vec<String>, (usize, CalendarReason)> {
    let calendar = Calendar::parse(file.as_bytes()).map_err(|it| (it.line(), it.reason()))?;
    let days = year(2026).chain(year(2027));
    let days = days.filter(|it| calendar.contains(*it));
    Ok(days.map(|it| it.to_string()).collect())
}
