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
mod excluded_dates;
mod extra;
mod hours;
mod ical;
mod local;
mod month;
mod proposals;
mod scale;
mod schedule;
mod search;
mod shared;
mod text;
mod times;
mod tzdata;
mod zone;

pub use actions::{Action, Direction, TimedAction};
pub use calendars::{Calendar, CalendarName, Calendars, LoadedCalendar};
pub use date_time::{parse_date_or_date_time, parse_date_time};
pub use dates::TreatedDates;
pub use durations::{
    Since, StopAfter, format_notice, format_seconds, parse_grace, parse_items_and_wait,
    parse_jitter, parse_notice,
};
pub use excluded_dates::ExcludedDates;
pub use extra::ExtraWindows;
pub use hours::Hours;
pub use ical::error::{CalendarError, CalendarReason};
pub use local::WallTime;
pub use month::merge_spans;
pub use scale::parse_scale;
pub use schedule::{Boundary, Schedule, ScheduleParts, ScheduleRule};
pub use shared::Shared;
pub use text::diagnostic::{
    Diagnostic, DiagnosticKind, MAX_TEXT, Proposal, cut_beyond, cut_too_long, is_too_long,
    unread_bytes,
};
pub use text::piece::{list_items, parse_items};
pub use text::tokens::normalize_characters;
pub use times::{EitherDayCron, Times};
pub use tzdata::Tzdata;
pub use zone::{ClockChange, DstGap, Zone, ZoneFileError, ZoneOffset};
