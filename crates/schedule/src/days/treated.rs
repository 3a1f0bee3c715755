//! Dates on which a schedule does what it does on another day of the week.

use chrono::{NaiveDate, Weekday};

use crate::calendar::{CalendarName, Calendars};
use crate::except::{DateSet, read_dates};
use crate::meant::{date, propose::meant};
use crate::ranges::DayRanges;
use crate::text::days::Days;
use crate::text::diagnostic::{Diagnostic, DiagnosticKind};
use crate::text::piece::Piece;
use crate::zone::local::{day_number, weekday};

const EXAMPLE: &str = "2026-10-10 = Mon; calendar:makeup = Fri";

/// The most spans of dates that are treated. A search may have to look at each of them.
const MAX_SPANS: usize = 1_000;

/// Local dates that count as another day of the week. The default is none.
///
/// ```
/// use chrono::Weekday;
/// use dayshift_schedule::TreatedDates;
///
/// let dates = TreatedDates::parse("2026-10-10 = Mon; 2026-12-28..2026-12-31 = Sunday").unwrap();
/// assert_eq!(dates.day_of_week("2026-10-10".parse().unwrap()), Some(Weekday::Mon));
/// assert_eq!(dates.day_of_week("2026-12-30".parse().unwrap()), Some(Weekday::Sun));
/// assert_eq!(dates.day_of_week("2026-10-11".parse().unwrap()), None);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct TreatedDates {
    /// No date is in two sets of different days.
    sets: Box<[Treated]>,
}

/// Dates that count as one day of the week; 0 is Monday.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Treated {
    day: usize,
    dates: DateSet,
}

impl TreatedDates {
    /// Reads dates, or ranges of dates, each with the day of the week that they count as.
    ///
    /// # Errors
    /// An item is not a date from 1970 to 2199 or a range of such dates with `=` and one day of the
    /// week, a date counts as two days, or an item names a calendar. The span is in bytes of the
    /// text.
    pub fn parse(text: &str) -> Result<Self, Diagnostic> {
        Self::parse_with(text, &Calendars::default())
    }

    /// Reads the same, and calendars by their name, as in `calendar:makeup = Fri`.
    ///
    /// # Errors
    /// As [`Self::parse`], but for calendars that are among these.
    pub fn parse_with(text: &str, known: &Calendars) -> Result<Self, Diagnostic> {
        Self::read(text, known).map_err(|error| {
            if known.has_those_of(text) {
                error.read_by(
                    |text, span| meant(text, span, Self::reads, date::treated),
                    text,
                )
            } else {
                error
            }
        })
    }

    /// Whether a text can be read, whatever calendars there are.
    fn reads(text: &str) -> bool {
        Self::read(text, &Calendars::default().or_any()).is_ok()
    }

    fn read(text: &str, known: &Calendars) -> Result<Self, Diagnostic> {
        let mut written: [Vec<(i32, i32)>; 7] = Default::default();
        let mut calendars: Vec<Treated> = Vec::new();
        for item in Piece::items(text, EXAMPLE)? {
            let item = item?;
            let Some((dates, day)) = item.split_once("=") else {
                return Err(not_treated(item));
            };
            let (dates, day) = (dates.trim(), day.trim());
            if dates.text().is_empty() || day.text().is_empty() {
                return Err(not_treated(item));
            }
            // The dates may be wrong in a way that says more.
            let read = DateSet::from(read_dates(dates, known)?);
            let day = Days::one(day)?;
            let twice = |day| {
                let wrong = format!("has {}, which counts as another day already", shown(day));
                let error = dates.fails(wrong, "write each date once");
                error.of_kind(DiagnosticKind::Calendar)
            };
            let others = written.iter().enumerate().filter(|(it, _)| *it != day);
            for range in others.flat_map(|(_, ranges)| ranges) {
                let date = read.days().next_from(range.0);
                if let Some(date) = date.filter(|date| *date <= range.1) {
                    return Err(twice(date));
                }
            }
            for other in calendars.iter().filter(|it| it.day != day) {
                if let Some(date) = read.days().first_common(other.dates.days()) {
                    return Err(twice(date));
                }
            }
            match read {
                DateSet::Written(ranges) => {
                    if let Some(days) = written.get_mut(day) {
                        days.extend(ranges.iter());
                    }
                }
                dates => {
                    let treated = Treated { day, dates };
                    if !calendars.contains(&treated) {
                        calendars.push(treated);
                    }
                }
            }
        }
        let written = written.into_iter().enumerate();
        let written = written.filter(|(_, ranges)| !ranges.is_empty());
        let written = written.map(|(day, ranges)| Treated {
            day,
            dates: DateSet::Written(DayRanges::united(ranges)),
        });
        let sets: Box<[Treated]> = written.chain(calendars).collect();
        let spans: usize = sets.iter().map(|it| it.dates.days().iter().count()).sum();
        if spans > MAX_SPANS {
            let all = Piece::whole(text, EXAMPLE)?;
            let wrong = format!("has more than {MAX_SPANS} spans of dates");
            let error = all.fails(wrong, "remove those that are over");
            return Err(error.of_kind(DiagnosticKind::Calendar));
        }
        Ok(Self { sets })
    }

    /// The day of the week that a date counts as, where it is one of them.
    pub fn day_of_week(&self, date: NaiveDate) -> Option<Weekday> {
        let set = self.set_of(day_number(date))?;
        Weekday::try_from(u8::try_from(set.day).ok()?).ok()
    }

    /// The calendar that makes a date one of them, and what it calls the date, which may be empty
    /// and hold anything that somebody wrote.
    pub fn named(&self, date: NaiveDate) -> Option<(&CalendarName, &str)> {
        match &self.set_of(day_number(date))?.dates {
            DateSet::Written(_) => None,
            DateSet::Calendar(name, calendar) => Some((name, calendar.summary_on(date)?)),
        }
    }

    /// The calendars whose dates these are.
    pub fn calendars(&self) -> impl Iterator<Item = (&CalendarName, &crate::calendar::Calendar)> {
        self.sets.iter().filter_map(|set| set.dates.calendar())
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.sets.is_empty()
    }

    /// The last of them.
    pub fn last(&self) -> Option<NaiveDate> {
        NaiveDate::from_epoch_days(self.last_day()?)
    }

    /// The last of them, in days since 1970-01-01.
    pub(crate) fn last_day(&self) -> Option<i32> {
        let last = self.sets.iter().filter_map(|set| set.dates.days().last());
        last.max()
    }

    /// The day of the week that a day counts as: its own, where it is not one of them.
    pub(crate) fn weekday(&self, day: i32) -> usize {
        self.set_of(day).map_or_else(|| weekday(day), |set| set.day)
    }

    /// The day of the week that a day counts as, with the first and the last day of the range that
    /// holds it.
    pub(crate) fn range_of(&self, day: i32) -> Option<(usize, (i32, i32))> {
        let mut sets = self.sets.iter();
        sets.find_map(|it| Some((it.day, it.dates.days().range_of(day)?)))
    }

    /// The first of the dates that is not before `day`.
    pub(crate) fn next_from(&self, day: i32) -> Option<i32> {
        let sets = self.sets.iter();
        sets.filter_map(|it| it.dates.days().next_from(day)).min()
    }

    /// The last of the dates that is not after `day`.
    pub(crate) fn last_to(&self, day: i32) -> Option<i32> {
        let sets = self.sets.iter();
        sets.filter_map(|it| it.dates.days().last_to(day)).max()
    }

    /// Days of the week with the dates that count as such; one day may come several times.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (usize, &DayRanges)> {
        self.sets.iter().map(|it| (it.day, it.dates.days()))
    }

    fn set_of(&self, day: i32) -> Option<&Treated> {
        let mut sets = self.sets.iter();
        sets.find(|it| it.dates.days().range_of(day).is_some())
    }
}

fn not_treated(item: Piece<'_>) -> Diagnostic {
    item.fails(
        "has no date or no day of the week",
        "write for example `2026-10-10 = Mon`, and separate several with `;`",
    )
}

fn shown(day: i32) -> String {
    NaiveDate::from_epoch_days(day).map_or_else(String::new, |date| date.to_string())
}
