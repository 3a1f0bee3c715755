//! What the counters and `plan` say is saved, against a calendar that is walked minute by minute.
//!
//! The calendar has its own arithmetic: local times come from the time zone database alone, windows
//! and amounts are the numbers that the texts were written from.

mod calendar;
mod counters;
mod plan;
