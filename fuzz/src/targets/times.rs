//! Lines: start, stop, excluded dates, zone, jitter, date and time.

use chrono::TimeDelta;
use dayshift_schedule::{ExcludedDates, Schedule, ScheduleRule, Times, Zone, parse_jitter};

use super::super::{
    boundaries::check_schedule,
    texts::{lines, parse},
};

/// Checks one input.
pub fn run(bytes: &[u8]) {
    let Some([start, stop, except, zone, jitter, moment]) = lines(bytes) else {
        return;
    };
    let (start, stop) = (parse(start, Times::parse), parse(stop, Times::parse));
    if start.is_none() && stop.is_none() {
        return;
    }
    let zone = Zone::parse(zone).unwrap_or(Zone::UTC);
    let except = ExcludedDates::parse(except).unwrap_or_default();
    let schedule = Schedule::new(ScheduleRule::start_and_stop(start, stop), except, zone);
    let delay = parse_jitter(jitter).unwrap_or(TimeDelta::zero());
    check_schedule(&schedule, delay, moment);
}
