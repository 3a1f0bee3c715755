//! Calendars: named days from iCalendar files, which `except` and `treat-as` refer to by name.

use std::{
    fmt,
    hash::{DefaultHasher, Hash, Hasher},
    sync::Arc,
};

use chrono::{NaiveDate, TimeDelta};
use dayshift_text::nearest;

use crate::{
    ical::{
        Budget, CalendarError, CalendarReason, MAX_DATES, MAX_FILE,
        events::{Event, ReplacedDays, read_events},
    },
    local::day_number,
    month::DayRanges,
    text::{Diagnostic, DiagnosticKind, Piece, Proposal, normalize_characters},
    tzdata::Tzdata,
};

/// The days of the all-day events in an iCalendar file, with their names.
///
/// An event counts if it has dates, or if it lasts from midnight to midnight. Its dates are used
/// as they are written, in whatever zone. Events at times of day and canceled events are ignored.
/// Whether an event is shown as busy (`TRANSP`) makes no difference, because public holiday
/// calendars use both values.
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
    /// A hash of the days.
    digest: u64,
    /// Sorted by the first day, then in the order of the file.
    spans: Box<[EventSpan]>,
    summaries: Box<[Box<str>]>,
    /// The last day of all events except endless recurrences.
    ends: Option<i32>,
    /// The number of ignored events at times of day.
    timed: usize,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct EventSpan {
    first: i32,
    last: i32,
    /// An index in `summaries`.
    summary: u32,
}

impl Calendar {
    /// The maximum size of a file in bytes, which is that of a ConfigMap.
    pub const MAX_FILE: usize = MAX_FILE;

    /// A calendar is reported as ending soon if its last date is within this time.
    pub const ENDS_SOON: TimeDelta = TimeDelta::days(60);

    /// Parses an iCalendar file of at most 1 MiB with the bundled time zones, in bounded time and
    /// memory.
    ///
    /// # Errors
    /// The file is not an iCalendar file or is truncated, it has no all-day event, a date or
    /// recurrence of such an event is invalid, or there are too many of them.
    pub fn parse(file: &[u8]) -> Result<Self, CalendarError> {
        Self::parse_with(file, Tzdata::bundled())
    }

    /// Parses a file with the zones of the given database.
    ///
    /// # Errors
    /// As [`Self::parse`].
    pub fn parse_with(file: &[u8], tzdata: &Tzdata) -> Result<Self, CalendarError> {
        if file.len() > MAX_FILE {
            return Err(CalendarError::new(1, "", CalendarReason::TooLarge));
        }
        let (events, last_line) = read_events(file, tzdata)?;
        Self::from_events(events, &mut Budget::for_file())?
            .ok_or_else(|| CalendarError::new(last_line, "", CalendarReason::NoDates))
    }

    /// `None` if the events have no days.
    fn from_events(events: Vec<Event>, budget: &mut Budget) -> Result<Option<Self>, CalendarError> {
        let timed = events.iter().filter(|event| !event.is_all_day());
        let mut calendar = Self {
            timed: timed.count(),
            ..Self::default()
        };
        let mut replaced = ReplacedDays::new();
        for event in &events {
            event.record_replaced(&mut replaced);
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
                spans.push(EventSpan {
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
        calendar.days =
            DayRanges::merging(spans.iter().map(|span| (span.first, span.last)).collect());
        calendar.digest = digest_of(&calendar.days);
        calendar.spans = spans.into();
        calendar.summaries = summaries.into();
        Ok(Some(calendar))
    }

    /// Whether an event covers this date.
    pub fn contains(&self, date: NaiveDate) -> bool {
        self.days.range_of(day_number(date)).is_some()
    }

    /// The summary of the first event that covers this date, exactly as in the file. Escape it
    /// before you show it. It is empty if the event has no summary, and `None` if no event covers
    /// the date.
    pub fn summary_on(&self, date: NaiveDate) -> Option<&str> {
        let day = day_number(date);
        let begun = self.spans.partition_point(|span| span.first <= day);
        let of_day = self
            .spans
            .get(..begun)?
            .iter()
            .find(|span| span.last >= day)?;
        let summary = self.summaries.get(usize::try_from(of_day.summary).ok()?);
        summary.map(|summary| &**summary)
    }

    /// The last date of the calendar, if it ends. Endless recurrences are ignored if there are
    /// other events: a file with yearly holidays, and with movable holidays until some year, is
    /// complete until that year.
    pub fn ends_on(&self) -> Option<NaiveDate> {
        NaiveDate::from_epoch_days(self.ends?)
    }

    /// The last date that an event covers.
    pub fn last(&self) -> Option<NaiveDate> {
        NaiveDate::from_epoch_days(self.days.last()?)
    }

    /// The number of events that were ignored because they are at times of day.
    pub fn timed_events(&self) -> usize {
        self.timed
    }

    pub(crate) fn days(&self) -> &DayRanges {
        &self.days
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

/// The name of a calendar, such as `de` in `calendar:de` and `--calendar de=FILE.ics`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CalendarName(Arc<str>);

impl CalendarName {
    /// Parses a name.
    ///
    /// # Errors
    /// The name is empty, longer than 63 characters, or has characters other than `a-z`, `0-9`,
    /// `-`, `_` and `.`.
    pub fn parse(text: &str) -> Result<Self, Diagnostic> {
        let is_fine = |byte: u8| {
            byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'-' | b'_' | b'.')
        };
        let is_name = (1..=63).contains(&text.len()) && text.bytes().all(is_fine);
        if is_name {
            Ok(Self(text.into()))
        } else {
            let help = "write 1 to 63 of the characters a-z, 0-9, `-`, `_` and `.`, such as `de`";
            let wrong = "is not the name of a calendar";
            Err(Diagnostic::new(0..text.len(), text, wrong, help))
        }
    }

    /// The name as a string.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for CalendarName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A calendar, or the reason why its file is unreadable, for the error of each schedule that names
/// it.
pub type LoadedCalendar = Result<Arc<Calendar>, Arc<str>>;

/// The calendars that a schedule can name. They are cheap to clone, and there are none by default.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Calendars {
    /// Sorted by name.
    known: Arc<[(CalendarName, LoadedCalendar)]>,
    /// Whether any other name is accepted.
    accepts_any: bool,
}

impl Calendars {
    /// If two calendars have the same name, the later one is used.
    pub fn new(calendars: impl IntoIterator<Item = (CalendarName, Arc<Calendar>)>) -> Self {
        let calendars = calendars.into_iter();
        Self::from_files(calendars.map(|(name, calendar)| (name, Ok(calendar))))
    }

    /// Calendars from files, some of which might be unreadable. A schedule is rejected only if it
    /// names an unreadable calendar. If two calendars have the same name, the later one is used.
    pub fn from_files(calendars: impl IntoIterator<Item = (CalendarName, LoadedCalendar)>) -> Self {
        let known: std::collections::BTreeMap<_, _> = calendars.into_iter().collect();
        Self {
            known: known.into_iter().collect(),
            accepts_any: false,
        }
    }

    /// Also accepts any other name, as a calendar without dates. An unreadable calendar has no
    /// dates either. Use this if the calendars of the controller are unknown and the dates of
    /// starts do not matter.
    #[must_use]
    pub fn accepting_any(self) -> Self {
        Self {
            accepts_any: true,
            ..self
        }
    }

    /// The readable calendars, sorted by name.
    pub fn iter(&self) -> impl Iterator<Item = (&CalendarName, &Calendar)> {
        let known = self.known.iter();
        known.filter_map(|(name, read)| Some((name, &**read.as_ref().ok()?)))
    }

    /// Whether all calendars that an annotation names are known and readable. The text can have
    /// syntax errors: each item that begins with `calendar:` counts.
    pub(crate) fn contain_all_in(&self, text: &str) -> bool {
        let has = |name: &str| {
            let mut known = self.iter();
            self.accepts_any || known.any(|(known, _)| known.as_str() == name)
        };
        let text = normalize_characters(text);
        let items = text.split([';', ',', '=']).map(str::trim);
        let mut names = items.filter_map(|item| item.strip_prefix("calendar:"));
        names.all(|name| has(name.trim()))
    }

    fn unknown(&self, item: Piece<'_>, name: Piece<'_>) -> Diagnostic {
        let text = name.text();
        let known: Vec<_> = self.known.iter().map(|(it, _)| it.as_str()).collect();
        let proposal = nearest(text, known.iter().copied()).map(|nearest| Proposal::Replace {
            span: item.span(),
            text: format!("calendar:{nearest}").into(),
        });
        let mut help = format!("give its file with `--calendar {text}=FILE.ics`");
        if !known.is_empty() {
            help += &format!(", or name a known one: {}", known.join(", "));
        }
        let error = name.error("is not a known calendar", help);
        error
            .with_proposal(proposal)
            .with_kind(DiagnosticKind::Calendar)
    }

    /// Looks up the calendar of an item `calendar:name`, and shares the stored name.
    pub(crate) fn named(
        &self,
        item: Piece<'_>,
        name: Piece<'_>,
    ) -> Result<(CalendarName, Arc<Calendar>), Diagnostic> {
        let text = name.text();
        let mut all = self.known.iter();
        match all.find(|(known, _)| known.as_str() == text) {
            Some((name, Ok(calendar))) => return Ok((name.clone(), calendar.clone())),
            Some((_, Err(why))) if !self.accepts_any => {
                let wrong = format!("is a calendar that cannot be read: {why}");
                let help =
                    format!("correct the file, or give another with `--calendar {text}=FILE.ics`");
                return Err(name.error(wrong, help).with_kind(DiagnosticKind::Calendar));
            }
            Some((_, Err(_))) | None => {}
        }
        match CalendarName::parse(text) {
            Ok(name) if self.accepts_any => Ok((name, Arc::default())),
            Ok(_) => Err(self.unknown(item, name)),
            Err(_) => Err(name.error(
                "is not the name of a calendar",
                "write for example `calendar:de`, and give its file with `--calendar de=FILE.ics`",
            )),
        }
    }
}
