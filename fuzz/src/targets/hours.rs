//! Lines: hours, excluded dates, zone, jitter, date and time.

use chrono::TimeDelta;
use dayshift_schedule::{ExcludedDates, Hours, Schedule, ScheduleRule, Zone, parse_jitter};

use super::super::{
    boundaries::check_schedule,
    texts::{lines, parse},
};

/// Checks one input.
pub fn run(bytes: &[u8]) {
    let Some([text, except, zone, jitter, moment]) = lines(bytes) else {
        return;
    };
    let Some(hours) = parse(text, Hours::parse) else {
        return;
    };
    let zone = Zone::parse(zone).unwrap_or(Zone::UTC);
    let except = ExcludedDates::parse(except).unwrap_or_default();
    let schedule = Schedule::new(ScheduleRule::Hours(hours), except, zone);
    let delay = parse_jitter(jitter).unwrap_or(TimeDelta::zero());
    check_schedule(&schedule, delay, moment);
}
