//! Dates that are unlike others in their week.

use super::month::has;
use super::treated::TreatedDates;
use crate::except::ExceptedDates;

/// Days of the week on which something can be; bit 0 is Monday.
#[derive(Clone, Copy)]
pub(crate) struct Weekdays {
    /// What a date counts as.
    pub(crate) counted: u32,
    /// What a date is by the calendar, whatever it counts as.
    pub(crate) own: u32,
}

/// Dates on which nothing starts, and dates that count as another day of the week. One that is both
/// starts nothing.
#[derive(Clone, Copy)]
pub(crate) struct Dates<'d> {
    pub(crate) except: &'d ExceptedDates,
    pub(crate) treated: &'d TreatedDates,
}

impl Dates<'_> {
    /// The first day from `day` on that may be one of these, and one that is not excepted where dates
    /// are excepted; or a day before it.
    pub(crate) fn first_possible(self, day: i32, weekdays: Weekdays, excepts: bool) -> i32 {
        if let Some((weekday, (_, last))) = self.treated.range_of(day) {
            return if weekdays.counts(weekday) {
                day
            } else {
                last + 1
            };
        }
        if !excepts {
            return day;
        }
        let kept = self.except.first_kept(day, weekdays.counted | weekdays.own);
        let treated = self.treated.next_from(day);
        treated.map_or(kept, |treated| treated.min(kept))
    }

    /// The last such day up to `day`, or a day after it.
    pub(crate) fn last_possible(self, day: i32, weekdays: Weekdays, excepts: bool) -> i32 {
        if let Some((weekday, (first, _))) = self.treated.range_of(day) {
            return if weekdays.counts(weekday) {
                day
            } else {
                first - 1
            };
        }
        if !excepts {
            return day;
        }
        let kept = self.except.last_kept(day, weekdays.counted | weekdays.own);
        let treated = self.treated.last_to(day);
        treated.map_or(kept, |treated| treated.max(kept))
    }
}

impl Weekdays {
    pub(crate) const NONE: Self = Self { counted: 0, own: 0 };

    /// The days of both.
    pub(crate) fn and(self, other: Self) -> Self {
        Self {
            counted: self.counted | other.counted,
            own: self.own | other.own,
        }
    }

    /// Whether a date that counts as this day of the week may be one of them.
    fn counts(self, weekday: usize) -> bool {
        self.own != 0
            || has(
                self.counted.into(),
                u32::try_from(weekday).unwrap_or_default(),
            )
    }
}
