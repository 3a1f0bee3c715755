//! iCalendar files (RFC 5545), as far as all-day events need them.
//!
//! `events` is the entry point: it reads a file into events, which expand to ranges of days.
//! [`crate::calendars`] merges these ranges.

pub(crate) mod clocks;
pub(crate) mod error;
pub(crate) mod events;
mod lines;
mod recurrence;
