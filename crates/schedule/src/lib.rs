//! Times, hours, zones and the boundaries they make. No Kubernetes, no runtime, no clock.
//!
//! A text becomes [`Times`], [`Hours`] or steps to exact counts, these with a [`Zone`] and
//! [`ExceptedDates`] a [`Schedule`], and a schedule answers with [`Boundary`]s. What is wrong with
//! a text is a [`Diagnostic`], which knows where.

mod boundary;
mod calendar;
mod cron;
mod days;
mod entry;
mod entry_search;
mod except;
mod hours;
mod jitter;
mod meant;
mod moment;
mod ranges;
mod schedule;
mod search;
mod text;
mod times;
#[cfg(test)]
mod times_tests;
mod unchanged;
mod windows;
mod zone;

pub use boundary::{Action, Boundary};
pub use calendar::{
    Calendar, CalendarError, CalendarName, CalendarReason, Calendars, ReadCalendar,
};
pub use days::treated::TreatedDates;
pub use entry::{Entry, ScheduleRule, parse_scale};
pub use except::ExceptedDates;
pub use hours::Hours;
pub use jitter::{notice_text, parse_grace, parse_items_and_wait, parse_jitter, parse_notice};
pub use meant::characters::plain;
pub use meant::meaning::Meant;
pub use moment::{parse_date_or_moment, parse_moment};
pub use ranges::unite;
pub use schedule::Schedule;
pub use text::diagnostic::{Diagnostic, DiagnosticKind, MAX_TEXT, cut_too_long, is_too_long};
pub use text::piece::{list_items, parse_items};
pub use text::wall_time::WallTime;
pub use times::Times;
pub use zone::clock_change::{ClockChange, Gap};
pub use zone::rules::ZoneFileError;
pub use zone::time_zone::{Zone, ZoneOffset};
pub use zone::tzdata::Tzdata;
