//! Days within the month in place of what cron cannot say, or says otherwise than it looks.

use dayshift_text::number;

use super::expression::Cron;
use crate::days::month::has;
use crate::text::month_days::MonthDays;
use crate::text::wall_time::WallTime;

/// The names of the days in cron, from Monday.
const DAYS: [&str; 7] = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"];

/// The most times of day that are written out.
const MAX_TIMES: usize = 4;

/// The days that a field of days means in crons that have `L`, `W` and `#`. `None` for what they do
/// not agree on, such as numbers of weekdays, and for what days within the month cannot say.
pub(super) fn days_meant(of_month: &str, of_week: &str) -> Option<MonthDays> {
    let day = |name: &str| {
        let day = DAYS.iter().position(|day| *day == name)?;
        u32::try_from(day).ok()
    };
    let is_star = |field: &str| matches!(field, "*" | "?");
    let (of_month, of_week) = (of_month.to_ascii_lowercase(), of_week.to_ascii_lowercase());
    if is_star(&of_week) {
        return match &*of_month {
            "l" => Some(MonthDays::LAST_DAY),
            "1w" => Some(MonthDays::FIRST_WEEKDAY),
            "lw" => Some(MonthDays::LAST_WEEKDAY),
            _ => None,
        };
    }
    if !is_star(&of_month) {
        return None;
    }
    match of_week.split_once('#') {
        Some((name, nth)) => {
            let nth = number(nth).filter(|nth| (1..=4).contains(nth))?;
            MonthDays::nth_of_week(nth, day(name)?)
        }
        None => MonthDays::nth_of_week(0, day(of_week.strip_suffix('l')?)?),
    }
}

impl Cron {
    /// These days with the times of day of this cron, as text; `None` where it is not in each month,
    /// or has seconds or many times.
    pub(super) fn on(&self, days: MonthDays) -> Option<String> {
        let is_plain = self.seconds == 1 && (1..=12).all(|month| has(self.months, month));
        let values = |bits: u64| (0_u16..60).filter(move |it| has(bits, u32::from(*it)));
        let times = values(self.hours)
            .flat_map(|hour| values(self.minutes).map(move |minute| WallTime(hour * 60 + minute)));
        let times: Vec<_> = times.take(MAX_TIMES + 1).map(|it| it.to_string()).collect();
        (is_plain && times.len() <= MAX_TIMES).then(|| format!("{days}{}", times.join(",")))
    }

    /// Where a day may match either field of days: the text for those that match both, if days
    /// within the month say it.
    pub(crate) fn on_both_days(&self) -> Option<String> {
        let weeks = [1_u32, 8, 15, 22];
        let week = weeks.map(|first| 0x7f << first);
        let nth = week.iter().position(|week| self.days_of_month == *week)?;
        let nth = u32::try_from(nth).ok()? + 1;
        let days = (0..7).filter(|day| has(self.days_of_week, (day + 1) % 7));
        let days = days.filter_map(|day| MonthDays::nth_of_week(nth, day));
        self.on(days.fold(MonthDays::NONE, MonthDays::and))
    }
}
