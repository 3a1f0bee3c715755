//! Lines: start, stop, excepted dates, zone, jitter, moment.

use chrono::TimeDelta;
use dayshift::schedule::{
    ExceptedDates, MAX_TEXT, Rule, Schedule, Times, Zone, parse_jitter, parse_moment,
};

use super::super::boundaries::check_boundaries;
use super::super::texts::{check_error, lines, reversed};

/// Checks one input.
pub fn run(bytes: &[u8]) {
    let Some([start, stop, except, zone, jitter, moment]) = lines(bytes) else {
        return;
    };
    let (start, stop) = (times(start), times(stop));
    if start.is_none() && stop.is_none() {
        return;
    }
    let zone = Zone::parse(zone).unwrap_or(Zone::UTC);
    let except = ExceptedDates::parse(except).unwrap_or_default();
    let schedule = Schedule::new(Rule::start_and_stop(start, stop), except, zone);
    let delay = parse_jitter(jitter).unwrap_or(TimeDelta::zero());
    for moment in [
        moment,
        "2026-03-08 02:30",
        "2028-02-29 00:00",
        "2026-10-25 02:30",
    ] {
        if let Ok(at) = parse_moment(moment, zone) {
            check_boundaries(&schedule, delay, at);
        }
    }
}

fn times(text: &str) -> Option<Times> {
    match Times::parse(text) {
        Ok(times) => {
            assert_eq!(
                Times::parse(&reversed(text)).as_ref(),
                Ok(&times),
                "{text:?}"
            );
            let printed = times.to_string();
            if printed.len() <= MAX_TEXT {
                assert_eq!(Times::parse(&printed).as_ref(), Ok(&times), "{text:?}");
            }
            Some(times)
        }
        Err(error) => {
            check_error(text, &error);
            None
        }
    }
}
