//! What a wall clock shows, without a zone.

use chrono::{DateTime, NaiveDate, NaiveDateTime};

pub(crate) const DAY: i64 = 86_400;

/// A date and time of day on a wall clock, in seconds since it showed 1970-01-01 00:00.
///
/// One number, because a schedule's days and seconds of a day are then one division away and a
/// clock change is one addition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Local(pub(crate) i64);

impl Local {
    /// 1970-01-01 00:00, before which no schedule is computed.
    pub(crate) const FIRST: Self = Self(0);
    /// 2199-12-31 23:59:59, after which no schedule is computed.
    pub(crate) const LAST: Self = Self(84_006 * DAY - 1);

    pub(crate) fn on(day: i32, second: u32) -> Self {
        Self(i64::from(day) * DAY + i64::from(second))
    }

    /// Days since 1970-01-01.
    pub(crate) fn day(self) -> i32 {
        i32::try_from(self.0.div_euclid(DAY)).unwrap_or(i32::MAX)
    }

    /// Seconds since midnight, below 86 400.
    pub(crate) fn second(self) -> u32 {
        u32::try_from(self.0.rem_euclid(DAY)).unwrap_or_default()
    }

    /// The second before this one.
    pub(crate) fn before(self) -> Self {
        Self(self.0 - 1)
    }

    /// The second after this one.
    pub(crate) fn after(self) -> Self {
        Self(self.0 + 1)
    }

    /// Whether schedules reach this far.
    pub(crate) fn is_in_range(self) -> bool {
        (Self::FIRST..=Self::LAST).contains(&self)
    }

    /// This time as chrono's type; `None` outside of the years that chrono knows.
    pub(crate) fn to_naive(self) -> Option<NaiveDateTime> {
        DateTime::from_timestamp(self.0, 0).map(|at| at.naive_utc())
    }
}

impl From<NaiveDateTime> for Local {
    fn from(time: NaiveDateTime) -> Self {
        Self(time.and_utc().timestamp())
    }
}

/// Day of the week of a day since 1970-01-01, a Thursday: 0 is Monday.
pub(crate) fn weekday(day: i32) -> usize {
    usize::try_from((day + 3).rem_euclid(7)).unwrap_or_default()
}

/// Days since 1970-01-01.
pub(crate) fn day_number(date: NaiveDate) -> i32 {
    date.to_epoch_days()
}

#[cfg(test)]
mod tests {
    use chrono::Datelike;

    use super::*;

    #[test]
    fn days_and_seconds_agree_with_the_calendar() {
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
}
