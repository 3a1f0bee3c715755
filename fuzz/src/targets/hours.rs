//! Lines: hours, excepted dates, zone, jitter, moment.

use chrono::TimeDelta;
use dayshift::schedule::{
    ExceptedDates, Hours, MAX_TEXT, Rule, Schedule, Zone, parse_jitter, parse_moment,
};

use super::super::boundaries::check_boundaries;
use super::super::texts::{check_error, lines, reversed};

/// Checks one input.
pub fn run(bytes: &[u8]) {
    let Some([text, except, zone, jitter, moment]) = lines(bytes) else {
        return;
    };
    let hours = match Hours::parse(text) {
        Ok(hours) => hours,
        Err(error) => return check_error(text, &error),
    };
    assert_eq!(
        Hours::parse(&reversed(text)).as_ref(),
        Ok(&hours),
        "{text:?}"
    );
    let printed = hours.to_string();
    if printed.len() <= MAX_TEXT {
        assert_eq!(Hours::parse(&printed).as_ref(), Ok(&hours), "{text:?}");
    }
    let zone = Zone::parse(zone).unwrap_or(Zone::UTC);
    let except = ExceptedDates::parse(except).unwrap_or_default();
    let schedule = Schedule::new(Rule::Hours(hours), except, zone);
    let delay = parse_jitter(jitter).unwrap_or(TimeDelta::zero());
    for moment in [
        moment,
        "2026-03-08 02:30",
        "2028-02-29 00:00",
        "2026-10-25 02:30",
    ] {
        if let Ok(at) = parse_moment(moment, zone) {
            assert!(schedule.says(at, delay).is_some());
            check_boundaries(&schedule, delay, at);
        }
    }
}
