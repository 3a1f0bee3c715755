//! Times that repeat every week.

use super::windows::DAY;

/// Seconds since Monday 00:00, in order, each once.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Weekly(Box<[u32]>);

impl Weekly {
    pub(super) fn new(mut seconds: Vec<u32>) -> Self {
        seconds.sort_unstable();
        seconds.dedup();
        Self(seconds.into())
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Each of them.
    pub(super) fn seconds(&self) -> &[u32] {
        &self.0
    }

    /// The days of the week that have any of the times; bit 0 is Monday.
    pub(super) fn days(&self) -> u32 {
        let (mut days, mut from) = (0, 0);
        while let Some(second) = self.0.get(from) {
            let day = second / DAY;
            days |= 1 << day;
            from += self
                .0
                .get(from..)
                .map_or(1, |rest| rest.partition_point(|&it| it < (day + 1) * DAY));
        }
        days
    }

    /// When a day of the week begins (0 is Monday), and its times, both in seconds since Monday 00:00.
    pub(super) fn on(&self, weekday: usize) -> (u32, &[u32]) {
        let midnight = |day: usize| u32::try_from(day).unwrap_or_default() * DAY;
        let begin = self.0.partition_point(|&it| it < midnight(weekday));
        let end = self.0.partition_point(|&it| it < midnight(weekday + 1));
        (
            midnight(weekday),
            self.0.get(begin..end).unwrap_or_default(),
        )
    }
}
