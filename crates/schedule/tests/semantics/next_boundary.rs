//! The next start or stop of schedules that rarely have one.

use chrono::{DateTime, TimeDelta, Utc};
use dayshift_schedule::{Action, Direction, ExcludedDates, Schedule, ScheduleRule, Times, Zone};

fn at(text: &str) -> DateTime<Utc> {
    text.parse().unwrap()
}

fn times(start: &str, stop: &str) -> ScheduleRule {
    ScheduleRule::start_and_stop(Times::parse(start).ok(), Times::parse(stop).ok())
}

#[test]
fn finds_rare_boundaries_among_many_others() {
    let now = at("2026-11-20T18:00:00Z");
    let zero = TimeDelta::zero();
    let schedule =
        |start, stop| Schedule::new(times(start, stop), ExcludedDates::default(), Zone::UTC);
    for (start, stop, direction, delay, expected) in [
        (
            "@yearly",
            "*/15 * * * *",
            Direction::Up,
            0,
            Some("2027-01-01T00:00:00Z"),
        ),
        (
            "@yearly",
            "*/15 * * * *",
            Direction::Up,
            600,
            Some("2027-01-01T00:10:00Z"),
        ),
        (
            "0 0 29 2 *",
            "* * * * *",
            Direction::Up,
            3600,
            Some("2028-02-29T00:00:59Z"),
        ),
        // All of these stops except the last coincide with a start.
        (
            "*/15 * * * *",
            "*/15 * * * *; 0 0 1 1 *",
            Direction::Down,
            0,
            None,
        ),
        (
            "*/15 * * * *",
            "0 * * * *; 1 0 1 1 *",
            Direction::Down,
            0,
            Some("2027-01-01T00:01:00Z"),
        ),
        (
            "* * * * *",
            "* * * * *; 30 0 0 29 2 *",
            Direction::Down,
            60,
            Some("2028-02-29T00:00:30Z"),
        ),
        ("09:00", "09:00; 2190-01-01 09:00", Direction::Down, 0, None),
        (
            "09:00",
            "09:00; 2190-01-01 09:01",
            Direction::Down,
            0,
            Some("2190-01-01T09:01:00Z"),
        ),
        ("09:00", "", Direction::Down, 0, None),
    ] {
        let delay = TimeDelta::seconds(delay);
        let next = schedule(start, stop).next_boundary(direction, now, delay);
        assert_eq!(next.map(|it| it.at), expected.map(at), "{start} / {stop}");
        assert!(next.is_none_or(|next| next.action.direction() == direction));
    }
    // On an excluded date there are no starts, so the stop applies.
    let except = ExcludedDates::parse("2090-05-05").unwrap();
    let once = Schedule::new(times("09:00", "09:00"), except, Zone::UTC);
    let stop = once.next_boundary(Direction::Down, now, zero).unwrap();
    assert_eq!(
        (stop.at, stop.action),
        (at("2090-05-05T09:00:00Z"), Action::Stop)
    );
}
