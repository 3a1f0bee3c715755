//! The contents of a plan: boundaries with their counts, dates of calendars, and dependencies.

use chrono::{DateTime, NaiveDate, TimeDelta, Utc, Weekday};
use dayshift_schedule::{Action, Schedule, Zone};
use dayshift_workload::{Dependency, Key, Override, Replicas, ScheduleSpec, WorkloadRef};
use serde::{Serialize, Serializer};

use crate::plan::timeline::{Period, occurrences};

/// A boundary of one object: in its zone, and with its jitter.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PlannedBoundary {
    /// The time. In JSON it is RFC 3339 with the offset of the zone.
    #[serde(serialize_with = "rfc_3339")]
    pub at: DateTime<Zone>,
    /// The transition.
    #[serde(serialize_with = "name")]
    pub action: Action,
    /// The count afterwards; `None` if it depends on the saved count.
    #[serde(serialize_with = "count")]
    pub replicas: Option<Replicas>,
    /// Whether it is applied: boundaries during an override are not. In JSON only if it is false.
    #[serde(skip_serializing_if = "is_true")]
    pub applied: bool,
    /// The override that ends at this time and causes the transition, such as `wake-until`. In JSON
    /// only if there is one.
    #[serde(serialize_with = "key_name", skip_serializing_if = "Option::is_none")]
    pub ends: Option<Key>,
}

/// The boundaries of one object in a period, computed lazily.
#[derive(Clone, Debug)]
pub(crate) struct Boundaries {
    pub(crate) spec: Option<ScheduleSpec>,
    pub(crate) delay: TimeDelta,
    pub(crate) period: Period,
    /// The count that a start restores, if it is known.
    pub(crate) restored_count: Option<Replicas>,
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

    /// The count after a start. A wake starts at least one replica or, with exact counts, the
    /// largest count.
    fn started(&self, spec: &ScheduleSpec, at: DateTime<Utc>) -> Option<Replicas> {
        let is_woken = matches!(spec.overrides.at(at), Some(Override::Wake(_)));
        if spec.keeps_zero && self.restored_count == Some(Replicas::ZERO) && !is_woken {
            return self.restored_count;
        }
        let least = spec.largest_count().max(Some(Replicas::ONE));
        let least = least.filter(|_| is_woken).unwrap_or_default();
        let back = || self.restored_count.map(|count| count.max(least));
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

// serde requires the reference.
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

/// A date of a calendar, on which nothing starts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Holiday {
    /// The date in the zone of the object.
    #[serde(serialize_with = "iso")]
    pub date: NaiveDate,
    /// The calendar's name.
    pub calendar: String,
    /// The calendar's name of the date, such as `Christmas Day`. It is untrusted text, and can be
    /// empty.
    pub name: String,
}

/// A date that is treated as another day of the week.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TreatedDate {
    /// The date in the zone of the object.
    #[serde(serialize_with = "iso")]
    pub date: NaiveDate,
    /// The day that it is treated as, such as `Mon`.
    #[serde(rename = "as", serialize_with = "day_name")]
    pub day: Weekday,
}

/// The dates in a period that are treated as another day.
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

/// All dates of a period in the zone of the schedule.
fn dates(schedule: &Schedule, period: Period) -> impl Iterator<Item = NaiveDate> {
    let zone = schedule.zone();
    let first = period.from().with_timezone(&zone).date_naive();
    let end = period.until() - TimeDelta::seconds(1);
    let last = end.with_timezone(&zone).date_naive();
    first.iter_days().take_while(move |date| *date <= last)
}

/// The dates in a period that calendars exclude.
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

// serde requires the reference.
#[expect(clippy::trivially_copy_pass_by_ref)]
fn day_name<S: Serializer>(day: &Weekday, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(day)
}

// serde requires the reference.
#[expect(clippy::trivially_copy_pass_by_ref)]
fn iso<S: Serializer>(date: &NaiveDate, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(date)
}

/// The dependencies of an object's starts.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct StartsAfter {
    /// The objects of its namespace as kubectl names them, such as `sts/db`.
    pub objects: Vec<String>,
    /// The maximum time in seconds that each start waits for them.
    #[serde(rename = "withinSeconds")]
    pub within_seconds: i64,
}

impl StartsAfter {
    /// The dependencies of a schedule; `None` if it has none.
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
