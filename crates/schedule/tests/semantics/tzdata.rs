//! Time zone databases with missing and broken files.

use chrono::{DateTime, Utc};
use dayshift_schedule::{Calendar, Tzdata, Zone, ZoneFileError};
use proptest::prelude::*;

use crate::zone_file::zone_file;

type Files<'a> = &'a [(&'a str, Vec<u8>)];

fn copy(files: Files<'_>) -> (Tzdata, Vec<(String, ZoneFileError)>) {
    let files = files
        .iter()
        .map(|(name, file)| ((*name).to_owned(), file.clone()));
    Tzdata::new("2027a".to_owned(), "/zones".to_owned(), files.collect())
}

fn shown(zone: Zone, at: &str) -> String {
    let at: DateTime<Utc> = at.parse().unwrap();
    at.with_timezone(&zone).format("%H:%M %Z %z").to_string()
}

#[test]
fn missing_zone_falls_back_to_its_other_name_or_the_bundled_zone() {
    let pacific = zone_file(-8 * 3600, "<-08>8");
    let (copy, broken) = copy(&[("America/Los_Angeles", pacific)]);
    assert_eq!(broken, []);
    let july = "2026-07-01T12:00:00Z";
    for (name, expected) in [
        ("America/Los_Angeles", "04:00 -08 -0800"),
        ("US/Pacific", "04:00 -08 -0800"),
        ("Europe/Berlin", "14:00 CEST +0200"),
        ("UTC", "12:00 UTC +0000"),
    ] {
        assert_eq!(shown(copy.zone(name).unwrap(), july), expected, "{name}");
    }
    assert!(copy.zone("Mars/Olympus").is_none());
    assert_eq!((copy.version(), copy.source()), ("2027a", "/zones"));
}

#[test]
fn two_databases_are_independent() {
    let (other, _) = copy(&[("Mars/Base", zone_file(3600, "AAA-1"))]);
    assert!(other.parse_zone("Mars/Base").is_ok());
    assert!(Zone::parse("Mars/Base").is_err());
    let error = other.parse_zone("Mars/Bade").unwrap_err();
    assert_eq!(
        error.to_string(),
        "`Mars/Bade` is not a time zone; write `Mars/Base`"
    );
    // The UTC end of the recurrence is 1 January at midnight on the clocks of the zone.
    let file = "BEGIN:VCALENDAR\nBEGIN:VEVENT\nDTSTART;TZID=Mars/Base:20261230T000000\n\
                DURATION:P1D\nRRULE:FREQ=DAILY;UNTIL=20261231T230000Z\nEND:VEVENT\nEND:VCALENDAR";
    let calendar = Calendar::parse_with(file.as_bytes(), &other).unwrap();
    assert!(calendar.contains("2027-01-01".parse().unwrap()));
}

#[test]
fn zones_are_equal_if_name_and_rules_are_equal() {
    let (one, _) = copy(&[("Asia/Tokyo", zone_file(9 * 3600, "JST-9"))]);
    let (other, _) = copy(&[("Asia/Tokyo", zone_file(9 * 3600, "JST-9"))]);
    let (newer, _) = copy(&[("Asia/Tokyo", zone_file(9 * 3600, "JST-9JDT,J100,J200"))]);
    let [one, other, newer] = [one, other, newer].map(|it| it.zone("Asia/Tokyo").unwrap());
    assert_eq!(one, other);
    assert_ne!(one, newer);
    assert_ne!(one, Tzdata::bundled().zone("Asia/Seoul").unwrap());
}

#[test]
fn zone_follows_its_footer_after_the_last_change() {
    let (copy, _) = copy(&[("Mars/Base", zone_file(3600, "AAA-1BBB,M3.5.0,M10.5.0/3"))]);
    let zone = copy.zone("Mars/Base").unwrap();
    for year in [1970, 2026, 2037, 2038, 2100, 2199] {
        assert_eq!(
            shown(zone, &format!("{year}-01-15T00:00:00Z")),
            "01:00 AAA +0100"
        );
        assert_eq!(
            shown(zone, &format!("{year}-07-15T00:00:00Z")),
            "02:00 BBB +0200"
        );
    }
}

#[test]
fn broken_file_keeps_the_bundled_zone() {
    let berlin = zone_file(3600, "CET-1");
    for length in 0..berlin.len() - 1 {
        let (copy, broken) = copy(&[("Europe/Berlin", berlin[..length].to_vec())]);
        assert_eq!(broken.len(), 1, "{length}");
        let berlin = copy.zone("Europe/Berlin").unwrap();
        assert_eq!(shown(berlin, "2026-07-01T12:00:00Z"), "14:00 CEST +0200");
    }
    // An offset of more than a day, and leap seconds.
    let far = zone_file(90_000, "");
    let mut leap = zone_file(0, "UTC0");
    leap[31] = 1;
    leap.splice(44 + 10..44 + 10, [0; 8]);
    let (_, broken) = copy(&[("Etc/Far", far), ("Etc/Leap", leap)]);
    let broken: Vec<_> = broken.iter().map(|(_, why)| why).collect();
    assert_eq!(
        broken,
        [&ZoneFileError::Implausible, &ZoneFileError::LeapSeconds]
    );
}

proptest! {
    /// For any zone file, instants should increase with local time.
    #[test]
    fn any_zone_file_gives_increasing_instants(
        (at, with) in (0_usize..200, any::<[u8; 4]>()),
        year in 1970_i64..2200,
    ) {
        let mut file = zone_file(-3 * 3600, "AAA3BBB,M3.2.0,M11.1.0");
        for (byte, with) in file.iter_mut().skip(at).zip(with) {
            *byte = with;
        }
        let (copy, broken) = copy(&[("Mars/Base", file)]);
        prop_assert_eq!(copy.zone("Mars/Base").is_some(), broken.is_empty());
        let Some(zone) = copy.zone("Mars/Base") else { return Ok(()) };
        let mut last = None;
        for hour in 0..366 * 24 {
            let local = DateTime::from_timestamp((year - 1970) * 31_556_952 + hour * 3600, 0);
            let instant = zone.instant(local.unwrap().naive_utc());
            prop_assert!(Some(instant) >= last, "{:?} after {:?}", instant, last);
            last = Some(instant);
        }
    }
}
