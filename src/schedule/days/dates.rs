//! Dates that are unlike others in their week.

use super::treated::TreatedDates;
use crate::schedule::except::ExceptedDates;

/// Dates on which nothing starts, and dates that count as another day of the week. One that is both
/// starts nothing.
#[derive(Clone, Copy)]
pub(in crate::schedule) struct Dates<'d> {
    pub(in crate::schedule) except: &'d ExceptedDates,
    pub(in crate::schedule) treated: &'d TreatedDates,
}
