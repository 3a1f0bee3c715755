//! Dates, moments and durations as iCalendar writes them.

use chrono::{NaiveDate, TimeDelta};
use dayshift_text::number;

use super::content_line::ContentLine;
use super::error::{CalendarError, CalendarReason};
use super::event_clock::{EventClock, FileZones};
use crate::zone::local::{Local, day_number};

/// A date, with the time of day where there is one, as a file has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Written {
    /// Days since 1970-01-01.
    pub(super) day: i32,
    /// Seconds since midnight; `None` for a date alone.
    pub(super) second: Option<u32>,
    /// Whether a `Z` says that it is of UTC.
    pub(super) is_utc: bool,
}

/// A date, with the time of day where there is one, on the clocks of its event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct DateValue {
    /// Days since 1970-01-01.
    pub(super) day: i32,
    /// Seconds since midnight; `None` for a date alone.
    pub(super) second: Option<u32>,
}

/// What the values of an event are read with.
#[derive(Debug)]
pub(super) struct Clocks<'f> {
    /// The clocks of the event.
    pub(super) event: EventClock,
    /// The zones that lines of it may name besides.
    pub(super) zones: &'f FileZones,
}

impl Written {
    /// Reads `20261225`, `20261225T180000` and `20261225T180000Z`.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let (date, time) = match text.split_once(['T', 't']) {
            Some((date, time)) => (date, Some(time)),
            None => (text, None),
        };
        let is_utc = time.is_some_and(|time| time.ends_with(['Z', 'z']));
        let time = time.map(|time| time.trim_end_matches(['Z', 'z']));
        let [y1, y2, y3, y4, m1, m2, d1, d2] = *date.as_bytes() else {
            return None;
        };
        let year = number([y1, y2, y3, y4])?;
        let date = NaiveDate::from_ymd_opt(year, number([m1, m2])?, number([d1, d2])?)?;
        let second = match time.map(str::as_bytes) {
            None => None,
            Some(&[h1, h2, m1, m2, s1, s2]) => {
                let [hour, minute, second] = [
                    number::<u32>([h1, h2])?,
                    number([m1, m2])?,
                    number([s1, s2])?,
                ];
                // A leap second is written as 60.
                let is_in_day = hour < 24 && minute < 60 && second <= 60;
                Some(is_in_day.then_some(hour * 3600 + minute * 60 + second)?)
            }
            Some(_) => return None,
        };
        let day = day_number(date);
        Some(Self {
            day,
            second,
            is_utc,
        })
    }

    /// As a wall clock shows it; midnight for a date alone.
    pub(super) fn local(self) -> Local {
        Local::on(self.day, self.second.unwrap_or_default())
    }

    /// The same on these clocks, where others show what is written without a `Z`.
    fn on(self, clock: &EventClock, others: &EventClock) -> DateValue {
        if self.second.is_none() {
            return DateValue {
                day: self.day,
                second: None,
            };
        }
        let shown = if self.is_utc {
            clock.shown(self.local())
        } else {
            clock.shown_when(others, self.local())
        };
        DateValue {
            day: shown.day(),
            second: Some(shown.second()),
        }
    }
}

impl DateValue {
    /// Reads a value that is on the clocks of its event, unless it is of UTC.
    pub(super) fn parse(text: &str, clock: &EventClock) -> Option<Self> {
        Some(Written::parse(text)?.on(clock, &EventClock::AsWritten))
    }

    /// Reads the one value of a line, which is on the clocks of its event whatever its `TZID`. Some
    /// programs say that it is a date, and write a time.
    pub(super) fn of(line: &ContentLine, clock: &EventClock) -> Result<Self, CalendarError> {
        let value = line.value();
        let read = Self::parse(value, clock);
        let read = read.ok_or_else(|| line.fails(value, CalendarReason::NotADate))?;
        Ok(Self {
            second: read.second.filter(|_| !line.is_date()),
            ..read
        })
    }

    /// How much later it is than another.
    pub(super) fn since(self, other: Self) -> TimeDelta {
        let days = TimeDelta::days(i64::from(self.day) - i64::from(other.day));
        let second = |value: Self| i64::from(value.second.unwrap_or_default());
        days + TimeDelta::seconds(second(self) - second(other))
    }
}

impl Clocks<'_> {
    /// Reads the values of a line such as `EXDATE`, which may be on the clocks of another zone.
    pub(super) fn values(&self, line: &ContentLine) -> Result<Vec<DateValue>, CalendarError> {
        let values = self.periods(line)?;
        Ok(values.into_iter().map(|(value, _)| value).collect())
    }

    /// Reads the values of a line such as `RDATE`, and how long each is, where it says so.
    pub(super) fn periods(
        &self,
        line: &ContentLine,
    ) -> Result<Vec<(DateValue, Option<TimeDelta>)>, CalendarError> {
        let others = EventClock::named_by(line, self.zones);
        let on = |written: Written| written.on(&self.event, &others);
        let items = line.value().split(',').map(|item| {
            let item = item.trim();
            let (begin, end) = match item.split_once('/') {
                Some((begin, end)) => (begin.trim(), Some(end.trim())),
                None => (item, None),
            };
            let fails = || line.fails(begin, CalendarReason::NotADate);
            let begin = on(Written::parse(begin).ok_or_else(fails)?);
            let Some(end) = end else {
                return Ok((begin, None));
            };
            let length = duration(end).or_else(|| Some(on(Written::parse(end)?).since(begin)));
            let fails = || line.fails(end, CalendarReason::NotADuration);
            Ok((begin, Some(length.ok_or_else(fails)?)))
        });
        items.collect()
    }
}

/// Reads a duration such as `P1D`, `P2W` or `PT24H`.
pub(super) fn duration(text: &str) -> Option<TimeDelta> {
    let mut rest = text.trim_start_matches('+').strip_prefix(['P', 'p'])?;
    let mut sum = TimeDelta::zero();
    let (mut is_time, mut is_empty) = (false, true);
    while !rest.is_empty() {
        if let Some(time) = rest.strip_prefix(['T', 't']).filter(|_| !is_time) {
            (is_time, rest) = (true, time);
            continue;
        }
        let end = rest.find(|character: char| !character.is_ascii_digit())?;
        let (digits, unit) = rest.split_at_checked(end)?;
        let count = i64::from(number::<u32>(digits)?);
        let of_unit = match (unit.as_bytes().first()?.to_ascii_uppercase(), is_time) {
            (b'W', false) => TimeDelta::try_weeks(count),
            (b'D', false) => TimeDelta::try_days(count),
            (b'H', true) => TimeDelta::try_hours(count),
            (b'M', true) => TimeDelta::try_minutes(count),
            (b'S', true) => TimeDelta::try_seconds(count),
            _ => None,
        };
        sum = sum.checked_add(&of_unit?)?;
        is_empty = false;
        rest = unit.get(1..)?;
    }
    (!is_empty).then_some(sum)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_the_forms_of_dates_and_nothing_else() {
        let day = |text: &str| day_number(text.parse().unwrap());
        assert_eq!(day("1970-01-01"), 0);
        for (text, expected) in [
            ("20261225", Some((day("2026-12-25"), None))),
            ("20261225T000000", Some((day("2026-12-25"), Some(0)))),
            ("20261225T183000Z", Some((day("2026-12-25"), Some(66_600)))),
            ("20260229", None),
            ("2026122", None),
            ("2026-12-25", None),
            ("20261225T24", None),
            ("20261225T240000", None),
            ("２０２６", None),
            ("", None),
        ] {
            let found = Written::parse(text).map(|it| (it.day, it.second));
            assert_eq!(found, expected, "{text}");
        }
    }

    #[test]
    fn reads_durations() {
        for (text, hours) in [
            ("P1D", Some(24)),
            ("+P2W", Some(336)),
            ("PT24H", Some(24)),
            ("P1DT12H", Some(36)),
            ("P", None),
            ("PT", None),
            ("P1H", None),
            ("-P1D", None),
            ("PD", None),
            ("P99999999999D", None),
            ("P4294967295W", Some(4_294_967_295 * 168)),
        ] {
            assert_eq!(duration(text).map(|it| it.num_hours()), hours, "{text}");
        }
    }
}
