//! Spans of days, in order.

use super::days::month::Month;

/// Days in as few spans as will do.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(in crate::schedule) struct DayRanges {
    /// First and last day of each span, in days since 1970-01-01; in order, with at least one day
    /// between two.
    ranges: Box<[(i32, i32)]>,
}

impl DayRanges {
    /// The days of all these spans.
    pub(in crate::schedule) fn united(mut ranges: Vec<(i32, i32)>) -> Self {
        ranges.sort_unstable();
        ranges.dedup_by(|next, kept| {
            let touches = next.0 <= kept.1 + 1;
            if touches {
                kept.1 = kept.1.max(next.1);
            }
            touches
        });
        Self {
            ranges: ranges.into(),
        }
    }

    /// First and last day of each span, in order.
    pub(in crate::schedule) fn iter(&self) -> impl Iterator<Item = (i32, i32)> {
        self.ranges.iter().copied()
    }

    /// The first day that both have.
    pub(in crate::schedule) fn first_common(&self, other: &Self) -> Option<i32> {
        let (few, many) = if self.ranges.len() < other.ranges.len() {
            (self, other)
        } else {
            (other, self)
        };
        few.iter()
            .find_map(|(first, last)| many.next_from(first).filter(|day| *day <= last))
    }

    /// The last day.
    pub(in crate::schedule) fn last(&self) -> Option<i32> {
        self.ranges.last().map(|&(_, last)| last)
    }

    /// First and last day of the span that holds `day`.
    pub(in crate::schedule) fn range_of(&self, day: i32) -> Option<(i32, i32)> {
        let at = self.ranges.partition_point(|&(_, last)| last < day);
        self.ranges
            .get(at)
            .copied()
            .filter(|&(first, _)| first <= day)
    }

    /// Those of the days that are in a month; bit 1 is its first.
    pub(in crate::schedule) fn days_in(&self, month: &Month) -> u64 {
        let (first, length) = (month.first, month.length.cast_signed());
        let at = self.ranges.partition_point(|&(_, last)| last < first);
        let ranges = self.ranges.get(at..).unwrap_or_default();
        let bit = |day: i32| 1 + (day - first).clamp(0, length - 1);
        let ranges = ranges.iter().take_while(|it| it.0 < first + length);
        ranges.fold(0, |days, &(from, to)| {
            days | u64::MAX << bit(from) & u64::MAX >> (63 - bit(to))
        })
    }

    /// The last of the days that is not after `day`.
    pub(in crate::schedule) fn last_to(&self, day: i32) -> Option<i32> {
        let at = self.ranges.partition_point(|&(first, _)| first <= day);
        let last = self.ranges.get(..at)?.last();
        last.map(|&(_, last)| last.min(day))
    }

    /// The first of the days that is not before `day`.
    pub(in crate::schedule) fn next_from(&self, day: i32) -> Option<i32> {
        let at = self.ranges.partition_point(|&(_, last)| last < day);
        self.ranges.get(at).map(|&(first, _)| first.max(day))
    }
}
