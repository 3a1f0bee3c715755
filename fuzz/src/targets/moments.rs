//! Lines: date and time, excluded dates, jitter, zone.

use dayshift_schedule::{ExcludedDates, Zone, parse_date_time, parse_jitter};

use super::super::texts::{lines, read, reversed};

/// Checks one input.
pub fn run(bytes: &[u8]) {
    let Some([moment, except, jitter, zone]) = lines(bytes) else {
        return;
    };
    let zone = read(zone, Zone::parse).unwrap_or(Zone::UTC);
    assert_eq!(Zone::parse(zone.name()), Ok(zone));
    if let Some(at) = read(moment, |it| parse_date_time(it, zone)) {
        assert_eq!(
            parse_date_time(&at.to_rfc3339(), zone),
            Ok(at),
            "{moment:?}"
        );
    }
    if let Some(dates) = read(except, ExcludedDates::parse) {
        let last = dates.last().expect("a parsed list is not empty");
        assert!(dates.contains(last), "{except:?} ends with {last}");
        assert_eq!(
            ExcludedDates::parse(&reversed(except)),
            Ok(dates),
            "{except:?}"
        );
    }
    if let Some(jitter) = read(jitter, parse_jitter) {
        assert!((0..=3600).contains(&jitter.num_seconds()), "{jitter}");
        assert_eq!(jitter.subsec_nanos(), 0, "{jitter}");
    }
}
