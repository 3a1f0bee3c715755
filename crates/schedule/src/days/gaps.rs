//! The days that windows do not cover from midnight to midnight, a month at a time.

use super::dates::Dates;
use super::day::Day;
use super::month::Month;
use super::page::{EachSort, Page};
use crate::hours::Hours;

/// Every time of day by the windows that cover it. A set of windows is a bit for each group of those
/// that begin on the same days: first the days of the week from Monday, then the days within the
/// month.
pub(crate) struct Gaps<'h> {
    hours: &'h Hours,
    dates: Dates<'h>,
    /// Windows that begin on the day itself, and windows that began on the day before: one of these
    /// has to be there, or the time is not covered.
    needs: Vec<(u64, u64)>,
    /// Whether every week is covered, but for dates that are excepted or treated.
    are_weeks_covered: bool,
}

impl<'h> Gaps<'h> {
    pub(crate) fn of(hours: &'h Hours, dates: Dates<'h>) -> Self {
        let groups = || {
            let monthly = hours.monthly.iter().map(|(_, day)| day);
            hours.days.iter().chain(monthly)
        };
        let edges = |day: &'h Day| {
            let own = day.own.iter().flat_map(|&(from, to)| [from, to]);
            own.chain([0, day.tail])
        };
        let mut times: Vec<u32> = groups().flat_map(edges).collect();
        times.sort_unstable();
        times.dedup();
        let covering = |covers: &dyn Fn(&Day) -> bool| {
            let bits = (0..).zip(groups()).filter(|(_, day)| covers(day));
            bits.fold(0, |all, (bit, _): (u32, _)| all | 1 << bit)
        };
        let times = times.into_iter().filter(|it| *it < crate::windows::DAY);
        let need = |time| {
            let own = covering(&|day| day.covers(time));
            (own, covering(&|day| time < day.tail))
        };
        let mut needs: Vec<_> = times.map(need).collect();
        needs.sort_unstable();
        needs.dedup();
        let mut gaps = Self {
            hours,
            dates,
            needs,
            are_weeks_covered: false,
        };
        gaps.are_weeks_covered = (0..7).all(|day| gaps.is_covered((day + 6) % 7, day));
        gaps
    }

    /// Whether a day of the week (0 is Monday) after another is covered, whatever begins besides on
    /// days within the month.
    fn is_covered(&self, before: usize, day: usize) -> bool {
        let mut needs = self.needs.iter();
        needs.all(|(own, tails)| own >> day & 1 == 1 || tails >> before & 1 == 1)
    }

    /// Whether a day and the days around it in its range count as one day of the week, which is
    /// covered.
    fn covered_range(&self, day: i32) -> Option<(i32, i32)> {
        let (weekday, range) = self.dates.treated.range_of(day)?;
        self.is_covered(weekday, weekday).then_some(range)
    }

    /// The first day from `day` on that may not be covered for being unlike the days before it.
    pub(crate) fn next_unlike(&self, day: i32) -> Option<i32> {
        let Dates { except, treated } = self.dates;
        if except.range_of(day - 1).is_some() {
            return Some(day);
        }
        let other = match self.covered_range(day) {
            Some((first, last)) if first < day => Some(last + 1),
            None if self.are_weeks_covered && treated.range_of(day - 1).is_none() => {
                treated.next_from(day)
            }
            _ => return Some(day),
        };
        let unlike = [other, except.next_from(day)].into_iter().flatten();
        unlike.min()
    }

    /// The last day up to `day` that may not be covered for being unlike the days after it.
    pub(crate) fn last_unlike(&self, day: i32) -> Option<i32> {
        let Dates { except, treated } = self.dates;
        // The day after another kind of day lacks, or has, what began on that.
        let other = match self.covered_range(day) {
            Some((first, _)) => Some(first),
            None if self.are_weeks_covered => treated.last_to(day).map(|it| it + 1),
            None => return Some(day),
        };
        let excepted = except.last_to(day).map(|it| it + 1);
        let unlike = [other, excepted].into_iter().flatten();
        unlike.max().map(|it| it.min(day))
    }

    /// What a page has of the dates on which some time is not covered; bit 1 is the first of the month.
    pub(crate) fn days(&self) -> impl FnMut(&Page) -> u64 {
        let mut each_sort = EachSort::new();
        move |page| {
            let before = page.month.previous();
            let before = before.map(|month| Page::new(month, self.dates));
            let is_plain = [Some(page), before.as_ref()].into_iter().all(|page| {
                page.is_some_and(|it| !it.is_treated() && self.dates.except.days_in(&it.month) == 0)
            });
            if is_plain {
                each_sort.of(page, |page| self.days_in(page))
            } else {
                self.days_in(page)
            }
        }
    }

    fn days_in(&self, page: &Page) -> u64 {
        let month = &page.month;
        let before = month.previous().map(|month| Page::new(month, self.dates));
        let before = before.as_ref().map(|page| self.begun_in(page));
        let begun = self.begun_in(page);
        let last = |group: usize| {
            let before = before.as_ref().and_then(|(days, length)| {
                let days = days.get(group)?;
                Some(days >> length & 1)
            });
            before.unwrap_or_default()
        };
        let on = |groups: u64, days: &dyn Fn(usize, u64) -> u64| {
            let each = begun.0.iter().enumerate();
            let each = each.filter(|(group, _)| groups >> group & 1 == 1);
            each.fold(0, |all, (group, begun)| all | days(group, *begun))
        };
        let uncovered = self.needs.iter().map(|(own, tails)| {
            let own = on(*own, &|_, begun| begun);
            !(own | on(*tails, &|group, begun| begun << 1 | last(group) << 1))
        });
        uncovered.fold(0, |all, days| all | days) & month.days()
    }

    /// The dates of a page on which each group of windows begins, and the length of the month.
    fn begun_in(&self, page: &Page) -> (Vec<u64>, u32) {
        let month: &Month = &page.month;
        let kept = !self.dates.except.days_in(month);
        let weekly = (0..7).map(|day: u32| page.on_weekdays(1 << day));
        let monthly = self.hours.monthly.iter();
        let monthly = monthly.map(|(days, _)| days.days_in(month));
        let days = weekly.chain(monthly).map(|days| days & kept);
        (days.collect(), month.length)
    }
}
