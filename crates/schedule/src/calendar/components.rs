//! The components of an iCalendar file, which begin and end within each other (RFC 5545, 3.6).

use std::rc::Rc;

use super::content_line::{ContentLine, content_lines};
use super::error::{CalendarError, CalendarReason};
use super::event::{Event, EventLines, SeriesClocks};
use super::event_clock::{FileZones, known_zone};
use super::file_zone::{FileZone, ObservanceLines};
use super::limits::Budget;

/// How deep components may lie in others.
const MAX_DEPTH: usize = 16;

/// The events of a file, in its order, and the number of its last line. What its zones take to work
/// out is part of the budget.
///
/// # Errors
/// It is not an iCalendar file, part of it is missing, or an event cannot be read.
pub(super) fn read_events(
    file: &[u8],
    budget: &mut Budget,
) -> Result<(Vec<Event>, usize), CalendarError> {
    let mut components = Components::default();
    let mut last_line = 0;
    let file = file.strip_prefix(b"\xef\xbb\xbf").unwrap_or(file);
    for line in content_lines(file) {
        let line = match line {
            Err(error) if last_line == 0 => {
                return Err(error.because(CalendarReason::NotACalendar));
            }
            Err(error) => {
                components.take_unreadable(error)?;
                continue;
            }
            Ok(line) => line,
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
    let zones = components.zones(budget)?;
    let mut series = SeriesClocks::new();
    for event in &components.events {
        event.note_clock(&zones, &mut series);
    }
    let events = components.events.into_iter();
    let events = events.map(|it| it.event(&zones, &series));
    Ok((events.collect::<Result<_, _>>()?, last_line))
}

/// What was read of a file so far.
#[derive(Debug, Default)]
struct Components {
    /// The components that have begun and not ended, in upper case; the innermost last.
    open: Vec<String>,
    /// The lines of the event that is open.
    event: EventLines,
    /// They may name zones that are defined after them.
    events: Vec<EventLines>,
    /// Whether the last line was text that somebody wrote, which may go on without being folded.
    is_text: bool,
    /// Whether a calendar has ended.
    has_ended: bool,
    zones: Vec<ZoneLines>,
}

/// The lines of a `VTIMEZONE`.
#[derive(Debug, Default)]
struct ZoneLines {
    line: usize,
    name: String,
    observances: Vec<ObservanceLines>,
}

impl ZoneLines {
    fn beginning(line: usize) -> Self {
        Self {
            line,
            ..Self::default()
        }
    }

    /// Takes in a line that lies in so many components.
    fn take(&mut self, line: ContentLine, depth: usize) {
        match self.observances.last_mut().filter(|_| depth > 2) {
            Some(observance) => observance.take(line),
            None if line.is("TZID") => line.value().clone_into(&mut self.name),
            None => {}
        }
    }
}

impl Components {
    fn take(&mut self, line: ContentLine) -> Result<(), CalendarError> {
        self.is_text = false;
        if line.is("BEGIN") {
            self.begin(&line)
        } else if line.is("END") {
            self.end(&line)
        } else if self.open.is_empty() {
            // Some programs end a file with a remark.
            let is_remark = line.name().starts_with("X-") && self.has_ended;
            let fails = || line.fails(line.name(), CalendarReason::NotACalendar);
            is_remark.then_some(()).ok_or_else(fails)
        } else {
            self.take_property(line);
            Ok(())
        }
    }

    fn take_property(&mut self, line: ContentLine) {
        let is_in_zone = self.open.get(1).is_some_and(|it| it == "VTIMEZONE");
        if is_in_zone && let Some(zone) = self.zones.last_mut() {
            zone.take(line, self.open.len());
        } else if self.is_in_event() {
            self.is_text = !self.event.take(line);
        } else {
            self.is_text = true;
        }
    }

    /// A line that is not one of iCalendar: where text goes on it is the rest of that, which some
    /// programs write as it is.
    fn take_unreadable(&mut self, error: CalendarError) -> Result<(), CalendarError> {
        if self.is_text && self.open.len() > 1 {
            return Ok(());
        }
        if self.is_in_event() {
            self.event.fail(error);
            return Ok(());
        }
        Err(error)
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
        match &*self.open {
            [_, zone] if zone == "VTIMEZONE" => self.zones.push(ZoneLines::beginning(line.number)),
            [_, zone, _] if zone == "VTIMEZONE" => {
                if let Some(zone) = self.zones.last_mut() {
                    zone.observances.push(ObservanceLines::default());
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn end(&mut self, line: &ContentLine) -> Result<(), CalendarError> {
        let was_event = self.is_in_event();
        let began = self.open.pop();
        if !began.is_some_and(|began| began.eq_ignore_ascii_case(line.value())) {
            return Err(line.fails(line.value(), CalendarReason::WrongEnd));
        }
        self.has_ended |= self.open.is_empty();
        if was_event {
            let mut event = std::mem::take(&mut self.event);
            event.end(line.number);
            self.events.push(event);
        }
        Ok(())
    }

    /// The zones that only this file knows.
    fn zones(&self, budget: &mut Budget) -> Result<FileZones, CalendarError> {
        let mut zones = FileZones::new();
        let of_file = self.zones.iter();
        for it in of_file.filter(|it| known_zone(&it.name).is_none()) {
            let zone = FileZone::of(&it.observances, budget);
            let fails = |reason| CalendarError::new(it.line, &it.name, reason);
            if let Some(zone) = zone.map_err(fails)? {
                zones.insert(it.name.clone(), Rc::new(zone));
            }
        }
        Ok(zones)
    }

    /// Whether an event is open, and nothing within it.
    fn is_in_event(&self) -> bool {
        matches!(&*self.open, [_, event] if event == "VEVENT")
    }
}
