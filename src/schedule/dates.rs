//! Dates that are unlike others in their week.

use super::except::ExceptedDates;
use super::treated::TreatedDates;

/// Dates on which nothing starts, and dates that count as another day of the week. One that is both
/// starts nothing.
#[derive(Clone, Copy)]
pub(super) struct Dates<'d> {
    pub(super) except: &'d ExceptedDates,
    pub(super) treated: &'d TreatedDates,
}
