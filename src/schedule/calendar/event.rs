//! One `VEVENT`: from its lines to the days that it covers.

use std::{
    borrow::Cow,
    collections::{HashMap, HashSet},
};

use chrono::TimeDelta;

use super::content_line::ContentLine;
use super::date_value::{DateValue, EventClock, duration};
use super::error::{CalendarError, CalendarReason};
use super::recurrence::{Budget, Recurrence};
use crate::schedule::zone::local::Local;
use crate::text::cut_chars;

/// The lines of an event that say when it is and what it is called.
#[derive(Debug, Default)]
pub(super) struct EventLines {
    start: Option<ContentLine>,
    end: Option<ContentLine>,
    duration: Option<ContentLine>,
    summary: Option<ContentLine>,
    uid: Option<ContentLine>,
    status: Option<ContentLine>,
    recurrence_id: Option<ContentLine>,
    rules: Vec<ContentLine>,
    dates: Vec<ContentLine>,
    excepted: Vec<ContentLine>,
    /// What is wrong with a line, which is said once the event has ended: then its name is known.
    failure: Option<CalendarError>,
}

/// An event, of which the days count only where it lasts whole ones.
#[derive(Debug, Default)]
pub(super) struct Event {
    /// The line that it begins with.
    line: usize,
    uid: Box<str>,
    first: i32,
    /// How many days it lasts; `None` where it is at a time of day.
    days: Option<i32>,
    pub(super) summary: Box<str>,
    rules: Vec<Recurrence>,
    dates: Vec<i32>,
    excepted: Vec<i32>,
    /// The day of the recurrence that it takes the place of.
    replaces: Option<i32>,
    is_cancelled: bool,
}

/// The days that recurrences of an event have given up to others, by its UID.
pub(super) type Replaced = HashMap<Box<str>, HashSet<i32>>;

/// The longest name of an event that is kept, in characters.
const LONGEST_SUMMARY: usize = 100;

impl EventLines {
    /// Takes in a line, if it is one of those that matter.
    pub(super) fn take(&mut self, line: ContentLine) {
        if let Err(error) = self.keep(line) {
            self.failure.get_or_insert(error);
        }
    }

    fn keep(&mut self, line: ContentLine) -> Result<(), CalendarError> {
        let place = match line.name().to_ascii_uppercase().as_str() {
            "DTSTART" => &mut self.start,
            "DTEND" => &mut self.end,
            "DURATION" => &mut self.duration,
            "UID" => &mut self.uid,
            "STATUS" => &mut self.status,
            "RECURRENCE-ID" => &mut self.recurrence_id,
            // A name in another language is as good.
            "SUMMARY" if self.summary.is_some() => return Ok(()),
            "SUMMARY" => &mut self.summary,
            "RRULE" => {
                self.rules.push(line);
                return Ok(());
            }
            "RDATE" => {
                self.dates.push(line);
                return Ok(());
            }
            "EXDATE" => {
                self.excepted.push(line);
                return Ok(());
            }
            "EXRULE" => return Err(line.fails(line.name(), CalendarReason::Unsupported)),
            _ => return Ok(()),
        };
        if place.is_some() {
            return Err(line.fails(line.name(), CalendarReason::Twice));
        }
        *place = Some(line);
        Ok(())
    }

    /// The event, which ended in line `end`.
    pub(super) fn event(mut self, end: usize) -> Result<Event, CalendarError> {
        let failure = self.failure.take().map_or(Ok(()), Err);
        let event = failure.and_then(|()| self.read(end));
        event.map_err(|error| error.in_event(&self.name()))
    }

    /// Its summary or, without one, its UID.
    fn name(&self) -> Cow<'_, str> {
        let summary = self.summary.as_ref().map(ContentLine::text);
        let uid = || self.uid.as_ref().map(ContentLine::text);
        let name = summary.filter(|it| !it.trim().is_empty()).or_else(uid);
        name.unwrap_or_default()
    }

    fn read(&self, end: usize) -> Result<Event, CalendarError> {
        let Some(line) = &self.start else {
            return Err(CalendarError::new(end, "", CalendarReason::NoStart));
        };
        let clock = EventClock::of(line);
        let start = DateValue::of(line, clock)?;
        let days = self.days(start, clock)?;
        if days.is_none() {
            return Ok(self.at_a_time(start, clock));
        }
        let all = |lines: &[ContentLine]| {
            let days: Result<Vec<_>, _> =
                lines.iter().map(|it| DateValue::days(it, clock)).collect();
            days.map(|it| it.concat())
        };
        if let Some(line) = &self.recurrence_id
            && line.parameter("RANGE").is_some()
        {
            return Err(line.fails("RANGE", CalendarReason::Unsupported));
        }
        let replaces = self.recurrence_id.as_ref();
        let replaces = replaces.map(|it| DateValue::of(it, clock)).transpose()?;
        let status = self.status.as_ref().map(ContentLine::value);
        let summary = self.summary.as_ref().map(ContentLine::text);
        Ok(Event {
            line: line.number,
            uid: self.uid(),
            first: start.day,
            days,
            summary: cut_chars(summary.unwrap_or_default().trim(), LONGEST_SUMMARY).into(),
            rules: self
                .rules
                .iter()
                .map(|it| Recurrence::of(it, clock))
                .collect::<Result<_, _>>()?,
            dates: all(&self.dates)?,
            excepted: all(&self.excepted)?,
            replaces: replaces.map(|it| it.day),
            is_cancelled: status.is_some_and(|it| it.eq_ignore_ascii_case("CANCELLED")),
        })
    }

    /// An event at a time of day. All that counts of it is which recurrence it takes the place of: a
    /// day may have become a meeting.
    fn at_a_time(&self, start: DateValue, clock: EventClock) -> Event {
        let replaces = self.recurrence_id.as_ref();
        let replaces = replaces.filter(|line| line.parameter("RANGE").is_none());
        Event {
            uid: self.uid(),
            first: start.day,
            replaces: replaces.and_then(|line| Some(DateValue::of(line, clock).ok()?.day)),
            ..Event::default()
        }
    }

    fn uid(&self) -> Box<str> {
        let uid = self.uid.as_ref().map(ContentLine::value);
        uid.unwrap_or_default().into()
    }

    /// How many whole days it lasts; `None` where it does not.
    ///
    /// A date and no end is one day. So is an end on the first day: it should be exclusive, but
    /// some programs mean the day itself. From midnight to midnight is whole days too, in
    /// whatever zone it is written: that is how some programs write them.
    fn days(&self, start: DateValue, clock: EventClock) -> Result<Option<i32>, CalendarError> {
        let (length, line) = match (&self.end, &self.duration) {
            (Some(line), _) => {
                // An end may be at any time of day: none is near enough to be meant.
                let clock = match clock {
                    EventClock::Unknown => EventClock::AsWritten,
                    known => known,
                };
                let end = DateValue::of(line, clock)?;
                let days = TimeDelta::days(i64::from(end.day) - i64::from(start.day));
                let second = |value: DateValue| i64::from(value.second.unwrap_or_default());
                (days + TimeDelta::seconds(second(end) - second(start)), line)
            }
            (None, Some(line)) => {
                let length = duration(line.value());
                let bad = || line.fails(line.value(), CalendarReason::NotADuration);
                (length.ok_or_else(bad)?, line)
            }
            (None, None) => return Ok(start.second.is_none().then_some(1)),
        };
        let days = i32::try_from(length.num_days()).unwrap_or(i32::MAX);
        let is_whole = length == TimeDelta::days(length.num_days());
        match start.second {
            None if length.is_zero() => Ok(Some(1)),
            None if is_whole && days > 0 => Ok(Some(days)),
            None => Err(line.fails(line.value(), CalendarReason::BadEnd)),
            Some(0) if is_whole && days > 0 => Ok(Some(days)),
            Some(_) => Ok(None),
        }
    }
}

impl Event {
    /// Whether it lasts whole days.
    pub(super) const fn is_of_whole_days(&self) -> bool {
        self.days.is_some()
    }

    /// Adds the recurrence of another event that it takes the place of, if it does.
    pub(super) fn note_replaced(&self, replaced: &mut Replaced) {
        if let Some(day) = self.replaces {
            replaced.entry(self.uid.clone()).or_default().insert(day);
        }
    }

    /// Calls `found` with the first and the last day of each of its spans, and whether the span is
    /// of a recurrence without an end. What lies outside of the years of schedules is left out.
    pub(super) fn spans(
        self,
        replaced: &Replaced,
        budget: &mut Budget,
        mut found: impl FnMut((i32, i32), bool) -> Result<(), CalendarReason>,
    ) -> Result<(), CalendarError> {
        let Some(days) = self.days.filter(|_| !self.is_cancelled) else {
            return Ok(());
        };
        let (horizon_from, horizon_to) = (Local::FIRST.day(), Local::LAST.day());
        let excepted: HashSet<i32> = self.excepted.into_iter().collect();
        let is_instance = self.replaces.is_some();
        let replaced = replaced.get(&self.uid).filter(|_| !is_instance);
        let length = days - 1;
        let mut add = |first: i32, is_endless: bool| {
            let is_replaced = replaced.is_some_and(|days| days.contains(&first));
            let last = first.saturating_add(length).min(horizon_to);
            let is_outside = last < horizon_from || first > horizon_to;
            if is_replaced || excepted.contains(&first) || is_outside {
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
        for day in self.dates {
            add(day, false).map_err(fails)?;
        }
        if self.rules.is_empty() || is_instance {
            return add(self.first, false).map_err(fails);
        }
        for rule in self.rules {
            let is_endless = rule.is_endless();
            let add = |day| add(day, is_endless);
            rule.expand(self.first, horizon_to, budget, add)
                .map_err(fails)?;
        }
        Ok(())
    }
}
