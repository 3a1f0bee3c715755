//! Pages of the calendar, and the search for days from page to page.

use super::dates::Dates;
use super::month::{Month, SORTS, has, highest_to, lowest_from};
use crate::zone::local::Local;

/// A month with the days of the week that its dates count as.
pub(crate) struct Page {
    pub(crate) month: Month,
    /// The dates of each day of the week from Monday, bit 1 the first of the month, where some count
    /// as another day than their own.
    treated: Option<[u64; 7]>,
}

/// What is asked of many pages, once for each sort of month. Most searches end on the first page, so
/// that nothing is kept before the second.
pub(crate) struct EachSort {
    known: Vec<Option<u64>>,
    is_first: bool,
}

impl EachSort {
    pub(crate) const fn new() -> Self {
        Self {
            known: Vec::new(),
            is_first: true,
        }
    }

    /// What `of` says of a page, which depends on its days of the week alone and on those of the month
    /// before.
    pub(crate) fn of(&mut self, page: &Page, of: impl FnOnce(&Page) -> u64) -> u64 {
        if std::mem::take(&mut self.is_first) || page.is_treated() {
            return of(page);
        }
        self.known.resize(SORTS, None);
        match self.known.get_mut(page.month.sort()) {
            Some(known) => *known.get_or_insert_with(|| of(page)),
            None => of(page),
        }
    }
}

/// One date of a page.
pub(crate) struct PageDate {
    pub(crate) page: Page,
    /// Which day of the month, from 1.
    pub(crate) of_month: u32,
    /// The day of the week that it counts as; 0 is Monday.
    pub(crate) weekday: usize,
}

/// After so many pages that have none of the days it is looked how many more have none: to look costs
/// as much as several pages.
const PAGES_TO_SKIP: u32 = 16;

/// Every seventh day, five times.
const WEEKS: u64 = 1 | 1 << 7 | 1 << 14 | 1 << 21 | 1 << 28;

impl Page {
    pub(crate) fn new(month: Month, dates: Dates<'_>) -> Self {
        if dates.treated.is_empty() {
            let treated = None;
            return Self { month, treated };
        }
        let sets = dates.treated.iter();
        let treated = sets.map(|(day, dates)| (day, dates.days_in(&month)));
        let mut weekdays: Option<[u64; 7]> = None;
        for (weekday, treated) in treated.filter(|(_, days)| *days != 0) {
            if treated == month.days() {
                weekdays = Some([0; 7]);
            }
            let own = || [0, 1, 2, 3, 4, 5, 6].map(|day| own_dates(&month, 1 << day));
            let weekdays = weekdays.get_or_insert_with(own);
            weekdays.iter_mut().for_each(|days| *days &= !treated);
            if let Some(days) = weekdays.get_mut(weekday) {
                *days |= treated;
            }
        }
        let treated = weekdays;
        Self { month, treated }
    }

    /// Whether any date of it counts as another day of the week.
    pub(crate) fn is_treated(&self) -> bool {
        self.treated.is_some()
    }

    /// The dates of these days of the week; bit 0 is Monday.
    pub(crate) fn on_weekdays(&self, days: u32) -> u64 {
        let Some(treated) = &self.treated else {
            return own_dates(&self.month, days);
        };
        let dates = (0..).zip(treated).filter(|(day, _)| has(days.into(), *day));
        dates.fold(0, |all, (_, dates)| all | dates)
    }
}

/// The dates of a month that are these days of the week; bit 0 is Monday.
fn own_dates(month: &Month, days: u32) -> u64 {
    // From the day that the month begins with.
    let week = (days >> month.first_weekday | days << (7 - month.first_weekday)) & 0x7f;
    (WEEKS * u64::from(week)) << 1 & month.days()
}

impl PageDate {
    /// The date of a day since 1970-01-01; `None` outside of the range of schedules.
    pub(crate) fn of(day: i32, dates: Dates<'_>) -> Option<Self> {
        let (page, of_month) = Page::of(day, dates)?;
        Some(Self::on(page, of_month, dates))
    }

    fn on(page: Page, of_month: u32, dates: Dates<'_>) -> Self {
        Self {
            weekday: dates.treated.weekday(page.month.day(of_month)),
            page,
            of_month,
        }
    }

    /// Days since 1970-01-01.
    pub(crate) fn day(&self) -> i32 {
        self.page.month.day(self.of_month)
    }
}

impl Page {
    /// The page of a day, and which of its days that is.
    fn of(day: i32, dates: Dates<'_>) -> Option<(Self, u32)> {
        let (month, of_month) = Month::of(day)?;
        Some((Self::new(month, dates), of_month))
    }

    /// The first date from a day of this month on that its page has. Bit 1 of what `days_in` says is
    /// the first of the month. After some pages `skip` says from which day on to search.
    pub(crate) fn date_from(
        self,
        of_month: u32,
        dates: Dates<'_>,
        skip: impl Fn(i32) -> Option<i32>,
        mut days_in: impl FnMut(&Self) -> u64,
    ) -> Option<PageDate> {
        let (mut page, mut from) = (self, of_month);
        for at in 0_u32.. {
            if let Some(found) = lowest_from(days_in(&page), from) {
                return Some(PageDate::on(page, found, dates));
            }
            let next = page.month.day(page.month.length) + 1;
            let later = if at % PAGES_TO_SKIP == 0 {
                skip(next)?
            } else {
                next
            };
            (page, from) = if later > next {
                Self::of(later, dates)?
            } else {
                (Self::new(page.month.next()?, dates), 1)
            };
        }
        None
    }

    /// The last date up to a day of this month that its page has, in the same way.
    pub(crate) fn date_to(
        self,
        of_month: u32,
        dates: Dates<'_>,
        skip: impl Fn(i32) -> Option<i32>,
        mut days_in: impl FnMut(&Self) -> u64,
    ) -> Option<PageDate> {
        let (mut page, mut to) = (self, of_month);
        for at in 0_u32.. {
            if let Some(found) = highest_to(days_in(&page), to) {
                return Some(PageDate::on(page, found, dates));
            }
            let next = page.month.first - 1;
            let earlier = if at % PAGES_TO_SKIP == 0 {
                skip(next)?
            } else {
                next
            };
            (page, to) = if earlier < next {
                Self::of(earlier, dates)?
            } else {
                (Self::new(page.month.previous()?, dates), 31)
            };
        }
        None
    }
}

/// The first day from a day on that its page has, both since 1970-01-01.
pub(crate) fn day_from(
    day: i32,
    dates: Dates<'_>,
    skip: impl Fn(i32) -> Option<i32>,
    days_in: impl FnMut(&Page) -> u64,
) -> Option<i32> {
    let (page, of_month) = Page::of(day.max(Local::FIRST.day()), dates)?;
    let date = page.date_from(of_month, dates, skip, days_in)?;
    Some(date.day())
}

/// The last day up to a day that its page has, both since 1970-01-01.
pub(crate) fn day_to(
    day: i32,
    dates: Dates<'_>,
    skip: impl Fn(i32) -> Option<i32>,
    days_in: impl FnMut(&Page) -> u64,
) -> Option<i32> {
    let (page, of_month) = Page::of(day.min(Local::LAST.day()), dates)?;
    let date = page.date_to(of_month, dates, skip, days_in)?;
    Some(date.day())
}
