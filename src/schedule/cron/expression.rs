//! Cron as sets of bits: which local times it means, in both directions.

use chrono::{Datelike, NaiveDate};

use crate::schedule::zone::local::{Local, day_number, weekday};

/// The local times that a cron text means. Bit `n` of a field is the value `n`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(in crate::schedule) struct Cron {
    pub(in crate::schedule) seconds: u64,
    pub(in crate::schedule) minutes: u64,
    pub(in crate::schedule) hours: u64,
    pub(in crate::schedule) days_of_month: u64,
    pub(in crate::schedule) months: u64,
    /// Bit 0 is Sunday.
    pub(in crate::schedule) days_of_week: u64,
    /// Whether a day may match either field of days; else it must match both, one of which is a
    /// star (crontab(5): "if both fields are restricted").
    pub(in crate::schedule) either_day: bool,
}

impl Cron {
    /// The first time after `local`.
    pub(in crate::schedule) fn next(&self, local: Local) -> Option<Local> {
        let from = local.after().max(Local::FIRST);
        if !from.is_in_range() {
            return None;
        }
        let (day, second) = (from.day(), from.second());
        if self.holds_day(day)
            && let Some(second) = self.second_from(second)
        {
            return Some(Local::on(day, second));
        }
        let day = self.day_from(day + 1)?;
        Some(Local::on(day, self.second_from(0)?))
    }

    /// The last time at or before `local`.
    pub(in crate::schedule) fn previous(&self, local: Local) -> Option<Local> {
        let to = local.min(Local::LAST);
        if !to.is_in_range() {
            return None;
        }
        let (day, second) = (to.day(), to.second());
        if self.holds_day(day)
            && let Some(second) = self.second_to(second)
        {
            return Some(Local::on(day, second));
        }
        let day = self.day_to(day - 1)?;
        Some(Local::on(day, self.second_to(86_399)?))
    }

    /// Whether any year has a day for it.
    pub(in crate::schedule) fn ever_comes(&self) -> bool {
        self.either_day
            || (1..=12).any(|month| {
                let longest = if month == 2 {
                    29
                } else {
                    month_length(2024, month)
                };
                has(self.months, month) && lowest_from(self.days_of_month, 1) <= Some(longest)
            })
    }

    fn holds_day(&self, day: i32) -> bool {
        Month::of(day).is_some_and(|(month, of_month)| has(self.days_in(&month), of_month))
    }

    /// The first day from `day` on, both in days since 1970-01-01.
    fn day_from(&self, day: i32) -> Option<i32> {
        let (mut month, mut of_month) = Month::of(day)?;
        loop {
            if let Some(found) = lowest_from(self.days_in(&month), of_month) {
                return Some(month.day(found)).filter(|&day| Local::on(day, 0).is_in_range());
            }
            (month, of_month) = (month.next()?, 1);
        }
    }

    /// The last day up to `day`.
    fn day_to(&self, day: i32) -> Option<i32> {
        let (mut month, mut of_month) = Month::of(day)?;
        loop {
            if let Some(found) = highest_to(self.days_in(&month), of_month) {
                return Some(month.day(found));
            }
            (month, of_month) = (month.previous()?, 31);
        }
    }

    /// The days of a month; bit 1 is the first.
    fn days_in(&self, month: &Month) -> u64 {
        if !has(self.months, month.number) {
            return 0;
        }
        // The week, turned so that bit 1 is the weekday of the first, five times over.
        let sunday_first = (month.first_weekday + 1) % 7;
        let week =
            (self.days_of_week >> sunday_first | self.days_of_week << (7 - sunday_first)) & 0x7f;
        let by_week = (0..5).fold(0, |days, nth| days | week << (7 * nth + 1));
        let days = if self.either_day {
            self.days_of_month | by_week
        } else {
            self.days_of_month & by_week
        };
        days & (u64::MAX >> (63 - month.length)) & !1
    }

    /// The first second of the day from `second` on.
    fn second_from(&self, second: u32) -> Option<u32> {
        let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
        let in_hour = |minute| {
            lowest_from(self.minutes, minute)
                .and_then(|minute| Some(minute * 60 + lowest_from(self.seconds, 0)?))
        };
        if has(self.hours, hour) {
            if has(self.minutes, minute)
                && let Some(second) = lowest_from(self.seconds, second)
            {
                return Some(hour * 3600 + minute * 60 + second);
            }
            if let Some(rest) = in_hour(minute + 1) {
                return Some(hour * 3600 + rest);
            }
        }
        Some(lowest_from(self.hours, hour + 1)? * 3600 + in_hour(0)?)
    }

    /// The last second of the day up to `second`.
    fn second_to(&self, second: u32) -> Option<u32> {
        let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
        let in_hour = |minute| {
            highest_to(self.minutes, minute)
                .and_then(|minute| Some(minute * 60 + highest_to(self.seconds, 59)?))
        };
        if has(self.hours, hour) {
            if has(self.minutes, minute)
                && let Some(second) = highest_to(self.seconds, second)
            {
                return Some(hour * 3600 + minute * 60 + second);
            }
            if let Some(rest) = minute.checked_sub(1).and_then(in_hour) {
                return Some(hour * 3600 + rest);
            }
        }
        Some(highest_to(self.hours, hour.checked_sub(1)?)? * 3600 + in_hour(59)?)
    }
}

/// A month of a year, as a calendar page shows it.
struct Month {
    year: i32,
    number: u32,
    length: u32,
    /// Day number of the first, since 1970-01-01.
    first: i32,
    /// 0 is Monday.
    first_weekday: usize,
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
    fn of(day: i32) -> Option<(Self, u32)> {
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

    fn day(&self, of_month: u32) -> i32 {
        self.first + of_month.cast_signed() - 1
    }
}

fn month_length(year: i32, month: u32) -> u32 {
    match month {
        4 | 6 | 9 | 11 => 30,
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        2 => 28,
        _ => 31,
    }
}

fn has(bits: u64, value: u32) -> bool {
    bits >> value & 1 == 1
}

fn lowest_from(bits: u64, from: u32) -> Option<u32> {
    let rest = bits & u64::MAX << from;
    (rest != 0).then(|| rest.trailing_zeros())
}

fn highest_to(bits: u64, to: u32) -> Option<u32> {
    let rest = bits & u64::MAX >> (63 - to);
    (rest != 0).then(|| 63 - rest.leading_zeros())
}
