//! The search among several lists of times at once: first for the day, from month to month, then
//! within it. What it costs depends on the length of the lists, and not on how often their times
//! come, coincide or are excepted.

use std::cell::LazyCell;

use super::days::dates::{Dates, Weekdays};
use super::days::day_pattern::DayPattern;
use super::days::page::{EachSort, Page, PageDate};
use super::times::Times;
use super::windows::DAY;
use super::zone::local::Local;

/// Lists of times that are searched as if they were one.
#[derive(Clone)]
pub(super) struct Search<'s, L> {
    lists: L,
    dates: Dates<'s>,
    /// Whether what is on an excepted date does not count.
    skips_excepted: bool,
}

/// Seconds of a local hour, by minutes.
pub(super) type HourSeconds = [u64; 60];

pub(super) const HOUR: i64 = 3600;

/// The earlier of two, as far as there are any.
pub(super) fn earlier<T: Ord>(one: Option<T>, other: Option<T>) -> Option<T> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.min(other)),
        (one, other) => one.or(other),
    }
}

impl<'s, L: Iterator<Item = &'s Times> + Clone> Search<'s, L> {
    pub(super) fn new(lists: L, dates: Dates<'s>, skips_excepted: bool) -> Self {
        Self {
            lists,
            dates,
            skips_excepted,
        }
    }

    /// The first of the times after `local`.
    pub(super) fn next(&self, local: Local) -> Option<Local> {
        let moments = self.each(|it| {
            let later = it.moments_after(local).iter();
            later.copied().find(|it| !self.is_skipped(it.day()))
        });
        earlier(self.next_recurring(local), moments.min())
    }

    /// The last of the times at or before `local`.
    pub(super) fn previous(&self, local: Local) -> Option<Local> {
        let moments = self.each(|it| {
            let earlier = it.moments_to(local).iter();
            earlier.copied().rfind(|it| !self.is_skipped(it.day()))
        });
        self.previous_recurring(local).max(moments.max())
    }

    /// Whether `local` is one of the times.
    pub(super) fn holds(&self, local: Local) -> bool {
        self.date(local.day()).is_some_and(|date| {
            let mut lists = self.lists.clone();
            lists.any(|it| it.holds(&date, local))
        })
    }

    /// The seconds of the times in the local hour that begins at `hour`.
    pub(super) fn seconds_of_hour(&self, hour: Local) -> HourSeconds {
        let mut seconds = [0; 60];
        if let Some(date) = self.date(hour.day()) {
            for list in self.lists.clone() {
                list.mark_hour(&date, hour, &mut seconds);
            }
        }
        seconds
    }

    fn next_recurring(&self, local: Local) -> Option<Local> {
        let from = local.after().max(Local::FIRST);
        if !from.is_in_range() || !self.lists.clone().any(Times::recur) {
            return None;
        }
        let (today, second) = (from.day(), from.second());
        let date = PageDate::of(today, self.dates)?;
        if !self.is_skipped(today)
            && let Some(second) = self.first_on(&date, second)
        {
            return Some(Local::on(today, second));
        }
        let mut days = self.days();
        let weekdays = LazyCell::new(|| self.weekdays());
        let skip = |day| {
            Some(
                self.dates
                    .first_possible(day, *weekdays, self.skips_excepted),
            )
        };
        let tomorrow = date.of_month + 1;
        let date = date
            .page
            .date_from(tomorrow, self.dates, skip, |page| days(page))?;
        Some(Local::on(date.day(), self.first_on(&date, 0)?))
    }

    fn previous_recurring(&self, local: Local) -> Option<Local> {
        let to = local.min(Local::LAST);
        if !to.is_in_range() || !self.lists.clone().any(Times::recur) {
            return None;
        }
        let (today, second) = (to.day(), to.second());
        let date = PageDate::of(today, self.dates)?;
        if !self.is_skipped(today)
            && let Some(second) = self.last_on(&date, second)
        {
            return Some(Local::on(today, second));
        }
        let mut days = self.days();
        let weekdays = LazyCell::new(|| self.weekdays());
        let skip = |day| {
            Some(
                self.dates
                    .last_possible(day, *weekdays, self.skips_excepted),
            )
        };
        let yesterday = date.of_month - 1;
        let date = date
            .page
            .date_to(yesterday, self.dates, skip, |page| days(page))?;
        Some(Local::on(date.day(), self.last_on(&date, DAY - 1)?))
    }

    /// A day, unless it is skipped.
    fn date(&self, day: i32) -> Option<PageDate> {
        PageDate::of(day, self.dates).filter(|_| !self.is_skipped(day))
    }

    /// The first time of a date from `second` on.
    fn first_on(&self, date: &PageDate, second: u32) -> Option<u32> {
        self.each(|it| it.first_on(date, second)).min()
    }

    /// The last time of a date up to `second`.
    fn last_on(&self, date: &PageDate, second: u32) -> Option<u32> {
        self.each(|it| it.last_on(date, second)).max()
    }

    /// What a page has of the days on which any of the times is. The first page is asked of each
    /// list, as most searches end there.
    fn days(&self) -> impl FnMut(&Page) -> u64 {
        let mut is_first = true;
        let mut each_sort = EachSort::new();
        let pattern = LazyCell::new(|| self.pattern());
        move |page| {
            let days = if std::mem::take(&mut is_first) {
                let lists = self.lists.clone();
                lists.fold(0, |days, it| days | it.days_in(page))
            } else {
                each_sort.of(page, |page| pattern.days_in(page))
            };
            if days != 0 && self.skips_excepted {
                days & !self.dates.except.days_in(&page.month)
            } else {
                days
            }
        }
    }

    /// The days of the week on which any of the times can be.
    fn weekdays(&self) -> Weekdays {
        let lists = self.lists.clone();
        lists.fold(Weekdays::NONE, |all, it| all.and(it.weekdays()))
    }

    fn pattern(&self) -> DayPattern {
        let mut pattern = DayPattern::NONE;
        let lists = self.lists.clone();
        lists.for_each(|it| it.add_days(&mut pattern));
        pattern
    }

    fn each<T>(&self, of: impl Fn(&'s Times) -> Option<T>) -> impl Iterator<Item = T> {
        self.lists.clone().filter_map(of)
    }

    fn is_skipped(&self, day: i32) -> bool {
        self.skips_excepted && self.dates.except.range_of(day).is_some()
    }
}
