//! A year with the holidays of two countries.

use chrono::{DateTime, NaiveDate, NaiveDateTime, Utc};

use super::files::{GERMANY, USA, web};
use crate::program::dayshift_with;

/// The working days of 2026, calculated from an independent list of holidays.
fn working_days(holidays: &[&str]) -> Vec<String> {
    let first: NaiveDate = "2026-01-01".parse().unwrap();
    let days = first.iter_days().take(365);
    let days = days.filter(|it| !matches!(it.format("%a").to_string().as_str(), "Sat" | "Sun"));
    let days = days.map(|it| it.to_string());
    days.filter(|it| !holidays.contains(&it.as_str())).collect()
}

/// Nine o'clock on a day in a zone.
fn at_nine(day: &str, zone: &str) -> DateTime<Utc> {
    let zone: chrono_tz::Tz = zone.parse().unwrap();
    let day: NaiveDate = day.parse().unwrap();
    let local = day.and_hms_opt(9, 0, 0).unwrap();
    local.and_local_timezone(zone).unwrap().to_utc()
}

/// The instant at the beginning of a line of the sandbox: `Fri 2026-01-02 08:00:00.000 UTC`.
fn instant(line: &str) -> DateTime<Utc> {
    let words: Vec<_> = line.split_whitespace().take(4).collect();
    assert_eq!(words[3], "UTC", "{line}");
    let text = format!("{} {}", words[1], words[2]);
    let read = NaiveDateTime::parse_from_str(&text, "%Y-%m-%d %H:%M:%S%.f");
    read.unwrap_or_else(|error| panic!("{line}: {error}"))
        .and_utc()
}

/// Runs the real controller for a year on the in-memory API, with calendar files as public feeds
/// provide them.
#[test]
fn a_year_of_two_countries_has_the_expected_starts() {
    let in_germany = [
        "2026-01-01",
        "2026-04-03",
        "2026-04-06",
        "2026-05-01",
        "2026-05-14",
        "2026-05-25",
        "2026-12-25",
    ];
    let in_the_usa = [
        "2026-01-01",
        "2026-01-19",
        "2026-02-16",
        "2026-05-25",
        "2026-06-19",
        "2026-07-03",
        "2026-09-07",
        "2026-10-12",
        "2026-11-11",
        "2026-11-26",
        "2026-12-25",
    ];
    let hours = ("hours", "Mon-Fri 09:00-19:00");
    let berlin = ("timezone", "Europe/Berlin");
    let new_york = ("timezone", "America/New_York");
    let both: Vec<_> = in_germany.iter().chain(&in_the_usa).copied().collect();
    let objects = [
        ("berlin", berlin, "calendar:de", &in_germany[..]),
        ("boston", new_york, "calendar:us", &in_the_usa),
        ("both", berlin, "calendar:us; calendar:de", &both),
    ];
    let manifest = |(name, zone, except, _): (&str, _, &str, &[&str])| {
        web(name, &[hours, zone, ("except", except)])
    };
    let input: String = objects.map(manifest).concat();
    let args = [
        "sandbox",
        "--calendar",
        GERMANY,
        "--calendar",
        USA,
        "--kinds=deployments",
        "--namespace-defaults=false",
    ];
    let span = ["--from", "2026-01-01", "--for", "365d", "-"];
    let ended = dayshift_with(&[], &[&args[..], &span].concat(), &input);
    assert_eq!(ended.status, 0, "{ended:?}");
    for (name, zone, _, holidays) in objects {
        let name = format!(" default/{name} ");
        let lines = ended.out.lines().filter(|line| line.contains(&name));
        let starts = lines.filter(|line| line.contains("  start "));
        let starts: Vec<_> = starts.map(instant).collect();
        let nine = |day: &String| at_nine(day, zone.1);
        let expected: Vec<_> = working_days(holidays).iter().map(nine).collect();
        assert_eq!(starts, expected, "{name}");
    }
}
