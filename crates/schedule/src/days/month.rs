//! Months of the calendar.

use chrono::{Datelike, NaiveDate};

use crate::zone::local::weekday;

/// A month of a year.
#[derive(Clone, Copy)]
pub(crate) struct Month {
    year: i32,
    pub(crate) number: u32,
    pub(crate) length: u32,
    /// Day number of the first, since 1970-01-01.
    pub(crate) first: i32,
    /// 0 is Monday.
    pub(crate) first_weekday: usize,
}

impl Month {
    fn beginning(year: i32, number: u32, first: i32) -> Option<Self> {
        (1970..2200).contains(&year).then(|| Self {
            year,
            number,
            length: month_length(year, number),
            first,
            first_weekday: weekday(first),
        })
    }

    /// The month of a day since 1970-01-01, and which of its days that is.
    pub(crate) fn of(day: i32) -> Option<(Self, u32)> {
        let date = NaiveDate::from_epoch_days(day)?;
        let first = day - date.day0().cast_signed();
        Some((
            Self::beginning(date.year(), date.month(), first)?,
            date.day(),
        ))
    }

    /// The next month, up to the end of 2199.
    pub(crate) fn next(&self) -> Option<Self> {
        let (year, number) = match self.number {
            12 => (self.year + 1, 1),
            number => (self.year, number + 1),
        };
        Self::beginning(year, number, self.first + self.length.cast_signed())
    }

    /// The month before, back to the beginning of 1970.
    pub(crate) fn previous(&self) -> Option<Self> {
        let (year, number) = match self.number {
            1 => (self.year - 1, 12),
            number => (self.year, number - 1),
        };
        let length = month_length(year, number).cast_signed();
        Self::beginning(year, number, self.first - length)
    }

    /// Which of the sorts of months it is, below [`SORTS`]: two of a sort, and the months before them,
    /// have the same days of the week on the same dates.
    pub(crate) fn sort(&self) -> usize {
        let is_by_leap_day = matches!(self.number, 2 | 3) && month_length(self.year, 2) == 29;
        let number = self.number.saturating_sub(1) as usize;
        number + 12 * (self.first_weekday + 7 * usize::from(is_by_leap_day))
    }

    /// Bits of all its days; bit 1 is the first.
    pub(crate) const fn days(&self) -> u64 {
        (u64::MAX >> (63 - self.length)) & !1
    }

    /// The day of this number, since 1970-01-01.
    pub(crate) fn day(&self, of_month: u32) -> i32 {
        self.first + of_month.cast_signed() - 1
    }
}

/// How many sorts of months there are.
pub(crate) const SORTS: usize = 12 * 7 * 2;

/// How many days a month has.
pub(crate) fn month_length(year: i32, month: u32) -> u32 {
    match month {
        4 | 6 | 9 | 11 => 30,
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        2 => 28,
        _ => 31,
    }
}

/// Whether bit `value` is set.
pub(crate) fn has(bits: u64, value: u32) -> bool {
    bits >> value & 1 == 1
}

/// The lowest bit from `from` on.
pub(crate) fn lowest_from(bits: u64, from: u32) -> Option<u32> {
    let rest = bits & u64::MAX << from;
    (rest != 0).then(|| rest.trailing_zeros())
}

/// The highest bit up to `to`.
pub(crate) fn highest_to(bits: u64, to: u32) -> Option<u32> {
    let rest = bits & u64::MAX >> (63 - to);
    (rest != 0).then(|| 63 - rest.leading_zeros())
}
