//! Times of day.

use std::fmt;

/// A time of day, in minutes from midnight. 24:00 is the end of a day.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct WallTime(pub(in crate::schedule) u16);

impl WallTime {
    pub(in crate::schedule) const END_OF_DAY: Self = Self(24 * 60);

    /// Seconds from midnight.
    pub(in crate::schedule) fn seconds(self) -> u32 {
        u32::from(self.0) * 60
    }
}

impl fmt::Display for WallTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:02}:{:02}", self.0 / 60, self.0 % 60)
    }
}
