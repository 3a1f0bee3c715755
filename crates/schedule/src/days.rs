//! Days as they are written in annotations: weekdays such as `Mon-Fri`, `Sat,Sun` or `weekdays`,
//! and days within the month such as `first Mon`, `last Fri` or `last day`.

use std::fmt;

use crate::{
    month::Month,
    text::{Diagnostic, Piece, TokenKind, Tokens},
};

/// The days of an item: weekdays, or days within the month.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ItemDays {
    /// `Mon-Fri`
    Week(Days),
    /// `first Mon,last Fri`
    Month(MonthDays),
}

impl ItemDays {
    /// The union; `None` if one is weekdays and the other days within the month.
    pub(crate) fn union(self, other: Self) -> Option<Self> {
        match (self, other) {
            (Self::Week(days), Self::Week(more)) => Some(Self::Week(days.union(more))),
            (Self::Month(days), Self::Month(more)) => Some(Self::Month(days.union(more))),
            _ => None,
        }
    }

    /// Parses the days at the start of an item. If the item names no days, it means every day.
    pub(crate) fn parse(tokens: &mut Tokens<'_>) -> Result<Self, Diagnostic> {
        let Some(first) = tokens.peek_day()? else {
            return Ok(Self::Week(Days::ALL));
        };
        let mut days: Option<Self> = None;
        let mut word = first;
        loop {
            tokens.advance(word);
            let (more, last) = parse_day(tokens, word)?;
            days = match days {
                None => Some(more),
                Some(days) => days.union(more),
            };
            if days.is_none() {
                return Err(first.to(last).error(
                    "mixes days within the month with days of every week",
                    "write two items, such as `first Mon 09:00; Fri 09:00`",
                ));
            }
            let Some(comma) = tokens.take(TokenKind::Comma)? else {
                break;
            };
            word = tokens.peek_day()?.ok_or_else(|| tokens.unexpected(comma))?;
        }
        match tokens.peek_day()? {
            Some(word) if Days::parse(word).is_ok() || MonthDays::is_ordinal(word) => Err(word
                .error(
                    "has no comma before it",
                    "write days as `Mon,Wed` or `Mon-Fri`",
                )),
            None if tokens.peek()?.is_none() => {
                let all = tokens.rest_from(first);
                Err(all.error("has no time of day", tokens.example_help()))
            }
            _ => Ok(days.unwrap_or(Self::Week(Days::ALL))),
        }
    }
}

/// Parses one part of the days, such as `Mon`, `Mon-Fri` or `first Mon`, and returns it with its
/// last word. `word` is its first word and has been consumed.
fn parse_day<'a>(
    tokens: &mut Tokens<'a>,
    word: Piece<'a>,
) -> Result<(ItemDays, Piece<'a>), Diagnostic> {
    if MonthDays::is_ordinal(word) {
        let unit = tokens.peek_day()?;
        let unit = unit.ok_or_else(|| {
            word.error(
                "has no day after it",
                "write for example `first Mon`, `first day` or `first weekday`",
            )
        })?;
        tokens.advance(unit);
        let day = MonthDays::parse(word, unit)?;
        return match tokens.take(TokenKind::Dash)? {
            Some(dash) => {
                let end = tokens.take(TokenKind::Word)?.unwrap_or(dash);
                Err(range_in_month(word.to(end)))
            }
            None => Ok((ItemDays::Month(day), unit)),
        };
    }
    Ok(match tokens.take(TokenKind::Dash)? {
        Some(dash) => {
            let last = tokens.word_after(dash)?;
            if MonthDays::is_ordinal(last) {
                return Err(range_in_month(word.to(last)));
            }
            (ItemDays::Week(Days::range(word, last)?), last)
        }
        None => (ItemDays::Week(Days::parse(word)?), word),
    })
}

fn range_in_month(range: Piece<'_>) -> Diagnostic {
    range.error(
        "is a range, which days within the month cannot have",
        "write each of them, as in `first Mon,first Tue`",
    )
}

/// A set of weekdays; bit 0 is Monday.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Days(u8);

/// The full names, from Monday.
pub(crate) const NAMES: [&str; 7] = [
    "Monday",
    "Tuesday",
    "Wednesday",
    "Thursday",
    "Friday",
    "Saturday",
    "Sunday",
];
const GROUPS: [(&str, Days); 3] = [
    ("weekdays", Days(0b001_1111)),
    ("weekends", Days(0b110_0000)),
    ("daily", Days::ALL),
];

impl Days {
    pub(crate) const NONE: Self = Self(0);
    pub(crate) const ALL: Self = Self(0b111_1111);

    /// Parses a day (in full or three letters), `weekdays`, `weekends` or `daily`, ignoring case.
    pub(crate) fn parse(word: Piece<'_>) -> Result<Self, Diagnostic> {
        if let Some(day) = find_day(word.text()) {
            return Ok(Self(1 << day));
        }
        let group = GROUPS
            .iter()
            .find(|(name, _)| word.text().eq_ignore_ascii_case(name));
        group.map(|&(_, days)| days).ok_or_else(|| unknown(word))
    }

    /// Parses one day, in full or three letters; 0 is Monday.
    pub(crate) fn parse_one(word: Piece<'_>) -> Result<usize, Diagnostic> {
        find_day(word.text()).ok_or_else(|| {
            word.error(
                "is not one day of the week",
                "write Mon, Tue, Wed, Thu, Fri, Sat or Sun, as in `2026-10-10 = Mon`",
            )
        })
    }

    /// The days from `first` to `last`, both included. `Fri-Mon` wraps around the weekend.
    pub(crate) fn range(first: Piece<'_>, last: Piece<'_>) -> Result<Self, Diagnostic> {
        let from = find_day(first.text()).ok_or_else(|| unknown(first))?;
        let to = find_day(last.text()).ok_or_else(|| unknown(last))?;
        let length = (to + 7 - from) % 7;
        Ok((0..=length).fold(Self::NONE, |days, next| {
            days.union(Self(1 << ((from + next) % 7)))
        }))
    }

    pub(crate) fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// The days in order; 0 is Monday.
    pub(crate) fn iter(self) -> impl Iterator<Item = usize> {
        (0..7).filter(move |day| self.0 & (1 << day) != 0)
    }
}

/// The day with this name, in full or three letters; 0 is Monday.
pub(crate) fn find_day(text: &str) -> Option<usize> {
    NAMES.iter().position(|name| {
        text.eq_ignore_ascii_case(name)
            || name
                .get(..3)
                .is_some_and(|short| text.eq_ignore_ascii_case(short))
    })
}

fn unknown(word: Piece<'_>) -> Diagnostic {
    word.error("is not a day", "write Mon, Tue, Wed, Thu, Fri, Sat or Sun, a range such as Mon-Fri, weekdays, weekends or daily")
}

/// A set of days within the month. Bit `9 * ordinal + unit` represents one of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct MonthDays(u64);

/// `last` counts from the end of the month.
const ORDINALS: [&str; 5] = ["first", "second", "third", "fourth", "last"];
const LAST: u32 = 4;

/// The unit that is counted: a weekday, any day, or any day from Monday to Friday.
const UNITS: [&str; 9] = [
    "Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun", "day", "weekday",
];
const DAY: u32 = 7;
const WEEKDAY: u32 = 8;
const COUNT: u32 = 9;

/// Formats the days as in front of a time, with the space: `first Mon,last Fri `.
impl fmt::Display for MonthDays {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words = self.iter().map(|(ordinal, unit)| {
            let word = |words: &[&'static str], at: u32| {
                words.get(at as usize).copied().unwrap_or_default()
            };
            format!("{} {}", word(&ORDINALS, ordinal), word(&UNITS, unit))
        });
        write!(f, "{} ", words.collect::<Vec<_>>().join(","))
    }
}

impl MonthDays {
    pub(crate) const NONE: Self = Self(0);

    /// Whether a word is `first` to `fourth` or `last`, ignoring case.
    pub(crate) fn is_ordinal(word: Piece<'_>) -> bool {
        position(&ORDINALS, word.text()).is_some()
    }

    /// The words that [`Self::is_ordinal`] accepts.
    pub(crate) fn ordinals() -> impl Iterator<Item = &'static str> {
        ORDINALS.into_iter()
    }

    /// Parses an ordinal and its unit: a weekday (in full or three letters), `day` or `weekday`,
    /// ignoring case.
    pub(crate) fn parse(ordinal: Piece<'_>, unit: Piece<'_>) -> Result<Self, Diagnostic> {
        let wrong = || {
            unit.error(
                "cannot follow first, second, third, fourth or last",
                "write one day of the week, `day` or `weekday`, as in `first Mon 09:00`",
            )
        };
        let ordinal = position(&ORDINALS, ordinal.text()).ok_or_else(wrong)?;
        let of_week = find_day(unit.text()).and_then(|day| u32::try_from(day).ok());
        let unit = of_week.or_else(|| position(&UNITS, unit.text()));
        Ok(Self::from_ordinal(ordinal, unit.ok_or_else(wrong)?))
    }

    /// The `nth` weekday of the month: `nth` is 1 to 4, or 0 for the last; 0 is Monday.
    pub(crate) fn nth_of_week(nth: u32, day: u32) -> Option<Self> {
        let ordinal = nth.checked_sub(1).unwrap_or(LAST);
        (ordinal <= LAST && nth <= LAST && day < DAY).then(|| Self::from_ordinal(ordinal, day))
    }

    pub(crate) const LAST_DAY: Self = Self::from_ordinal(LAST, DAY);
    /// The first day from Monday to Friday.
    pub(crate) const FIRST_WEEKDAY: Self = Self::from_ordinal(0, WEEKDAY);
    /// The last day from Monday to Friday.
    pub(crate) const LAST_WEEKDAY: Self = Self::from_ordinal(LAST, WEEKDAY);

    const fn from_ordinal(ordinal: u32, unit: u32) -> Self {
        Self(1 << (ordinal * COUNT + unit))
    }

    pub(crate) const fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// The dates of a month that are in the set.
    pub(crate) fn days_in(self, month: &Month) -> u64 {
        let days = self
            .iter()
            .map(|(ordinal, unit)| 1 << day_in(month, ordinal, unit));
        days.fold(0, |days, day: u64| days | day)
    }

    /// The weekday of the first day of the set (0 is Monday), if it is the same in every month.
    pub(crate) fn weekday(self) -> Option<u32> {
        let (_, unit) = self.iter().next()?;
        (unit < DAY).then_some(unit)
    }

    /// Each day as a set of its own.
    pub(crate) fn each(self) -> impl Iterator<Item = Self> {
        self.iter()
            .map(|(ordinal, unit)| Self::from_ordinal(ordinal, unit))
    }

    fn iter(self) -> impl Iterator<Item = (u32, u32)> {
        let mut rest = self.0;
        std::iter::from_fn(move || {
            let lowest = (rest != 0).then(|| rest.trailing_zeros())?;
            rest &= rest - 1;
            Some((lowest / COUNT, lowest % COUNT))
        })
    }
}

/// The day of the month. Every month has each of these days.
fn day_in(month: &Month, ordinal: u32, unit: u32) -> u32 {
    let first_weekday = u32::try_from(month.first_weekday).unwrap_or_default();
    match (ordinal, unit) {
        (LAST, DAY) => month.length,
        (_, DAY) => ordinal + 1,
        // If the month ends on a weekend, it is the Friday before.
        (LAST, WEEKDAY) => {
            let weekday = (first_weekday + month.length - 1) % 7;
            month.length - weekday.saturating_sub(4)
        }
        // Skip the weekend that the month begins with, or that comes within the first four days.
        (_, WEEKDAY) => {
            let of_week = first_weekday.min(5) + ordinal;
            let weekend = if of_week < 5 {
                0
            } else {
                7 - first_weekday.max(5)
            };
            1 + ordinal + weekend
        }
        (LAST, _) => {
            let first = 1 + (unit + 7 - first_weekday) % 7;
            first + (month.length - first) / 7 * 7
        }
        _ => 1 + (unit + 7 - first_weekday) % 7 + 7 * ordinal,
    }
}

fn position(words: &[&str], text: &str) -> Option<u32> {
    let at = words
        .iter()
        .position(|word| text.eq_ignore_ascii_case(word))?;
    u32::try_from(at).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn piece(text: &str) -> Piece<'_> {
        Piece::whole(text, "").unwrap()
    }

    fn sketch(days: Days) -> String {
        (0..7)
            .map(|day| {
                if days.iter().any(|known| known == day) {
                    'x'
                } else {
                    '-'
                }
            })
            .collect()
    }

    #[test]
    fn parses_days_groups_and_ranges() {
        for (text, expected) in [
            ("Mon", "x------"),
            ("SUNDAY", "------x"),
            ("weekdays", "xxxxx--"),
            ("Weekends", "-----xx"),
            ("daily", "xxxxxxx"),
        ] {
            assert_eq!(
                sketch(Days::parse(piece(text)).unwrap()),
                expected,
                "{text}"
            );
        }
        for (first, last, expected) in [
            ("mon", "fri", "xxxxx--"),
            ("Friday", "Mon", "x---xxx"),
            ("Wed", "wed", "--x----"),
            ("Tue", "Mon", "xxxxxxx"),
        ] {
            let days = Days::range(piece(first), piece(last)).unwrap();
            assert_eq!(sketch(days), expected, "{first}-{last}");
        }
    }

    #[test]
    fn group_in_a_range_is_an_error() {
        assert!(Days::range(piece("weekdays"), piece("Sat")).is_err());
    }
}
