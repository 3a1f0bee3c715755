//! Events of an iCalendar file, and the days that they cover.
//!
//! [`read_events`] collects the lines of each `VEVENT`, and reads them after the whole file,
//! because an event can replace a recurrence of a later one. [`Event::spans`] expands recurrences.

use std::{
    borrow::Cow,
    collections::{HashMap, HashSet},
};

use chrono::TimeDelta;
use dayshift_text::cut_chars;

use crate::{
    ical::{
        Budget, CalendarError, CalendarReason,
        lines::{ContentLine, content_lines, parse_duration},
        recurrence::{DateValue, EventClock, EventClocks, Recurrence},
    },
    local::Local,
    tzdata::Tzdata,
};

/// The relevant lines of a `VEVENT`.
#[derive(Debug, Default)]
pub(crate) struct EventLines {
    start: Option<ContentLine>,
    end: Option<ContentLine>,
    duration: Option<ContentLine>,
    summary: Option<ContentLine>,
    uid: Option<ContentLine>,
    status: Option<ContentLine>,
    recurrence_id: Option<ContentLine>,
    rules: Vec<ContentLine>,
    excluded_rules: Vec<ContentLine>,
    dates: Vec<ContentLine>,
    excluded: Vec<ContentLine>,
    /// The line of its `END`.
    end_line: usize,
    /// The first error in a line. It is reported at the end of the event, when the name of the
    /// event is known.
    failure: Option<CalendarError>,
}

/// An event. Its days count only if it is an all-day event.
#[derive(Debug, Default)]
pub(crate) struct Event {
    /// The line of its `DTSTART`.
    line: usize,
    uid: Box<str>,
    first: i32,
    /// The number of days that the event lasts; `None` if it is not an all-day event.
    days: Option<i32>,
    pub(crate) summary: Box<str>,
    rules: Vec<Recurrence>,
    /// The first day and the number of days of each `RDATE`.
    dates: Vec<(i32, i32)>,
    excluded: Vec<i32>,
    /// The day of the recurrence that this event replaces (`RECURRENCE-ID`).
    replaces: Option<i32>,
    is_cancelled: bool,
}

/// The days on which a recurrence is replaced, by UID.
pub(crate) type ReplacedDays = HashMap<Box<str>, HashSet<i32>>;

/// The clocks of recurring events, by UID.
pub(crate) type SeriesClocks = HashMap<Box<str>, EventClock>;

/// The maximum length of a stored summary, in characters.
const MAX_SUMMARY: usize = 100;

impl EventLines {
    /// Stores the line if it is relevant. Returns whether it can affect the days of the event.
    pub(crate) fn add_line(&mut self, line: ContentLine) -> bool {
        let name = line.name().to_ascii_uppercase();
        let list = match name.as_str() {
            // Some feeds contain an empty one in each event.
            "RRULE" | "EXRULE" | "RDATE" | "EXDATE" if line.value().is_empty() => return true,
            "RRULE" => Some(&mut self.rules),
            "EXRULE" => Some(&mut self.excluded_rules),
            "RDATE" => Some(&mut self.dates),
            "EXDATE" => Some(&mut self.excluded),
            _ => None,
        };
        if let Some(list) = list {
            list.push(line);
            return true;
        }
        let place = match name.as_str() {
            "DTSTART" => &mut self.start,
            "DTEND" => &mut self.end,
            "DURATION" => &mut self.duration,
            "UID" => &mut self.uid,
            "STATUS" => &mut self.status,
            "RECURRENCE-ID" => &mut self.recurrence_id,
            "SUMMARY" => {
                // Keep the first of several languages.
                self.summary.get_or_insert(line);
                return false;
            }
            _ => return false,
        };
        if place.is_some() {
            let error = line.error(line.name(), CalendarReason::Twice);
            self.failure.get_or_insert(error);
        } else {
            *place = Some(line);
        }
        true
    }

    /// Stores the first error in a line of the event.
    pub(crate) fn record_error(&mut self, error: CalendarError) {
        self.failure.get_or_insert(error);
    }

    pub(crate) fn end(&mut self, line: usize) {
        self.end_line = line;
    }

    /// Adds the clocks of the event to those of recurring events, by UID.
    pub(crate) fn record_clock(&self, tzdata: &Tzdata, clocks: &mut SeriesClocks) {
        if let (None, Some(start)) = (&self.recurrence_id, &self.start) {
            let clock = || EventClock::from_start(start, tzdata);
            clocks.entry(self.uid()).or_insert_with(clock);
        }
    }

    /// Reads the lines, with the clocks of recurring events.
    pub(crate) fn event(
        mut self,
        tzdata: &Tzdata,
        series: &SeriesClocks,
    ) -> Result<Event, CalendarError> {
        let failure = self.failure.take().map_or(Ok(()), Err);
        let event = failure.and_then(|()| self.read(tzdata, series));
        event.map_err(|error| error.in_event(&self.name()))
    }

    /// The summary, or the UID if there is none.
    fn name(&self) -> Cow<'_, str> {
        let summary = self.summary.as_ref().map(ContentLine::text);
        let uid = || self.uid.as_ref().map(ContentLine::text);
        let name = summary
            .filter(|summary| !summary.trim().is_empty())
            .or_else(uid);
        name.unwrap_or_default()
    }

    fn read(&self, tzdata: &Tzdata, series: &SeriesClocks) -> Result<Event, CalendarError> {
        let Some(line) = &self.start else {
            return Err(CalendarError::new(
                self.end_line,
                "",
                CalendarReason::NoStart,
            ));
        };
        let start = DateValue::from_line(line, &EventClock::Utc)?;
        let clocks = EventClocks {
            event: EventClock::from_start(line, tzdata),
            tzdata,
        };
        let replaces = self.replaces(&clocks, series);
        let Some(days) = self.days(start, &clocks)? else {
            return Ok(self.timed_event(start, replaces));
        };
        if let Some(line) = self.excluded_rules.first() {
            return Err(line.error(line.name(), CalendarReason::Unsupported));
        }
        if let Some(line) = &self.recurrence_id
            && line.parameter("RANGE").is_some()
        {
            return Err(line.error("RANGE", CalendarReason::Unsupported));
        }
        let mut dates = Vec::new();
        for line in &self.dates {
            for (date, length) in clocks.periods(line)? {
                let is_at_midnight = date.second.unwrap_or_default() == 0;
                match length.map(whole_days) {
                    None => dates.push((date.day, days)),
                    Some(Some(days)) if is_at_midnight => dates.push((date.day, days)),
                    // It is at a time of day.
                    Some(_) => {}
                }
            }
        }
        let mut excluded = Vec::new();
        for line in &self.excluded {
            excluded.extend(clocks.values(line)?.into_iter().map(|date| date.day));
        }
        let until = |text: &str| Some(DateValue::parse(text, &clocks.event)?.day);
        let status = self.status.as_ref().map(ContentLine::value);
        let summary = self.summary.as_ref().map(ContentLine::text);
        Ok(Event {
            line: line.number,
            uid: self.uid(),
            first: start.day,
            days: Some(days),
            summary: cut_chars(summary.unwrap_or_default().trim(), MAX_SUMMARY).into(),
            rules: self
                .rules
                .iter()
                .map(|rule| Recurrence::from_line(rule, until))
                .collect::<Result<_, _>>()?,
            dates,
            excluded,
            replaces: replaces?,
            is_cancelled: status.is_some_and(|status| status.eq_ignore_ascii_case("CANCELLED")),
        })
    }

    /// An event at a time of day. It can replace one recurrence of an all-day event, for example
    /// when a day becomes a meeting.
    fn timed_event(&self, start: DateValue, replaces: Result<Option<i32>, CalendarError>) -> Event {
        let has_range = |line: &ContentLine| line.parameter("RANGE").is_some();
        let is_one = !self.recurrence_id.as_ref().is_some_and(has_range);
        Event {
            uid: self.uid(),
            first: start.day,
            replaces: replaces.ok().flatten().filter(|_| is_one),
            ..Event::default()
        }
    }

    /// The day of the replaced recurrence, on the clocks of that series.
    fn replaces(
        &self,
        own: &EventClocks<'_>,
        series: &SeriesClocks,
    ) -> Result<Option<i32>, CalendarError> {
        let Some(line) = &self.recurrence_id else {
            return Ok(None);
        };
        let clocks = EventClocks {
            event: series.get(&self.uid()).unwrap_or(&own.event).clone(),
            tzdata: own.tzdata,
        };
        Ok(clocks.values(line)?.first().map(|date| date.day))
    }

    fn uid(&self) -> Box<str> {
        let uid = self.uid.as_ref().map(ContentLine::value);
        uid.unwrap_or_default().into()
    }

    /// The number of whole days; `None` if the event is at a time of day.
    ///
    /// A date without an end is one day. If the end is on the first day, it is one day too: the
    /// end should be exclusive, but some programs mean the day itself. If the end has a time of
    /// day, its date is included. An event from midnight to midnight in any zone is an all-day
    /// event, because some programs write it that way.
    fn days(
        &self,
        start: DateValue,
        clocks: &EventClocks<'_>,
    ) -> Result<Option<i32>, CalendarError> {
        let (length, line) = match (&self.end, &self.duration) {
            (Some(line), _) => {
                // An end can be at any time of day, so there is no nearest midnight to assume.
                let clock = match &clocks.event {
                    EventClock::Unknown => &EventClock::AsWritten,
                    known => known,
                };
                (DateValue::from_line(line, clock)?.since(start), line)
            }
            (None, Some(line)) => {
                let length = parse_duration(line.value());
                let bad = || line.error(line.value(), CalendarReason::NotADuration);
                (length.ok_or_else(bad)?, line)
            }
            (None, None) => return Ok(start.second.is_none().then_some(1)),
        };
        match start.second {
            None if length < TimeDelta::zero() => {
                Err(line.error(line.value(), CalendarReason::BadEnd))
            }
            None => {
                let is_begun = length > TimeDelta::days(length.num_days());
                let days = length.num_days() + i64::from(is_begun);
                Ok(Some(i32::try_from(days.max(1)).unwrap_or(i32::MAX)))
            }
            Some(0) => Ok(whole_days(length)),
            Some(_) => Ok(None),
        }
    }
}

/// `None` if the duration is not a positive number of whole days.
fn whole_days(length: TimeDelta) -> Option<i32> {
    let days = i32::try_from(length.num_days()).unwrap_or(i32::MAX);
    let is_whole = length == TimeDelta::days(length.num_days());
    (is_whole && days > 0).then_some(days)
}

impl Event {
    pub(crate) const fn is_all_day(&self) -> bool {
        self.days.is_some()
    }

    /// Adds the recurrence that this event replaces.
    pub(crate) fn record_replaced(&self, replaced: &mut ReplacedDays) {
        if let Some(day) = self.replaces {
            replaced.entry(self.uid.clone()).or_default().insert(day);
        }
    }

    /// Calls `found` for each range, with its first and last day and whether it comes from a
    /// recurrence without an end. Ranges outside of the years of schedules are skipped.
    pub(crate) fn spans(
        self,
        replaced: &ReplacedDays,
        budget: &mut Budget,
        mut found: impl FnMut((i32, i32), bool) -> Result<(), CalendarReason>,
    ) -> Result<(), CalendarError> {
        let Some(days) = self.days.filter(|_| !self.is_cancelled) else {
            return Ok(());
        };
        let (horizon_from, horizon_to) = (Local::FIRST.day(), Local::LAST.day());
        let excluded: HashSet<i32> = self.excluded.into_iter().collect();
        let is_instance = self.replaces.is_some();
        let replaced = replaced.get(&self.uid).filter(|_| !is_instance);
        let mut add = |first: i32, days: i32, is_endless: bool| {
            let is_replaced = replaced.is_some_and(|days| days.contains(&first));
            let last = first.saturating_add(days - 1).min(horizon_to);
            let is_outside = last < horizon_from || first > horizon_to;
            if is_replaced || excluded.contains(&first) || is_outside {
                return Ok(());
            }
            found((first.max(horizon_from), last), is_endless)
        };
        let name = if self.summary.is_empty() {
            &self.uid
        } else {
            &self.summary
        };
        let fails = |reason| CalendarError::new(self.line, "", reason).in_event(name);
        for (day, days) in self.dates {
            add(day, days, false).map_err(fails)?;
        }
        if self.rules.is_empty() || is_instance {
            return add(self.first, days, false).map_err(fails);
        }
        // An event that begins earlier can extend into the years of schedules.
        let span = horizon_from.saturating_sub(days)..=horizon_to;
        for rule in self.rules {
            let is_endless = rule.is_endless();
            let add = |day| add(day, days, is_endless);
            rule.expand(self.first, span.clone(), budget, add)
                .map_err(fails)?;
        }
        Ok(())
    }
}

/// The maximum nesting of components.
const MAX_DEPTH: usize = 16;

/// The events of a file in order, and the number of its last line.
///
/// # Errors
/// The file is not an iCalendar file or is truncated, or an event cannot be read.
pub(crate) fn read_events(
    file: &[u8],
    tzdata: &Tzdata,
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
                components.read_unreadable(error)?;
                continue;
            }
            Ok(line) => line,
        };
        last_line = line.number;
        components.add_line(line)?;
    }
    if last_line == 0 {
        return Err(CalendarError::new(1, "", CalendarReason::NotACalendar));
    }
    if !components.open.is_empty() {
        let reason = CalendarReason::Unfinished;
        return Err(CalendarError::new(last_line, "", reason));
    }
    let mut series = SeriesClocks::new();
    for event in &components.events {
        event.record_clock(tzdata, &mut series);
    }
    let events = components.events.into_iter();
    let events = events.map(|lines| lines.event(tzdata, &series));
    Ok((events.collect::<Result<_, _>>()?, last_line))
}

/// The state of the reader.
#[derive(Debug, Default)]
struct Components {
    /// The names of the open components in upper case, the innermost last.
    open: Vec<String>,
    /// The lines of the open event.
    event: EventLines,
    events: Vec<EventLines>,
    /// Whether the last line was free text, which some programs continue without folding.
    is_text: bool,
    /// Whether a `VCALENDAR` has ended.
    has_ended: bool,
}

impl Components {
    fn add_line(&mut self, line: ContentLine) -> Result<(), CalendarError> {
        self.is_text = false;
        if line.is("BEGIN") {
            self.begin(&line)
        } else if line.is("END") {
            self.end(&line)
        } else if self.open.is_empty() {
            // Some programs end a file with a remark.
            let is_remark = line.name().starts_with("X-") && self.has_ended;
            let fails = || line.error(line.name(), CalendarReason::NotACalendar);
            is_remark.then_some(()).ok_or_else(fails)
        } else {
            self.is_text = !(self.is_in_event() && self.event.add_line(line));
            Ok(())
        }
    }

    /// Handles a line that is not iCalendar syntax. After free text it is a continuation that was
    /// not folded.
    fn read_unreadable(&mut self, error: CalendarError) -> Result<(), CalendarError> {
        if self.is_text && self.open.len() > 1 {
            return Ok(());
        }
        if self.is_in_event() {
            self.event.record_error(error);
            return Ok(());
        }
        Err(error)
    }

    fn begin(&mut self, line: &ContentLine) -> Result<(), CalendarError> {
        let is_calendar = line.value().eq_ignore_ascii_case("VCALENDAR");
        if self.open.is_empty() != is_calendar {
            return Err(line.error(line.value(), CalendarReason::NotACalendar));
        }
        if self.open.len() >= MAX_DEPTH {
            return Err(line.error(line.value(), CalendarReason::TooDeep));
        }
        self.open.push(line.value().to_ascii_uppercase());
        Ok(())
    }

    fn end(&mut self, line: &ContentLine) -> Result<(), CalendarError> {
        let was_event = self.is_in_event();
        let began = self.open.pop();
        if !began.is_some_and(|began| began.eq_ignore_ascii_case(line.value())) {
            return Err(line.error(line.value(), CalendarReason::WrongEnd));
        }
        self.has_ended |= self.open.is_empty();
        if was_event {
            let mut event = std::mem::take(&mut self.event);
            event.end(line.number);
            self.events.push(event);
        }
        Ok(())
    }

    /// Whether the innermost open component is an event.
    fn is_in_event(&self) -> bool {
        matches!(&*self.open, [_, event] if event == "VEVENT")
    }
}
