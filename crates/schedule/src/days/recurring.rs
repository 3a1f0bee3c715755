//! Times that repeat every week, and every month.

use std::collections::BTreeMap;

use super::month::has;
use super::page::PageDate;
use crate::text::month_days::MonthDays;
use crate::windows::DAY;

/// Times of every week.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Weekly {
    /// Seconds since Monday 00:00, in order, each once.
    seconds: Box<[u32]>,
    /// The days of the week that have any; bit 0 is Monday.
    days: u32,
}

impl Weekly {
    pub(crate) fn new(mut seconds: Vec<u32>) -> Self {
        seconds.sort_unstable();
        seconds.dedup();
        let days = seconds.iter().fold(0, |days, it| days | 1 << (it / DAY));
        Self {
            seconds: seconds.into(),
            days,
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.seconds.is_empty()
    }

    /// Seconds since Monday 00:00, in order.
    pub(crate) fn seconds(&self) -> &[u32] {
        &self.seconds
    }

    /// The days of the week that have any of the times; bit 0 is Monday.
    pub(crate) fn days(&self) -> u32 {
        self.days
    }

    /// The first time of a day of the week (0 is Monday) from a second on, in seconds from midnight.
    pub(crate) fn first_on(&self, weekday: usize, second: u32) -> Option<u32> {
        let midnight = self.midnight_of(weekday)?;
        let at = self.first_from(midnight + second);
        let first = self.seconds.get(at)? - midnight;
        (first < DAY).then_some(first)
    }

    /// The last time of a day of the week up to a second.
    pub(crate) fn last_on(&self, weekday: usize, second: u32) -> Option<u32> {
        let midnight = self.midnight_of(weekday)?;
        let at = self.first_from(midnight + second + 1);
        let last = self.seconds.get(at.checked_sub(1)?)?;
        last.checked_sub(midnight)
    }

    /// Whether a second of a day of the week is one of the times.
    pub(crate) fn holds(&self, weekday: usize, second: u32) -> bool {
        self.first_on(weekday, second) == Some(second)
    }

    /// The times of a day of the week, in seconds from midnight.
    pub(crate) fn on(&self, weekday: usize) -> impl Iterator<Item = u32> {
        let mut second = Some(0);
        std::iter::from_fn(move || {
            let first = self.first_on(weekday, second?);
            second = first.map(|it| it + 1);
            first
        })
    }

    /// When a day of the week begins that has any of the times.
    fn midnight_of(&self, weekday: usize) -> Option<u32> {
        let day = u32::try_from(weekday).ok()?;
        (self.days >> day & 1 == 1).then_some(day * DAY)
    }

    fn first_from(&self, second: u32) -> usize {
        self.seconds.partition_point(|&it| it < second)
    }
}

/// Days within the month, each of them with its seconds from midnight, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Monthly(Box<[(MonthDays, Box<[u32]>)]>);

impl Monthly {
    pub(crate) fn new(times: Vec<(u32, MonthDays)>) -> Self {
        // First by the time, so that equal times are equal however they were written.
        let mut days_at: BTreeMap<u32, MonthDays> = BTreeMap::new();
        for (second, days) in times {
            let known = days_at.entry(second).or_insert(MonthDays::NONE);
            *known = known.and(days);
        }
        let mut times_on: BTreeMap<MonthDays, Vec<u32>> = BTreeMap::new();
        for (second, days) in days_at {
            times_on.entry(days).or_default().push(second);
        }
        let groups = times_on.into_iter();
        Self(groups.map(|(days, times)| (days, times.into())).collect())
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (MonthDays, &[u32])> {
        self.0.iter().map(|(days, times)| (*days, &**times))
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The days on which any of the times is.
    pub(crate) fn days(&self) -> MonthDays {
        self.iter()
            .fold(MonthDays::NONE, |all, (days, _)| all.and(days))
    }

    /// The times of a date, by the days that have them.
    pub(crate) fn on(&self, date: &PageDate) -> impl Iterator<Item = &[u32]> {
        let is_on = |days: MonthDays| has(days.days_in(&date.page.month), date.of_month);
        let on = self.iter().filter(move |(days, _)| is_on(*days));
        on.map(|(_, times)| times)
    }
}
