//! Dates on which nothing starts.

use chrono::NaiveDate;

use super::text::date::parse_date;
use super::text::error::TextError;
use super::text::piece::Piece;
use super::text::reason::Reason;
use super::zone::local::day_number;

/// Local dates on which no start happens. The default is none.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct ExceptedDates {
    /// First and last day of each range, in days since 1970-01-01; in order, with at least one
    /// day between two ranges.
    ranges: Box<[(i32, i32)]>,
}

impl ExceptedDates {
    /// Reads dates and ranges of dates separated by `;`, as in
    /// `2026-12-28..2027-01-03; 2027-01-11`. Both ends of a range belong to it.
    ///
    /// # Errors
    /// An item is not a date from 1970 to 2199 or a range of such dates, or a range ends before it
    /// begins. The span is in bytes of the text.
    pub fn parse(text: &str) -> Result<Self, TextError> {
        let ranges = Piece::items(text, "2026-12-28..2027-01-03; 2027-01-11")?
            .map(|item| read_range(item?))
            .collect::<Result<Vec<_>, _>>()?;
        Ok(Self {
            ranges: united(ranges),
        })
    }

    /// Whether `date` is one of them.
    pub fn contains(&self, date: NaiveDate) -> bool {
        self.range_of(day_number(date)).is_some()
    }

    /// Whether no date is excepted.
    pub fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }

    /// The last of them.
    pub fn last(&self) -> Option<NaiveDate> {
        let (_, last) = self.ranges.last()?;
        NaiveDate::from_epoch_days(*last)
    }

    /// First and last day of the range that holds `day`.
    pub(super) fn range_of(&self, day: i32) -> Option<(i32, i32)> {
        let at = self.ranges.partition_point(|&(_, last)| last < day);
        self.ranges
            .get(at)
            .copied()
            .filter(|&(first, _)| first <= day)
    }

    /// The first of the dates that is not before `day`.
    pub(super) fn next_from(&self, day: i32) -> Option<i32> {
        let at = self.ranges.partition_point(|&(_, last)| last < day);
        self.ranges.get(at).map(|&(first, _)| first.max(day))
    }

    /// The last of the dates that is not after `day`.
    pub(super) fn last_to(&self, day: i32) -> Option<i32> {
        let at = self.ranges.partition_point(|&(first, _)| first <= day);
        self.ranges
            .get(..at)?
            .last()
            .map(|&(_, last)| last.min(day))
    }
}

fn read_range(item: Piece<'_>) -> Result<(i32, i32), TextError> {
    let Some((first, last)) = item.split_once("..") else {
        let day = day_number(read_date(item)?);
        return Ok((day, day));
    };
    let (first, last) = (first.trim(), last.trim());
    if first.text().is_empty() || last.text().is_empty() {
        return Err(item.fails(Reason::OpenDates));
    }
    let range = (day_number(read_date(first)?), day_number(read_date(last)?));
    if range.0 > range.1 {
        return Err(item.fails(Reason::DatesBackwards));
    }
    Ok(range)
}

fn read_date(word: Piece<'_>) -> Result<NaiveDate, TextError> {
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
            word.fails(Reason::TimeInDates)
        } else {
            error
        }
    })
}

/// The same days in as few ranges as will do.
fn united(mut ranges: Vec<(i32, i32)>) -> Box<[(i32, i32)]> {
    ranges.sort_unstable();
    ranges.dedup_by(|next, kept| {
        let touches = next.0 <= kept.1 + 1;
        if touches {
            kept.1 = kept.1.max(next.1);
        }
        touches
    });
    ranges.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn day(text: &str) -> i32 {
        day_number(text.parse().unwrap())
    }

    #[test]
    fn holds_the_dates_that_are_written() {
        let dates = ExceptedDates::parse(
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
        assert_eq!(dates.next_from(day("2026-01-01")), Some(week.0));
        assert_eq!(dates.next_from(day("2027-01-02")), Some(day("2027-01-02")));
        assert_eq!(dates.next_from(day("2027-01-05")), Some(day("2027-01-11")));
        assert_eq!(dates.next_from(day("2027-01-12")), None);
        assert_eq!(dates.last_to(day("2027-01-10")), Some(week.1));
        assert_eq!(dates.last_to(day("2026-12-27")), None);
    }

    #[test]
    fn points_at_the_date_that_is_wrong() {
        for (item, found, reason) in [
            ("2026-12-32", "2026-12-32", Reason::NoSuchDate),
            ("2026-12-28..2027-02-29", "2027-02-29", Reason::NoSuchDate),
            ("2026-12-28..", "2026-12-28..", Reason::OpenDates),
            ("..", "..", Reason::OpenDates),
            ("2026-12-28...2026-12-29", ".2026-12-29", Reason::NotADate),
            ("2026-12-28..1..2", "1..2", Reason::NotADate),
            (
                "2026-12-28..2026-12-27",
                "2026-12-28..2026-12-27",
                Reason::DatesBackwards,
            ),
            ("2026-12-24 18:00", "2026-12-24 18:00", Reason::TimeInDates),
            (
                "2026-12-24, 2026-12-25",
                "2026-12-24, 2026-12-25",
                Reason::NotADate,
            ),
            ("Christmas", "Christmas", Reason::NotADate),
            ("クリスマス", "クリスマス", Reason::NotADate),
        ] {
            let text = format!("2026-01-01;\u{3000}{item} ;2026-01-02");
            let error = ExceptedDates::parse(&text).unwrap_err();
            assert_eq!(
                (&text[error.span()], error.reason()),
                (found, &reason),
                "{item}"
            );
            assert_eq!(error.span().start, 14 + item.find(found).unwrap(), "{item}");
        }
        assert_eq!(
            ExceptedDates::parse("2026-01-01;").unwrap_err().span(),
            10..11
        );
    }
}
