//! The name of a zone that somebody may have meant.

use super::tzdata::Tzdata;
use super::windows;

/// The zone that `name` means: an offset from UTC, an abbreviation, a name of Windows, or a name of the
/// database except for case and blanks, without its continent, or a few letters away. `None` where
/// no name is near.
pub(crate) fn nearest(name: &str) -> Option<&'static str> {
    if let Some(offset) = offset(name) {
        return zone_of_offset(offset);
    }
    let wanted = name.to_lowercase().replace(' ', "_");
    let names = || Tzdata::in_use().names();
    let is = |name: &str| name.eq_ignore_ascii_case(&wanted);
    let of_abbreviation = || {
        let mut all = ABBREVIATIONS.iter();
        Some(all.find(|(abbreviation, _)| is(abbreviation))?.1)
    };
    let same = names().find(|name| is(name)).or_else(of_abbreviation);
    let same = same.or_else(|| windows::iana_name(name));
    // There one letter is another offset.
    let is_ambiguous = AMBIGUOUS.contains(&&*wanted);
    if same.is_some() || is_ambiguous || wanted.starts_with("etc/") || wanted.contains('+') {
        return same;
    }
    names()
        .find(|name| is(city(name)))
        .or_else(|| dayshift_text::nearest(&wanted, names()))
        .or_else(|| {
            let nearest = dayshift_text::nearest(&wanted, names().map(city))?;
            names().find(|name| city(name) == nearest)
        })
}

/// Abbreviations that hundreds of millions use for one zone and others for another, hours apart: China or
/// Chicago, India or Israel.
const AMBIGUOUS: [&str; 2] = ["cst", "ist"];

/// Abbreviations, and the zone of most people who use them.
const ABBREVIATIONS: [(&str, &str); 43] = [
    ("ACDT", "Australia/Adelaide"),
    ("ACST", "Australia/Adelaide"),
    ("ADT", "America/Halifax"),
    ("AEDT", "Australia/Sydney"),
    ("AEST", "Australia/Sydney"),
    ("AKDT", "America/Anchorage"),
    ("AKST", "America/Anchorage"),
    ("AST", "America/Halifax"),
    ("AWST", "Australia/Perth"),
    ("BRT", "America/Sao_Paulo"),
    ("BST", "Europe/London"),
    ("CAT", "Africa/Maputo"),
    ("CDT", "America/Chicago"),
    ("CEST", "Europe/Berlin"),
    ("EAT", "Africa/Nairobi"),
    ("EDT", "America/New_York"),
    ("EEST", "Europe/Athens"),
    ("GST", "Asia/Dubai"),
    ("HKT", "Asia/Hong_Kong"),
    ("ICT", "Asia/Bangkok"),
    ("IDT", "Asia/Jerusalem"),
    ("JST", "Asia/Tokyo"),
    ("KST", "Asia/Seoul"),
    ("MDT", "America/Denver"),
    ("MSK", "Europe/Moscow"),
    ("MYT", "Asia/Kuala_Lumpur"),
    ("NDT", "America/St_Johns"),
    ("NST", "America/St_Johns"),
    ("NZDT", "Pacific/Auckland"),
    ("NZST", "Pacific/Auckland"),
    ("PDT", "America/Los_Angeles"),
    ("PHT", "Asia/Manila"),
    ("PKT", "Asia/Karachi"),
    ("PST", "America/Los_Angeles"),
    ("SAST", "Africa/Johannesburg"),
    ("SGT", "Asia/Singapore"),
    ("TRT", "Europe/Istanbul"),
    ("WAT", "Africa/Lagos"),
    ("WEST", "Europe/Lisbon"),
    ("WIB", "Asia/Jakarta"),
    ("WIT", "Asia/Jayapura"),
    ("WITA", "Asia/Makassar"),
    ("Z", "UTC"),
];

/// Zones that are always so many minutes ahead of UTC, where no hour is.
const BETWEEN_HOURS: [(i32, &str); 8] = [
    (-570, "Pacific/Marquesas"),
    (210, "Asia/Tehran"),
    (270, "Asia/Kabul"),
    (330, "Asia/Kolkata"),
    (345, "Asia/Kathmandu"),
    (390, "Asia/Yangon"),
    (525, "Australia/Eucla"),
    (570, "Australia/Darwin"),
];

/// The minutes ahead of UTC of `UTC+9`, `GMT-5`, `+05:30` or `utc +0530`.
fn offset(text: &str) -> Option<i32> {
    let text = text.to_ascii_uppercase().replace('\u{2212}', "-");
    let signed = text
        .strip_prefix("UTC")
        .or_else(|| text.strip_prefix("GMT"));
    let signed = signed.unwrap_or(&text).trim();
    let digits = signed.strip_prefix(['+', '-'])?.trim();
    let (hours, minutes) = match (digits.split_once(':'), digits.len()) {
        (Some(parts), _) => parts,
        (None, 1 | 2) => (digits, "0"),
        (None, 4) => digits.split_at_checked(2)?,
        _ => return None,
    };
    let (hours, minutes): (i32, i32) = (
        dayshift_text::number(hours)?,
        dayshift_text::number(minutes)?,
    );
    let ahead = hours.checked_mul(60)?.checked_add(minutes)?;
    (minutes < 60).then_some(if signed.starts_with('-') {
        -ahead
    } else {
        ahead
    })
}

/// The zone whose clocks are always so many minutes ahead of UTC. The database names those of whole
/// hours as POSIX does: `Etc/GMT-9` is nine hours ahead.
fn zone_of_offset(minutes: i32) -> Option<&'static str> {
    if minutes == 0 {
        return Some("UTC");
    }
    if minutes % 60 == 0 {
        let name = format!("Etc/GMT{:+}", -minutes / 60);
        return Tzdata::in_use().names().find(|it| *it == name);
    }
    let mut all = BETWEEN_HOURS.iter();
    Some(all.find(|(ahead, _)| *ahead == minutes)?.1)
}

fn city(name: &str) -> &str {
    name.rsplit('/').next().unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_what_was_meant() {
        for (text, expected) in [
            ("Asia/Tokio", Some("Asia/Tokyo")),
            ("asia/tokyo", Some("Asia/Tokyo")),
            ("Tokyo", Some("Asia/Tokyo")),
            ("new york", Some("America/New_York")),
            ("Europe/Belrin", Some("Europe/Berlin")),
            ("Berlim", Some("Europe/Berlin")),
            ("utc", Some("UTC")),
            ("Mars/Olympus", None),
            ("+09:00", Some("Etc/GMT-9")),
            ("UTC+9", Some("Etc/GMT-9")),
            ("utc +09:00", Some("Etc/GMT-9")),
            ("GMT+3", Some("Etc/GMT-3")),
            ("GMT-0500", Some("Etc/GMT+5")),
            ("UTC\u{2212}5", Some("Etc/GMT+5")),
            ("UTC+14", Some("Etc/GMT-14")),
            ("UTC+15", None),
            ("UTC-13", None),
            ("UTC+0", Some("UTC")),
            ("UTC+5:30", Some("Asia/Kolkata")),
            ("UTC+5:45", Some("Asia/Kathmandu")),
            ("UTC+5:20", None),
            ("UTC+5:99", None),
            ("UTC+", None),
            ("+9999999999", None),
            ("etc/gmt+3", Some("Etc/GMT+3")),
            ("Etc/GMT+25", None),
            ("PST", Some("America/Los_Angeles")),
            ("jst", Some("Asia/Tokyo")),
            ("CST", None),
            ("ist", None),
            ("W. Europe Standard Time", Some("Europe/Berlin")),
            ("Tokyo Standard Time", Some("Asia/Tokyo")),
            ("東京", None),
            ("", None),
        ] {
            assert_eq!(nearest(text), expected, "{text}");
        }
        assert_eq!(nearest(&"Europe/".repeat(40)), None);
    }

    /// What chrono-tz knows of them: the abbreviation itself, or of those that the database writes as
    /// digits the offset.
    #[test]
    fn an_abbreviation_is_one_of_its_zone() {
        use chrono::{DateTime, Offset, TimeZone, Utc};

        let digits = [
            ("BRT", -3),
            ("GST", 4),
            ("ICT", 7),
            ("MYT", 8),
            ("PHT", 8),
            ("SGT", 8),
            ("TRT", 3),
            ("Z", 0),
        ];
        let seasons = ["2025-01-15T12:00:00Z", "2025-07-15T12:00:00Z"];
        let seasons = seasons.map(|at| at.parse::<DateTime<Utc>>().unwrap());
        for (name, zone) in ABBREVIATIONS {
            assert!(Tzdata::bundled().zone(name).is_none(), "{name} is a zone");
            let judge: chrono_tz::Tz = zone.parse().unwrap();
            let shows = |at: &DateTime<Utc>| {
                let offset = judge.offset_from_utc_datetime(&at.naive_utc());
                let hours = offset.fix().local_minus_utc() / 3600;
                digits.contains(&(name, hours)) || offset.to_string() == name
            };
            assert!(seasons.iter().any(shows), "{name} {zone}");
        }
        for (minutes, zone) in BETWEEN_HOURS {
            let judge: chrono_tz::Tz = zone.parse().unwrap();
            for at in &seasons {
                let offset = judge.offset_from_utc_datetime(&at.naive_utc()).fix();
                assert_eq!(offset.local_minus_utc(), minutes * 60, "{zone}");
            }
        }
    }

    /// Each offset that is proposed is the one that was written.
    #[test]
    fn an_offset_is_proposed_with_the_right_sign() {
        for hours in -12..=14 {
            let text = format!("UTC{hours:+}");
            let zone = Tzdata::bundled().zone(nearest(&text).unwrap()).unwrap();
            assert_eq!(zone.offset(1_800_000_000), hours * 3600, "{text}");
        }
    }
}
