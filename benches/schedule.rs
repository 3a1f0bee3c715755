//! The cost of parsing expressions and of querying a schedule, compared with croner for the same
//! cron expressions.
//!
//! `cargo bench --bench schedule`
#![allow(clippy::unwrap_used, missing_docs)]

use chrono::{DateTime, TimeDelta, Utc};
use dayshift_schedule::{
    ExcludedDates, Hours, Schedule, ScheduleRule, Times, Zone, parse_date_time,
};
use divan::{Bencher, black_box};

fn main() {
    divan::main();
}

/// Schedules of each kind. The rows are named after them.
const KINDS: [&str; 8] = [
    "Mon-Fri 09:00",
    "0 9 * * Mon-Fri",
    "*/5 * * * * *",
    "0 0 29 2 *",
    "2026-12-24 18:00; 2029-12-24 18:00; 09:00",
    "hours Mon-Fri 09:00-19:00",
    "hours 00:00-24:00, except one date",
    "hours Mon 09:00-10:00, except 100 years",
];

/// Cron expressions that this dialect and croner both accept.
const CRONS: [&str; 3] = ["0 9 * * Mon-Fri", "*/5 * * * * *", "0 0 29 2 *"];

/// Hostile expressions, by name.
const HOSTILE: [&str; 6] = [
    "200 kB of x",
    "200 kB of items",
    "4 kB of times",
    "4 kB of cron",
    "4 kB of days",
    "4 kB of ranges",
];

fn schedule(kind: &str, zone: &str) -> Schedule {
    let (rule, except) = match kind.strip_prefix("hours ") {
        Some(windows) => {
            let (windows, except) = match windows.split_once(", except ") {
                Some((windows, "one date")) => (windows, "2100-06-01"),
                Some((windows, _)) => (windows, "2026-11-01..2126-11-01"),
                None => (windows, "2026-12-28..2027-01-03"),
            };
            (ScheduleRule::Hours(Hours::parse(windows).unwrap()), except)
        }
        None => {
            let start = Some(Times::parse(kind).unwrap());
            let stop = Some(Times::parse("Mon-Fri 19:00").unwrap());
            (
                ScheduleRule::start_and_stop(start, stop),
                "2026-12-28..2027-01-03",
            )
        }
    };
    Schedule::new(
        rule,
        ExcludedDates::parse(except).unwrap(),
        Zone::parse(zone).unwrap(),
    )
}

/// Instants throughout a year, including two clock changes.
fn instants() -> Vec<DateTime<Utc>> {
    let from = parse_date_time("2026-11-20 18:00", Zone::UTC).unwrap();
    (0..997)
        .map(|nth| from + TimeDelta::seconds(nth * 31_687))
        .collect()
}

fn bench_over_a_year<T>(bencher: Bencher<'_, '_>, ask: impl Fn(DateTime<Utc>) -> T + Sync) {
    let instants = instants();
    let mut next = instants.iter().cycle();
    bencher.bench_local(|| ask(*black_box(next.next().unwrap())));
}

#[divan::bench(args = KINDS)]
fn next_after(bencher: Bencher<'_, '_>, kind: &str) {
    let schedule = schedule(kind, "Europe/Berlin");
    bench_over_a_year(bencher, |at| schedule.next_after(at, TimeDelta::zero()));
}

#[divan::bench(args = KINDS)]
fn latest_at(bencher: Bencher<'_, '_>, kind: &str) {
    let schedule = schedule(kind, "Europe/Berlin");
    bench_over_a_year(bencher, |at| schedule.latest_at(at, TimeDelta::zero()));
}

#[divan::bench(args = KINDS)]
fn next_after_with_jitter(bencher: Bencher<'_, '_>, kind: &str) {
    let schedule = schedule(kind, "Europe/Berlin");
    bench_over_a_year(bencher, |at| {
        schedule.next_after(at, TimeDelta::seconds(1799))
    });
}

#[divan::bench(args = CRONS)]
fn croner_next_after(bencher: Bencher<'_, '_>, text: &str) {
    let cron: croner::Cron = text.parse().unwrap();
    let berlin = Zone::parse("Europe/Berlin").unwrap();
    bench_over_a_year(bencher, |at| {
        cron.find_next_occurrence(&at.with_timezone(&berlin), false)
    });
}

#[divan::bench(args = CRONS)]
fn croner_latest_at(bencher: Bencher<'_, '_>, text: &str) {
    let cron: croner::Cron = text.parse().unwrap();
    let berlin = Zone::parse("Europe/Berlin").unwrap();
    bench_over_a_year(bencher, |at| {
        cron.find_previous_occurrence(&at.with_timezone(&berlin), true)
    });
}

#[divan::bench(args = [
    "Mon-Fri 09:00",
    "0 9 * * Mon-Fri",
    "Mon-Fri 09:00; Sat,Sun 10:00,22:00; 2026-12-24 18:00",
    "Mon-Fry 09:00",
])]
fn parse_times(text: &str) -> bool {
    Times::parse(black_box(text)).is_ok()
}

#[divan::bench]
fn parse_hours() -> bool {
    Hours::parse(black_box("Mon-Fri 09:00-19:00; Sat 10:00-14:00")).is_ok()
}

#[divan::bench(args = ["Asia/Tokyo", "Asia/Tokio", "Amerika/Argentinien/BuenosAires"])]
fn parse_zone(name: &str) -> bool {
    Zone::parse(black_box(name)).is_ok()
}

#[divan::bench(args = CRONS)]
fn croner_parse(text: &str) -> bool {
    black_box(text).parse::<croner::Cron>().is_ok()
}

fn hostile(name: &str) -> String {
    match name {
        "200 kB of x" => "x".repeat(200_000),
        "200 kB of items" => "09:00;".repeat(33_000),
        "4 kB of times" => {
            let times = |nth: usize| format!("{:02}:{:02}", nth / 60, nth % 60);
            (0..680).map(times).collect::<Vec<_>>().join(",")
        }
        "4 kB of cron" => (0..340)
            .map(|nth| format!("{} 9 * * *", nth % 60))
            .collect::<Vec<_>>()
            .join(";"),
        "4 kB of days" => "Mon,".repeat(1000) + "Fry 09:00",
        _ => "1-".repeat(2000) + " * * * *",
    }
}

#[divan::bench(args = HOSTILE)]
fn parse_hostile(bencher: Bencher<'_, '_>, name: &str) {
    let text = hostile(name);
    bencher.bench_local(|| Times::parse(black_box(&text)).is_ok());
}

/// The longest cron list and the longest list of dates that fit into one text.
#[divan::bench]
fn next_after_of_4_kb_of_cron(bencher: Bencher<'_, '_>) {
    let schedule = schedule(&hostile("4 kB of cron"), "Europe/Berlin");
    bench_over_a_year(bencher, |at| schedule.next_after(at, TimeDelta::zero()));
}
