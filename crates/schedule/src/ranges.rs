//! Spans of days, in order.

use super::days::month::Month;
use super::zone::local::weekday;

/// The same spans in order and in as few as will do: those that overlap are one, and those whose end
/// and beginning touch.
pub fn unite<T: Ord + Copy>(mut spans: Vec<(T, T)>, touch: impl Fn(T, T) -> bool) -> Vec<(T, T)> {
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

/// Days in as few spans as will do.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct DayRanges {
    /// First and last day of each span, in days since 1970-01-01; in order, with at least one day
    /// between two.
    ranges: Box<[(i32, i32)]>,
}

impl DayRanges {
    /// The days of all these spans.
    pub(crate) fn united(ranges: Vec<(i32, i32)>) -> Self {
        Self {
            ranges: unite(ranges, |last, first| first <= last + 1).into(),
        }
    }

    /// First and last day of each span, in order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (i32, i32)> {
        self.ranges.iter().copied()
    }

    /// The first day that both have.
    pub(crate) fn first_common(&self, other: &Self) -> Option<i32> {
        let (few, many) = if self.ranges.len() < other.ranges.len() {
            (self, other)
        } else {
            (other, self)
        };
        few.iter()
            .find_map(|(first, last)| many.next_from(first).filter(|day| *day <= last))
    }

    /// The last day.
    pub(crate) fn last(&self) -> Option<i32> {
        self.ranges.last().map(|&(_, last)| last)
    }

    /// First and last day of the span that holds `day`.
    pub(crate) fn range_of(&self, day: i32) -> Option<(i32, i32)> {
        let at = self.ranges.partition_point(|&(_, last)| last < day);
        self.ranges
            .get(at)
            .copied()
            .filter(|&(first, _)| first <= day)
    }

    /// Those of the days that are in a month; bit 1 is its first.
    pub(crate) fn days_in(&self, month: &Month) -> u64 {
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
    pub(crate) fn last_to(&self, day: i32) -> Option<i32> {
        let at = self.ranges.partition_point(|&(first, _)| first <= day);
        let last = self.ranges.get(..at)?.last();
        last.map(|&(_, last)| last.min(day))
    }

    /// The first of the days that is not before `day`.
    pub(crate) fn next_from(&self, day: i32) -> Option<i32> {
        let at = self.ranges.partition_point(|&(_, last)| last < day);
        self.ranges.get(at).map(|&(first, _)| first.max(day))
    }
}

/// Days by the day of the week. A search among days of one day of the week passes over all weeks in
/// which that is one of the days at once.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct WeekRanges {
    /// From Monday: in which weeks since 1970-01-01 that day is one of the days.
    weeks: [DayRanges; 7],
}

impl WeekRanges {
    pub(crate) fn of(days: &DayRanges) -> Self {
        let weeks = [0, 1, 2, 3, 4, 5, 6].map(|weekday| {
            let weeks = days.iter().filter_map(|(first, last)| {
                let weeks = (week_of(first + 6 - weekday), week_of(last - weekday));
                (weeks.0 <= weeks.1).then_some(weeks)
            });
            DayRanges::united(weeks.collect())
        });
        Self { weeks }
    }

    /// The first day that is none of the days: this one, or one that is a whole number of weeks later.
    pub(crate) fn first_without(&self, day: i32) -> i32 {
        let range = self.range_of(day);
        range.map_or(day, |(_, last)| day + 7 * (last + 1 - week_of(day)))
    }

    /// The last such day: this one, or one that is a whole number of weeks earlier.
    pub(crate) fn last_without(&self, day: i32) -> i32 {
        let range = self.range_of(day);
        range.map_or(day, |(first, _)| day - 7 * (week_of(day) + 1 - first))
    }

    fn range_of(&self, day: i32) -> Option<(i32, i32)> {
        self.weeks.get(weekday(day))?.range_of(week_of(day))
    }
}

/// Weeks since the Monday before 1970-01-01, a Thursday.
fn week_of(day: i32) -> i32 {
    (day + 3).div_euclid(7)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weeks_are_passed_over_in_which_a_day_of_the_week_is_one_of_the_days() {
        for spans in [
            vec![],
            vec![(2, 2), (9, 9), (16, 16), (30, 30)],
            vec![(-3, 4), (11, 24), (26, 27)],
            vec![(0, 40)],
            vec![(5, 5), (12, 12), (13, 13), (20, 20), (19, 21), (27, 33)],
        ] {
            let days = DayRanges::united(spans);
            let weeks = WeekRanges::of(&days);
            for day in -20..60 {
                let free = |day: &i32| days.range_of(*day).is_none();
                let later = (0..).map(|week| day + 7 * week).find(free);
                let earlier = (0..).map(|week| day - 7 * week).find(free);
                assert_eq!(Some(weeks.first_without(day)), later, "{day} of {days:?}");
                assert_eq!(Some(weeks.last_without(day)), earlier, "{day} of {days:?}");
            }
        }
    }
}
