//! Times, hours, zones and the boundaries they make. No Kubernetes, no runtime, no clock.
//!
//! A text becomes [`Times`], [`Hours`] or steps to exact counts, these with a [`Zone`] and [`ExceptedDates`] a
//! [`Schedule`], and a schedule answers with [`Boundary`]s. What is wrong with a text is a
//! [`TextError`], which knows where.

mod boundary;
mod clock_text;
mod cron;
mod cron_field;
mod cron_text;
mod date;
mod days;
mod entry;
mod error;
mod except;
mod gap;
mod hours;
mod jitter;
mod local;
mod moment;
mod print;
mod reason;
#[expect(clippy::module_inception, reason = "the type is named as its room is")]
mod schedule;
mod text;
mod times;
mod tokens;
mod wall_time;
mod weekly;
mod windows;
mod zone;
mod zone_name;

pub use boundary::{Action, Boundary};
pub use entry::{Entry, parse_scale};
pub use error::TextError;
pub use except::ExceptedDates;
pub use gap::Gap;
pub use hours::Hours;
pub use jitter::parse_jitter;
pub use moment::{parse_date_or_moment, parse_moment};
pub use reason::{CronField, MAX_TEXT, Reason};
pub use schedule::{Rule, Schedule};
pub use text::list_items;
pub use times::Times;
pub use wall_time::WallTime;
pub use zone::{ClockChange, Zone};
