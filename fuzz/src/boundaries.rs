//! Invariants that connect the queries of a schedule.

use chrono::{DateTime, TimeDelta, Utc};
use dayshift_schedule::{Schedule, ScheduleRule, parse_date_time};

const SECOND: TimeDelta = TimeDelta::seconds(1);

/// Checks a schedule around the given time, if it can be parsed, and around a leap day and two
/// clock changes.
pub fn check_schedule(schedule: &Schedule, delay: TimeDelta, moment: &str) {
    for moment in [
        moment,
        "2026-03-08 02:30",
        "2028-02-29 00:00",
        "2026-10-25 02:30",
    ] {
        if let Ok(at) = parse_date_time(moment, schedule.zone()) {
            if matches!(schedule.rule(), ScheduleRule::Hours(_)) {
                assert!(schedule.action_at(at, delay).is_some(), "at {at}");
            }
            check_boundaries(schedule, delay, at);
        }
    }
}

/// Checks a schedule around an instant in whole seconds, and around the boundaries after it.
pub fn check_boundaries(schedule: &Schedule, delay: TimeDelta, at: DateTime<Utc>) {
    let mut at = at;
    let mut known = Vec::new();
    for _ in 0..4 {
        let next = check_around(schedule, delay, at);
        let Some(next) = next else { break };
        known.push(next);
        at = next.at;
    }
    if let Some(first) = known.first() {
        let listed = schedule.boundaries(first.at, at + SECOND, delay);
        assert_eq!(listed.collect::<Vec<_>>(), known, "after {at}");
    }
}

fn check_around(
    schedule: &Schedule,
    delay: TimeDelta,
    at: DateTime<Utc>,
) -> Option<dayshift_schedule::Boundary> {
    let latest = schedule.latest_at(at, delay);
    let next = schedule.next_after(at, delay);
    if let Some(latest) = latest {
        assert!(
            latest.at <= at,
            "the latest boundary {latest} is after {at}"
        );
        assert_eq!(
            schedule.action_at(at, delay),
            Some(latest.action),
            "at {at}"
        );
        assert_eq!(
            schedule.latest_at(latest.at, delay),
            Some(latest),
            "at {at}"
        );
        assert_eq!(
            schedule.next_after(latest.at, delay),
            next,
            "after {latest}, searched from {at}"
        );
        let found = schedule.next_after(latest.at - SECOND, delay);
        assert_eq!(found, Some(latest), "just before {latest}");
    }
    if let Some(next) = next {
        assert!(next.at > at, "the next boundary {next} is not after {at}");
        assert_eq!(schedule.latest_at(next.at, delay), Some(next), "at {at}");
        let before = schedule.latest_at(next.at - SECOND, delay);
        assert_eq!(before, latest, "just before {next}, searched from {at}");
    }
    next
}
