//! Times that repeat every month.

use std::collections::BTreeMap;

use super::month::has;
use super::page::PageDate;
use crate::schedule::text::month_days::MonthDays;

/// Days within the month, each of them with its seconds from midnight, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(in crate::schedule) struct Monthly(Box<[(MonthDays, Box<[u32]>)]>);

impl Monthly {
    pub(in crate::schedule) fn new(times: Vec<(u32, MonthDays)>) -> Self {
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

    pub(in crate::schedule) fn iter(&self) -> impl Iterator<Item = (MonthDays, &[u32])> {
        self.0.iter().map(|(days, times)| (*days, &**times))
    }

    pub(in crate::schedule) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The days on which any of the times is.
    pub(in crate::schedule) fn days(&self) -> MonthDays {
        self.iter()
            .fold(MonthDays::NONE, |all, (days, _)| all.and(days))
    }

    /// The times of a date, by the days that have them.
    pub(in crate::schedule) fn on(&self, date: &PageDate) -> impl Iterator<Item = &[u32]> {
        let is_on = |days: MonthDays| has(days.days_in(&date.page.month), date.of_month);
        let on = self.iter().filter(move |(days, _)| is_on(*days));
        on.map(|(_, times)| times)
    }
}
