//! Dates, moments and durations as iCalendar writes them.

use chrono::{NaiveDate, TimeDelta};

use super::content_line::ContentLine;
use super::error::{CalendarError, CalendarReason};
use crate::schedule::text::date::number;
use crate::schedule::zone::{
    local::{Local, day_number},
    time_zone::Zone,
};

/// A date, with the time of day where there is one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct DateValue {
    /// Days since 1970-01-01, on the clocks of the event.
    pub(super) day: i32,
    /// Seconds since midnight; `None` for a date alone.
    pub(super) second: Option<u32>,
}

/// The clocks of an event, on which it lasts whole days. What is written without a `Z` is theirs;
/// a moment of UTC may be of another date there: RFC 5545, 3.3.10, asks for one in `UNTIL`.
#[derive(Clone, Copy, Debug)]
pub(super) enum EventClock {
    /// Those of UTC, or of wherever it is read.
    AsWritten,
    /// Those of a zone.
    Zone(Zone),
    /// Those of a zone that is only known to who wrote it.
    Unknown,
}

impl EventClock {
    /// That of an event that begins with this line.
    pub(super) fn of(start: &ContentLine) -> Self {
        let is_utc = start.value().ends_with(['Z', 'z']);
        match start.parameter("TZID").filter(|_| !is_utc) {
            None => Self::AsWritten,
            Some(name) => Zone::named(name).map_or(Self::Unknown, Self::Zone),
        }
    }

    /// What it shows at a moment of UTC.
    fn shown(self, utc: Local) -> Local {
        match self {
            Self::AsWritten => utc,
            Self::Zone(zone) => Local(utc.0 + zone.offset(utc.0)),
            // Recurrences begin at midnight: the nearest one is meant.
            Self::Unknown => Local::on(Local(utc.0 + HALF_A_DAY).day(), 0),
        }
    }
}

const HALF_A_DAY: i64 = 12 * 3600;

impl DateValue {
    /// Reads `20261225`, `20261225T180000` and `20261225T180000Z`.
    pub(super) fn parse(text: &str, clock: EventClock) -> Option<Self> {
        let (date, time) = match text.split_once(['T', 't']) {
            Some((date, time)) => (date, Some(time)),
            None => (text, None),
        };
        let is_utc = time.is_some_and(|time| time.ends_with(['Z', 'z']));
        let time = time.map(|time| time.trim_end_matches(['Z', 'z']));
        let [y1, y2, y3, y4, m1, m2, d1, d2] = *date.as_bytes() else {
            return None;
        };
        let year = number(&[y1, y2, y3, y4])?.cast_signed();
        let date = NaiveDate::from_ymd_opt(year, number(&[m1, m2])?, number(&[d1, d2])?)?;
        let second = match time.map(str::as_bytes) {
            None => None,
            Some(&[h1, h2, m1, m2, s1, s2]) => {
                let [hour, minute, second] =
                    [number(&[h1, h2])?, number(&[m1, m2])?, number(&[s1, s2])?];
                // A leap second is written as 60.
                let is_in_day = hour < 24 && minute < 60 && second <= 60;
                Some(is_in_day.then_some(hour * 3600 + minute * 60 + second)?)
            }
            Some(_) => return None,
        };
        let day = day_number(date);
        let Some(utc) = second.filter(|_| is_utc) else {
            return Some(Self { day, second });
        };
        let shown = clock.shown(Local::on(day, utc));
        Some(Self {
            day: shown.day(),
            second: Some(shown.second()),
        })
    }

    /// Reads the one value of a line.
    pub(super) fn of(line: &ContentLine, clock: EventClock) -> Result<Self, CalendarError> {
        let value = line.value();
        Self::parse(value, clock).ok_or_else(|| line.fails(value, CalendarReason::NotADate))
    }

    /// Reads the days of a list such as that of `EXDATE`. Of a period it is the day on which that
    /// begins.
    pub(super) fn days(line: &ContentLine, clock: EventClock) -> Result<Vec<i32>, CalendarError> {
        let days = line.value().split(',').map(|item| {
            let begin = item.split_once('/').map_or(item, |(begin, _)| begin).trim();
            let value = Self::parse(begin, clock);
            value.ok_or_else(|| line.fails(begin, CalendarReason::NotADate))
        });
        days.map(|it| Ok(it?.day)).collect()
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
        let count = i64::from(number(digits.as_bytes()).filter(|_| end > 0)?);
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
            let found = DateValue::parse(text, EventClock::AsWritten).map(|it| (it.day, it.second));
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
