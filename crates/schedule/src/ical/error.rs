//! Why a calendar file is refused, and in which line.
//!
//! How much of a calendar is read.

use std::fmt;

use dayshift_text::quote;

/// Why a calendar file is refused.
///
/// Its `Display` names the line, the event by its summary or its UID, the offending words and what
/// is wrong with them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CalendarError {
    line: usize,
    /// The name of the event, quoted; empty where it is not about one, or that has none.
    event: Box<str>,
    found: Box<str>,
    reason: CalendarReason,
}

/// What is wrong with a calendar file. `Display` goes on after the offending words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CalendarReason {
    /// The file is longer than 1 MiB and was not read.
    #[error("the file is larger than {MAX_FILE} bytes, which is all that is read")]
    TooLarge,
    /// The file does not begin as a calendar does.
    #[error("is not the beginning of an iCalendar file, which is `BEGIN:VCALENDAR`")]
    NotACalendar,
    /// The file ends too early, as after a download that broke off.
    #[error("the file ends before `END:VCALENDAR`: part of it is missing")]
    Unfinished,
    /// The file has no event that lasts whole days.
    #[error("the file has no event that lasts whole days")]
    NoDates,
    /// A line without a name and a colon.
    #[error("is not a line of iCalendar, such as `DTSTART;VALUE=DATE:20261225`")]
    NotALine,
    /// `END` of something other than what began last.
    #[error("ends a component that did not begin last")]
    WrongEnd,
    /// Components within components, too deep.
    #[error("is nested too deep in other components")]
    TooDeep,
    /// An event without `DTSTART`.
    #[error("the event that ends here has no DTSTART")]
    NoStart,
    /// A property that an event may have once.
    #[error("is given twice in one event")]
    Twice,
    /// A value that is neither a date nor a date and time.
    #[error("is not a date; dates are written as `20261225`")]
    NotADate,
    /// A value that is not a duration.
    #[error("is not a duration; durations are written as `P1D` or `P2W`")]
    NotADuration,
    /// An event that ends before it begins, or not at the end of a day.
    #[error("is not an end for this event, which begins on a date; write a later date")]
    BadEnd,
    /// Part of a recurrence that is not `NAME=value`, or has a value that its name does not take.
    #[error("is not a known part of a recurrence, such as `FREQ=YEARLY` or `COUNT=10`")]
    BadRule,
    /// A part of recurrences that is not supported.
    #[error("is not supported; write the dates as events of their own, or as RDATE")]
    Unsupported,
    /// More dates than a calendar may have.
    #[error(
        "the calendar has more than {MAX_DATES} dates; end its recurrences with COUNT or UNTIL"
    )]
    TooManyDates,
    /// Recurrences that take too long to work out.
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

    /// The same about something in an event of that name.
    pub(crate) fn in_event(self, name: &str) -> Self {
        Self {
            event: quote(name).into(),
            ..self
        }
    }

    /// The same about the same words, for another reason.
    pub(crate) fn because(self, reason: CalendarReason) -> Self {
        Self { reason, ..self }
    }

    /// The line of the file at fault, from 1.
    pub fn line(&self) -> usize {
        self.line
    }

    /// What is wrong, as a type.
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

/// Without a source: what the reason says is part of the message already.
impl std::error::Error for CalendarError {}

/// The largest file that is read, in bytes: as much as a ConfigMap holds.
pub(crate) const MAX_FILE: usize = 1 << 20;

/// The most spans of days that a calendar may have.
pub(crate) const MAX_DATES: usize = 100_000;

/// How much work the recurrences of one file may be: days and periods that are looked at.
#[derive(Debug)]
pub(crate) struct Budget(u32);

impl Budget {
    /// Two hundred feasts of every year without an end that are on days of the week, as
    /// Thanksgiving. Those on days of the month are a fiftieth of the work.
    pub(crate) const fn for_file() -> Self {
        Self(2_000_000)
    }

    /// Takes some of it.
    ///
    /// # Errors
    /// It is too much.
    pub(crate) fn spend(&mut self, work: u32) -> Result<(), CalendarReason> {
        self.0 = self
            .0
            .checked_sub(work)
            .ok_or(CalendarReason::TooMuchWork)?;
        Ok(())
    }
}
