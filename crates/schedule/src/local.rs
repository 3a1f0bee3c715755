//! Wall clocks: times of day such as `09:00`, and local dates and times without a zone.
//!
//! Both are plain numbers. Days are counted from 1970-01-01, and weekdays from Monday (0).

use std::fmt;

use chrono::{DateTime, NaiveDate, NaiveDateTime};
use dayshift_text::number;

use crate::text::{Diagnostic, Piece};

/// Seconds of a day.
pub(crate) const DAY: u32 = 86_400;

/// Seconds of an hour.
pub(crate) const HOUR: u32 = 3_600;

const DAY_LENGTH: i64 = DAY as i64;

/// A local date and time, in seconds since 1970-01-01 00:00 on the same wall clock.
///
/// With a single number, the day and the second of the day are one division away, and applying a
/// UTC offset is one addition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Local(pub(crate) i64);

impl Local {
    /// 1970-01-01 00:00, the first second of the years that schedules cover.
    pub(crate) const FIRST: Self = Self(0);
    /// 2199-12-31 23:59:59, the last second of the years that schedules cover.
    pub(crate) const LAST: Self = Self(84_006 * DAY_LENGTH - 1);

    pub(crate) fn on(day: i32, second: u32) -> Self {
        Self(i64::from(day) * DAY_LENGTH + i64::from(second))
    }

    /// Days since 1970-01-01.
    pub(crate) fn day(self) -> i32 {
        i32::try_from(self.0.div_euclid(DAY_LENGTH)).unwrap_or(i32::MAX)
    }

    /// Seconds since midnight, below 86,400.
    pub(crate) fn second(self) -> u32 {
        u32::try_from(self.0.rem_euclid(DAY_LENGTH)).unwrap_or_default()
    }

    /// The start of the hour that contains this time.
    pub(crate) fn hour(self) -> Self {
        Self(self.0 - self.0.rem_euclid(HOUR.into()))
    }

    /// One second earlier.
    pub(crate) fn before(self) -> Self {
        Self(self.0 - 1)
    }

    /// One second later.
    pub(crate) fn after(self) -> Self {
        Self(self.0 + 1)
    }

    /// Whether schedules cover this time.
    pub(crate) fn is_in_range(self) -> bool {
        (Self::FIRST..=Self::LAST).contains(&self)
    }

    /// `None` outside of the years that chrono supports.
    pub(crate) fn to_naive(self) -> Option<NaiveDateTime> {
        DateTime::from_timestamp(self.0, 0).map(|at| at.naive_utc())
    }
}

impl From<NaiveDateTime> for Local {
    fn from(time: NaiveDateTime) -> Self {
        Self(time.and_utc().timestamp())
    }
}

/// The weekday of a day since 1970-01-01 (a Thursday); 0 is Monday.
pub(crate) fn weekday(day: i32) -> usize {
    usize::try_from((day + 3).rem_euclid(7)).unwrap_or_default()
}

/// Days since 1970-01-01.
pub(crate) fn day_number(date: NaiveDate) -> i32 {
    date.to_epoch_days()
}

/// A time of day, in minutes from midnight. 24:00 is the end of the day.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct WallTime(pub(crate) u16);

impl WallTime {
    pub(crate) const END_OF_DAY: Self = Self(24 * 60);

    /// Seconds from midnight.
    pub(crate) fn seconds(self) -> u32 {
        u32::from(self.0) * 60
    }

    /// Parses `HH:MM` or `H:MM`, from 00:00 to 23:59.
    pub(crate) fn parse(word: Piece<'_>) -> Result<Self, Diagnostic> {
        match Self::parse_end(word)? {
            Self::END_OF_DAY => Err(word.error(
                "is out of range",
                "midnight is `00:00` of the next day (`24:00` only ends a window)",
            )),
            time => Ok(time),
        }
    }

    /// Parses the end of a window: like [`Self::parse`], and also 24:00.
    pub(crate) fn parse_end(word: Piece<'_>) -> Result<Self, Diagnostic> {
        let (hour, minute) = word
            .text()
            .split_once(':')
            .ok_or_else(|| not_a_time(word))?;
        let two = |digits: &str| number::<u16>(digits).filter(|_| digits.len() == 2);
        if let Some((minute, second)) = minute.split_once(':')
            && two(minute).and(two(second)).is_some()
        {
            return Err(word.error(
                "has seconds, which a time of day does not allow here",
                "write for example `09:00`",
            ));
        }
        let hour = number::<u16>(hour).filter(|_| hour.len() <= 2);
        let (hour, minute) = hour.zip(two(minute)).ok_or_else(|| not_a_time(word))?;
        let time = Self(hour * 60 + minute);
        if minute > 59 || time > Self::END_OF_DAY {
            return Err(Self::out_of_day(word));
        }
        Ok(time)
    }

    /// The error for an hour above 23, or a minute or second above 59.
    pub(crate) fn out_of_day(word: Piece<'_>) -> Diagnostic {
        word.error("is out of range", "times run from `00:00` to `23:59`")
    }
}

impl fmt::Display for WallTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:02}:{:02}", self.0 / 60, self.0 % 60)
    }
}

fn not_a_time(word: Piece<'_>) -> Diagnostic {
    word.error("is not a time of day", "write for example `09:00`")
}

#[cfg(test)]
mod tests {
    use chrono::Datelike;

    use super::*;

    #[test]
    fn local_day_and_second_agree_with_chrono() {
        for text in [
            "1970-01-01 00:00:00",
            "2026-11-20 18:00:01",
            "2199-12-31 23:59:59",
        ] {
            let time: NaiveDateTime = text.replace(' ', "T").parse().unwrap();
            let local = Local::from(time);
            assert_eq!(local.day(), day_number(time.date()), "{text}");
            assert_eq!(Local::on(local.day(), local.second()), local);
            assert_eq!(
                weekday(local.day()),
                time.weekday().num_days_from_monday() as usize,
                "{text}"
            );
            assert!(local.is_in_range());
        }
        assert_eq!(Local(-1).second(), 86_399);
        assert_eq!(Local(-1).day(), -1);
        assert!(!Local::FIRST.before().is_in_range());
        assert!(!Local::LAST.after().is_in_range());
        let end = NaiveDate::from_ymd_opt(2200, 1, 1).unwrap();
        assert_eq!(Local::LAST.after(), Local::on(day_number(end), 0));
    }

    fn parse(text: &str) -> Result<WallTime, Diagnostic> {
        WallTime::parse_end(Piece::whole(text, "").unwrap())
    }

    #[test]
    fn parses_hours_and_minutes() {
        for (text, minutes) in [("00:00", 0), ("9:05", 545), ("09:05", 545), ("24:00", 1440)] {
            assert_eq!(parse(text).unwrap(), WallTime(minutes), "{text}");
        }
    }

    #[test]
    fn error_explains_an_invalid_time_of_day() {
        for (text, wrong) in [
            ("9am", "is not a time of day"),
            ("900", "is not a time of day"),
            ("9.30", "is not a time of day"),
            ("9:5", "is not a time of day"),
            ("９:00", "is not a time of day"),
            ("24:01", "is out of range"),
            ("12:60", "is out of range"),
            (
                "18:00:30",
                "has seconds, which a time of day does not allow here",
            ),
        ] {
            let error = parse(text).unwrap_err();
            assert_eq!(error.message(), format!("`{text}` {wrong}"));
            assert_eq!(error.span(), 0..text.len());
        }
        let midnight = WallTime::parse(Piece::whole("24:00", "").unwrap()).unwrap_err();
        assert!(midnight.to_string().contains("`00:00` of the next day"));
    }
}
