//! The dates of calendars on which nothing starts.

use chrono::{NaiveDate, TimeDelta};
use serde::{Serialize, Serializer};

use super::period::Period;
use crate::schedule::Schedule;

/// A date on which nothing starts, because a calendar has it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Holiday {
    /// The date, in the zone of the object.
    #[serde(serialize_with = "iso")]
    pub date: NaiveDate,
    /// The calendar's name.
    pub calendar: String,
    /// What the calendar calls the date, as somebody wrote it: it may hold anything. Empty where it
    /// has no name.
    pub name: String,
}

/// The dates in a period that calendars have.
pub(super) fn holidays(schedule: &Schedule, period: Period) -> Vec<Holiday> {
    let except = schedule.except();
    if except.calendars().next().is_none() {
        return Vec::new();
    }
    let zone = schedule.zone();
    let first = period.from().with_timezone(&zone).date_naive();
    let end = period.until() - TimeDelta::seconds(1);
    let last = end.with_timezone(&zone).date_naive();
    let dates = first.iter_days().take_while(|date| *date <= last);
    let holiday = |date| {
        let (calendar, name) = except.holiday(date)?;
        Some(Holiday {
            date,
            calendar: calendar.to_string(),
            name: name.to_owned(),
        })
    };
    dates.filter_map(holiday).collect()
}

// As serde asks for it.
#[expect(clippy::trivially_copy_pass_by_ref)]
fn iso<S: Serializer>(date: &NaiveDate, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(date)
}
