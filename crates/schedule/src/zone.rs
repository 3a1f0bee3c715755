//! Time zones, and the mapping from local times to instants.
//!
//! All schedule text follows the same rule for clock changes: a local time in a DST gap happens at
//! the end of the gap, and one in a DST overlap happens the first time. In other words, a local
//! time happens at the first instant at which clocks show it or have shown a later time. The
//! latest local time that clocks have shown never goes back, so a search can count local times
//! without checking for clock changes.
//!
//! [`ZoneRules`] are compiled from a zone file for the years 1970 to 2199.

use std::{
    borrow::Cow,
    fmt,
    hash::{Hash, Hasher},
    ptr,
};

use chrono::{
    DateTime, FixedOffset, MappedLocalTime, NaiveDate, NaiveDateTime, NaiveTime, Offset, TimeDelta,
    TimeZone, Utc,
};
use jiff::{
    Timestamp,
    tz::{self, TimeZoneTransition},
};

use crate::local::Local;

static UTC_ZONE: ZoneRules = ZoneRules::UTC;

/// A time zone of the IANA database ([`Tzdata`](crate::Tzdata)).
///
/// `Zone` implements [`chrono::TimeZone`], so that you can format instants in local time.
#[derive(Clone, Copy)]
pub struct Zone(&'static ZoneRules);

impl Zone {
    /// Coordinated universal time.
    pub const UTC: Self = Self(&UTC_ZONE);

    /// Keeps the rules until the process ends, so that `Zone` is `Copy`: zones are few.
    pub(crate) fn new(rules: ZoneRules) -> Self {
        Self(Box::leak(Box::new(rules)))
    }

    /// The name in the IANA database.
    pub fn name(self) -> &'static str {
        &self.0.name
    }

    /// The instant at which a local time happens. A time in a DST gap happens at the end of the
    /// gap, and one in a DST overlap happens the first time. Fractions of a second are dropped.
    ///
    /// ```
    /// use dayshift_schedule::Zone;
    ///
    /// let berlin = Zone::parse("Europe/Berlin").unwrap();
    /// let skipped = berlin.instant("2026-03-29T02:30:00".parse().unwrap());
    /// assert_eq!(skipped.to_rfc3339(), "2026-03-29T01:00:00+00:00"); // 03:00 in Berlin
    /// let twice = berlin.instant("2026-10-25T02:30:00".parse().unwrap());
    /// assert_eq!(twice.to_rfc3339(), "2026-10-25T00:30:00+00:00");
    /// ```
    pub fn instant(self, local: NaiveDateTime) -> DateTime<Utc> {
        let second = self.second_of(Local::from(local));
        DateTime::from_timestamp(second, 0).unwrap_or_else(|| local.and_utc())
    }

    /// The first clock change in `[from, until)`.
    ///
    /// ```
    /// use dayshift_schedule::Zone;
    ///
    /// let berlin = Zone::parse("Europe/Berlin").unwrap();
    /// let midnight = |date: &str| berlin.instant(format!("{date}T00:00:00").parse().unwrap());
    /// let change = berlin.clock_change(midnight("2026-10-25"), midnight("2026-10-26")).unwrap();
    /// assert_eq!(change.at.to_rfc3339(), "2026-10-25T01:00:00+00:00");
    /// assert_eq!(change.shown_before().to_string(), "2026-10-25 03:00:00");
    /// assert_eq!(change.shown_after().to_string(), "2026-10-25 02:00:00");
    /// ```
    pub fn clock_change(self, from: DateTime<Utc>, until: DateTime<Utc>) -> Option<ClockChange> {
        self.clock_changes(from, until).next()
    }

    fn clock_changes(
        self,
        from: DateTime<Utc>,
        until: DateTime<Utc>,
    ) -> impl Iterator<Item = ClockChange> {
        let changes = self.0.changes(ceil_second(from), ceil_second(until));
        // Only the abbreviation might change.
        let changes = changes.filter(|(before, after)| before.offset() != after.offset());
        changes.filter_map(|(before, after)| {
            DateTime::from_timestamp(after.from, 0).map(|at| ClockChange {
                at,
                before: before.offset(),
                after: after.offset(),
            })
        })
    }

    /// The DST gaps that begin in `[from, until)`, in order.
    ///
    /// ```
    /// use dayshift_schedule::Zone;
    ///
    /// let berlin = Zone::parse("Europe/Berlin").unwrap();
    /// let year = ("2026-11-20T00:00:00Z".parse().unwrap(), "2027-11-20T00:00:00Z".parse().unwrap());
    /// let gaps = berlin.dst_gaps(year.0, year.1);
    /// assert_eq!(gaps.len(), 1);
    /// assert_eq!(gaps[0].from.to_string(), "2027-03-28 02:00:00");
    /// assert_eq!(gaps[0].to.to_string(), "2027-03-28 03:00:00");
    /// ```
    pub fn dst_gaps(self, from: DateTime<Utc>, until: DateTime<Utc>) -> Vec<DstGap> {
        let changes = self.clock_changes(from, until);
        let gaps = changes.map(|change| DstGap {
            from: change.shown_before(),
            to: change.shown_after(),
        });
        gaps.filter(|gap| gap.from < gap.to).collect()
    }

    /// [`Self::instant`], in seconds since 1970-01-01T00:00:00Z.
    pub(crate) fn second_of(self, local: Local) -> i64 {
        let span = self.0.span_showing(local);
        span.from.max(local.0 - span.offset())
    }

    /// The latest local time that clocks have shown by this second. In the second pass of a DST
    /// overlap, this is the end of the overlap. A local time has happened if and only if it is at
    /// most this value.
    pub(crate) fn latest_local(self, second: i64) -> Local {
        self.0.latest_local(second)
    }

    /// The offset from UTC at this second, in seconds; east is positive.
    pub(crate) fn offset(self, second: i64) -> i64 {
        self.0.span_at(second).offset()
    }

    fn offset_at(self, second: i64) -> ZoneOffset {
        let span = self.0.span_at(second);
        ZoneOffset { zone: self, span }
    }
}

/// Seconds since 1970-01-01T00:00:00Z, rounded up.
fn ceil_second(at: DateTime<Utc>) -> i64 {
    at.timestamp() + i64::from(at.timestamp_subsec_nanos() > 0)
}

impl PartialEq for Zone {
    /// Compares name and rules, because two databases might differ.
    fn eq(&self, other: &Self) -> bool {
        ptr::eq(self.0, other.0) || self.0 == other.0
    }
}

impl Eq for Zone {}

impl Hash for Zone {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.name().hash(state);
    }
}

/// The offset and the abbreviation of a zone at one instant.
#[derive(Clone, Copy)]
pub struct ZoneOffset {
    zone: Zone,
    span: OffsetSpan,
}

impl Offset for ZoneOffset {
    fn fix(&self) -> FixedOffset {
        let offset = FixedOffset::east_opt(i32::try_from(self.span.offset()).unwrap_or_default());
        offset.unwrap_or_else(|| Utc.fix())
    }
}

impl fmt::Display for ZoneOffset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.zone.0.abbreviation(self.span))
    }
}

impl fmt::Debug for ZoneOffset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl TimeZone for Zone {
    type Offset = ZoneOffset;

    fn from_offset(offset: &ZoneOffset) -> Self {
        offset.zone
    }

    /// The first offset at which clocks show the local time; none in a DST gap.
    fn offset_from_local_datetime(&self, local: &NaiveDateTime) -> MappedLocalTime<ZoneOffset> {
        let local = Local::from(*local);
        let span = self.0.span_showing(local);
        if local.0 - span.offset() < span.from {
            return MappedLocalTime::None;
        }
        MappedLocalTime::Single(ZoneOffset { zone: *self, span })
    }

    fn offset_from_local_date(&self, local: &NaiveDate) -> MappedLocalTime<ZoneOffset> {
        self.offset_from_local_datetime(&local.and_time(NaiveTime::MIN))
    }

    fn offset_from_utc_datetime(&self, utc: &NaiveDateTime) -> ZoneOffset {
        self.offset_at(utc.and_utc().timestamp())
    }

    fn offset_from_utc_date(&self, utc: &NaiveDate) -> ZoneOffset {
        self.offset_from_utc_datetime(&utc.and_time(NaiveTime::MIN))
    }
}

impl fmt::Display for Zone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl fmt::Debug for Zone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Zone({})", self.name())
    }
}

/// A change of the UTC offset of a zone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClockChange {
    /// The first instant with the new offset.
    pub at: DateTime<Utc>,
    /// The offset from UTC before the change, in seconds; east is positive.
    pub(crate) before: i64,
    /// The offset from UTC after the change, in seconds.
    pub(crate) after: i64,
}

impl ClockChange {
    /// The local time that clocks would show without the change.
    pub fn shown_before(&self) -> NaiveDateTime {
        self.at.naive_utc() + TimeDelta::seconds(self.before)
    }

    /// The local time that clocks show at the change.
    pub fn shown_after(&self) -> NaiveDateTime {
        self.at.naive_utc() + TimeDelta::seconds(self.after)
    }
}

/// A DST gap: local times that are skipped because clocks go forward.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DstGap {
    /// The first local time that is skipped.
    pub from: NaiveDateTime,
    /// The local time that clocks show instead. Times in the gap happen then.
    pub to: NaiveDateTime,
}

/// 1969-01-01 and 2200-02-01 in UTC, around the years that schedules cover.
const FIRST: Timestamp = Timestamp::constant(-31_536_000, 0);
const LAST: Timestamp = Timestamp::constant(7_260_796_800, 0);

/// Far more clock changes than any zone has: the maximum in the database is about 500.
const MAX_CHANGES: usize = 10_000;

/// Less than a day, as in chrono.
const MAX_OFFSET: i32 = 86_399;

/// The name of a zone and its offsets over time.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct ZoneRules {
    pub(crate) name: Cow<'static, str>,
    first: OffsetSpan,
    /// Sorted by `from`.
    later: Cow<'static, [OffsetSpan]>,
    abbreviations: Cow<'static, [String]>,
}

/// A period with a constant offset and abbreviation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct OffsetSpan {
    /// The first second of the period, since 1970-01-01T00:00:00Z.
    pub(crate) from: i64,
    /// The smallest local time that no clock of the zone has shown before `from`.
    unseen: Local,
    /// Seconds ahead of UTC.
    offset: i32,
    /// An index in `abbreviations`.
    abbreviation: u8,
}

impl OffsetSpan {
    /// Seconds ahead of UTC.
    pub(crate) fn offset(self) -> i64 {
        self.offset.into()
    }
}

/// Why a file is not a usable time zone.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum ZoneFileError {
    /// The file has another format or is incomplete.
    #[error("not a compiled time zone ({0})")]
    Format(String),
    /// The file is from the directory `right` and counts leap seconds.
    #[error("it counts leap seconds, as the files in the directory `right` do")]
    LeapSeconds,
    /// An offset is a day or more, or the offset changes too often.
    #[error("its offsets from UTC are implausible")]
    Implausible,
}

impl ZoneRules {
    pub(crate) const UTC: Self = Self {
        name: Cow::Borrowed("UTC"),
        first: OffsetSpan {
            from: i64::MIN,
            unseen: Local(i64::MIN),
            offset: 0,
            abbreviation: 0,
        },
        later: Cow::Borrowed(&[]),
        abbreviations: Cow::Borrowed(&[]),
    };

    /// Compiles a zone file (TZif, RFC 9636). After the last transition the footer applies.
    pub(crate) fn compile(name: &str, file: &[u8]) -> Result<Self, ZoneFileError> {
        if counts_leap_seconds(file) {
            return Err(ZoneFileError::LeapSeconds);
        }
        let zone = tz::TimeZone::tzif(name, file)
            .map_err(|error| ZoneFileError::Format(error.to_string()))?;
        let mut names = Vec::new();
        let start = zone.to_offset_info(FIRST);
        let first = OffsetSpan {
            from: i64::MIN,
            unseen: Local(i64::MIN),
            offset: check_offset(start.offset().seconds())?,
            abbreviation: abbreviation_index(&mut names, start.abbreviation())?,
        };
        let mut last = first;
        let mut later = Vec::new();
        let is_needed = |change: &TimeZoneTransition<'_>| change.timestamp() < LAST;
        for change in zone.following(FIRST).take_while(is_needed) {
            let from = change.timestamp().as_second();
            let span = OffsetSpan {
                from,
                unseen: last.unseen.max(Local(from + last.offset())),
                offset: check_offset(change.offset().seconds())?,
                abbreviation: abbreviation_index(&mut names, change.abbreviation())?,
            };
            if (span.offset, span.abbreviation) == (last.offset, last.abbreviation) {
                continue;
            }
            if later.len() == MAX_CHANGES {
                return Err(ZoneFileError::Implausible);
            }
            later.push(span);
            last = span;
        }
        later.shrink_to_fit();
        Ok(Self {
            name: name.to_owned().into(),
            first,
            later: later.into(),
            abbreviations: names.into(),
        })
    }

    /// The span at a second since 1970-01-01T00:00:00Z.
    pub(crate) fn span_at(&self, second: i64) -> OffsetSpan {
        self.last_before(self.later.partition_point(|span| span.from <= second))
    }

    /// The span in which a local time happens: the first that shows it or a later time.
    pub(crate) fn span_showing(&self, local: Local) -> OffsetSpan {
        self.last_before(self.later.partition_point(|span| span.unseen <= local))
    }

    /// The latest local time that clocks have shown by this second.
    pub(crate) fn latest_local(&self, second: i64) -> Local {
        let span = self.span_at(second);
        Local(second + span.offset()).max(Local(span.unseen.0.saturating_sub(1)))
    }

    /// The pairs of the previous and the new span for changes in `[from, until)`.
    pub(crate) fn changes(
        &self,
        from: i64,
        until: i64,
    ) -> impl Iterator<Item = (OffsetSpan, OffsetSpan)> {
        let first = self.later.partition_point(|span| span.from < from);
        let all = self.later.get(first..).unwrap_or_default().iter().copied();
        let all = all.take_while(move |span| span.from < until);
        let before = std::iter::once(self.last_before(first)).chain(all.clone());
        before.zip(all)
    }

    /// For example `CET`, or `+08` if the zone has no letters.
    pub(crate) fn abbreviation(&self, span: OffsetSpan) -> &str {
        let name = self.abbreviations.get(usize::from(span.abbreviation));
        name.map_or("UTC", String::as_str)
    }

    fn last_before(&self, index: usize) -> OffsetSpan {
        let before = index.checked_sub(1).and_then(|last| self.later.get(last));
        before.copied().unwrap_or(self.first)
    }
}

fn check_offset(offset: i32) -> Result<i32, ZoneFileError> {
    if offset.abs() > MAX_OFFSET {
        return Err(ZoneFileError::Implausible);
    }
    Ok(offset)
}

fn abbreviation_index(names: &mut Vec<String>, name: &str) -> Result<u8, ZoneFileError> {
    let index = names
        .iter()
        .position(|known| known == name)
        .unwrap_or_else(|| {
            names.push(name.to_owned());
            names.len() - 1
        });
    u8::try_from(index).map_err(|_| ZoneFileError::Implausible)
}

/// Whether one of the two headers of a zone file counts leap seconds. jiff ignores them.
fn counts_leap_seconds(file: &[u8]) -> bool {
    const HEADER: usize = 44;
    let counts = |header: &[u8]| -> Option<[usize; 6]> {
        let mut counts = [0; 6];
        for (count, bytes) in counts.iter_mut().zip(header.get(20..HEADER)?.chunks(4)) {
            let bytes = bytes.try_into().ok()?;
            *count = usize::try_from(u32::from_be_bytes(bytes)).ok()?;
        }
        Some(counts)
    };
    let Some([utc, standard, leap, times, types, letters]) = counts(file) else {
        return false;
    };
    let sizes = [
        (utc, 1),
        (standard, 1),
        (leap, 8),
        (times, 5),
        (types, 6),
        (letters, 1),
    ];
    let first = sizes.iter().fold(HEADER, |sum, &(count, size)| {
        sum.saturating_add(count.saturating_mul(size))
    });
    let second = file.get(first..).and_then(counts);
    leap > 0 || second.is_some_and(|counts| counts[2] > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn maps_each_local_time_to_one_instant() {
        for (zone, local, expected) in [
            ("UTC", "2026-11-20T18:00:00", "2026-11-20T18:00:00"),
            ("Asia/Tokyo", "2026-11-23T09:00:00", "2026-11-23T00:00:00"),
            // A DST gap with its edges, and a DST overlap.
            (
                "Europe/Berlin",
                "2026-03-29T01:59:59",
                "2026-03-29T00:59:59",
            ),
            (
                "Europe/Berlin",
                "2026-03-29T02:00:00",
                "2026-03-29T01:00:00",
            ),
            (
                "Europe/Berlin",
                "2026-03-29T02:59:59",
                "2026-03-29T01:00:00",
            ),
            (
                "Europe/Berlin",
                "2026-03-29T03:00:00",
                "2026-03-29T01:00:00",
            ),
            (
                "Europe/Berlin",
                "2026-03-29T03:00:01",
                "2026-03-29T01:00:01",
            ),
            (
                "Europe/Berlin",
                "2026-10-25T01:59:59",
                "2026-10-24T23:59:59",
            ),
            (
                "Europe/Berlin",
                "2026-10-25T02:00:00",
                "2026-10-25T00:00:00",
            ),
            (
                "Europe/Berlin",
                "2026-10-25T02:59:59",
                "2026-10-25T00:59:59",
            ),
            (
                "Europe/Berlin",
                "2026-10-25T03:00:00",
                "2026-10-25T02:00:00",
            ),
            // A skipped day, and gaps of half an hour, of two hours and at midnight.
            ("Pacific/Apia", "2011-12-29T23:59:59", "2011-12-30T09:59:59"),
            ("Pacific/Apia", "2011-12-30T12:00:00", "2011-12-30T10:00:00"),
            ("Pacific/Apia", "2011-12-31T00:00:00", "2011-12-30T10:00:00"),
            (
                "Australia/Lord_Howe",
                "2026-10-04T02:15:00",
                "2026-10-03T15:30:00",
            ),
            (
                "Australia/Lord_Howe",
                "2026-04-05T01:45:00",
                "2026-04-04T14:45:00",
            ),
            (
                "Antarctica/Troll",
                "2026-03-29T02:30:00",
                "2026-03-29T01:00:00",
            ),
            (
                "America/Sao_Paulo",
                "2018-11-04T00:30:00",
                "2018-11-04T03:00:00",
            ),
        ] {
            let zone = Zone::parse(zone).unwrap();
            let instant = zone.instant(local.parse().unwrap());
            assert_eq!(
                instant.naive_utc(),
                expected.parse().unwrap(),
                "{zone} {local}"
            );
        }
    }

    #[test]
    fn latest_local_time_never_decreases() {
        for name in [
            "Europe/Dublin",
            "Australia/Lord_Howe",
            "Africa/Casablanca",
            "America/Havana",
        ] {
            let zone = Zone::parse(name).unwrap();
            let year = 1_767_225_600; // 2026-01-01
            let mut last = zone.latest_local(year - 97);
            for second in (year..year + 365 * 86_400).step_by(97) {
                let shown = zone.latest_local(second);
                assert!(shown >= last, "{name} at {second}");
                assert!(zone.second_of(shown) <= second, "{name} at {second}");
                assert!(zone.second_of(shown.after()) > second, "{name} at {second}");
                last = shown;
            }
        }
    }

    #[test]
    fn unknown_zone_error_proposes_the_nearest_name() {
        let error = Zone::parse("  Asia/Tokio ").unwrap_err();
        assert_eq!(error.span(), 2..12);
        assert_eq!(
            error.to_string(),
            "`Asia/Tokio` is not a time zone; write `Asia/Tokyo`"
        );
        let error = Zone::parse("東京").unwrap_err();
        assert_eq!(error.span(), 0..6);
        assert!(
            error.to_string().contains("such as `Europe/Berlin`"),
            "{error}"
        );
        assert_eq!(Zone::parse("").unwrap_err().span(), 0..0);
        assert_eq!(Zone::parse("Etc/GMT-9").unwrap().name(), "Etc/GMT-9");
    }

    fn gaps(zone: &str, from: &str, until: &str) -> Vec<String> {
        let zone = Zone::parse(zone).unwrap();
        zone.dst_gaps(from.parse().unwrap(), until.parse().unwrap())
            .iter()
            .map(|gap| format!("{} to {}", gap.from, gap.to))
            .collect()
    }

    #[test]
    fn lists_the_dst_gaps_of_a_year() {
        let year = ("2026-01-01T00:00:00Z", "2027-01-01T00:00:00Z");
        for (zone, expected) in [
            ("Asia/Tokyo", vec![]),
            (
                "Europe/Berlin",
                vec!["2026-03-29 02:00:00 to 2026-03-29 03:00:00"],
            ),
            (
                "Australia/Lord_Howe",
                vec!["2026-10-04 02:00:00 to 2026-10-04 02:30:00"],
            ),
            (
                "Antarctica/Troll",
                vec!["2026-03-29 01:00:00 to 2026-03-29 03:00:00"],
            ),
        ] {
            assert_eq!(gaps(zone, year.0, year.1), expected, "{zone}");
        }
    }

    #[test]
    fn dst_gap_belongs_to_the_period_in_which_it_begins() {
        let change = "2026-03-29T01:00:00Z";
        assert_eq!(
            gaps("Europe/Berlin", change, "2026-03-29T01:00:01Z").len(),
            1
        );
        assert_eq!(
            gaps("Europe/Berlin", "2026-03-01T00:00:00Z", change).len(),
            0
        );
        assert_eq!(
            gaps(
                "Europe/Berlin",
                "2026-03-29T01:00:01Z",
                "2026-04-01T00:00:00Z"
            )
            .len(),
            0
        );
    }
}
