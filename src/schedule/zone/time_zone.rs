//! Time zones, and the one function that turns a local time into an instant.
//!
//! The rules at a clock change are those of the whole program, for every kind of text: a time in
//! the spring gap happens at the end of the gap, one in the autumn fold happens the first time.
//! Both are one sentence: a local time happens at the first instant at which clocks have shown it
//! or a later one. The latest time that clocks *have shown* so far never goes back, even where
//! they do; so times of day can be counted through on it without a thought for clock changes.

use std::fmt;

use chrono::{DateTime, NaiveDateTime, Offset, TimeDelta, TimeZone, Utc};
use chrono_tz::Tz;

use super::local::Local;
use super::names;
use crate::schedule::text::error::TextError;
use crate::schedule::text::piece::Piece;
use crate::schedule::text::reason::TextReason;

/// A time zone of the IANA database that is compiled into the program.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Zone(Tz);

/// One clock change of a zone: clocks go forward or back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClockChange {
    /// The first instant of the new time.
    pub at: DateTime<Utc>,
    /// Offset from UTC before the change, in seconds; east is positive.
    before: i64,
    /// Offset from UTC from the change on, in seconds.
    after: i64,
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

/// No clock has been further from UTC than this since 1970, nor gone back by as much, and between
/// two clock changes lies more than twice as long (a test looks through every zone).
const REACH: i64 = 16 * 3600;

impl Zone {
    /// Coordinated universal time.
    pub const UTC: Self = Self(Tz::UTC);

    /// The zone of that exact name, such as `Asia/Tokyo`. An unknown name is an error that
    /// suggests the nearest one.
    ///
    /// # Errors
    /// The text is not the name of a zone in the IANA database. The span is in bytes of the text.
    pub fn parse(text: &str) -> Result<Self, TextError> {
        let name = Piece::whole(text, "Europe/Berlin")?;
        Self::named(name.text()).ok_or_else(|| {
            name.fails(TextReason::UnknownZone {
                nearest: names::nearest(name.text()),
            })
        })
    }

    /// The zone of that exact name, if there is one.
    pub(in crate::schedule) fn named(name: &str) -> Option<Self> {
        name.parse().ok().map(Self)
    }

    /// Its name in the IANA database.
    pub fn name(self) -> &'static str {
        self.0.name()
    }

    /// The zone as chrono takes it, to show instants in local time.
    pub fn tz(self) -> Tz {
        self.0
    }

    /// The instant at which a local time happens: for one in the gap of a clock change the end of
    /// the gap, for one that happens twice the first. Fractions of a second are dropped.
    ///
    /// ```
    /// use dayshift::schedule::Zone;
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

    /// The clock change in `[from, until)`, if there is one. `from` and `until` must be at most a few
    /// days apart.
    ///
    /// ```
    /// use dayshift::schedule::Zone;
    ///
    /// let berlin = Zone::parse("Europe/Berlin").unwrap();
    /// let midnight = |date: &str| berlin.instant(format!("{date}T00:00:00").parse().unwrap());
    /// let change = berlin.clock_change(midnight("2026-10-25"), midnight("2026-10-26")).unwrap();
    /// assert_eq!(change.at.to_rfc3339(), "2026-10-25T01:00:00+00:00");
    /// assert_eq!(change.shown_before().to_string(), "2026-10-25 03:00:00");
    /// assert_eq!(change.shown_after().to_string(), "2026-10-25 02:00:00");
    /// ```
    pub fn clock_change(self, from: DateTime<Utc>, until: DateTime<Utc>) -> Option<ClockChange> {
        // Clocks may go forward at midnight, with which a day begins.
        let (first, last) = (from.timestamp() - 1, until.timestamp() - 1);
        let (before, after) = (self.offset(first), self.offset(last));
        if before == after {
            return None;
        }
        let at = self.change_between(first, last, before);
        DateTime::from_timestamp(at, 0).map(|at| ClockChange { at, before, after })
    }

    /// [`Self::instant`], in seconds since 1970-01-01T00:00:00Z.
    pub(in crate::schedule) fn second_of(self, local: Local) -> i64 {
        let (earlier, later) = (local.0 - REACH, local.0 + REACH);
        let (old, new) = (self.offset(earlier), self.offset(later));
        if old == new {
            return local.0 - old;
        }
        let change = self.change_between(earlier, later, old);
        if local.0 - old < change {
            local.0 - old
        } else {
            change.max(local.0 - new)
        }
    }

    /// The latest local time that clocks have shown by that second (since 1970-01-01T00:00:00Z):
    /// what they show, but in the second pass of a fold the end of the fold. A local time has
    /// happened exactly if it is no later than this.
    pub(in crate::schedule) fn shown_by(self, second: i64) -> Local {
        let (old, now) = (self.offset(second - REACH), self.offset(second));
        let shown = Local(second + now);
        if old <= now {
            return shown;
        }
        let change = self.change_between(second - REACH, second, old);
        shown.max(Local(change + old).before())
    }

    /// The first second in `(from, to]` at which the offset is no longer `old`.
    pub(in crate::schedule) fn change_between(self, from: i64, to: i64, old: i64) -> i64 {
        let (mut before, mut after) = (from, to);
        while after - before > 1 {
            let middle = before.midpoint(after);
            if self.offset(middle) == old {
                before = middle;
            } else {
                after = middle;
            }
        }
        after
    }

    /// The offset from UTC at a second since 1970-01-01T00:00:00Z, in seconds; east is positive.
    pub(in crate::schedule) fn offset(self, second: i64) -> i64 {
        DateTime::from_timestamp(second, 0).map_or(0, |at| {
            let offset = self.0.offset_from_utc_datetime(&at.naive_utc());
            i64::from(offset.fix().local_minus_utc())
        })
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

    /// The facts on which [`REACH`] rests, for every zone and every change from 1970 on.
    #[test]
    fn clock_changes_are_rare_and_small_enough() {
        const STEP: i64 = 86_400;
        const END: i64 = 2_840_140_800; // 2060
        for tz in chrono_tz::TZ_VARIANTS {
            let zone = Zone(tz);
            let mut last_change = i64::MIN;
            let mut old = zone.offset(0);
            for second in (STEP..END).step_by(STEP as usize) {
                let new = zone.offset(second);
                assert!(new.abs() <= REACH && old - new < REACH, "{tz} at {second}");
                if new != old {
                    let change = zone.change_between(second - STEP, second, old);
                    assert_eq!(
                        zone.offset(change),
                        new,
                        "{tz}: two changes before {second}"
                    );
                    assert!(
                        change - 2 * REACH > last_change.max(i64::MIN / 2),
                        "{tz}: changes at {last_change} and {change}"
                    );
                    last_change = change;
                }
                old = new;
            }
        }
    }

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
            "`Asia/Tokio` is not a time zone; write a name of the IANA database: did you mean `Asia/Tokyo`?"
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
