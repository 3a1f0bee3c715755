//! Steps of `scale` that set two counts at one time, by their texts alone.

use std::collections::HashMap;

use crate::cron::expression::Cron;
use crate::text::month_days::MonthDays;
use crate::times::TimesItems;
use crate::windows::DAY;
use crate::zone::local::Local;

/// The times of the steps so far, each with its count.
///
/// Two steps fall together where they have a time of day in common, and a day of the week, a date of
/// a month or a day within the month. What falls together in some years alone, as the first of a
/// month and a Saturday do, is not looked for.
#[derive(Default)]
pub(crate) struct Ties {
    /// By seconds from Monday 00:00.
    weekly: HashMap<u32, u32>,
    /// By one day within the month and seconds from midnight.
    monthly: HashMap<(MonthDays, u32), u32>,
    moments: HashMap<Local, u32>,
    crons: Vec<(Cron, u32)>,
}

impl Ties {
    /// Adds the times of a step, and says which other count is set at one of them, if any.
    pub(crate) fn add(&mut self, times: &TimesItems, count: u32) -> Option<u32> {
        let mut others = None;
        let mut meet = |other: Option<u32>| {
            others = others.or(other.filter(|other| *other != count));
        };
        for second in &times.weekly {
            meet(self.weekly.insert(*second, count));
            let monthly = self.monthly.iter();
            let mut monthly = monthly.filter(|(it, _)| second_of_week(it) == Some(*second));
            meet(monthly.find(|it| *it.1 != count).map(|it| *it.1));
            let mut crons = self.crons.iter();
            let cron = crons.find(|(it, other)| *other != count && holds(it, *second));
            meet(cron.map(|it| it.1));
        }
        for second in times.weekly.iter().filter(|it| **it < DAY) {
            let is_daily = self.daily(*second) == Some(count);
            let mut crons = self.crons.iter().filter(|_| is_daily);
            let cron = crons.find(|(it, other)| *other != count && it.holds_second(*second));
            meet(cron.map(|it| it.1));
        }
        for (second, days) in &times.monthly {
            for day in days.each() {
                meet(self.monthly.insert((day, *second), count));
                if let Some(second) = second_of_week(&(day, *second)) {
                    meet(self.weekly.get(&second).copied());
                    let mut crons = self.crons.iter();
                    let cron = crons.find(|(it, other)| *other != count && holds(it, second));
                    meet(cron.map(|it| it.1));
                }
            }
        }
        for moment in &times.moments {
            meet(self.moments.insert(*moment, count));
        }
        for cron in &times.crons {
            let mut crons = self.crons.iter();
            let other = crons.find(|(it, other)| *other != count && fall_together(it, cron));
            meet(other.map(|it| it.1));
            let monthly = self.monthly.iter();
            let monthly = monthly.filter_map(|(it, other)| Some((second_of_week(it)?, *other)));
            let weekly = self.weekly.iter().map(|(second, other)| (*second, *other));
            let mut known = weekly.chain(monthly);
            let other = known.find(|(second, other)| *other != count && holds(cron, *second));
            meet(other.map(|it| it.1));
            let mondays = self.weekly.keys().filter(|it| **it < DAY);
            let mut daily = mondays.filter(|second| cron.holds_second(**second));
            meet(daily.find_map(|it| self.daily(*it).filter(|other| *other != count)));
        }
        self.crons.extend(times.crons.iter().map(|it| (*it, count)));
        others
    }

    /// The count that is set on all days of the week at this second from midnight.
    fn daily(&self, second: u32) -> Option<u32> {
        let count = self.weekly.get(&second).copied();
        let mut days = (1..7).map(|day| self.weekly.get(&(day * DAY + second)).copied());
        count.filter(|_| days.all(|it| it == count))
    }
}

/// Seconds from Monday 00:00 of a day within the month that is one day of the week.
fn second_of_week((day, second): &(MonthDays, u32)) -> Option<u32> {
    let weekday = day.weekday()?;
    Some(weekday * DAY + second)
}

/// Whether a cron comes at this second of every week, or of every week of some months.
fn holds(cron: &Cron, second: u32) -> bool {
    is_by_week(cron)
        && cron.weekdays() >> (second / DAY) & 1 == 1
        && cron.holds_second(second % DAY)
}

fn fall_together(one: &Cron, other: &Cron) -> bool {
    let both = Cron {
        seconds: one.seconds & other.seconds,
        minutes: one.minutes & other.minutes,
        hours: one.hours & other.hours,
        days_of_month: one.days_of_month & other.days_of_month,
        months: one.months & other.months,
        days_of_week: one.days_of_week & other.days_of_week,
        either_day: false,
    };
    if both.seconds == 0 || both.minutes == 0 || both.hours == 0 || both.months == 0 {
        return false;
    }
    let by_week = is_by_week(one) && is_by_week(other) && both.days_of_week != 0;
    by_week || is_by_month(one) && is_by_month(other) && both.ever_comes()
}

/// Whether its days of the week alone make a day one of its own.
fn is_by_week(cron: &Cron) -> bool {
    cron.either_day || cron.days_of_month == u64::from(u32::MAX) & !1
}

/// Whether its days of the month alone do.
fn is_by_month(cron: &Cron) -> bool {
    cron.either_day || cron.weekdays() == 0x7f
}
