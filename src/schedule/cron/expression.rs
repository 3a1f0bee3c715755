//! Cron as sets of bits: which local times it means, in both directions.

use crate::schedule::days::month::{self, Month, has, highest_to, lowest_from, month_length};
use crate::schedule::zone::local::Local;

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

    /// The times on days that all count as one day of the week (0 is Monday); `None` where there are
    /// none.
    pub(in crate::schedule) fn on_weekday(&self, weekday: usize) -> Option<Self> {
        let sunday_first = (weekday + 1) % 7;
        let is_on = self.days_of_week >> sunday_first & 1 == 1;
        (is_on || self.either_day).then_some(Self {
            days_of_week: if is_on { 0x7f } else { 0 },
            ..*self
        })
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
        month::day_from(day, |month| self.days_in(month))
    }

    /// The last day up to `day`.
    fn day_to(&self, day: i32) -> Option<i32> {
        month::day_to(day, |month| self.days_in(month))
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
