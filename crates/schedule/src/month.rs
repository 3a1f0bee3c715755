//! Sets of dates: months as bits, months with treated dates, and ranges of days.
//!
//! A set of dates of one month is a `u64` whose bit 1 is the first of the month. A set of weekdays
//! is a `u32` whose bit 0 is Monday. Days are counted from 1970-01-01.

use chrono::{Datelike, NaiveDate};

use crate::local::weekday;

#[derive(Clone, Copy)]
pub(crate) struct Month {
    year: i32,
    pub(crate) number: u32,
    pub(crate) length: u32,
    /// The first of the month, in days since 1970-01-01.
    pub(crate) first: i32,
    /// 0 is Monday.
    pub(crate) first_weekday: usize,
}

impl Month {
    fn new(year: i32, number: u32, first: i32) -> Option<Self> {
        (1970..2200).contains(&year).then(|| Self {
            year,
            number,
            length: month_length(year, number),
            first,
            first_weekday: weekday(first),
        })
    }

    /// The month of a day since 1970-01-01, and the day of that month.
    pub(crate) fn containing(day: i32) -> Option<(Self, u32)> {
        let date = NaiveDate::from_epoch_days(day)?;
        let first = day - date.day0().cast_signed();
        Some((Self::new(date.year(), date.month(), first)?, date.day()))
    }

    /// The next month; `None` after 2199.
    pub(crate) fn next(&self) -> Option<Self> {
        let (year, number) = match self.number {
            12 => (self.year + 1, 1),
            number => (self.year, number + 1),
        };
        Self::new(year, number, self.first + self.length.cast_signed())
    }

    /// The previous month; `None` before 1970.
    pub(crate) fn previous(&self) -> Option<Self> {
        let (year, number) = match self.number {
            1 => (self.year - 1, 12),
            number => (self.year, number - 1),
        };
        let length = month_length(year, number).cast_signed();
        Self::new(year, number, self.first - length)
    }

    /// An index below [`LAYOUTS`]. If two months have the same index, their dates fall on the same
    /// weekdays, and so do the dates of the previous months.
    pub(crate) fn layout(&self) -> usize {
        let is_by_leap_day = matches!(self.number, 2 | 3) && month_length(self.year, 2) == 29;
        let number = self.number.saturating_sub(1) as usize;
        number + 12 * (self.first_weekday + 7 * usize::from(is_by_leap_day))
    }

    /// All dates of the month.
    pub(crate) const fn days(&self) -> u64 {
        (u64::MAX >> (63 - self.length)) & !1
    }

    /// The given date, in days since 1970-01-01.
    pub(crate) fn day(&self, of_month: u32) -> i32 {
        self.first + of_month.cast_signed() - 1
    }
}

/// The number of month layouts.
pub(crate) const LAYOUTS: usize = 12 * 7 * 2;

pub(crate) fn month_length(year: i32, month: u32) -> u32 {
    match month {
        4 | 6 | 9 | 11 => 30,
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        2 => 28,
        _ => 31,
    }
}

/// Whether bit `value` is set.
pub(crate) fn has(bits: u64, value: u32) -> bool {
    bits >> value & 1 == 1
}

/// The lowest set bit that is at least `from`.
pub(crate) fn lowest_from(bits: u64, from: u32) -> Option<u32> {
    let rest = bits & u64::MAX << from;
    (rest != 0).then(|| rest.trailing_zeros())
}

/// The highest set bit that is at most `to`.
pub(crate) fn highest_to(bits: u64, to: u32) -> Option<u32> {
    let rest = bits & u64::MAX >> (63 - to);
    (rest != 0).then(|| 63 - rest.leading_zeros())
}

/// The side of a time that is searched. The time itself belongs to both sides.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Toward {
    Later,
    Earlier,
}

impl Toward {
    /// The nearest set bit from `from` on.
    pub(crate) fn bit(self, bits: u64, from: u32) -> Option<u32> {
        match self {
            Self::Later => lowest_from(bits, from),
            Self::Earlier => highest_to(bits, from),
        }
    }

    /// The nearest of some sorted values from `from` on.
    pub(crate) fn sorted<T: Ord + Copy>(self, values: &[T], from: T) -> Option<T> {
        self.all_sorted(values, from).next()
    }

    /// The sorted values from `from` on, beginning with the nearest.
    pub(crate) fn all_sorted<T: Ord + Copy>(
        self,
        values: &[T],
        from: T,
    ) -> impl Iterator<Item = T> {
        let (later, earlier) = match self {
            Self::Later => {
                let at = values.partition_point(|value| *value < from);
                (values.get(at..), None)
            }
            Self::Earlier => {
                let at = values.partition_point(|value| *value <= from);
                (None, values.get(..at))
            }
        };
        let later = later.unwrap_or_default().iter();
        later
            .chain(earlier.unwrap_or_default().iter().rev())
            .copied()
    }

    /// The nearest of some values that are all on this side.
    pub(crate) fn nearest<T: Ord>(self, values: impl Iterator<Item = T>) -> Option<T> {
        match self {
            Self::Later => values.min(),
            Self::Earlier => values.max(),
        }
    }

    /// The next number; `None` below 0.
    pub(crate) fn step(self, number: u32) -> Option<u32> {
        match self {
            Self::Later => Some(number + 1),
            Self::Earlier => number.checked_sub(1),
        }
    }

    /// The number at which a search enters the range from 0 to `last`.
    pub(crate) fn edge(self, last: u32) -> u32 {
        match self {
            Self::Later => 0,
            Self::Earlier => last,
        }
    }
}

/// A month, with the weekday that each of its dates counts as.
pub(crate) struct Page {
    pub(crate) month: Month,
    /// The dates of each weekday from Monday, if some date counts as another weekday.
    treated: Option<[u64; 7]>,
}

/// Every seventh day, five times.
const WEEKS: u64 = 1 | 1 << 7 | 1 << 14 | 1 << 21 | 1 << 28;

impl Page {
    /// `treated` yields a weekday (0 is Monday) and the dates of the month that count as that
    /// weekday.
    pub(crate) fn new(month: Month, treated: impl Iterator<Item = (usize, u64)>) -> Self {
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

    /// Whether any date counts as another weekday.
    pub(crate) fn is_treated(&self) -> bool {
        self.treated.is_some()
    }

    /// The weekday that all dates count as, if they do not count as their own.
    pub(crate) fn only_weekday(&self) -> Option<usize> {
        let mut treated = self.treated.as_ref()?.iter();
        treated.position(|days| *days == self.month.days())
    }

    /// The dates that count as one of these weekdays.
    pub(crate) fn on_weekdays(&self, days: u32) -> u64 {
        let Some(treated) = &self.treated else {
            return own_dates(&self.month, days);
        };
        let dates = (0..).zip(treated).filter(|(day, _)| has(days.into(), *day));
        dates.fold(0, |all, (_, dates)| all | dates)
    }
}

/// The dates that fall on one of these weekdays.
fn own_dates(month: &Month, days: u32) -> u64 {
    // Rotate the set so that bit 0 is the weekday of the first of the month.
    let week = (days >> month.first_weekday | days << (7 - month.first_weekday)) & 0x7f;
    (WEEKS * u64::from(week)) << 1 & month.days()
}

/// Sorts the spans, and merges those that overlap or for which `touch(end, start)` holds.
pub fn merge_spans<T: Ord + Copy>(
    mut spans: Vec<(T, T)>,
    touch: impl Fn(T, T) -> bool,
) -> Vec<(T, T)> {
    spans.sort_unstable();
    spans.dedup_by(|next, kept| {
        let touches = touch(kept.1, next.0);
        if touches {
            kept.1 = kept.1.max(next.1);
        }
        touches
    });
    spans
}

/// A set of days as sorted ranges.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct DayRanges {
    /// The first and the last day of each range, in days since 1970-01-01, with at least one day
    /// between ranges.
    ranges: Box<[(i32, i32)]>,
}

impl DayRanges {
    /// The days of all these ranges, which may overlap.
    pub(crate) fn merging(ranges: Vec<(i32, i32)>) -> Self {
        Self {
            ranges: merge_spans(ranges, |last, first| first <= last + 1).into(),
        }
    }

    /// The first and the last day of each range, in order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (i32, i32)> {
        self.ranges.iter().copied()
    }

    /// The first day that both sets contain.
    pub(crate) fn first_common(&self, other: &Self) -> Option<i32> {
        let (few, many) = if self.ranges.len() < other.ranges.len() {
            (self, other)
        } else {
            (other, self)
        };
        few.iter()
            .find_map(|(first, last)| many.next_from(first).filter(|day| *day <= last))
    }

    pub(crate) fn last(&self) -> Option<i32> {
        self.ranges.last().map(|&(_, last)| last)
    }

    /// The range that contains `day`.
    pub(crate) fn range_of(&self, day: i32) -> Option<(i32, i32)> {
        let at = self.ranges.partition_point(|&(_, last)| last < day);
        self.ranges
            .get(at)
            .copied()
            .filter(|&(first, _)| first <= day)
    }

    /// The dates of a month that are in the set.
    pub(crate) fn days_in(&self, month: &Month) -> u64 {
        let (first, length) = (month.first, month.length.cast_signed());
        let at = self.ranges.partition_point(|&(_, last)| last < first);
        let ranges = self.ranges.get(at..).unwrap_or_default();
        let bit = |day: i32| 1 + (day - first).clamp(0, length - 1);
        let ranges = ranges.iter().take_while(|range| range.0 < first + length);
        ranges.fold(0, |days, &(from, to)| {
            days | u64::MAX << bit(from) & u64::MAX >> (63 - bit(to))
        })
    }

    /// The first day that is at least `day`.
    pub(crate) fn next_from(&self, day: i32) -> Option<i32> {
        let at = self.ranges.partition_point(|&(_, last)| last < day);
        self.ranges.get(at).map(|&(first, _)| first.max(day))
    }
}
