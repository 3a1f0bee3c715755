//! Cron as sets of bits: which local times it means, in both directions.

use crate::days::month::{has, highest_to, lowest_from, month_length};
use crate::days::page::Page;

/// The local times that a cron text means. Bit `n` of a field is the value `n`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Cron {
    pub(crate) seconds: u64,
    pub(crate) minutes: u64,
    pub(crate) hours: u64,
    pub(crate) days_of_month: u64,
    pub(crate) months: u64,
    /// Bit 0 is Sunday.
    pub(crate) days_of_week: u64,
    /// Whether a day may match either field of days; else it must match both, one of which is a
    /// star (crontab(5): "if both fields are restricted").
    pub(crate) either_day: bool,
}

impl Cron {
    /// Whether any year has a day for it.
    pub(crate) fn ever_comes(&self) -> bool {
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

    /// Its days of the week; bit 0 is Monday.
    pub(crate) fn weekdays(&self) -> u32 {
        let days = self.days_of_week & 0x7f;
        u32::try_from((days >> 1 | days << 6) & 0x7f).unwrap_or_default()
    }

    /// The same, where its other fields of days leave nothing out.
    pub(crate) fn only_weekdays(&self) -> Option<u32> {
        let all = (self.days_of_month, self.months) == (u64::from(u32::MAX) & !1, 0x1ffe);
        (all && !self.either_day).then(|| self.weekdays())
    }

    /// The dates of a page that it has; bit 1 is the first of the month.
    pub(crate) fn days_in(&self, page: &Page) -> u64 {
        if !has(self.months, page.month.number) {
            return 0;
        }
        let by_week = page.on_weekdays(self.weekdays());
        let days = if self.either_day {
            self.days_of_month | by_week
        } else {
            self.days_of_month & by_week
        };
        days & page.month.days()
    }

    /// Whether a second of a day is one of its times of day.
    pub(crate) fn holds_second(&self, second: u32) -> bool {
        has(self.hours, second / 3600)
            && has(self.minutes, second / 60 % 60)
            && has(self.seconds, second % 60)
    }

    /// The first second of the day from `second` on.
    pub(crate) fn second_from(&self, second: u32) -> Option<u32> {
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
    pub(crate) fn second_to(&self, second: u32) -> Option<u32> {
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
