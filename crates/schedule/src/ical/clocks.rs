//! The time zones of iCalendar events, which decide on which date a value falls.
//!
//! A zone is known from the database or defined in the file (`VTIMEZONE`; RFC 5545, 3.6.5).
//! [`EventClocks`] read the values of an event as dates on its clocks.

use std::{collections::HashMap, rc::Rc};

use chrono::TimeDelta;

use crate::{
    ical::{
        error::{Budget, CalendarError, CalendarReason},
        lines::{ContentLine, WrittenDate, parse_duration},
        recurrence::Recurrence,
    },
    local::Local,
    tzdata::{Tzdata, windows_zone},
    zone::Zone,
};

/// The clocks of an event. Values without a `Z` are on these clocks. A UTC value might fall on
/// another date here: RFC 5545, 3.3.10, requires UTC in `UNTIL`.
#[derive(Clone, Debug)]
pub(crate) enum EventClock {
    /// The clocks of the reader, in whatever zone.
    AsWritten,
    Utc,
    /// A zone of the database.
    Zone(Zone),
    /// A zone that the file defines.
    FileZone(Rc<FileZone>),
    /// A zone that the file names but does not define.
    Unknown,
}

/// The zones that the `TZID`s of a file can name.
#[derive(Debug)]
pub(crate) struct FileZones {
    /// The zones of the database take precedence.
    tzdata: Tzdata,
    defined: HashMap<String, Rc<FileZone>>,
}

impl FileZones {
    pub(crate) fn new(tzdata: Tzdata) -> Self {
        Self {
            tzdata,
            defined: HashMap::new(),
        }
    }

    pub(crate) fn insert(&mut self, name: String, zone: FileZone) {
        self.defined.insert(name, Rc::new(zone));
    }

    /// The zone of the database for a `TZID`: by its IANA name, perhaps after a prefix of the
    /// author (`/freeassociation.sourceforge.net/Europe/Berlin`; RFC 5545, 3.2.19), or by its
    /// Windows name.
    pub(crate) fn known(&self, name: &str) -> Option<Zone> {
        let mut endings = std::iter::successors(Some(name), |rest| Some(rest.split_once('/')?.1));
        endings
            .find_map(|ending| self.tzdata.zone(ending))
            .or_else(|| self.tzdata.zone(windows_zone(name)?))
    }

    fn clock(&self, name: &str) -> EventClock {
        if let Some(zone) = self.known(name) {
            return EventClock::Zone(zone);
        }
        let defined = self.defined.get(name).cloned();
        defined.map_or(EventClock::Unknown, EventClock::FileZone)
    }
}

const HALF_A_DAY: i64 = 12 * 3600;

/// UTC offsets are whole quarters of an hour.
const QUARTER: i64 = 15 * 60;

impl EventClock {
    /// The clocks of an event with this `DTSTART`.
    pub(crate) fn from_start(line: &ContentLine, zones: &FileZones) -> Self {
        if line.is_date() {
            Self::AsWritten
        } else if line.value().ends_with(['Z', 'z']) {
            Self::Utc
        } else {
            Self::from_zone_name(line, zones)
        }
    }

    /// The clocks that the `TZID` of a line names.
    pub(crate) fn from_zone_name(line: &ContentLine, zones: &FileZones) -> Self {
        let Some(name) = line.parameter("TZID") else {
            return Self::AsWritten;
        };
        zones.clock(name)
    }

    /// The local time for a UTC time.
    pub(crate) fn shown(&self, utc: Local) -> Local {
        match self {
            Self::AsWritten | Self::Utc => utc,
            Self::Zone(zone) => Local(utc.0 + zone.offset(utc.0)),
            Self::FileZone(zone) => Local(utc.0 + zone.offset(utc.0)),
            // Recurrences begin at midnight, and end at midnight or one second earlier, so the
            // nearest midnight is intended.
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

    /// The local time of these clocks when `others` show `shown`. If either zone is unknown, it is
    /// `shown` as well.
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

/// The offset changes of a zone, in order.
#[derive(Debug)]
pub(crate) struct FileZone(Vec<OffsetChange>);

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct OffsetChange {
    /// Seconds since 1970-01-01T00:00:00Z.
    at: i64,
    /// The UTC offsets before and after the change, in seconds; east is positive.
    before: i64,
    after: i64,
}

/// The relevant lines of a `STANDARD` or `DAYLIGHT` component.
#[derive(Debug, Default)]
pub(crate) struct ObservanceLines {
    start: Option<ContentLine>,
    from: Option<ContentLine>,
    to: Option<ContentLine>,
    rules: Vec<ContentLine>,
    dates: Vec<ContentLine>,
}

impl ObservanceLines {
    /// Stores the line if it is relevant.
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

    /// Adds the offset changes until 2199. `None` if a line is missing or cannot be parsed.
    fn read(
        &self,
        budget: &mut Budget,
        changes: &mut Vec<OffsetChange>,
    ) -> Option<Result<(), CalendarReason>> {
        let start = WrittenDate::parse(self.start.as_ref()?.value())?.local();
        let before = offset(self.from.as_ref()?.value())?;
        let after = offset(self.to.as_ref()?.value())?;
        // The local time of a change is in the offset before it.
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
    /// Parses the lines of a zone; `None` if they are invalid.
    ///
    /// # Errors
    /// Its recurrences exceed the budget.
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

    /// The UTC offset at a second since 1970-01-01T00:00:00Z, in seconds.
    pub(crate) fn offset(&self, second: i64) -> i64 {
        let begun = self.0.partition_point(|change| change.at <= second);
        match begun.checked_sub(1).and_then(|last| self.0.get(last)) {
            Some(change) => change.after,
            None => self.0.first().map_or(0, |change| change.before),
        }
    }

    /// The second since 1970-01-01T00:00:00Z at which the clocks show a time.
    pub(crate) fn second_of(&self, shown: Local) -> i64 {
        let near = shown.0 - self.offset(shown.0);
        shown.0 - self.offset(near)
    }
}

/// Parses an offset such as `+0100`, `-0330` or `+005328`, in seconds.
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

/// A date, or a date and time, on the clocks of its event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct DateValue {
    /// Days since 1970-01-01.
    pub(crate) day: i32,
    /// Seconds since midnight; `None` for a date.
    pub(crate) second: Option<u32>,
}

/// The context in which the values of an event are read.
#[derive(Debug)]
pub(crate) struct EventClocks<'f> {
    pub(crate) event: EventClock,
    /// The zones that other lines of the event can name.
    pub(crate) zones: &'f FileZones,
}

/// Moves a value to the clocks of the event. `others` are the clocks of a value without a `Z`.
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
    /// Parses a value that is in UTC or on the clocks of its event.
    pub(crate) fn parse(text: &str, clock: &EventClock) -> Option<Self> {
        Some(on_clock(
            WrittenDate::parse(text)?,
            clock,
            &EventClock::AsWritten,
        ))
    }

    /// Parses the value of a line, which is on the clocks of its event, independent of its `TZID`.
    /// Some programs declare a date and write a time.
    pub(crate) fn from_line(line: &ContentLine, clock: &EventClock) -> Result<Self, CalendarError> {
        let value = line.value();
        let read = Self::parse(value, clock);
        let read = read.ok_or_else(|| line.error(value, CalendarReason::NotADate))?;
        Ok(Self {
            second: read.second.filter(|_| !line.is_date()),
            ..read
        })
    }

    pub(crate) fn since(self, other: Self) -> TimeDelta {
        let days = TimeDelta::days(i64::from(self.day) - i64::from(other.day));
        let second = |value: Self| i64::from(value.second.unwrap_or_default());
        days + TimeDelta::seconds(second(self) - second(other))
    }
}

impl EventClocks<'_> {
    /// Parses the values of a line such as `EXDATE`, which can be in another zone.
    pub(crate) fn values(&self, line: &ContentLine) -> Result<Vec<DateValue>, CalendarError> {
        let values = self.periods(line)?;
        Ok(values.into_iter().map(|(value, _)| value).collect())
    }

    /// Parses the values of a line such as `RDATE`, with their durations if given.
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
    fn parses_offsets() {
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
