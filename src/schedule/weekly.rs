//! Times that repeat every week.

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
