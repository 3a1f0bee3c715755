//! Treated dates, which count as another weekday, and the search for dates.
//!
//! [`Dates`] combines excluded and treated dates. It is searched month by month; the caller selects
//! the days to check in each month's [`Page`].

use chrono::{NaiveDate, Weekday};

use crate::{
    calendars::{Calendar, CalendarName, Calendars},
    days::Days,
    excluded_dates::{DateSet, ExcludedDates, parse_dates_item},
    local::{Local, day_number, weekday},
    month::{DayRanges, Month, Page, Toward},
    text::{
        diagnostic::{Diagnostic, DiagnosticKind, Grammar},
        piece::Piece,
    },
};

const EXAMPLE: &str = "2026-10-10 = Mon; calendar:makeup = Fri";

/// The maximum number of ranges, because a search might check each of them.
const MAX_SPANS: usize = 1_000;

/// Local dates that count as another weekday (`treat-as`). There are none by default.
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
    /// No date is in the sets of two different weekdays.
    sets: Box<[Treated]>,
}

/// Dates that count as one weekday; 0 is Monday.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Treated {
    day: usize,
    dates: DateSet,
}

impl TreatedDates {
    /// Parses dates and ranges of dates, each with a weekday.
    ///
    /// # Errors
    /// An item is not a date from 1970 to 2199 or a range of such dates with `=` and one weekday,
    /// a date counts as two weekdays, or an item names a calendar. The span is in bytes of the
    /// text.
    pub fn parse(text: &str) -> Result<Self, Diagnostic> {
        Self::parse_with(text, &Calendars::default())
    }

    /// Parses dates and the names of calendars, for example `calendar:makeup = Fri`.
    ///
    /// # Errors
    /// As [`Self::parse`], except that an item can name one of these calendars.
    pub fn parse_with(text: &str, known: &Calendars) -> Result<Self, Diagnostic> {
        Self::parse_strictly(text, known).map_err(|error| {
            if known.contain_all_in(text) {
                error.in_grammar(Grammar::TreatedDates, text)
            } else {
                error
            }
        })
    }

    fn parse_strictly(text: &str, known: &Calendars) -> Result<Self, Diagnostic> {
        let mut written: [Vec<(i32, i32)>; 7] = Default::default();
        let mut calendars: Vec<Treated> = Vec::new();
        for item in Piece::items(text, EXAMPLE)? {
            let item = item?;
            let Some((dates, day)) = item.split_once("=") else {
                return Err(missing_date_or_weekday(item));
            };
            let (dates, day) = (dates.trim(), day.trim());
            if dates.text().is_empty() || day.text().is_empty() {
                return Err(missing_date_or_weekday(item));
            }
            // An error in the dates is more useful than one in the weekday.
            let read = DateSet::from(parse_dates_item(dates, known)?);
            let day = Days::parse_one(day)?;
            let twice = |day| {
                let wrong = format!(
                    "has {}, which is already treated as another day",
                    format_day(day)
                );
                let error = dates.error(wrong, "write each date once");
                error.with_kind(DiagnosticKind::Calendar)
            };
            let others = written.iter().enumerate().filter(|(it, _)| *it != day);
            for range in others.flat_map(|(_, ranges)| ranges) {
                let date = read.days().next_from(range.0);
                if let Some(date) = date.filter(|date| *date <= range.1) {
                    return Err(twice(date));
                }
            }
            for other in calendars.iter().filter(|set| set.day != day) {
                if let Some(date) = read.days().first_common(other.dates.days()) {
                    return Err(twice(date));
                }
            }
            match read {
                DateSet::WrittenDate(ranges) => {
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
            dates: DateSet::WrittenDate(DayRanges::merging(ranges)),
        });
        let sets: Box<[Treated]> = written.chain(calendars).collect();
        let spans: usize = sets.iter().map(|set| set.dates.days().iter().count()).sum();
        if spans > MAX_SPANS {
            let all = Piece::whole(text, EXAMPLE)?;
            let wrong = format!("has more than {MAX_SPANS} spans of dates");
            let error = all.error(wrong, "remove those in the past");
            return Err(error.with_kind(DiagnosticKind::Calendar));
        }
        Ok(Self { sets })
    }

    /// The weekday that a date counts as, if it is treated.
    pub fn day_of_week(&self, date: NaiveDate) -> Option<Weekday> {
        let set = self.set_of(day_number(date))?;
        Weekday::try_from(u8::try_from(set.day).ok()?).ok()
    }

    /// The calendar that treats a date, and the summary of its event. The summary might be empty.
    /// Escape it before you show it.
    pub fn named(&self, date: NaiveDate) -> Option<(&CalendarName, &str)> {
        match &self.set_of(day_number(date))?.dates {
            DateSet::WrittenDate(_) => None,
            DateSet::Calendar(name, calendar) => Some((name, calendar.summary_on(date)?)),
        }
    }

    /// The calendars in the text.
    pub fn calendars(&self) -> impl Iterator<Item = (&CalendarName, &Calendar)> {
        self.sets.iter().filter_map(|set| set.dates.calendar())
    }

    /// Whether no date is treated.
    pub fn is_empty(&self) -> bool {
        self.sets.is_empty()
    }

    /// The last treated date.
    pub fn last(&self) -> Option<NaiveDate> {
        let last = self.sets.iter().filter_map(|set| set.dates.days().last());
        NaiveDate::from_epoch_days(last.max()?)
    }

    /// The weekday that a day counts as, which is its own unless it is treated.
    pub(crate) fn weekday(&self, day: i32) -> usize {
        self.set_of(day).map_or_else(|| weekday(day), |set| set.day)
    }

    /// Weekdays and the days that count as them. A weekday can occur several times.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (usize, &DayRanges)> {
        self.sets.iter().map(|set| (set.day, set.dates.days()))
    }

    fn set_of(&self, day: i32) -> Option<&Treated> {
        let mut sets = self.sets.iter();
        sets.find(|set| set.dates.days().range_of(day).is_some())
    }
}

fn missing_date_or_weekday(item: Piece<'_>) -> Diagnostic {
    item.error(
        "has no date or no day of the week",
        "write for example `2026-10-10 = Mon`, and separate several with `;`",
    )
}

fn format_day(day: i32) -> String {
    NaiveDate::from_epoch_days(day).map_or_else(String::new, |date| date.to_string())
}

/// Excluded and treated dates. A date that is both has no starts.
#[derive(Clone, Copy)]
pub(crate) struct Dates<'d> {
    pub(crate) except: &'d ExcludedDates,
    pub(crate) treated: &'d TreatedDates,
}

/// One local date.
pub(crate) struct Date {
    pub(crate) month: Month,
    /// The day of the month, from 1.
    pub(crate) of_month: u32,
    /// The weekday that the date counts as; 0 is Monday.
    pub(crate) weekday: usize,
}

impl Dates<'_> {
    /// The page of a month, with its treated dates.
    pub(crate) fn page(self, month: Month) -> Page {
        let sets = self.treated.iter();
        let treated = sets.map(|(weekday, dates)| (weekday, dates.days_in(&month)));
        Page::new(month, treated)
    }

    /// The date of a day since 1970-01-01; `None` outside of the years of schedules.
    pub(crate) fn date(self, day: i32) -> Option<Date> {
        let (month, of_month) = Month::containing(day)?;
        let weekday = self.treated.weekday(day);
        Some(Date {
            month,
            of_month,
            weekday,
        })
    }

    /// Scans days since 1970-01-01 from `day` on, month by month, and returns the first result of
    /// `find`. Only days that `days_in` returns for their page are checked.
    pub(crate) fn scan<T>(
        self,
        day: i32,
        toward: Toward,
        mut days_in: impl FnMut(&Page) -> u64,
        find: impl Fn(i32) -> Option<T>,
    ) -> Option<T> {
        let day = match toward {
            Toward::Later => day.max(Local::FIRST.day()),
            Toward::Earlier => day.min(Local::LAST.day()),
        };
        let (mut month, first) = Month::containing(day)?;
        let mut next = Some(first);
        loop {
            let days = days_in(&self.page(month));
            while let Some(of_month) = next.and_then(|next| toward.bit(days, next)) {
                if let Some(found) = find(month.day(of_month)) {
                    return Some(found);
                }
                next = toward.step(of_month);
            }
            (month, next) = match toward {
                Toward::Later => (month.next()?, Some(1)),
                Toward::Earlier => (month.previous()?, Some(31)),
            };
        }
    }
}
