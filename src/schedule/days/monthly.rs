//! Times that repeat every month.

use std::collections::BTreeMap;

use super::month::{self, Month, has};
use crate::schedule::text::month_days::MonthDays;
use crate::schedule::zone::local::Local;

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

    /// The first of the times after `local`.
    pub(in crate::schedule) fn next(&self, local: Local) -> Option<Local> {
        let from = local.after().max(Local::FIRST);
        let (today, second) = (from.day(), from.second());
        let next = self.iter().filter_map(|(days, times)| {
            let day = days.next_from(today)?;
            let later = times.get(times.partition_point(|&it| it < second));
            match later.filter(|_| day == today) {
                Some(&later) => Some(Local::on(today, later)),
                None => {
                    let day = days.next_from(day.max(today + 1))?;
                    Some(Local::on(day, *times.first()?))
                }
            }
        });
        next.min().filter(|next| next.is_in_range())
    }

    /// The last of the times at or before `local`.
    pub(in crate::schedule) fn previous(&self, local: Local) -> Option<Local> {
        let to = local.min(Local::LAST);
        let (today, second) = (to.day(), to.second());
        let previous = self.iter().filter_map(|(days, times)| {
            let day = days.last_to(today)?;
            let earlier = times
                .get(..times.partition_point(|&it| it <= second))?
                .last();
            match earlier.filter(|_| day == today) {
                Some(&earlier) => Some(Local::on(today, earlier)),
                None => {
                    let day = days.last_to(day.min(today - 1))?;
                    Some(Local::on(day, *times.last()?))
                }
            }
        });
        previous.max().filter(|previous| previous.is_in_range())
    }
}

impl MonthDays {
    /// Whether a day since 1970-01-01 is one of them.
    pub(in crate::schedule) fn hold(self, day: i32) -> bool {
        self != Self::NONE
            && Month::of(day).is_some_and(|(month, of_month)| has(self.days_in(&month), of_month))
    }

    /// The first of the days that is not before `day`, both since 1970-01-01.
    pub(in crate::schedule) fn next_from(self, day: i32) -> Option<i32> {
        (self != Self::NONE).then(|| month::day_from(day, |month| self.days_in(month)))?
    }

    /// The last of the days that is not after `day`.
    pub(in crate::schedule) fn last_to(self, day: i32) -> Option<i32> {
        (self != Self::NONE).then(|| month::day_to(day, |month| self.days_in(month)))?
    }
}
