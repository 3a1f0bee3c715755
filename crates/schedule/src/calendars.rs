//! A calendar: named days.
//!
//! The calendars that are known, by name.

use std::{
    fmt,
    hash::{DefaultHasher, Hash, Hasher},
    sync::Arc,
};

use chrono::{NaiveDate, TimeDelta};
use dayshift_text::nearest;

use crate::{
    ical::{
        error::{Budget, CalendarError, CalendarReason, MAX_DATES, MAX_FILE},
        events::{Event, ReplacedDays, read_events},
    },
    local::day_number,
    month::{DayRanges, WeekRanges},
    text::{
        diagnostic::{Diagnostic, DiagnosticKind, Proposal},
        piece::Piece,
        tokens::normalize_characters,
    },
};

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
    spans: Box<[EventSpan]>,
    summaries: Box<[Box<str>]>,
    /// The last day of what has an end.
    ends: Option<i32>,
    /// How many events are at times of day.
    timed: usize,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct EventSpan {
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
        let mut budget = Budget::for_file();
        let (events, last_line) = read_events(file, &mut budget)?;
        Self::from_events(events, &mut budget)?
            .ok_or_else(|| CalendarError::new(last_line, "", CalendarReason::NoDates))
    }

    /// The days of these events; `None` where they have none.
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
        calendar.weeks = WeekRanges::new(&calendar.days);
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
        summary.map(|summary| &**summary)
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

/// The name of a calendar, such as `de`: as in `calendar:de` and `--calendar de=FILE.ics`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CalendarName(Arc<str>);

impl CalendarName {
    /// Reads a name.
    ///
    /// # Errors
    /// It is empty, longer than 63 characters, or has others than `a-z`, `0-9`, `-`, `_` and `.`.
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

    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for CalendarName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A calendar, or why its file cannot be read, as it is told wherever the calendar is named.
pub type LoadedCalendar = Result<Arc<Calendar>, Arc<str>>;

/// The calendars that texts may name. Cheap to clone. The default knows none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Calendars {
    /// In order of the names.
    known: Arc<[(CalendarName, LoadedCalendar)]>,
    /// Whether any other name will do.
    accepts_any: bool,
}

impl Calendars {
    /// These calendars. Of two with the same name the later one counts.
    pub fn new(calendars: impl IntoIterator<Item = (CalendarName, Arc<Calendar>)>) -> Self {
        let calendars = calendars.into_iter();
        Self::from_files(calendars.map(|(name, calendar)| (name, Ok(calendar))))
    }

    /// The calendars of files, of which some cannot be read: a text that names one of these is
    /// refused, and no other. Of two with the same name the later one counts.
    pub fn from_files(calendars: impl IntoIterator<Item = (CalendarName, LoadedCalendar)>) -> Self {
        let known: std::collections::BTreeMap<_, _> = calendars.into_iter().collect();
        Self {
            known: known.into_iter().collect(),
            accepts_any: false,
        }
    }

    /// These, and any other without a date, as is one that cannot be read: for whoever cannot know
    /// the calendars of the scaler and does not ask on which days something starts.
    #[must_use]
    pub fn accepting_any(self) -> Self {
        Self {
            accepts_any: true,
            ..self
        }
    }

    /// The calendars that can be read, in order of their names.
    pub fn iter(&self) -> impl Iterator<Item = (&CalendarName, &Calendar)> {
        let known = self.known.iter();
        known.filter_map(|(name, read)| Some((name, &**read.as_ref().ok()?)))
    }

    /// Whether a calendar has this name, and its file cannot be read.
    pub fn is_unreadable(&self, name: &str) -> bool {
        let mut known = self.known.iter();
        known.any(|(known, read)| known.as_str() == name && read.is_err())
    }

    /// Whether these have all calendars that a loose reading of a text finds in it.
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

    /// The calendar of a name in an item `calendar:name`, with the one copy of its name.
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
