//! The time zones of iCalendar events, which decide on which date a value falls.
//!
//! [`EventClocks`] read the values of an event as dates on its clocks.

use chrono::TimeDelta;

use crate::{
    ical::{
        error::{CalendarError, CalendarReason},
        lines::{ContentLine, WrittenDate, parse_duration},
    },
    local::Local,
    tzdata::Tzdata,
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
    /// A zone that the database does not have. A definition in the file (`VTIMEZONE`) is not read.
    Unknown,
}

/// The zone for a `TZID`: its IANA name, perhaps after a prefix of the author
/// (`/freeassociation.sourceforge.net/Europe/Berlin`; RFC 5545, 3.2.19).
fn named_zone(name: &str, tzdata: &Tzdata) -> Option<Zone> {
    let mut endings = std::iter::successors(Some(name), |rest| Some(rest.split_once('/')?.1));
    endings.find_map(|ending| tzdata.zone(ending))
}

const HALF_A_DAY: i64 = 12 * 3600;

/// UTC offsets are whole quarters of an hour.
const QUARTER: i64 = 15 * 60;

impl EventClock {
    /// The clocks of an event with this `DTSTART`.
    pub(crate) fn from_start(line: &ContentLine, tzdata: &Tzdata) -> Self {
        if line.is_date() {
            Self::AsWritten
        } else if line.value().ends_with(['Z', 'z']) {
            Self::Utc
        } else {
            Self::from_zone_name(line, tzdata)
        }
    }

    /// The clocks that the `TZID` of a line names.
    pub(crate) fn from_zone_name(line: &ContentLine, tzdata: &Tzdata) -> Self {
        let Some(name) = line.parameter("TZID") else {
            return Self::AsWritten;
        };
        named_zone(name, tzdata).map_or(Self::Unknown, Self::Zone)
    }

    /// The local time for a UTC time.
    pub(crate) fn shown(&self, utc: Local) -> Local {
        match self {
            Self::AsWritten | Self::Utc => utc,
            Self::Zone(zone) => Local(utc.0 + zone.offset(utc.0)),
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
        };
        self.shown(utc)
    }
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
    pub(crate) tzdata: &'f Tzdata,
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
        let others = EventClock::from_zone_name(line, self.tzdata);
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
