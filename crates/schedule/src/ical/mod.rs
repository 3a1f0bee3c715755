//! iCalendar files (RFC 5545), as far as all-day events need them: their errors, and the limits
//! that keep parsing bounded.
//!
//! `events` is the entry point: it reads a file into events, which expand to ranges of days.
//! [`crate::calendars`] merges these ranges.

use std::fmt;

use dayshift_text::quote;

pub(crate) mod events;
mod lines;
mod recurrence;

/// Why a calendar file was rejected.
///
/// `Display` names the line, the event by its summary or UID, the offending words and the mistake.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CalendarError {
    line: usize,
    /// The quoted name of the event; empty if there is none.
    event: Box<str>,
    found: Box<str>,
    reason: CalendarReason,
}

/// The mistake in a calendar file. `Display` continues the sentence after the offending words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CalendarReason {
    /// The file is longer than 1 MiB and was not read.
    #[error("the file is larger than {MAX_FILE} bytes, which is all that is read")]
    TooLarge,
    /// The file does not begin with `BEGIN:VCALENDAR`.
    #[error("is not the beginning of an iCalendar file, which is `BEGIN:VCALENDAR`")]
    NotACalendar,
    /// The file is truncated, for example by an interrupted download.
    #[error("the file ends before `END:VCALENDAR`: part of it is missing")]
    Unfinished,
    /// There is no all-day event.
    #[error("the file has no event that lasts whole days")]
    NoDates,
    /// A line has no name or no colon.
    #[error("is not a line of iCalendar, such as `DTSTART;VALUE=DATE:20261225`")]
    NotALine,
    /// `END` does not match the last `BEGIN`.
    #[error("ends a component that did not begin last")]
    WrongEnd,
    /// Components are nested too deeply.
    #[error("is nested too deep in other components")]
    TooDeep,
    /// An event has no `DTSTART`.
    #[error("the event that ends here has no DTSTART")]
    NoStart,
    /// A property is given twice in one event.
    #[error("is given twice in one event")]
    Twice,
    /// A value is neither a date nor a date and time.
    #[error("is not a date; dates are written as `20261225`")]
    NotADate,
    /// A value is not a duration.
    #[error("is not a duration; durations are written as `P1D` or `P2W`")]
    NotADuration,
    /// An event ends before it begins.
    #[error("is not an end for this event, which begins on a date; write a later date")]
    BadEnd,
    /// A part of a recurrence is not `NAME=value`, or its value is not valid for its name.
    #[error("is not a known part of a recurrence, such as `FREQ=YEARLY` or `COUNT=10`")]
    BadRule,
    /// A part of a recurrence is not supported.
    #[error("is not supported; write the dates as events of their own, or as RDATE")]
    Unsupported,
    /// The calendar has too many dates.
    #[error(
        "the calendar has more than {MAX_DATES} dates; end its recurrences with COUNT or UNTIL"
    )]
    TooManyDates,
    /// The recurrences exceed the budget.
    #[error("the recurrences take too long to work out; end them with COUNT or UNTIL")]
    TooMuchWork,
}

impl CalendarError {
    pub(crate) fn new(line: usize, found: &str, reason: CalendarReason) -> Self {
        Self {
            line,
            event: Box::default(),
            found: quote(found).into(),
            reason,
        }
    }

    /// Names the event in which the error is.
    pub(crate) fn in_event(self, name: &str) -> Self {
        Self {
            event: quote(name).into(),
            ..self
        }
    }

    /// Replaces the reason.
    pub(crate) fn because(self, reason: CalendarReason) -> Self {
        Self { reason, ..self }
    }

    /// The offending line of the file, from 1.
    pub fn line(&self) -> usize {
        self.line
    }

    /// The kind of mistake.
    pub fn reason(&self) -> CalendarReason {
        self.reason
    }
}

impl fmt::Display for CalendarError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}", self.line)?;
        if !self.event.is_empty() {
            write!(f, ", event `{}`", self.event)?;
        }
        f.write_str(": ")?;
        if !self.found.is_empty() {
            write!(f, "`{}` ", self.found)?;
        }
        self.reason.fmt(f)
    }
}

/// There is no source: the message already contains the reason.
impl std::error::Error for CalendarError {}

/// The maximum size of a file in bytes, which is that of a ConfigMap.
pub(crate) const MAX_FILE: usize = 1 << 20;

/// The maximum number of date ranges in a calendar.
pub(crate) const MAX_DATES: usize = 100_000;

/// The remaining work for the recurrences of one file, in days and periods that may be checked.
#[derive(Debug)]
pub(crate) struct Budget(u32);

impl Budget {
    /// Enough for two hundred endless yearly holidays on weekdays, such as Thanksgiving. A holiday
    /// on a day of the month costs a fiftieth of that.
    pub(crate) const fn for_file() -> Self {
        Self(2_000_000)
    }

    /// Takes some of the budget.
    ///
    /// # Errors
    /// Not enough is left.
    pub(crate) fn spend(&mut self, work: u32) -> Result<(), CalendarReason> {
        self.0 = self
            .0
            .checked_sub(work)
            .ok_or(CalendarReason::TooMuchWork)?;
        Ok(())
    }
}
