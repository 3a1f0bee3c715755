//! One `VEVENT`: from its lines to the days that it covers.

use std::{
    borrow::Cow,
    collections::{HashMap, HashSet},
};

use chrono::TimeDelta;
use dayshift_text::cut_chars;

use super::content_line::ContentLine;
use super::date_value::{Clocks, DateValue, duration};
use super::error::{CalendarError, CalendarReason};
use super::event_clock::{EventClock, FileZones};
use super::limits::Budget;
use super::recurrence::Recurrence;
use crate::zone::local::Local;

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
    excepted_rules: Vec<ContentLine>,
    dates: Vec<ContentLine>,
    excepted: Vec<ContentLine>,
    /// Where it ended.
    end_line: usize,
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
    /// First days, and how many each has.
    dates: Vec<(i32, i32)>,
    excepted: Vec<i32>,
    /// The day of the recurrence that it takes the place of.
    replaces: Option<i32>,
    is_cancelled: bool,
}

/// The days that recurrences of an event have given up to others, by its UID.
pub(super) type Replaced = HashMap<Box<str>, HashSet<i32>>;

/// The clocks of events that recur, by their UID.
pub(super) type SeriesClocks = HashMap<Box<str>, EventClock>;

/// The longest name of an event that is kept, in characters.
const MAX_SUMMARY: usize = 100;

impl EventLines {
    /// Takes in a line, if it is one of those that matter; whether it may say when the event is.
    pub(super) fn take(&mut self, line: ContentLine) -> bool {
        let name = line.name().to_ascii_uppercase();
        let list = match name.as_str() {
            // Some feeds have an empty one on each event.
            "RRULE" | "EXRULE" | "RDATE" | "EXDATE" if line.value().is_empty() => return true,
            "RRULE" => Some(&mut self.rules),
            "EXRULE" => Some(&mut self.excepted_rules),
            "RDATE" => Some(&mut self.dates),
            "EXDATE" => Some(&mut self.excepted),
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
                // A name in another language is as good.
                self.summary.get_or_insert(line);
                return false;
            }
            _ => return false,
        };
        if place.is_some() {
            let error = line.fails(line.name(), CalendarReason::Twice);
            self.failure.get_or_insert(error);
        } else {
            *place = Some(line);
        }
        true
    }

    /// Takes in that a line of it cannot be read.
    pub(super) fn fail(&mut self, error: CalendarError) {
        self.failure.get_or_insert(error);
    }

    /// Takes in that it ended in that line.
    pub(super) fn end(&mut self, line: usize) {
        self.end_line = line;
    }

    /// Adds the clocks on which its recurrences are, by its UID.
    pub(super) fn note_clock(&self, zones: &FileZones, clocks: &mut SeriesClocks) {
        if let (None, Some(start)) = (&self.recurrence_id, &self.start) {
            let clock = || EventClock::of_start(start, zones);
            clocks.entry(self.uid()).or_insert_with(clock);
        }
    }

    /// The event, in a file that defines these zones and has these other events.
    pub(super) fn event(
        mut self,
        zones: &FileZones,
        series: &SeriesClocks,
    ) -> Result<Event, CalendarError> {
        let failure = self.failure.take().map_or(Ok(()), Err);
        let event = failure.and_then(|()| self.read(zones, series));
        event.map_err(|error| error.in_event(&self.name()))
    }

    /// Its summary or, without one, its UID.
    fn name(&self) -> Cow<'_, str> {
        let summary = self.summary.as_ref().map(ContentLine::text);
        let uid = || self.uid.as_ref().map(ContentLine::text);
        let name = summary.filter(|it| !it.trim().is_empty()).or_else(uid);
        name.unwrap_or_default()
    }

    fn read(&self, zones: &FileZones, series: &SeriesClocks) -> Result<Event, CalendarError> {
        let Some(line) = &self.start else {
            return Err(CalendarError::new(
                self.end_line,
                "",
                CalendarReason::NoStart,
            ));
        };
        let start = DateValue::of(line, &EventClock::Utc)?;
        let clocks = Clocks {
            event: EventClock::of_start(line, zones),
            zones,
        };
        let replaces = self.replaces(&clocks, series);
        let Some(days) = self.days(start, &clocks)? else {
            return Ok(self.at_a_time(start, replaces));
        };
        if let Some(line) = self.excepted_rules.first() {
            return Err(line.fails(line.name(), CalendarReason::Unsupported));
        }
        if let Some(line) = &self.recurrence_id
            && line.parameter("RANGE").is_some()
        {
            return Err(line.fails("RANGE", CalendarReason::Unsupported));
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
        let mut excepted = Vec::new();
        for line in &self.excepted {
            excepted.extend(clocks.values(line)?.into_iter().map(|it| it.day));
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
                .map(|it| Recurrence::of(it, until))
                .collect::<Result<_, _>>()?,
            dates,
            excepted,
            replaces: replaces?,
            is_cancelled: status.is_some_and(|it| it.eq_ignore_ascii_case("CANCELLED")),
        })
    }

    /// An event at a time of day. All that counts of it is which recurrence it takes the place of: a
    /// day may have become a meeting.
    fn at_a_time(&self, start: DateValue, replaces: Result<Option<i32>, CalendarError>) -> Event {
        let has_range = |line: &ContentLine| line.parameter("RANGE").is_some();
        let is_one = !self.recurrence_id.as_ref().is_some_and(has_range);
        Event {
            uid: self.uid(),
            first: start.day,
            replaces: replaces.ok().flatten().filter(|_| is_one),
            ..Event::default()
        }
    }

    /// The day of the recurrence that it takes the place of, on the clocks of that.
    fn replaces(
        &self,
        own: &Clocks<'_>,
        series: &SeriesClocks,
    ) -> Result<Option<i32>, CalendarError> {
        let Some(line) = &self.recurrence_id else {
            return Ok(None);
        };
        let clocks = Clocks {
            event: series.get(&self.uid()).unwrap_or(&own.event).clone(),
            zones: own.zones,
        };
        Ok(clocks.values(line)?.first().map(|it| it.day))
    }

    fn uid(&self) -> Box<str> {
        let uid = self.uid.as_ref().map(ContentLine::value);
        uid.unwrap_or_default().into()
    }

    /// How many whole days it lasts; `None` where it does not.
    ///
    /// A date and no end is one day. So is an end on the first day: it should be exclusive, but
    /// some programs mean the day itself. Some write a time of day as the end of dates: the day
    /// that it is in belongs to them. From midnight to midnight is whole days too, in whatever
    /// zone it is written: that is how some programs write them.
    fn days(&self, start: DateValue, clocks: &Clocks<'_>) -> Result<Option<i32>, CalendarError> {
        let (length, line) = match (&self.end, &self.duration) {
            (Some(line), _) => {
                // An end may be at any time of day: none is near enough to be meant.
                let clock = match &clocks.event {
                    EventClock::Unknown => &EventClock::AsWritten,
                    known => known,
                };
                (DateValue::of(line, clock)?.since(start), line)
            }
            (None, Some(line)) => {
                let length = duration(line.value());
                let bad = || line.fails(line.value(), CalendarReason::NotADuration);
                (length.ok_or_else(bad)?, line)
            }
            (None, None) => return Ok(start.second.is_none().then_some(1)),
        };
        match start.second {
            None if length < TimeDelta::zero() => {
                Err(line.fails(line.value(), CalendarReason::BadEnd))
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

/// How many whole days that is; `None` where it is not.
fn whole_days(length: TimeDelta) -> Option<i32> {
    let days = i32::try_from(length.num_days()).unwrap_or(i32::MAX);
    let is_whole = length == TimeDelta::days(length.num_days());
    (is_whole && days > 0).then_some(days)
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
        let mut add = |first: i32, days: i32, is_endless: bool| {
            let is_replaced = replaced.is_some_and(|days| days.contains(&first));
            let last = first.saturating_add(days - 1).min(horizon_to);
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
        for (day, days) in self.dates {
            add(day, days, false).map_err(fails)?;
        }
        if self.rules.is_empty() || is_instance {
            return add(self.first, days, false).map_err(fails);
        }
        // What begins earlier may last into the years of schedules.
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
