//! Months, and the search for days by what each month has of them.

use chrono::{Datelike, NaiveDate};

use crate::schedule::zone::local::{Local, day_number, weekday};

/// The first day from `day` on that its month has, both in days since 1970-01-01. Bit 1 of what
/// `days_in` says is the first of the month.
pub(in crate::schedule) fn day_from(day: i32, days_in: impl Fn(&Month) -> u64) -> Option<i32> {
    let (mut month, mut of_month) = Month::of(day)?;
    loop {
        if let Some(found) = lowest_from(days_in(&month), of_month) {
            return Some(month.day(found)).filter(|&day| Local::on(day, 0).is_in_range());
        }
        (month, of_month) = (month.next()?, 1);
    }
}

/// The last day up to `day` that its month has.
pub(in crate::schedule) fn day_to(day: i32, days_in: impl Fn(&Month) -> u64) -> Option<i32> {
    let (mut month, mut of_month) = Month::of(day)?;
    loop {
        if let Some(found) = highest_to(days_in(&month), of_month) {
            return Some(month.day(found));
        }
        (month, of_month) = (month.previous()?, 31);
    }
}

/// A month of a year, as a calendar page shows it.
pub(in crate::schedule) struct Month {
    year: i32,
    pub(in crate::schedule) number: u32,
    pub(in crate::schedule) length: u32,
    /// Day number of the first, since 1970-01-01.
    first: i32,
    /// 0 is Monday.
    pub(in crate::schedule) first_weekday: usize,
}

impl Month {
    fn new(year: i32, number: u32) -> Option<Self> {
        let first = day_number(NaiveDate::from_ymd_opt(year, number, 1)?);
        let in_range = (1970..2200).contains(&year);
        in_range.then(|| Self {
            year,
            number,
            length: month_length(year, number),
            first,
            first_weekday: weekday(first),
        })
    }

    /// The month of a day since 1970-01-01, and which of its days that is.
    pub(in crate::schedule) fn of(day: i32) -> Option<(Self, u32)> {
        let date = NaiveDate::from_epoch_days(day)?;
        Some((Self::new(date.year(), date.month())?, date.day()))
    }

    fn next(&self) -> Option<Self> {
        if self.number == 12 {
            Self::new(self.year + 1, 1)
        } else {
            Self::new(self.year, self.number + 1)
        }
    }

    fn previous(&self) -> Option<Self> {
        if self.number == 1 {
            Self::new(self.year - 1, 12)
        } else {
            Self::new(self.year, self.number - 1)
        }
    }

    /// The day of this number, since 1970-01-01.
    fn day(&self, of_month: u32) -> i32 {
        self.first + of_month.cast_signed() - 1
    }
}

/// How many days a month has.
pub(in crate::schedule) fn month_length(year: i32, month: u32) -> u32 {
    match month {
        4 | 6 | 9 | 11 => 30,
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        2 => 28,
        _ => 31,
    }
}

/// Whether bit `value` is set.
pub(in crate::schedule) fn has(bits: u64, value: u32) -> bool {
    bits >> value & 1 == 1
}

/// The lowest bit from `from` on.
pub(in crate::schedule) fn lowest_from(bits: u64, from: u32) -> Option<u32> {
    let rest = bits & u64::MAX << from;
    (rest != 0).then(|| rest.trailing_zeros())
}

/// The highest bit up to `to`.
pub(in crate::schedule) fn highest_to(bits: u64, to: u32) -> Option<u32> {
    let rest = bits & u64::MAX >> (63 - to);
    (rest != 0).then(|| 63 - rest.leading_zeros())
}
