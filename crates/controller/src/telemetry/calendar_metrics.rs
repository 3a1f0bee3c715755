//! The metrics of calendars: the last date of each, and whether its file could be read.

use chrono::{NaiveDate, NaiveTime};
use dayshift_schedule::CalendarName;
use prometheus_client::{
    metrics::{family::Family, gauge::Gauge},
    registry::Registry,
};

use crate::telemetry::shapes::{registered, registered_in_seconds};

/// The metrics of calendars, labeled with the name of the calendar.
#[derive(Debug)]
pub(super) struct CalendarMetrics {
    last_date: CalendarGauge,
    is_valid: CalendarGauge,
}

type CalendarGauge = Family<[(&'static str, String); 1], Gauge>;

impl CalendarMetrics {
    pub(super) fn registered(registry: &mut Registry) -> Self {
        Self {
            last_date: registered_in_seconds(
                registry,
                "calendar_last_date_timestamp",
                "The beginning in UTC of the last date of a calendar; absent if it has no end",
                CalendarGauge::default(),
            ),
            is_valid: registered(
                registry,
                "calendar_last_reload_successful",
                "Whether the last reload of a calendar file succeeded: 1 or 0",
            ),
        }
    }

    pub(super) fn set(&self, name: &CalendarName, last: Option<NaiveDate>, is_valid: bool) {
        let labels = [("calendar", name.to_string())];
        match last.map(|last| last.and_time(NaiveTime::MIN).and_utc().timestamp()) {
            Some(last) => {
                self.last_date.get_or_create(&labels).set(last);
            }
            None => {
                self.last_date.remove(&labels);
            }
        }
        self.is_valid.get_or_create(&labels).set(is_valid.into());
    }
}
