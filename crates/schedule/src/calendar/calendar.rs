//! A calendar: named days.

use std::hash::{DefaultHasher, Hash, Hasher};

use chrono::{NaiveDate, TimeDelta};

use super::components::read_events;
use super::error::{CalendarError, CalendarReason};
use super::event::{Event, Replaced};
use super::limits::{Budget, MAX_DATES, MAX_FILE};
use crate::ranges::{DayRanges, WeekRanges};
use crate::zone::local::day_number;

/// The days that the events of an iCalendar file cover, each with a name.
///
/// Events that last whole days count: those that have dates, and those from midnight to midnight,
/// whose dates are taken as they are written, whatever zone is written beside them. Events at
/// times of day do not count, nor do those that are cancelled. Whether an event is shown as busy
/// (`TRANSP`) makes no difference: public calendars of holidays say free and busy alike.
///
/// ```
/// use dayshift_schedule::Calendar;
///
/// let file = "BEGIN:VCALENDAR\nBEGIN:VEVENT\nDTSTART;VALUE=DATE:20261225\n\
///             DTEND;VALUE=DATE:20261227\nSUMMARY:Christmas\nEND:VEVENT\nEND:VCALENDAR";
/// let calendar = Calendar::parse(file.as_bytes()).unwrap();
/// assert_eq!(calendar.summary_on("2026-12-26".parse().unwrap()), Some("Christmas"));
/// assert_eq!(calendar.summary_on("2026-12-27".parse().unwrap()), None);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Calendar {
    days: DayRanges,
    /// The same by the day of the week.
    weeks: WeekRanges,
    /// Equal days have equal ones.
    digest: u64,
    /// In order of the first day, then of the file.
    spans: Box<[Span]>,
    summaries: Box<[Box<str>]>,
    /// The last day of what has an end.
    ends: Option<i32>,
    /// How many events are at times of day.
    timed: usize,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Span {
    first: i32,
    last: i32,
    /// Which of the summaries is its name.
    summary: u32,
}

impl Calendar {
    /// The most bytes of a file that are read: as much as a ConfigMap holds.
    pub const MAX_FILE: usize = MAX_FILE;

    /// How long before its last date a calendar is said to end.
    pub const ENDS_SOON: TimeDelta = TimeDelta::days(60);

    /// Reads an iCalendar file of at most 1 MiB, in bounded time and memory.
    ///
    /// # Errors
    /// It is not an iCalendar file or part of it is missing, it has no event of whole days, a
    /// date or a recurrence of such an event cannot be read, or it has too many of them.
    pub fn parse(file: &[u8]) -> Result<Self, CalendarError> {
        if file.len() > MAX_FILE {
            return Err(CalendarError::new(1, "", CalendarReason::TooLarge));
        }
        let mut budget = Budget::of_a_file();
        let (events, last_line) = read_events(file, &mut budget)?;
        Self::of_events(events, &mut budget)?
            .ok_or_else(|| CalendarError::new(last_line, "", CalendarReason::NoDates))
    }

    /// The days of these events; `None` where they have none.
    fn of_events(events: Vec<Event>, budget: &mut Budget) -> Result<Option<Self>, CalendarError> {
        let timed = events.iter().filter(|it| !it.is_of_whole_days());
        let mut calendar = Self {
            timed: timed.count(),
            ..Self::default()
        };
        let mut replaced = Replaced::new();
        for event in &events {
            event.note_replaced(&mut replaced);
        }
        let (mut spans, mut summaries) = (Vec::new(), Vec::new());
        for event in events {
            let summary = u32::try_from(summaries.len()).unwrap_or(u32::MAX);
            summaries.push(event.summary.clone());
            event.spans(&replaced, budget, |(first, last), is_endless| {
                if spans.len() >= MAX_DATES {
                    return Err(CalendarReason::TooManyDates);
                }
                if !is_endless {
                    calendar.ends = calendar.ends.max(Some(last));
                }
                spans.push(Span {
                    first,
                    last,
                    summary,
                });
                Ok(())
            })?;
        }
        if spans.is_empty() {
            return Ok(None);
        }
        spans.sort_by_key(|span| span.first);
        calendar.days = DayRanges::united(spans.iter().map(|it| (it.first, it.last)).collect());
        calendar.weeks = WeekRanges::of(&calendar.days);
        calendar.digest = digest_of(&calendar.days);
        calendar.spans = spans.into();
        calendar.summaries = summaries.into();
        Ok(Some(calendar))
    }

    /// Whether an event covers this date.
    pub fn contains(&self, date: NaiveDate) -> bool {
        self.days.range_of(day_number(date)).is_some()
    }

    /// The name of the first event that covers this date, as somebody wrote it: it may hold
    /// anything. Empty where the event has no name; `None` where no event covers the date.
    pub fn summary_on(&self, date: NaiveDate) -> Option<&str> {
        let day = day_number(date);
        let begun = self.spans.partition_point(|span| span.first <= day);
        let of_day = self
            .spans
            .get(..begun)?
            .iter()
            .find(|span| span.last >= day)?;
        let summary = self.summaries.get(usize::try_from(of_day.summary).ok()?);
        summary.map(|it| &**it)
    }

    /// The last date of the calendar, where it ends. Events that come again for ever do not count
    /// as long as there is any other: a file with fixed feasts that recur, and floating ones up to
    /// some year, is complete up to that year.
    pub fn ends_on(&self) -> Option<NaiveDate> {
        NaiveDate::from_epoch_days(self.ends?)
    }

    /// The last date that is excepted.
    pub fn last(&self) -> Option<NaiveDate> {
        NaiveDate::from_epoch_days(self.days.last()?)
    }

    /// How many events were left out because they are at times of day.
    pub fn timed_events(&self) -> usize {
        self.timed
    }

    pub(crate) fn days(&self) -> &DayRanges {
        &self.days
    }

    /// The same by the day of the week.
    pub(crate) fn weeks(&self) -> &WeekRanges {
        &self.weeks
    }
}

impl Hash for Calendar {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.digest.hash(state);
    }
}

fn digest_of(days: &DayRanges) -> u64 {
    let mut hasher = DefaultHasher::new();
    days.hash(&mut hasher);
    hasher.finish()
}
