//! What a day has: its place in the month, the windows that begin on it, and the day of the week that
//! it counts as.

pub(super) mod dates;
pub(super) mod day;
pub(super) mod day_pattern;
pub(super) mod gaps;
pub(super) mod month;
pub(super) mod page;
pub(super) mod recurring;
pub(super) mod ties;
pub(super) mod treated;
