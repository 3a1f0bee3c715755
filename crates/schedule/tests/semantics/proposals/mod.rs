//! Proposals for rejected text. Each row of these tests specifies the times that the text should
//! mean. The proposal should be valid and mean exactly these times.

mod others;
mod times;

use std::collections::BTreeSet;

use chrono::{Datelike, NaiveDate, NaiveDateTime, TimeDelta, Timelike, Utc};
use dayshift_schedule::{
    Calendar, CalendarName, Calendars, Diagnostic, ExcludedDates, Hours, Proposal, Times,
    TreatedDates, Zone, parse_date_time, parse_grace, parse_jitter, parse_scale,
};

/// Weeks from a Monday on that include the end of a month.
const WEEKS: i64 = 5;

fn monday() -> NaiveDateTime {
    "2026-11-23T00:00:00".parse().unwrap()
}

fn end() -> NaiveDateTime {
    monday() + TimeDelta::weeks(WEEKS)
}

/// When something happens, independent of the library.
#[derive(Clone, Copy, Debug)]
enum When {
    /// On weekdays such as `MTWTF--`, at a time of day with seconds.
    On(&'static str, &'static str),
    /// With this interval in seconds, from midnight on.
    Every(i64),
    /// At one time.
    Once(&'static str),
}
use When::{Every, On, Once};

fn is_on(sketch: &str, date: NaiveDate) -> bool {
    let day = date.weekday().num_days_from_monday() as usize;
    sketch.as_bytes()[day] != b'-'
}

fn expected(all: &[When]) -> BTreeSet<NaiveDateTime> {
    let mut found = BTreeSet::new();
    let seconds = (end() - monday()).num_seconds();
    for when in all {
        match *when {
            On(sketch, time) => {
                let time = time.parse::<chrono::NaiveTime>().unwrap();
                let days = monday().date().iter_days().take(7 * WEEKS as usize);
                let days = days.filter(|day| is_on(sketch, *day));
                found.extend(days.map(|day| day.and_time(time)));
            }
            Every(step) => found.extend(
                (0..seconds)
                    .step_by(usize::try_from(step).unwrap())
                    .map(|second| monday() + TimeDelta::seconds(second)),
            ),
            Once(at) => {
                found.insert(at.parse().unwrap());
            }
        }
    }
    found
}

fn happens(times: &str) -> BTreeSet<NaiveDateTime> {
    let times = Times::parse(times).unwrap_or_else(|error| panic!("{times}: {error}"));
    let first = times.next_local(monday() - TimeDelta::seconds(1));
    std::iter::successors(first, |at| times.next_local(*at))
        .take_while(|at| *at < end())
        .collect()
}

/// The minutes of these weeks within windows, given as days, start and end.
fn covered(windows: &[(&str, &str, &str)]) -> BTreeSet<NaiveDateTime> {
    let minute_of = |text: &str| {
        let (hour, minute) = text.split_once(':').unwrap();
        hour.parse::<i64>().unwrap() * 60 + minute.parse::<i64>().unwrap()
    };
    let mut found = BTreeSet::new();
    for (sketch, from, to) in windows {
        let (from, to) = (minute_of(from), minute_of(to));
        let to = if to > from { to } else { to + 24 * 60 };
        for day in monday().date().iter_days().take(7 * WEEKS as usize) {
            if is_on(sketch, day) {
                let midnight = day.and_time(chrono::NaiveTime::MIN);
                found.extend((from..to).map(|minute| midnight + TimeDelta::minutes(minute)));
            }
        }
    }
    // Drop the first day, because windows from the day before are missing.
    found
        .into_iter()
        .filter(|at| *at >= monday() + TimeDelta::days(1) && *at < end())
        .collect()
}

fn covered_by(hours: &str) -> BTreeSet<NaiveDateTime> {
    let hours = Hours::parse(hours).unwrap_or_else(|error| panic!("{hours}: {error}"));
    // Step from edge to edge. Each test begins outside of windows, at midnight of a Tuesday.
    let mut found = BTreeSet::new();
    let mut edges = Vec::new();
    let mut at = monday() - TimeDelta::days(7);
    while let Some(edge) = hours
        .next_edge(at)
        .filter(|edge| *edge < end() + TimeDelta::days(8))
    {
        edges.push(edge);
        at = edge;
    }
    // The week before shows which edges are starts. Several windows can cross midnight, and in all
    // rows the edge after the longest break is a start.
    let longest = edges
        .windows(2)
        .enumerate()
        .max_by_key(|(_, pair)| pair[1] - pair[0])
        .unwrap();
    let first = (longest.0 + 1) % 2;
    for pair in edges[first..].chunks_exact(2) {
        let minutes = (pair[1] - pair[0]).num_minutes();
        found.extend((0..minutes).map(|minute| pair[0] + TimeDelta::minutes(minute)));
    }
    found
        .into_iter()
        .filter(|at| *at >= monday() + TimeDelta::days(1) && *at < end())
        .collect()
}

fn intended_by<T: std::fmt::Debug>(text: &str, read: Result<T, Diagnostic>) -> Option<Proposal> {
    let error = match read {
        Ok(read) => panic!("{text} is right: {read:?}"),
        Err(error) => error,
    };
    let meant = error.proposal();
    // The message should contain exactly the proposal.
    match &meant {
        Some(meant) if meant.to_string().len() < 60 => {
            assert!(error.to_string().ends_with(&meant.to_string()), "{error}");
        }
        _ => {}
    }
    meant
}

/// The whole text with the proposal applied.
fn instead<T: std::fmt::Debug>(text: &str, read: Result<T, Diagnostic>) -> String {
    let meant = intended_by(text, read).unwrap_or_else(|| panic!("{text}: no proposal"));
    meant
        .apply_to(text)
        .unwrap_or_else(|| panic!("{text}: {meant:?}"))
}

fn proposed_times(text: &str) -> String {
    instead(text, Times::parse(text))
}
