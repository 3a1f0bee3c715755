//! Excluded dates: local dates without starts, written as dates, ranges or names of calendars.

use std::sync::Arc;

use chrono::NaiveDate;

use crate::{
    calendars::{Calendar, CalendarName, Calendars},
    date_time::parse_date,
    local::day_number,
    month::{DayRanges, Month},
    text::{
        diagnostic::{Diagnostic, Grammar},
        piece::Piece,
    },
};

/// Local dates on which no start happens. There are none by default.
///
/// The dates of a calendar are shared, not copied.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct ExcludedDates {
    /// Empty for most workloads.
    sets: Box<[DateSet]>,
}

/// One parsed item of a list of dates.
pub(crate) enum DatesItem {
    /// The first and the last day of a range.
    Range(i32, i32),
    Calendar(CalendarName, Arc<Calendar>),
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum DateSet {
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
pub(crate) fn parse_dates_item(
    item: Piece<'_>,
    known: &Calendars,
) -> Result<DatesItem, Diagnostic> {
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
