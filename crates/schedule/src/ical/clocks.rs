//! The clocks on which the times of an event are written.
//!
//! A time zone as a file defines it (`VTIMEZONE`; RFC 5545, 3.6.5).
//!
//! Dates, moments and durations as iCalendar writes them.

use std::{collections::HashMap, rc::Rc};

use chrono::TimeDelta;

use crate::{
    ical::{
        error::{Budget, CalendarError, CalendarReason},
        lines::{ContentLine, WrittenDate, parse_duration},
        recurrence::Recurrence,
    },
    local::Local,
    tzdata::windows_zone,
    zone::Zone,
};

/// The clocks of an event, on which it lasts whole days. What is written without a `Z` is theirs;
/// a moment of UTC may be of another date there: RFC 5545, 3.3.10, asks for one in `UNTIL`.
#[derive(Clone, Debug)]
pub(crate) enum EventClock {
    /// Those of wherever it is read, which need not be known.
    AsWritten,
    /// Those of UTC.
    Utc,
    /// Those of a zone.
    Zone(Zone),
    /// Those of a zone that the file defines.
    FileZone(Rc<FileZone>),
    /// Those of a zone that is only known to who wrote it.
    Unknown,
}

/// The zones that a file defines, by their `TZID`.
pub(crate) type FileZones = HashMap<String, Rc<FileZone>>;

const HALF_A_DAY: i64 = 12 * 3600;

/// Clocks differ from UTC by whole quarters of an hour.
const QUARTER: i64 = 15 * 60;

impl EventClock {
    /// Those of an event that begins with this line.
    pub(crate) fn from_start(line: &ContentLine, zones: &FileZones) -> Self {
        if line.is_date() {
            Self::AsWritten
        } else if line.value().ends_with(['Z', 'z']) {
            Self::Utc
        } else {
            Self::from_zone_name(line, zones)
        }
    }

    /// Those that the `TZID` of a line names.
    pub(crate) fn from_zone_name(line: &ContentLine, zones: &FileZones) -> Self {
        let Some(name) = line.parameter("TZID") else {
            return Self::AsWritten;
        };
        let known = find_zone(name).map(Self::Zone);
        let known = known.or_else(|| zones.get(name).cloned().map(Self::FileZone));
        known.unwrap_or(Self::Unknown)
    }

    /// What they show at a moment of UTC.
    pub(crate) fn shown(&self, utc: Local) -> Local {
        match self {
            Self::AsWritten | Self::Utc => utc,
            Self::Zone(zone) => Local(utc.0 + zone.offset(utc.0)),
            Self::FileZone(zone) => Local(utc.0 + zone.offset(utc.0)),
            // Recurrences begin at midnight, and end at one or in the second before: the nearest
            // midnight is meant.
            Self::Unknown => {
                let midnight = Local::on(Local(utc.0 + HALF_A_DAY).day(), 0);
                let is_second_before = utc.after().0.rem_euclid(QUARTER) == 0;
                if is_second_before {
                    midnight.before()
                } else {
                    midnight
                }
            }
        }
    }

    /// What they show when others show that; the same where either is not known.
    pub(crate) fn shown_when(&self, others: &Self, shown: Local) -> Local {
        let utc = match (self, others) {
            (Self::AsWritten | Self::Unknown, _) | (_, Self::AsWritten | Self::Unknown) => {
                return shown;
            }
            (_, Self::Utc) => shown,
            (_, Self::Zone(zone)) => Local(zone.second_of(shown)),
            (_, Self::FileZone(zone)) => Local(zone.second_of(shown)),
        };
        self.shown(utc)
    }
}

/// The zone of the IANA database that a `TZID` names: by its name there, which may stand behind that
/// of who wrote it (`/freeassociation.sourceforge.net/Europe/Berlin`; RFC 5545, 3.2.19), or by that
/// of Windows.
pub(crate) fn find_zone(name: &str) -> Option<Zone> {
    let mut endings = std::iter::successors(Some(name), |rest| Some(rest.split_once('/')?.1));
    endings
        .find_map(Zone::named)
        .or_else(|| Zone::named(windows_zone(name)?))
}

/// When the clocks of a zone change, in order.
#[derive(Debug)]
pub(crate) struct FileZone(Vec<OffsetChange>);

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct OffsetChange {
    /// In seconds of UTC.
    at: i64,
    /// The offsets from UTC before and after it, in seconds; east is positive.
    before: i64,
    after: i64,
}

/// The lines of a `STANDARD` or a `DAYLIGHT`.
#[derive(Debug, Default)]
pub(crate) struct ObservanceLines {
    start: Option<ContentLine>,
    from: Option<ContentLine>,
    to: Option<ContentLine>,
    rules: Vec<ContentLine>,
    dates: Vec<ContentLine>,
}

impl ObservanceLines {
    /// Takes in a line, if it is one of those that matter.
    pub(crate) fn add_line(&mut self, line: ContentLine) {
        match line.name().to_ascii_uppercase().as_str() {
            "DTSTART" => self.start = Some(line),
            "TZOFFSETFROM" => self.from = Some(line),
            "TZOFFSETTO" => self.to = Some(line),
            "RRULE" => self.rules.push(line),
            "RDATE" => self.dates.push(line),
            _ => {}
        }
    }

    /// Adds its changes up to the year 2199; `None` where a line is missing or cannot be read.
    fn read(
        &self,
        budget: &mut Budget,
        changes: &mut Vec<OffsetChange>,
    ) -> Option<Result<(), CalendarReason>> {
        let start = WrittenDate::parse(self.start.as_ref()?.value())?.local();
        let before = offset(self.from.as_ref()?.value())?;
        let after = offset(self.to.as_ref()?.value())?;
        // Each begins by the clocks that it ends.
        let mut add = |shown: Local| {
            changes.push(OffsetChange {
                at: shown.0 - before,
                before,
                after,
            });
        };
        add(start);
        for line in &self.dates {
            for item in line.value().split(',') {
                add(WrittenDate::parse(item.trim())?.local());
            }
        }
        let until = |text: &str| {
            let written = WrittenDate::parse(text)?;
            let ahead = if written.is_utc { before } else { 0 };
            Some(Local(written.local().0 + ahead).day())
        };
        for line in &self.rules {
            let rule = Recurrence::from_line(line, until).ok()?;
            let span = Local::FIRST.day()..=Local::LAST.day();
            let expanded = rule.expand(start.day(), span, budget, |day| {
                add(Local::on(day, start.second()));
                Ok(())
            });
            if let Err(reason) = expanded {
                return Some(Err(reason));
            }
        }
        Some(Ok(()))
    }
}

impl FileZone {
    /// Reads a zone; `None` where it cannot be read.
    ///
    /// # Errors
    /// It is too much work.
    pub(crate) fn from_lines(
        observances: &[ObservanceLines],
        budget: &mut Budget,
    ) -> Result<Option<Self>, CalendarReason> {
        let mut changes = Vec::new();
        for observance in observances {
            match observance.read(budget, &mut changes) {
                None => return Ok(None),
                Some(read) => read?,
            }
        }
        changes.sort_unstable();
        Ok((!changes.is_empty()).then_some(Self(changes)))
    }

    /// The offset from UTC at a second of UTC, in seconds.
    pub(crate) fn offset(&self, second: i64) -> i64 {
        let begun = self.0.partition_point(|change| change.at <= second);
        match begun.checked_sub(1).and_then(|last| self.0.get(last)) {
            Some(change) => change.after,
            None => self.0.first().map_or(0, |change| change.before),
        }
    }

    /// The second of UTC at which clocks show a time.
    pub(crate) fn second_of(&self, shown: Local) -> i64 {
        let near = shown.0 - self.offset(shown.0);
        shown.0 - self.offset(near)
    }
}

/// Reads an offset such as `+0100`, `-0330` or `+005328`, in seconds.
fn offset(text: &str) -> Option<i64> {
    let (sign, digits) = match text.split_at_checked(1)? {
        ("+", digits) => (1, digits),
        ("-", digits) => (-1, digits),
        _ => return None,
    };
    let all: Vec<u32> = digits
        .chars()
        .map(|digit| digit.to_digit(10))
        .collect::<Option<_>>()?;
    let (hours, minutes, seconds) = match *all {
        [h1, h2, m1, m2] => (h1 * 10 + h2, m1 * 10 + m2, 0),
        [h1, h2, m1, m2, s1, s2] => (h1 * 10 + h2, m1 * 10 + m2, s1 * 10 + s2),
        _ => return None,
    };
    Some(sign * i64::from(hours * 3600 + minutes * 60 + seconds))
}

/// A date, with the time of day where there is one, on the clocks of its event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct DateValue {
    /// Days since 1970-01-01.
    pub(crate) day: i32,
    /// Seconds since midnight; `None` for a date alone.
    pub(crate) second: Option<u32>,
}

/// What the values of an event are read with.
#[derive(Debug)]
pub(crate) struct EventClocks<'f> {
    /// The clocks of the event.
    pub(crate) event: EventClock,
    /// The zones that lines of it may name besides.
    pub(crate) zones: &'f FileZones,
}

/// The same on these clocks, where others show what is written without a `Z`.
fn on_clock(written: WrittenDate, clock: &EventClock, others: &EventClock) -> DateValue {
    if written.second.is_none() {
        return DateValue {
            day: written.day,
            second: None,
        };
    }
    let shown = if written.is_utc {
        clock.shown(written.local())
    } else {
        clock.shown_when(others, written.local())
    };
    DateValue {
        day: shown.day(),
        second: Some(shown.second()),
    }
}

impl DateValue {
    /// Reads a value that is on the clocks of its event, unless it is of UTC.
    pub(crate) fn parse(text: &str, clock: &EventClock) -> Option<Self> {
        Some(on_clock(
            WrittenDate::parse(text)?,
            clock,
            &EventClock::AsWritten,
        ))
    }

    /// Reads the one value of a line, which is on the clocks of its event whatever its `TZID`. Some
    /// programs say that it is a date, and write a time.
    pub(crate) fn from_line(line: &ContentLine, clock: &EventClock) -> Result<Self, CalendarError> {
        let value = line.value();
        let read = Self::parse(value, clock);
        let read = read.ok_or_else(|| line.error(value, CalendarReason::NotADate))?;
        Ok(Self {
            second: read.second.filter(|_| !line.is_date()),
            ..read
        })
    }

    /// How much later it is than another.
    pub(crate) fn since(self, other: Self) -> TimeDelta {
        let days = TimeDelta::days(i64::from(self.day) - i64::from(other.day));
        let second = |value: Self| i64::from(value.second.unwrap_or_default());
        days + TimeDelta::seconds(second(self) - second(other))
    }
}

impl EventClocks<'_> {
    /// Reads the values of a line such as `EXDATE`, which may be on the clocks of another zone.
    pub(crate) fn values(&self, line: &ContentLine) -> Result<Vec<DateValue>, CalendarError> {
        let values = self.periods(line)?;
        Ok(values.into_iter().map(|(value, _)| value).collect())
    }

    /// Reads the values of a line such as `RDATE`, and how long each is, where it says so.
    pub(crate) fn periods(
        &self,
        line: &ContentLine,
    ) -> Result<Vec<(DateValue, Option<TimeDelta>)>, CalendarError> {
        let others = EventClock::from_zone_name(line, self.zones);
        let on = |written: WrittenDate| on_clock(written, &self.event, &others);
        let items = line.value().split(',').map(|item| {
            let item = item.trim();
            let (begin, end) = match item.split_once('/') {
                Some((begin, end)) => (begin.trim(), Some(end.trim())),
                None => (item, None),
            };
            let fails = || line.error(begin, CalendarReason::NotADate);
            let begin = on(WrittenDate::parse(begin).ok_or_else(fails)?);
            let Some(end) = end else {
                return Ok((begin, None));
            };
            let length =
                parse_duration(end).or_else(|| Some(on(WrittenDate::parse(end)?).since(begin)));
            let fails = || line.error(end, CalendarReason::NotADuration);
            Ok((begin, Some(length.ok_or_else(fails)?)))
        });
        items.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_offsets() {
        for (text, expected) in [
            ("+0100", Some(3600)),
            ("-0330", Some(-12_600)),
            ("+005328", Some(3208)),
            ("0100", None),
            ("+1", None),
            ("", None),
            ("+ä100", None),
        ] {
            assert_eq!(offset(text), expected, "{text}");
        }
    }
}
