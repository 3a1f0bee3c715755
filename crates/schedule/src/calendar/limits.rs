//! How much of a calendar is read.

use super::error::CalendarReason;

/// The largest file that is read, in bytes: as much as a ConfigMap holds.
pub(super) const MAX_FILE: usize = 1 << 20;

/// The most spans of days that a calendar may have.
pub(super) const MAX_DATES: usize = 100_000;

/// How much work the recurrences of one file may be: days and periods that are looked at.
#[derive(Debug)]
pub(super) struct Budget(u32);

impl Budget {
    /// Two hundred feasts of every year without an end that are on days of the week, as
    /// Thanksgiving. Those on days of the month are a fiftieth of the work.
    pub(super) const fn of_a_file() -> Self {
        Self(2_000_000)
    }

    /// Takes some of it.
    ///
    /// # Errors
    /// It is too much.
    pub(super) fn spend(&mut self, work: u32) -> Result<(), CalendarReason> {
        self.0 = self
            .0
            .checked_sub(work)
            .ok_or(CalendarReason::TooMuchWork)?;
        Ok(())
    }
}
