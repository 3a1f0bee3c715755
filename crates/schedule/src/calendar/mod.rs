//! Calendar files: the whole days of the events of an iCalendar file (RFC 5545), by name.

#[expect(clippy::module_inception, reason = "the type is named as its room is")]
mod calendar;
mod calendars;
mod components;
mod content_line;
mod date_value;
mod error;
mod event;
mod event_clock;
mod file_zone;
mod limits;
mod recurrence;

pub use calendar::Calendar;
pub use calendars::{CalendarName, Calendars, ReadCalendar};
pub use error::{CalendarError, CalendarReason};
