//! Days within the month, dates that count as another day of the week, and additional windows.

use chrono::{Datelike as _, Days, NaiveDate};
use fastrand::Rng;

use crate::scenario::{
    calendar::{Extra, Plan, Rule},
    definition::Scenario,
    times::{At, Unit, Within},
};

impl Scenario {
    /// Draws which times are on days within the month, and which dates count as other days of the week. The
    /// draws come from a separate generator, so that other scenarios do not depend on them.
    pub fn draw_odd_days(&mut self) {
        let random = &mut Rng::with_seed(self.seed ^ 0x0dd_da75);
        let begin = self.begin.date_naive();
        let (is_monthly, is_treated) = (random.u8(..4) == 0, random.u8(..4) == 0);
        for plan in &mut self.plans {
            if is_monthly && random.bool() {
                make_monthly(random, plan, begin);
            }
            if is_treated && random.u8(..4) != 0 {
                let dates = (0..5).map(|day| begin + Days::new(day));
                let some = dates.filter(|_| random.u8(..3) == 0);
                let some: Vec<_> = some.collect();
                let treated = some.into_iter().map(|date| (date, random.u32(..7)));
                plan.treated = treated.collect();
            }
        }
    }
}

impl Scenario {
    /// Draws additional windows from another separate generator.
    pub fn draw_extra(&mut self) {
        let random = &mut Rng::with_seed(self.seed ^ 0xe874_a000);
        if random.u8(..4) != 0 {
            return;
        }
        let begin = self.begin.date_naive();
        for plan in &mut self.plans {
            for _ in 0..random.u8(..3) {
                let first = begin + Days::new(random.u64(..4));
                let from = random.u32(..96) * 15;
                let length = random.choice([15, 60, 240, 540, 900, 1425]).unwrap();
                plan.extra.push(Extra {
                    first,
                    last: first + Days::new(random.choice([0, 0, 0, 1, 3]).unwrap()),
                    from,
                    to: (from + length) % 1440,
                });
            }
        }
    }
}

/// Changes some times and windows to days within the month that occur during the scenario.
fn make_monthly(random: &mut Rng, plan: &mut Plan, begin: NaiveDate) {
    let mut drawn = || {
        let date = begin + Days::new(random.u64(..4));
        random.bool().then(|| within(random, date))
    };
    let mut change = |at: &mut At| {
        if let At::Weekly { minute, .. } = *at
            && let Some(within) = drawn()
        {
            *at = At::Monthly { within, minute };
        }
    };
    match &mut plan.rule {
        Rule::Hours(windows) => windows.iter_mut().for_each(|it| it.within = drawn()),
        Rule::Times { start, stop } => start.iter_mut().chain(stop).for_each(change),
        Rule::Scale(steps) => steps.iter_mut().for_each(|(at, _)| change(at)),
    }
}

/// A day within the month that matches this date: one of the first four of its unit, or the last one.
fn within(random: &mut Rng, date: NaiveDate) -> Within {
    let is_weekday = date.weekday().num_days_from_monday() < 5;
    let units = [Unit::Day, Unit::Weekday, Unit::SameDay];
    let fitting = units.into_iter().filter(|unit| {
        let is_counted = is_weekday || *unit != Unit::Weekday;
        let before = unit.in_month(date).filter(|it| *it < date).count();
        is_counted && (before < 4 || unit.in_month(date).last() == Some(date))
    });
    let fitting: Vec<_> = fitting.collect();
    // A fifth one that is not the last cannot be written, so another day is drawn.
    let unit = random.choice(fitting).unwrap_or(Unit::Day);
    let is_last = unit.in_month(date).last() == Some(date);
    let before = unit.in_month(date).filter(|it| *it < date).count();
    let like = if before < 4 || is_last {
        date
    } else {
        date.with_day(1).unwrap_or(date)
    };
    Within {
        like,
        unit,
        from_end: is_last && (before >= 4 || random.bool()),
    }
}
