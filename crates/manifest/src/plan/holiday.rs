//! The dates of calendars on which nothing starts, and dates that count as another day.

use chrono::{NaiveDate, TimeDelta, Weekday};
use dayshift_schedule::Schedule;
use serde::{Serialize, Serializer};

use super::period::Period;

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

/// A date on which the schedule does what it does on another day of the week.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TreatedDate {
    /// The date, in the zone of the object.
    #[serde(serialize_with = "iso")]
    pub date: NaiveDate,
    /// The day that it counts as: `Mon`.
    #[serde(rename = "as", serialize_with = "name")]
    pub day: Weekday,
}

/// The dates in a period that count as another day of the week.
pub(super) fn treated_dates(schedule: &Schedule, period: Period) -> Vec<TreatedDate> {
    let treated = schedule.treated();
    if treated.is_empty() {
        return Vec::new();
    }
    let treat = |date| {
        let day = treated.day_of_week(date)?;
        Some(TreatedDate { date, day })
    };
    dates(schedule, period).filter_map(treat).collect()
}

/// The dates of a period, in the zone of the schedule.
fn dates(schedule: &Schedule, period: Period) -> impl Iterator<Item = NaiveDate> {
    let zone = schedule.zone();
    let first = period.from().with_timezone(&zone).date_naive();
    let end = period.until() - TimeDelta::seconds(1);
    let last = end.with_timezone(&zone).date_naive();
    first.iter_days().take_while(move |date| *date <= last)
}

/// The dates in a period that calendars have.
pub(super) fn holidays(schedule: &Schedule, period: Period) -> Vec<Holiday> {
    let except = schedule.except();
    if except.calendars().next().is_none() {
        return Vec::new();
    }
    let holiday = |date| {
        let (calendar, name) = except.holiday(date)?;
        Some(Holiday {
            date,
            calendar: calendar.to_string(),
            name: name.to_owned(),
        })
    };
    dates(schedule, period).filter_map(holiday).collect()
}

// As serde asks for it.
#[expect(clippy::trivially_copy_pass_by_ref)]
fn name<S: Serializer>(day: &Weekday, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(day)
}

// As serde asks for it.
#[expect(clippy::trivially_copy_pass_by_ref)]
fn iso<S: Serializer>(date: &NaiveDate, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(date)
}
