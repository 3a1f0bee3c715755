//! Times that repeat every week.

use super::ranges::DayRanges;
use super::windows::DAY as SECONDS_OF_DAY;
use super::zone::local::{DAY, Local};

const WEEK: i64 = 7 * DAY;

/// Seconds since Monday 00:00, in order, each once.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Weekly(Box<[u32]>);

impl Weekly {
    pub(super) fn new(mut seconds: Vec<u32>) -> Self {
        seconds.sort_unstable();
        seconds.dedup();
        Self(seconds.into())
    }

    /// The first of the times after `local`.
    pub(super) fn next(&self, local: Local) -> Option<Local> {
        let (monday, second) = in_week(local.max(Local::FIRST.before()));
        let next = match self.0.get(self.past(second)) {
            Some(&later) => monday + i64::from(later),
            None => monday + WEEK + i64::from(*self.0.first()?),
        };
        Some(Local(next)).filter(|next| next.is_in_range())
    }

    /// The last of the times at or before `local`.
    pub(super) fn previous(&self, local: Local) -> Option<Local> {
        let (monday, second) = in_week(local.min(Local::LAST));
        let previous = match self.0.get(..self.past(second))?.last() {
            Some(&earlier) => monday + i64::from(earlier),
            None => monday - WEEK + i64::from(*self.0.last()?),
        };
        Some(Local(previous)).filter(|previous| previous.is_in_range())
    }

    /// The first of the times of a day of the week (0 is Monday) after `local` on one of these dates,
    /// which count as that day.
    pub(super) fn next_as(&self, day: usize, dates: &DayRanges, local: Local) -> Option<Local> {
        let (midnight, times) = self.on(day);
        let first = *times.first()?;
        let from = local.after().max(Local::FIRST);
        let second = midnight + from.second();
        let later = times.get(times.partition_point(|&it| it < second));
        let next = match later.filter(|_| dates.range_of(from.day()).is_some()) {
            Some(&later) => Local::on(from.day(), later - midnight),
            None => Local::on(dates.next_from(from.day() + 1)?, first - midnight),
        };
        Some(next).filter(|next| next.is_in_range())
    }

    /// The last of the times of a day of the week (0 is Monday) at or before `local` on one of these
    /// dates, which count as that day.
    pub(super) fn previous_as(&self, day: usize, dates: &DayRanges, local: Local) -> Option<Local> {
        let (midnight, times) = self.on(day);
        let last = *times.last()?;
        let to = local.min(Local::LAST);
        let second = midnight + to.second();
        let earlier = times
            .get(..times.partition_point(|&it| it <= second))?
            .last();
        let previous = match earlier.filter(|_| dates.range_of(to.day()).is_some()) {
            Some(&earlier) => Local::on(to.day(), earlier - midnight),
            None => Local::on(dates.last_to(to.day() - 1)?, last - midnight),
        };
        Some(previous).filter(|previous| previous.is_in_range())
    }

    /// When a day of the week begins, and its times, both in seconds since Monday 00:00.
    fn on(&self, day: usize) -> (u32, &[u32]) {
        let midnight = |day: usize| u32::try_from(day).unwrap_or_default() * SECONDS_OF_DAY;
        let begin = self.0.partition_point(|&it| it < midnight(day));
        let end = self.0.partition_point(|&it| it < midnight(day + 1));
        (midnight(day), self.0.get(begin..end).unwrap_or_default())
    }

    /// How many of the times of a week are not after this second of it.
    fn past(&self, second: i64) -> usize {
        self.0.partition_point(|&it| i64::from(it) <= second)
    }
}

/// Monday 00:00 of the week of `local`, and the seconds since then. 1970-01-01 was a Thursday.
fn in_week(local: Local) -> (i64, i64) {
    let second = (local.0 + 3 * DAY).rem_euclid(WEEK);
    (local.0 - second, second)
}
