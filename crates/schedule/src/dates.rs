//! Treated dates, which count as another weekday, and the search for dates.
//!
//! [`Dates`] combines excluded and treated dates. It searches for a date month by month: callers
//! give a function that returns the matching dates of a [`Page`].

use chrono::{NaiveDate, Weekday};

use crate::{
    calendars::{Calendar, CalendarName, Calendars},
    days::Days,
    excluded_dates::{DateSet, ExcludedDates, parse_dates_item},
    local::{Local, day_number, weekday},
    month::{DayRanges, Month, Page, PageDate, has, highest_to, lowest_from},
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
                    "has {}, which counts as another day already",
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
            let error = all.error(wrong, "remove those that are over");
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
        NaiveDate::from_epoch_days(self.last_day()?)
    }

    /// The last treated date, in days since 1970-01-01.
    pub(crate) fn last_day(&self) -> Option<i32> {
        let last = self.sets.iter().filter_map(|set| set.dates.days().last());
        last.max()
    }

    /// The weekday that a day counts as, which is its own unless it is treated.
    pub(crate) fn weekday(&self, day: i32) -> usize {
        self.set_of(day).map_or_else(|| weekday(day), |set| set.day)
    }

    /// The weekday that a treated day counts as, and the range of treated days that contains it.
    pub(crate) fn range_of(&self, day: i32) -> Option<(usize, (i32, i32))> {
        let mut sets = self.sets.iter();
        sets.find_map(|set| Some((set.day, set.dates.days().range_of(day)?)))
    }

    /// The first treated day that is at least `day`.
    pub(crate) fn next_from(&self, day: i32) -> Option<i32> {
        let sets = self.sets.iter();
        sets.filter_map(|set| set.dates.days().next_from(day)).min()
    }

    /// The last treated day that is at most `day`.
    pub(crate) fn last_to(&self, day: i32) -> Option<i32> {
        let sets = self.sets.iter();
        sets.filter_map(|set| set.dates.days().last_to(day)).max()
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

/// The weekdays on which something can happen; bit 0 is Monday.
#[derive(Clone, Copy)]
pub(crate) struct PossibleWeekdays {
    /// Weekdays that a date must count as.
    pub(crate) counted: u32,
    /// Weekdays that a date must have in the calendar, even if it is treated.
    pub(crate) own: u32,
}

/// Excluded and treated dates. A date that is both has no starts.
#[derive(Clone, Copy)]
pub(crate) struct Dates<'d> {
    pub(crate) except: &'d ExcludedDates,
    pub(crate) treated: &'d TreatedDates,
}

/// The search asks how far it can skip after the first page without a match, and then after every
/// 16 pages, because computing the answer costs as much as several pages.
const PAGES_TO_SKIP: u32 = 16;

impl Dates<'_> {
    /// The page of a month, with its treated dates.
    pub(crate) fn page(self, month: Month) -> Page {
        let sets = self.treated.iter();
        let treated = sets.map(|(weekday, dates)| (weekday, dates.days_in(&month)));
        Page::new(month, treated)
    }

    /// The page of a day since 1970-01-01, and the day of its month.
    fn page_containing(self, day: i32) -> Option<(Page, u32)> {
        let (month, of_month) = Month::containing(day)?;
        Some((self.page(month), of_month))
    }

    /// The date of a day since 1970-01-01; `None` outside of the years of schedules.
    pub(crate) fn date(self, day: i32) -> Option<PageDate> {
        let (page, of_month) = self.page_containing(day)?;
        Some(self.date_on(page, of_month))
    }

    fn date_on(self, page: Page, of_month: u32) -> PageDate {
        PageDate {
            weekday: self.treated.weekday(page.month.day(of_month)),
            page,
            of_month,
        }
    }

    /// The first date at or after a day of this page that is in `days_in` of its page. `skip`
    /// returns the day from which to continue the search, or `None` to end it.
    pub(crate) fn first_date(
        self,
        page: Page,
        of_month: u32,
        skip: impl Fn(i32) -> Option<i32>,
        mut days_in: impl FnMut(&Page) -> u64,
    ) -> Option<PageDate> {
        let (mut page, mut from) = (page, of_month);
        for at in 0_u32.. {
            if let Some(found) = lowest_from(days_in(&page), from) {
                return Some(self.date_on(page, found));
            }
            let next = page.month.day(page.month.length) + 1;
            let later = if at % PAGES_TO_SKIP == 0 {
                skip(next)?
            } else {
                next
            };
            (page, from) = if later > next {
                self.page_containing(later)?
            } else {
                (self.page(page.month.next()?), 1)
            };
        }
        None
    }

    /// The last date at or before a day of this page, in the same way.
    pub(crate) fn last_date(
        self,
        page: Page,
        of_month: u32,
        skip: impl Fn(i32) -> Option<i32>,
        mut days_in: impl FnMut(&Page) -> u64,
    ) -> Option<PageDate> {
        let (mut page, mut to) = (page, of_month);
        for at in 0_u32.. {
            if let Some(found) = highest_to(days_in(&page), to) {
                return Some(self.date_on(page, found));
            }
            let next = page.month.first - 1;
            let earlier = if at % PAGES_TO_SKIP == 0 {
                skip(next)?
            } else {
                next
            };
            (page, to) = if earlier < next {
                self.page_containing(earlier)?
            } else {
                (self.page(page.month.previous()?), 31)
            };
        }
        None
    }

    /// [`Self::first_date`] for days since 1970-01-01.
    pub(crate) fn first_day(
        self,
        day: i32,
        skip: impl Fn(i32) -> Option<i32>,
        days_in: impl FnMut(&Page) -> u64,
    ) -> Option<i32> {
        let (page, of_month) = self.page_containing(day.max(Local::FIRST.day()))?;
        let date = self.first_date(page, of_month, skip, days_in)?;
        Some(date.day())
    }

    /// [`Self::last_date`] for days since 1970-01-01.
    pub(crate) fn last_day(
        self,
        day: i32,
        skip: impl Fn(i32) -> Option<i32>,
        days_in: impl FnMut(&Page) -> u64,
    ) -> Option<i32> {
        let (page, of_month) = self.page_containing(day.min(Local::LAST.day()))?;
        let date = self.last_date(page, of_month, skip, days_in)?;
        Some(date.day())
    }

    /// A day at or after `day`, before which no date can match: one with a possible weekday, and
    /// if `skips_excluded`, one that is not excluded.
    pub(crate) fn first_possible(
        self,
        day: i32,
        weekdays: PossibleWeekdays,
        skips_excluded: bool,
    ) -> i32 {
        if let Some((weekday, (_, last))) = self.treated.range_of(day) {
            return if weekdays.counts(weekday) {
                day
            } else {
                last + 1
            };
        }
        if !skips_excluded {
            return day;
        }
        let kept = self.except.first_kept(day, weekdays.counted | weekdays.own);
        let treated = self.treated.next_from(day);
        treated.map_or(kept, |treated| treated.min(kept))
    }

    /// A day at or before `day`, after which no date can match.
    pub(crate) fn last_possible(
        self,
        day: i32,
        weekdays: PossibleWeekdays,
        skips_excluded: bool,
    ) -> i32 {
        if let Some((weekday, (first, _))) = self.treated.range_of(day) {
            return if weekdays.counts(weekday) {
                day
            } else {
                first - 1
            };
        }
        if !skips_excluded {
            return day;
        }
        let kept = self.except.last_kept(day, weekdays.counted | weekdays.own);
        let treated = self.treated.last_to(day);
        treated.map_or(kept, |treated| treated.max(kept))
    }
}

impl PossibleWeekdays {
    pub(crate) const NONE: Self = Self { counted: 0, own: 0 };

    pub(crate) fn union(self, other: Self) -> Self {
        Self {
            counted: self.counted | other.counted,
            own: self.own | other.own,
        }
    }

    /// Whether a date that counts as this weekday can match.
    fn counts(self, weekday: usize) -> bool {
        self.own != 0
            || has(
                self.counted.into(),
                u32::try_from(weekday).unwrap_or_default(),
            )
    }
}
