//! Time zones, and the one function that turns a local time into an instant.
//!
//! The rules at a clock change are those of the whole program, for every kind of text: a time in
//! the spring gap happens at the end of the gap, one in the autumn fold happens the first time.
//! Both are one sentence: a local time happens at the first instant at which clocks have shown it
//! or a later one. The latest time that clocks *have shown* so far never goes back, even where
//! they do; so times of day can be counted through on it without a thought for clock changes.
//!
//! Clock changes, and the local times that clocks skip when they go forward.
//!
//! What the clocks of one zone show from 1970 to 2199.

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

/// A time zone of the IANA database: of the copy in the program, or of a newer one ([`Tzdata`]).
///
/// It can be given to chrono, to show instants in local time.
#[derive(Clone, Copy)]
pub struct Zone(&'static ZoneRules);

impl Zone {
    /// Coordinated universal time.
    pub const UTC: Self = Self(&UTC_ZONE);

    pub(crate) fn new(rules: &'static ZoneRules) -> Self {
        Self(rules)
    }

    /// Its name in the IANA database.
    pub fn name(self) -> &'static str {
        &self.0.name
    }

    /// The instant at which a local time happens: for one in the gap of a clock change the end of
    /// the gap, for one that happens twice the first. Fractions of a second are dropped.
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

    /// The clock change in `[from, until)`, if there is one; the first of several.
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

    /// The clock changes in `[from, until)`, in order.
    fn clock_changes(
        self,
        from: DateTime<Utc>,
        until: DateTime<Utc>,
    ) -> impl Iterator<Item = ClockChange> {
        let changes = self.0.changes(ceil_second(from), ceil_second(until));
        // The name of the time may change alone.
        let changes = changes.filter(|(before, after)| before.offset() != after.offset());
        changes.filter_map(|(before, after)| {
            DateTime::from_timestamp(after.from, 0).map(|at| ClockChange {
                at,
                before: before.offset(),
                after: after.offset(),
            })
        })
    }

    /// The gaps that begin in `[from, until)`, in order.
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

    /// The latest local time that clocks have shown by that second (since 1970-01-01T00:00:00Z):
    /// what they show, but in the second pass of a fold the end of the fold. A local time has
    /// happened exactly if it is no later than this.
    pub(crate) fn latest_local(self, second: i64) -> Local {
        self.0.latest_local(second)
    }

    /// The offset from UTC at a second since 1970-01-01T00:00:00Z, in seconds; east is positive.
    pub(crate) fn offset(self, second: i64) -> i64 {
        self.0.span_at(second).offset()
    }

    fn offset_at(self, second: i64) -> ZoneOffset {
        let span = self.0.span_at(second);
        ZoneOffset { zone: self, span }
    }
}

/// The second with which or after which an instant comes, since 1970-01-01T00:00:00Z.
fn ceil_second(at: DateTime<Utc>) -> i64 {
    at.timestamp() + i64::from(at.timestamp_subsec_nanos() > 0)
}

impl PartialEq for Zone {
    /// Whether both have the same name and the same clocks: two copies of the database may differ.
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

/// What the clocks of a zone show at one instant: how far they are from UTC, and such as `CET`.
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

    /// The first offset with which clocks show that local time; none in a gap.
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

/// One clock change of a zone: clocks go forward or back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClockChange {
    /// The first instant of the new time.
    pub at: DateTime<Utc>,
    /// Offset from UTC before the change, in seconds; east is positive.
    pub(crate) before: i64,
    /// Offset from UTC from the change on, in seconds.
    pub(crate) after: i64,
}

impl ClockChange {
    /// What clocks would show at the change without it.
    pub fn shown_before(&self) -> NaiveDateTime {
        self.at.naive_utc() + TimeDelta::seconds(self.before)
    }

    /// What clocks show at the change.
    pub fn shown_after(&self) -> NaiveDateTime {
        self.at.naive_utc() + TimeDelta::seconds(self.after)
    }
}

/// Local times that do not exist, because clocks go forward.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DstGap {
    /// The first local time that clocks skip.
    pub from: NaiveDateTime,
    /// The local time that clocks show instead. Everything in the gap happens then.
    pub to: NaiveDateTime,
}

/// 1969-01-01 and 2200-02-01 in UTC: no schedule is computed outside.
const FIRST: Timestamp = Timestamp::constant(-31_536_000, 0);
const LAST: Timestamp = Timestamp::constant(7_260_796_800, 0);

/// More clock changes than any zone has by far: the busiest of the database has some 500.
const MAX_CHANGES: usize = 10_000;

/// Clocks differ from UTC by less than a day, here as in chrono.
const MAX_OFFSET: i32 = 86_399;

/// The name of a zone, and what its clocks show.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct ZoneRules {
    pub(crate) name: Cow<'static, str>,
    first: OffsetSpan,
    /// In order of `from`.
    later: Cow<'static, [OffsetSpan]>,
    abbreviations: Cow<'static, [String]>,
}

/// A time during which clocks are not changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct OffsetSpan {
    /// The second since 1970-01-01T00:00:00Z with which it begins.
    pub(crate) from: i64,
    /// The least local time that no clock of the zone has shown before `from`.
    unseen: Local,
    /// Seconds ahead of UTC.
    offset: i32,
    /// Index in `abbreviations`.
    abbreviation: u8,
}

impl OffsetSpan {
    /// Seconds ahead of UTC.
    pub(crate) fn offset(self) -> i64 {
        self.offset.into()
    }
}

/// Why the bytes of a file are not a zone.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum ZoneFileError {
    /// Another format, or a part of a zone.
    #[error("not a compiled time zone ({0})")]
    Format(String),
    /// A zone of the folder `right`: its seconds are not those that clocks count.
    #[error("it counts leap seconds, as the files in the folder `right` do")]
    LeapSeconds,
    /// A clock a day away from UTC, or one that is changed all the time.
    #[error("no clock on earth goes like this")]
    Implausible,
}

impl ZoneRules {
    /// Clocks that always show UTC.
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

    /// Reads a compiled zone (TZif, RFC 9636). After its last clock change its footer counts.
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

    /// What clocks show at a second since 1970-01-01T00:00:00Z.
    pub(crate) fn span_at(&self, second: i64) -> OffsetSpan {
        self.last_before(self.later.partition_point(|span| span.from <= second))
    }

    /// In which span a local time happens: the first in which clocks show it or a later one.
    pub(crate) fn span_showing(&self, local: Local) -> OffsetSpan {
        self.last_before(self.later.partition_point(|span| span.unseen <= local))
    }

    /// The latest local time that clocks show by that second, or have shown before.
    pub(crate) fn latest_local(&self, second: i64) -> Local {
        let span = self.span_at(second);
        Local(second + span.offset()).max(Local(span.unseen.0.saturating_sub(1)))
    }

    /// Each span that begins in `[from, until)`, and the one before it.
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

    /// Such as `CET`, or `+08` where nobody uses letters.
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

/// Whether one of the two headers of a zone file says that it has leap seconds; jiff skips them.
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
    fn a_local_time_is_one_instant() {
        for (zone, local, expected) in [
            ("UTC", "2026-11-20T18:00:00", "2026-11-20T18:00:00"),
            ("Asia/Tokyo", "2026-11-23T09:00:00", "2026-11-23T00:00:00"),
            // The gap, its edges, and the fold.
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
            // A day that never was, half an hour, two hours, a gap at midnight.
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
    fn what_clocks_have_shown_never_goes_back() {
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
    fn an_unknown_zone_is_an_error_with_the_nearest_name() {
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
    fn clocks_are_put_forward_now_and_then() {
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
    fn a_gap_belongs_to_the_span_in_which_it_begins() {
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
