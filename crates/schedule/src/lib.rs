//! Schedules and the boundaries that follow from them. No Kubernetes, no runtime, no clock.
//!
//! Annotation text is parsed into [`Times`], [`Hours`] or steps to exact counts. Together with a
//! [`Zone`] and [`ExcludedDates`] these make a [`Schedule`], which computes its [`Boundary`]s. If
//! text cannot be parsed, the error is a [`Diagnostic`] with the position of the mistake and, where
//! possible, a proposal.

mod actions;
mod calendars;
mod cron;
mod date_time;
mod dates;
mod days;
mod durations;
mod extra;
mod hours;
mod ical;
mod local;
mod month;
mod proposals;
mod schedule;
mod search;
mod text;
mod times;
mod tzdata;
mod zone;

pub use actions::{Action, Direction, TimedAction, parse_scale};
pub use calendars::{Calendar, CalendarName, Calendars, LoadedCalendar};
pub use date_time::{parse_date_or_date_time, parse_date_time};
pub use dates::{ExcludedDates, TreatedDates};
pub use durations::{
    Since, StopAfter, format_notice, format_seconds, parse_grace, parse_items_and_wait,
    parse_jitter, parse_notice,
};
pub use extra::ExtraWindows;
pub use hours::Hours;
pub use ical::{CalendarError, CalendarReason};
pub use local::WallTime;
pub use month::merge_spans;
pub use schedule::{Boundary, Schedule, ScheduleParts, ScheduleRule, Shared};
pub use text::{
    Diagnostic, DiagnosticKind, MAX_TEXT, Proposal, cut_beyond, cut_too_long, is_too_long,
    list_items, normalize_characters, parse_items, unread_bytes,
};
pub use times::{EitherDayCron, Times};
pub use tzdata::Tzdata;
pub use zone::{ClockChange, DstGap, Zone, ZoneFileError, ZoneOffset};
