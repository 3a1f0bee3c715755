//! Time zones, and the one function that turns a local time into an instant.
//!
//! The rules at a clock change are those of the whole program, for every kind of text: a time in
//! the spring gap happens at the end of the gap, one in the autumn fold happens the first time.
//! Both are one sentence: a local time happens at the first instant at which clocks have shown it
//! or a later one. The latest time that clocks *have shown* so far never goes back, even where
//! they do; so times of day can be counted through on it without a thought for clock changes.

use std::{
    fmt,
    hash::{Hash, Hasher},
    ptr,
};

use chrono::{DateTime, FixedOffset, MappedLocalTime, NaiveDate, NaiveDateTime, NaiveTime, Offset};
use chrono::{TimeZone, Utc};

use super::clock_change::{ClockChange, Gap};
use super::local::Local;
use super::names;
use super::rules::{Rules, Span};
use super::tzdata::Tzdata;
use crate::meant::meaning::Meant;
use crate::text::diagnostic::Diagnostic;
use crate::text::piece::Piece;

static UTC_RULES: Rules = Rules::UTC;

/// A time zone of the IANA database: of the copy in the program, or of a newer one ([`Tzdata`]).
///
/// It can be given to chrono, to show instants in local time.
#[derive(Clone, Copy)]
pub struct Zone(&'static Rules);

impl Zone {
    /// Coordinated universal time.
    pub const UTC: Self = Self(&UTC_RULES);

    pub(super) fn new(rules: &'static Rules) -> Self {
        Self(rules)
    }

    /// The zone of that exact name, such as `Asia/Tokyo`. An unknown name is an error that
    /// suggests the nearest one.
    ///
    /// # Errors
    /// The text is not the name of a zone in the IANA database. The span is in bytes of the text.
    pub fn parse(text: &str) -> Result<Self, Diagnostic> {
        let name = Piece::whole(text, "Europe/Berlin")?;
        Self::named(name.text()).ok_or_else(|| {
            let nearest = names::nearest(name.text());
            let help =
                "write a name of the IANA database such as `Europe/Berlin`, `Asia/Tokyo` or `UTC`";
            name.fails("is not a time zone", help)
                .meaning(nearest.map(|nearest| Meant::Instead {
                    place: name.span(),
                    text: nearest.into(),
                }))
        })
    }

    /// The zone of that exact name, if there is one.
    pub(crate) fn named(name: &str) -> Option<Self> {
        Tzdata::in_use().zone(name)
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
        let changes = self.0.changes(seconds_up(from), seconds_up(until));
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
    /// let gaps = berlin.gaps(year.0, year.1);
    /// assert_eq!(gaps.len(), 1);
    /// assert_eq!(gaps[0].from.to_string(), "2027-03-28 02:00:00");
    /// assert_eq!(gaps[0].to.to_string(), "2027-03-28 03:00:00");
    /// ```
    pub fn gaps(self, from: DateTime<Utc>, until: DateTime<Utc>) -> Vec<Gap> {
        let changes = self.clock_changes(from, until);
        let gaps = changes.map(|it| Gap {
            from: it.shown_before(),
            to: it.shown_after(),
        });
        gaps.filter(|gap| gap.from < gap.to).collect()
    }

    /// [`Self::instant`], in seconds since 1970-01-01T00:00:00Z.
    pub(crate) fn second_of(self, local: Local) -> i64 {
        let span = self.0.showing(local);
        span.from.max(local.0 - span.offset())
    }

    /// The latest local time that clocks have shown by that second (since 1970-01-01T00:00:00Z):
    /// what they show, but in the second pass of a fold the end of the fold. A local time has
    /// happened exactly if it is no later than this.
    pub(crate) fn shown_by(self, second: i64) -> Local {
        self.0.latest_shown(second)
    }

    /// The offset from UTC at a second since 1970-01-01T00:00:00Z, in seconds; east is positive.
    pub(crate) fn offset(self, second: i64) -> i64 {
        self.0.at(second).offset()
    }

    fn offset_at(self, second: i64) -> ZoneOffset {
        let span = self.0.at(second);
        ZoneOffset { zone: self, span }
    }
}

/// The second with which or after which an instant comes, since 1970-01-01T00:00:00Z.
fn seconds_up(at: DateTime<Utc>) -> i64 {
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
    span: Span,
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
        let span = self.0.showing(local);
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
            let mut last = zone.shown_by(year - 97);
            for second in (year..year + 365 * 86_400).step_by(97) {
                let shown = zone.shown_by(second);
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
}
