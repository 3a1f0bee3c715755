//! Times that repeat every week.

use super::windows::DAY;

/// Times of every week.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Weekly {
    /// Seconds since Monday 00:00, in order, each once.
    seconds: Box<[u32]>,
    /// The days of the week that have any; bit 0 is Monday.
    days: u32,
}

impl Weekly {
    pub(super) fn new(mut seconds: Vec<u32>) -> Self {
        seconds.sort_unstable();
        seconds.dedup();
        let days = seconds.iter().fold(0, |days, it| days | 1 << (it / DAY));
        Self {
            seconds: seconds.into(),
            days,
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.seconds.is_empty()
    }

    /// Seconds since Monday 00:00, in order.
    pub(super) fn seconds(&self) -> &[u32] {
        &self.seconds
    }

    /// The days of the week that have any of the times; bit 0 is Monday.
    pub(super) fn days(&self) -> u32 {
        self.days
    }

    /// The first time of a day of the week (0 is Monday) from a second on, in seconds from midnight.
    pub(super) fn first_on(&self, weekday: usize, second: u32) -> Option<u32> {
        let midnight = self.midnight_of(weekday)?;
        let at = self.first_from(midnight + second);
        let first = self.seconds.get(at)? - midnight;
        (first < DAY).then_some(first)
    }

    /// The last time of a day of the week up to a second.
    pub(super) fn last_on(&self, weekday: usize, second: u32) -> Option<u32> {
        let midnight = self.midnight_of(weekday)?;
        let at = self.first_from(midnight + second + 1);
        let last = self.seconds.get(at.checked_sub(1)?)?;
        last.checked_sub(midnight)
    }

    /// Whether a second of a day of the week is one of the times.
    pub(super) fn holds(&self, weekday: usize, second: u32) -> bool {
        self.first_on(weekday, second) == Some(second)
    }

    /// The times of a day of the week, in seconds from midnight.
    pub(super) fn on(&self, weekday: usize) -> impl Iterator<Item = u32> {
        let mut second = Some(0);
        std::iter::from_fn(move || {
            let first = self.first_on(weekday, second?);
            second = first.map(|it| it + 1);
            first
        })
    }

    /// When a day of the week begins that has any of the times.
    fn midnight_of(&self, weekday: usize) -> Option<u32> {
        let day = u32::try_from(weekday).ok()?;
        (self.days >> day & 1 == 1).then_some(day * DAY)
    }

    fn first_from(&self, second: u32) -> usize {
        self.seconds.partition_point(|&it| it < second)
    }
}
