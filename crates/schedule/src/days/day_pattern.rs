//! The days of any number of times, in the space and time of one.

use super::month::has;
use super::page::Page;
use crate::cron::expression::Cron;
use crate::text::month_days::MonthDays;

/// Days that recur: on these dates of a month, these days of the week in a month, or these days
/// within each month. What is added to it makes it no larger.
pub(crate) struct DayPattern {
    /// Bit 1 is the first; from January.
    of_month: [u64; 12],
    /// Bit 0 is Monday; from January.
    of_week: [u32; 12],
    within: MonthDays,
}

/// Every day of the week.
const WEEK: u32 = 0x7f;

impl DayPattern {
    pub(crate) const NONE: Self = Self {
        of_month: [0; 12],
        of_week: [0; 12],
        within: MonthDays::NONE,
    };

    /// Adds days of the week; bit 0 is Monday.
    pub(crate) fn add_weekdays(&mut self, days: u32) {
        self.of_week.iter_mut().for_each(|known| *known |= days);
    }

    pub(crate) fn add_within(&mut self, days: MonthDays) {
        self.within = self.within.and(days);
    }

    /// Adds the days of a cron. Where they have to match both of its fields of days, one of these is
    /// a star, and the other alone says them.
    pub(crate) fn add_cron(&mut self, cron: &Cron) {
        let weekdays = cron.weekdays();
        let by_month = cron.either_day || weekdays == WEEK;
        let by_week = cron.either_day || weekdays != WEEK;
        let each = self.of_month.iter_mut().zip(&mut self.of_week);
        for (_, (of_month, of_week)) in (1..).zip(each).filter(|(it, _)| has(cron.months, *it)) {
            if by_month {
                *of_month |= cron.days_of_month;
            }
            if by_week {
                *of_week |= weekdays;
            }
        }
    }

    /// Its dates on a page; bit 1 is the first of the month.
    pub(crate) fn days_in(&self, page: &Page) -> u64 {
        let at = page.month.number.saturating_sub(1) as usize;
        let of_month = self.of_month.get(at).copied().unwrap_or_default();
        let of_week = self.of_week.get(at).copied().unwrap_or_default();
        (of_month | page.on_weekdays(of_week)) & page.month.days()
            | self.within.days_in(&page.month)
    }
}
