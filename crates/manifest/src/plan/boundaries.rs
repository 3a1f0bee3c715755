//! The boundaries of one object in a period, as a plan shows them.
//!
//! The dates of calendars on which nothing starts, and dates that count as another day.
//!
//! What has to be ready before an object is started.

use chrono::{DateTime, NaiveDate, TimeDelta, Utc, Weekday};
use dayshift_schedule::{Action, Schedule, Zone};
use dayshift_workload::{Dependency, Key, Override, Replicas, ScheduleSpec, WorkloadRef};
use serde::{Serialize, Serializer};

use crate::plan::timeline::{Period, occurrences};

/// A boundary as an object meets it: on its own clocks, its start moved by its jitter.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PlannedBoundary {
    /// When; in JSON as RFC 3339 with the offset of the object's zone.
    #[serde(serialize_with = "rfc_3339")]
    pub at: DateTime<Zone>,
    /// What.
    #[serde(serialize_with = "name")]
    pub action: Action,
    /// The count afterwards; `None` where it depends on the count saved at the stop.
    #[serde(serialize_with = "count")]
    pub replicas: Option<Replicas>,
    /// Whether it is applied: not while an override holds. In JSON only where it is not.
    #[serde(skip_serializing_if = "is_true")]
    pub applied: bool,
    /// The override that ends then and so is the reason for it, such as `wake-until`. In JSON only
    /// where there is one.
    #[serde(serialize_with = "key_name", skip_serializing_if = "Option::is_none")]
    pub ends: Option<Key>,
}

/// All of one object in a period. They are found as they are asked for.
#[derive(Clone, Debug)]
pub(crate) struct Boundaries {
    pub(crate) spec: Option<ScheduleSpec>,
    pub(crate) delay: TimeDelta,
    pub(crate) period: Period,
    /// The count that a start brings back, where it is known.
    pub(crate) brings_back: Option<Replicas>,
}

impl Boundaries {
    pub(crate) fn iter(&self) -> impl Iterator<Item = PlannedBoundary> + '_ {
        self.spec.iter().flat_map(move |spec| {
            let zone = spec.schedule.zone();
            let from = self.period.from();
            let found = occurrences(spec, self.delay, self.period, from);
            found.map(move |occurrence| PlannedBoundary {
                at: occurrence.at.with_timezone(&zone),
                action: occurrence.action,
                replicas: match occurrence.action {
                    _ if !occurrence.applied => None,
                    Action::Start => self.started(spec, occurrence.at),
                    Action::Stop => Some(spec.stop_replicas),
                    Action::Scale(count) => Some(Replicas::new(count)),
                },
                applied: occurrence.applied,
                ends: occurrence.ends,
            })
        })
    }

    /// The count after a start at that instant: a wake gives one at the least, and with exact counts
    /// the largest of them.
    fn started(&self, spec: &ScheduleSpec, at: DateTime<Utc>) -> Option<Replicas> {
        let is_woken = matches!(spec.overrides.at(at), Some(Override::Wake(_)));
        if spec.keeps_zero && self.brings_back == Some(Replicas::ZERO) && !is_woken {
            return self.brings_back;
        }
        let least = spec.largest_count().max(Some(Replicas::ONE));
        let least = least.filter(|_| is_woken).unwrap_or_default();
        let back = || self.brings_back.map(|count| count.max(least));
        spec.replicas.or_else(back)
    }
}

impl Serialize for Boundaries {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.iter())
    }
}

fn rfc_3339<S: Serializer>(at: &DateTime<Zone>, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&at.to_rfc3339())
}

// As serde asks for it.
#[expect(clippy::trivially_copy_pass_by_ref)]
fn is_true(value: &bool) -> bool {
    *value
}

fn name<S: Serializer>(action: &Action, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(action.name())
}

fn key_name<S: Serializer>(key: &Option<Key>, serializer: S) -> Result<S::Ok, S::Error> {
    key.map(Key::name).serialize(serializer)
}

fn count<S: Serializer>(count: &Option<Replicas>, serializer: S) -> Result<S::Ok, S::Error> {
    count.map(Replicas::get).serialize(serializer)
}

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
    #[serde(rename = "as", serialize_with = "day_name")]
    pub day: Weekday,
}

/// The dates in a period that count as another day of the week.
pub(crate) fn treated_dates(schedule: &Schedule, period: Period) -> Vec<TreatedDate> {
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
pub(crate) fn holidays(schedule: &Schedule, period: Period) -> Vec<Holiday> {
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
fn day_name<S: Serializer>(day: &Weekday, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(day)
}

// As serde asks for it.
#[expect(clippy::trivially_copy_pass_by_ref)]
fn iso<S: Serializer>(date: &NaiveDate, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(date)
}

/// What has to be ready before its starts.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct StartsAfter {
    /// The objects of its namespace, as kubectl names them: `sts/db`.
    pub objects: Vec<String>,
    /// For how many seconds each start waits for them at most.
    #[serde(rename = "withinSeconds")]
    pub within_seconds: i64,
}

impl StartsAfter {
    /// `None` where nothing has to be.
    pub(crate) fn from_spec(spec: &ScheduleSpec, object: &WorkloadRef) -> Option<Self> {
        let after = spec.after.as_ref()?;
        let objects: Vec<_> = after
            .needed_by(object)
            .iter()
            .map(Dependency::to_string)
            .collect();
        (!objects.is_empty()).then(|| Self {
            objects,
            within_seconds: after.within().num_seconds(),
        })
    }
}
