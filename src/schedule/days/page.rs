//! Pages of the calendar, and the search for days from page to page.

use super::dates::Dates;
use super::month::{Month, highest_to, lowest_from};
use crate::schedule::zone::local::Local;

/// A month with the days of the week that its dates count as.
pub(in crate::schedule) struct Page {
    pub(in crate::schedule) month: Month,
    /// The dates of each day of the week from Monday, bit 1 the first of the month, where some count
    /// as another day than their own.
    treated: Option<[u64; 7]>,
}

/// One date of a page.
pub(in crate::schedule) struct PageDate {
    pub(in crate::schedule) page: Page,
    /// Which day of the month, from 1.
    pub(in crate::schedule) of_month: u32,
    /// The day of the week that it counts as; 0 is Monday.
    pub(in crate::schedule) weekday: usize,
}

/// Every seventh day, five times.
const WEEKS: u64 = 1 | 1 << 7 | 1 << 14 | 1 << 21 | 1 << 28;

impl Page {
    pub(in crate::schedule) fn new(month: Month, dates: Dates<'_>) -> Self {
        let sets = dates.treated.iter();
        let treated = sets.map(|(day, dates)| (day, dates.days_in(&month)));
        let mut weekdays: Option<[u64; 7]> = None;
        for (weekday, treated) in treated.filter(|(_, days)| *days != 0) {
            if treated == month.days() {
                weekdays = Some([0; 7]);
            }
            let own = || [0, 1, 2, 3, 4, 5, 6].map(|day| own_dates(&month, day));
            let weekdays = weekdays.get_or_insert_with(own);
            weekdays.iter_mut().for_each(|days| *days &= !treated);
            if let Some(days) = weekdays.get_mut(weekday) {
                *days |= treated;
            }
        }
        let treated = weekdays;
        Self { month, treated }
    }

    /// The dates of these days of the week; bit 0 is Monday.
    pub(in crate::schedule) fn on_weekdays(&self, days: u32) -> u64 {
        let (mut rest, mut all) = (days, 0);
        while rest != 0 {
            let weekday = rest.trailing_zeros() as usize;
            all |= match &self.treated {
                None => own_dates(&self.month, weekday),
                Some(treated) => treated.get(weekday).copied().unwrap_or_default(),
            };
            rest &= rest - 1;
        }
        all
    }
}

/// The dates of a month that are this day of the week; 0 is Monday.
fn own_dates(month: &Month, weekday: usize) -> u64 {
    let first = 1 + (weekday + 7 - month.first_weekday) % 7;
    WEEKS << first & month.days()
}

impl PageDate {
    /// The date of a day since 1970-01-01.
    pub(in crate::schedule) fn of(day: i32, dates: Dates<'_>) -> Option<Self> {
        let (month, of_month) = Month::of(day)?;
        Some(Self {
            page: Page::new(month, dates),
            of_month,
            weekday: dates.treated.weekday(day),
        })
    }
}

/// The first day from `day` on that its page has, both since 1970-01-01. Bit 1 of what `days_in`
/// says is the first of the month. After each page `skip` says from which day on to search.
pub(in crate::schedule) fn day_from(
    day: i32,
    dates: Dates<'_>,
    skip: impl Fn(i32) -> Option<i32>,
    mut days_in: impl FnMut(&Page) -> u64,
) -> Option<i32> {
    let (mut month, mut of_month) = Month::of(day.max(Local::FIRST.day()))?;
    loop {
        let page = Page::new(month, dates);
        if let Some(found) = lowest_from(days_in(&page), of_month) {
            return Some(month.day(found));
        }
        let next = month.day(month.length) + 1;
        (month, of_month) = match skip(next)? {
            later if later > next => Month::of(later)?,
            _ => (month.next()?, 1),
        };
    }
}

/// The last day up to `day` that its page has, in the same way.
pub(in crate::schedule) fn day_to(
    day: i32,
    dates: Dates<'_>,
    skip: impl Fn(i32) -> Option<i32>,
    mut days_in: impl FnMut(&Page) -> u64,
) -> Option<i32> {
    let (mut month, mut of_month) = Month::of(day.min(Local::LAST.day()))?;
    loop {
        let page = Page::new(month, dates);
        if let Some(found) = highest_to(days_in(&page), of_month) {
            return Some(month.day(found));
        }
        let next = month.first - 1;
        (month, of_month) = match skip(next)? {
            earlier if earlier < next => Month::of(earlier)?,
            _ => (month.previous()?, 31),
        };
    }
}
