//! What the clocks of one zone show from 1970 to 2199.

use std::borrow::Cow;

use jiff::{
    Timestamp,
    tz::{TimeZone, TimeZoneTransition},
};

use super::local::Local;

/// 1969-01-01 and 2200-02-01 in UTC: no schedule is computed outside.
const FIRST: Timestamp = Timestamp::constant(-31_536_000, 0);
const LAST: Timestamp = Timestamp::constant(7_260_796_800, 0);

/// More clock changes than any zone has by far: the busiest of the database has some 500.
const MAX_CHANGES: usize = 10_000;

/// Clocks differ from UTC by less than a day, here as in chrono.
const MAX_OFFSET: i32 = 86_399;

/// The name of a zone, and what its clocks show.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Rules {
    pub(super) name: Cow<'static, str>,
    first: Span,
    /// In order of `from`.
    later: Cow<'static, [Span]>,
    abbreviations: Cow<'static, [String]>,
}

/// A time during which clocks are not changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Span {
    /// The second since 1970-01-01T00:00:00Z with which it begins.
    pub(super) from: i64,
    /// The least local time that no clock of the zone has shown before `from`.
    unseen: Local,
    /// Seconds ahead of UTC.
    offset: i32,
    /// Index in `abbreviations`.
    abbreviation: u8,
}

impl Span {
    /// Seconds ahead of UTC.
    pub(super) fn offset(self) -> i64 {
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

impl Rules {
    /// Clocks that always show UTC.
    pub(super) const UTC: Self = Self {
        name: Cow::Borrowed("UTC"),
        first: Span {
            from: i64::MIN,
            unseen: Local(i64::MIN),
            offset: 0,
            abbreviation: 0,
        },
        later: Cow::Borrowed(&[]),
        abbreviations: Cow::Borrowed(&[]),
    };

    /// Reads a compiled zone (TZif, RFC 9636). After its last clock change its footer counts.
    pub(super) fn compile(name: &str, file: &[u8]) -> Result<Self, ZoneFileError> {
        if counts_leap_seconds(file) {
            return Err(ZoneFileError::LeapSeconds);
        }
        let zone =
            TimeZone::tzif(name, file).map_err(|it| ZoneFileError::Format(it.to_string()))?;
        let mut names = Vec::new();
        let start = zone.to_offset_info(FIRST);
        let first = Span {
            from: i64::MIN,
            unseen: Local(i64::MIN),
            offset: plausible(start.offset().seconds())?,
            abbreviation: index(&mut names, start.abbreviation())?,
        };
        let mut last = first;
        let mut later = Vec::new();
        let is_needed = |change: &TimeZoneTransition<'_>| change.timestamp() < LAST;
        for change in zone.following(FIRST).take_while(is_needed) {
            let from = change.timestamp().as_second();
            let span = Span {
                from,
                unseen: last.unseen.max(Local(from + last.offset())),
                offset: plausible(change.offset().seconds())?,
                abbreviation: index(&mut names, change.abbreviation())?,
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
    pub(super) fn at(&self, second: i64) -> Span {
        self.last_before(self.later.partition_point(|it| it.from <= second))
    }

    /// In which span a local time happens: the first in which clocks show it or a later one.
    pub(super) fn showing(&self, local: Local) -> Span {
        self.last_before(self.later.partition_point(|it| it.unseen <= local))
    }

    /// The latest local time that clocks show by that second, or have shown before.
    pub(super) fn latest_shown(&self, second: i64) -> Local {
        let span = self.at(second);
        Local(second + span.offset()).max(Local(span.unseen.0.saturating_sub(1)))
    }

    /// Each span that begins in `[from, until)`, and the one before it.
    pub(super) fn changes(&self, from: i64, until: i64) -> impl Iterator<Item = (Span, Span)> {
        let first = self.later.partition_point(|it| it.from < from);
        let all = self.later.get(first..).unwrap_or_default().iter().copied();
        let all = all.take_while(move |it| it.from < until);
        let before = std::iter::once(self.last_before(first)).chain(all.clone());
        before.zip(all)
    }

    /// Such as `CET`, or `+08` where nobody uses letters.
    pub(super) fn abbreviation(&self, span: Span) -> &str {
        let name = self.abbreviations.get(usize::from(span.abbreviation));
        name.map_or("UTC", String::as_str)
    }

    fn last_before(&self, index: usize) -> Span {
        let before = index.checked_sub(1).and_then(|it| self.later.get(it));
        before.copied().unwrap_or(self.first)
    }
}

fn plausible(offset: i32) -> Result<i32, ZoneFileError> {
    if offset.abs() > MAX_OFFSET {
        return Err(ZoneFileError::Implausible);
    }
    Ok(offset)
}

fn index(names: &mut Vec<String>, name: &str) -> Result<u8, ZoneFileError> {
    let index = names.iter().position(|it| it == name).unwrap_or_else(|| {
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
