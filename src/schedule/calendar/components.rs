//! The components of an iCalendar file, which begin and end within each other (RFC 5545, 3.6).

use super::content_line::{ContentLine, content_lines};
use super::error::{CalendarError, CalendarReason};
use super::event::{Event, EventLines};

/// How deep components may lie in others.
const MAX_DEPTH: usize = 16;

/// The events of a file, in its order, and the number of its last line.
///
/// # Errors
/// It is not an iCalendar file, part of it is missing, or an event cannot be read.
pub(super) fn read_events(file: &[u8]) -> Result<(Vec<Event>, usize), CalendarError> {
    let mut components = Components::default();
    let mut last_line = 0;
    let file = file.strip_prefix(b"\xef\xbb\xbf").unwrap_or(file);
    for line in content_lines(file) {
        let line = match line {
            Err(error) if last_line == 0 => {
                return Err(error.because(CalendarReason::NotACalendar));
            }
            line => line?,
        };
        last_line = line.number;
        components.take(line)?;
    }
    if last_line == 0 {
        return Err(CalendarError::new(1, "", CalendarReason::NotACalendar));
    }
    if !components.open.is_empty() {
        let reason = CalendarReason::Unfinished;
        return Err(CalendarError::new(last_line, "", reason));
    }
    Ok((components.events, last_line))
}

/// What was read of a file so far.
#[derive(Debug, Default)]
struct Components {
    /// The components that have begun and not ended, in upper case; the innermost last.
    open: Vec<String>,
    /// The lines of the event that is open.
    event: EventLines,
    events: Vec<Event>,
}

impl Components {
    fn take(&mut self, line: ContentLine) -> Result<(), CalendarError> {
        if line.is("BEGIN") {
            self.begin(&line)
        } else if line.is("END") {
            self.end(&line)
        } else if self.open.is_empty() {
            Err(line.fails(line.name(), CalendarReason::NotACalendar))
        } else if self.is_in_event() {
            self.event.take(line);
            Ok(())
        } else {
            Ok(())
        }
    }

    fn begin(&mut self, line: &ContentLine) -> Result<(), CalendarError> {
        let is_calendar = line.value().eq_ignore_ascii_case("VCALENDAR");
        if self.open.is_empty() != is_calendar {
            return Err(line.fails(line.value(), CalendarReason::NotACalendar));
        }
        if self.open.len() >= MAX_DEPTH {
            return Err(line.fails(line.value(), CalendarReason::TooDeep));
        }
        self.open.push(line.value().to_ascii_uppercase());
        Ok(())
    }

    fn end(&mut self, line: &ContentLine) -> Result<(), CalendarError> {
        let was_event = self.is_in_event();
        let began = self.open.pop();
        if !began.is_some_and(|began| began.eq_ignore_ascii_case(line.value())) {
            return Err(line.fails(line.value(), CalendarReason::WrongEnd));
        }
        if was_event {
            let event = std::mem::take(&mut self.event);
            self.events.push(event.event(line.number)?);
        }
        Ok(())
    }

    /// Whether an event is open, and nothing within it.
    fn is_in_event(&self) -> bool {
        matches!(&*self.open, [_, event] if event == "VEVENT")
    }
}
