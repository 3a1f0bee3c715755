//! How much of a calendar is read.

/// The largest file that is read, in bytes: as much as a ConfigMap holds.
pub(super) const MAX_FILE: usize = 1 << 20;

/// The most spans of days that a calendar may have.
pub(super) const MOST_DATES: usize = 100_000;
