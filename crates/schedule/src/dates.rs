//! Excluded dates, on which nothing starts; treated dates, which count as another weekday; and the
//! search for dates.
//!
//! [`Dates`] combines excluded and treated dates. It is searched month by month; the caller selects
//! the days to check in each month's [`Page`].

use std::sync::Arc;

use chrono::{NaiveDate, Weekday};

use crate::{
    calendars::{Calendar, CalendarName, Calendars},
    date_time::parse_date,
    days::Days,
    local::{Local, day_number, weekday},
    month::{DayRanges, Month, Page, Toward},
    text::{Diagnostic, DiagnosticKind, Grammar, Piece},
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

/// Local dates on which no start happens. There are none by default.
///
/// The dates of a calendar are shared, not copied.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct ExcludedDates {
    /// Empty for most workloads.
    sets: Box<[DateSet]>,
}

/// One parsed item of a list of dates.
enum DatesItem {
    /// The first and the last day of a range.
    Range(i32, i32),
    Calendar(CalendarName, Arc<Calendar>),
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum DateSet {
    WrittenDate(DayRanges),
    Calendar(CalendarName, Arc<Calendar>),
}

impl From<DatesItem> for DateSet {
    fn from(item: DatesItem) -> Self {
        match item {
            DatesItem::Range(first, last) => {
                Self::WrittenDate(DayRanges::merging(vec![(first, last)]))
            }
            DatesItem::Calendar(name, calendar) => Self::Calendar(name, calendar),
        }
    }
}

impl DateSet {
    pub(super) fn days(&self) -> &DayRanges {
        match self {
            Self::WrittenDate(days) => days,
            Self::Calendar(_, calendar) => calendar.days(),
        }
    }

    /// The calendar that defines the dates.
    pub(super) fn calendar(&self) -> Option<(&CalendarName, &Calendar)> {
        match self {
            Self::WrittenDate(_) => None,
            Self::Calendar(name, calendar) => Some((name, &**calendar)),
        }
    }
}

/// Parses a date, a range of dates, or the name of a calendar.
fn parse_dates_item(item: Piece<'_>, known: &Calendars) -> Result<DatesItem, Diagnostic> {
    let Some(name) = calendar_name(item) else {
        let (first, last) = parse_range(item)?;
        return Ok(DatesItem::Range(first, last));
    };
    if name.text().is_empty() {
        return Err(item.error(
            "is not the name of a calendar",
            "write for example `calendar:de`, and give its file with `--calendar de=FILE.ics`",
        ));
    }
    let (name, calendar) = known.named(item, name)?;
    Ok(DatesItem::Calendar(name, calendar))
}

impl ExcludedDates {
    /// Parses dates and ranges of dates separated by `;`, for example `2026-12-28..2027-01-03;
    /// 2027-01-11`. A range includes both ends.
    ///
    /// # Errors
    /// An item is not a date from 1970 to 2199 or a range of such dates, a range ends before it
    /// begins, or an item names a calendar. The span is in bytes of the text.
    pub fn parse(text: &str) -> Result<Self, Diagnostic> {
        Self::parse_with(text, &Calendars::default())
    }

    /// Parses dates and the names of calendars, for example `calendar:de; 2027-01-11`.
    ///
    /// # Errors
    /// As [`Self::parse`], except that an item can name one of these calendars.
    pub fn parse_with(text: &str, known: &Calendars) -> Result<Self, Diagnostic> {
        Self::parse_strictly(text, known).map_err(|error| {
            let grammar = if known.contain_all_in(text) {
                Grammar::DatesAndCalendars
            } else {
                Grammar::Dates
            };
            error.in_grammar(grammar, text)
        })
    }

    fn parse_strictly(text: &str, known: &Calendars) -> Result<Self, Diagnostic> {
        let mut ranges = Vec::new();
        let mut calendars: Vec<(CalendarName, Arc<Calendar>)> = Vec::new();
        for item in Piece::items(text, "2026-12-28..2027-01-03; 2027-01-11")? {
            match parse_dates_item(item?, known)? {
                DatesItem::Range(first, last) => ranges.push((first, last)),
                DatesItem::Calendar(name, calendar) => {
                    if calendars.iter().all(|(known, _)| *known != name) {
                        calendars.push((name, calendar));
                    }
                }
            }
        }
        let written =
            (!ranges.is_empty()).then(|| DateSet::WrittenDate(DayRanges::merging(ranges)));
        let named = calendars.into_iter();
        let named = named.map(|(name, calendar)| DateSet::Calendar(name, calendar));
        Ok(Self {
            sets: written.into_iter().chain(named).collect(),
        })
    }

    /// Whether `date` is excluded.
    pub fn contains(&self, date: NaiveDate) -> bool {
        self.range_of(day_number(date)).is_some()
    }

    /// Whether no date is excluded.
    pub fn is_empty(&self) -> bool {
        self.last().is_none()
    }

    /// The last excluded date.
    pub fn last(&self) -> Option<NaiveDate> {
        let last = self.all().filter_map(DayRanges::last).max()?;
        NaiveDate::from_epoch_days(last)
    }

    /// The calendars in the text, in order.
    pub fn calendars(&self) -> impl Iterator<Item = (&CalendarName, &Calendar)> {
        self.sets.iter().filter_map(DateSet::calendar)
    }

    /// The first calendar that contains this date, and the summary of its event. The summary might
    /// be empty. Escape it before you show it.
    pub fn holiday(&self, date: NaiveDate) -> Option<(&CalendarName, &str)> {
        let mut named = self.calendars();
        named.find_map(|(name, calendar)| Some((name, calendar.summary_on(date)?)))
    }

    fn all(&self) -> impl Iterator<Item = &DayRanges> {
        self.sets.iter().map(DateSet::days)
    }

    /// A range of the set that contains `day`.
    pub(super) fn range_of(&self, day: i32) -> Option<(i32, i32)> {
        self.all().find_map(|days| days.range_of(day))
    }

    /// The dates of a month that are excluded.
    pub(super) fn days_in(&self, month: &Month) -> u64 {
        self.all().fold(0, |days, it| days | it.days_in(month))
    }
}

/// The name in an item `calendar:name`; `None` for another item.
fn calendar_name(item: Piece<'_>) -> Option<Piece<'_>> {
    let (word, name) = item.split_once(":")?;
    (word.text() == "calendar").then(|| name.trim())
}

pub(crate) fn parse_range(item: Piece<'_>) -> Result<(i32, i32), Diagnostic> {
    let Some((first, last)) = item.split_once("..") else {
        let day = day_number(parse_whole_date(item)?);
        return Ok((day, day));
    };
    let (first, last) = (first.trim(), last.trim());
    if first.text().is_empty() || last.text().is_empty() {
        return Err(item.error(
            "is only half of a range",
            "write both dates, such as `2026-12-28..2027-01-03`",
        ));
    }
    let range = (
        day_number(parse_whole_date(first)?),
        day_number(parse_whole_date(last)?),
    );
    if range.0 > range.1 {
        return Err(item.error(
            "ends before it begins",
            "check the years, as in `2026-12-28..2027-01-03`",
        ));
    }
    Ok(range)
}

fn parse_whole_date(word: Piece<'_>) -> Result<NaiveDate, Diagnostic> {
    parse_date(word).map_err(|error| {
        let begins_with_date = word
            .text()
            .get(..10)
            .is_some_and(|date| Piece::whole(date, "").is_ok_and(|date| parse_date(date).is_ok()));
        let more = word
            .text()
            .get(10..11)
            .is_some_and(|next| matches!(next, " " | "T" | "t"));
        if begins_with_date && more {
            word.error(
                "contains more than a date",
                "write whole days, such as `2026-12-24` or `2026-12-28..2027-01-03`",
            )
        } else {
            error
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn day(text: &str) -> i32 {
        day_number(text.parse().unwrap())
    }

    #[test]
    fn contains_exactly_the_written_dates() {
        let dates = ExcludedDates::parse(
            "2027-01-11; 2026-12-30 .. 2027-01-03;2026-12-28..2026-12-31;2027-01-04",
        )
        .unwrap();
        for (date, expected) in [
            ("2026-12-27", false),
            ("2026-12-28", true),
            ("2027-01-01", true),
            ("2027-01-04", true),
            ("2027-01-05", false),
            ("2027-01-11", true),
            ("2027-01-12", false),
        ] {
            assert_eq!(dates.contains(date.parse().unwrap()), expected, "{date}");
        }
        let week = (day("2026-12-28"), day("2027-01-04"));
        assert_eq!(dates.range_of(day("2027-01-01")), Some(week));
    }

    #[test]
    fn error_points_at_the_invalid_date() {
        for (item, found, wrong) in [
            ("2026-12-32", "2026-12-32", "is a date that does not exist"),
            (
                "2026-12-28..2027-02-29",
                "2027-02-29",
                "is a date that does not exist",
            ),
            ("2026-12-28..", "2026-12-28..", "is only half of a range"),
            ("..", "..", "is only half of a range"),
            ("2026-12-28...2026-12-29", ".2026-12-29", "is not a date"),
            ("2026-12-28..1..2", "1..2", "is not a date"),
            (
                "2026-12-28..2026-12-27",
                "2026-12-28..2026-12-27",
                "ends before it begins",
            ),
            (
                "2026-12-24 18:00",
                "2026-12-24 18:00",
                "contains more than a date",
            ),
            (
                "2026-12-24, 2026-12-25",
                "2026-12-24, 2026-12-25",
                "is not a date",
            ),
            ("Christmas", "Christmas", "is not a date"),
            ("クリスマス", "クリスマス", "is not a date"),
        ] {
            let text = format!("2026-01-01;\u{3000}{item} ;2026-01-02");
            let error = ExcludedDates::parse(&text).unwrap_err();
            assert_eq!(&text[error.span()], found, "{item}");
            assert_eq!(error.message(), format!("`{found}` {wrong}"));
            assert_eq!(error.span().start, 14 + item.find(found).unwrap(), "{item}");
        }
        assert_eq!(
            ExcludedDates::parse("2026-01-01;").unwrap_err().span(),
            10..11
        );
    }
}
