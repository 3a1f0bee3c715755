//! iCalendar files (RFC 5545), read as far as the whole days of their events need it.
//!
//! `events` is the entry point: it turns the bytes of a file into events. An event gives its days
//! as spans; [`crate::calendars`] unites them.

pub(crate) mod clocks;
pub(crate) mod error;
pub(crate) mod events;
mod lines;
mod recurrence;
