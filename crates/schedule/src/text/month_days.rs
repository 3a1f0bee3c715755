//! Days within the month: `first Mon`, `last Fri`, `first day`, `last weekday`.

use std::fmt;

use super::days::day_of;
use super::diagnostic::Diagnostic;
use super::piece::Piece;
use crate::days::month::Month;

/// A set of days within the month. Bit `9 * ordinal + unit`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct MonthDays(u64);

/// In this order; `last` counts from the end.
const ORDINALS: [&str; 5] = ["first", "second", "third", "fourth", "last"];
const LAST: u32 = 4;

/// What is counted: a day of the week, any day, or any day from Monday to Friday.
const UNITS: [&str; 9] = [
    "Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun", "day", "weekday",
];
const DAY: u32 = 7;
const WEEKDAY: u32 = 8;
const COUNT: u32 = 9;

/// Prints days as text before a time, with the space: `first Mon,last Fri `.
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

    /// Whether a word says which of the days: `first` to `fourth`, or `last`, in any case.
    pub(crate) fn is_ordinal(word: Piece<'_>) -> bool {
        position(&ORDINALS, word.text()).is_some()
    }

    /// The words that [`Self::is_ordinal`] takes.
    pub(crate) fn ordinals() -> impl Iterator<Item = &'static str> {
        ORDINALS.into_iter()
    }

    /// Reads which of the days, and of which days: a day of the week in three letters or in full,
    /// `day` or `weekday`. Case does not matter.
    pub(crate) fn parse(ordinal: Piece<'_>, unit: Piece<'_>) -> Result<Self, Diagnostic> {
        let wrong = || {
            unit.fails(
                "cannot follow first, second, third, fourth or last",
                "write one day of the week, `day` or `weekday`, as in `first Mon 09:00`",
            )
        };
        let ordinal = position(&ORDINALS, ordinal.text()).ok_or_else(wrong)?;
        let of_week = day_of(unit.text()).and_then(|day| u32::try_from(day).ok());
        let unit = of_week.or_else(|| position(&UNITS, unit.text()));
        Ok(Self::of(ordinal, unit.ok_or_else(wrong)?))
    }

    /// The `nth` (from 1; 0 is the last) of a day of the week (0 is Monday).
    pub(crate) fn nth_of_week(nth: u32, day: u32) -> Option<Self> {
        let ordinal = nth.checked_sub(1).unwrap_or(LAST);
        (ordinal <= LAST && nth <= LAST && day < DAY).then(|| Self::of(ordinal, day))
    }

    /// The last day.
    pub(crate) const LAST_DAY: Self = Self::of(LAST, DAY);
    /// The first day from Monday to Friday.
    pub(crate) const FIRST_WEEKDAY: Self = Self::of(0, WEEKDAY);
    /// The last day from Monday to Friday.
    pub(crate) const LAST_WEEKDAY: Self = Self::of(LAST, WEEKDAY);

    const fn of(ordinal: u32, unit: u32) -> Self {
        Self(1 << (ordinal * COUNT + unit))
    }

    /// The days of both sets.
    pub(crate) const fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// The days that a month has of these; bit 1 is the first.
    pub(crate) fn days_in(self, month: &Month) -> u64 {
        let days = self
            .iter()
            .map(|(ordinal, unit)| 1 << day_in(month, ordinal, unit));
        days.fold(0, |days, day: u64| days | day)
    }

    /// The day of the week (0 is Monday) that one of these days is, whatever the month.
    pub(crate) fn weekday(self) -> Option<u32> {
        let (_, unit) = self.iter().next()?;
        (unit < DAY).then_some(unit)
    }

    /// The days of the week that any of these days can be; bit 0 is Monday.
    pub(crate) fn weekdays(self) -> u32 {
        let units = self.iter().map(|(_, unit)| match unit {
            DAY => 0b111_1111,
            WEEKDAY => 0b001_1111,
            day => 1 << day,
        });
        units.fold(0, |days, more| days | more)
    }

    /// Each of the days as a set of its own.
    pub(crate) fn each(self) -> impl Iterator<Item = Self> {
        self.iter().map(|(ordinal, unit)| Self::of(ordinal, unit))
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

/// Which day of the month that is. Every month has each of them.
fn day_in(month: &Month, ordinal: u32, unit: u32) -> u32 {
    let first_weekday = u32::try_from(month.first_weekday).unwrap_or_default();
    match (ordinal, unit) {
        (LAST, DAY) => month.length,
        (_, DAY) => ordinal + 1,
        // Saturday and Sunday go back to Friday.
        (LAST, WEEKDAY) => {
            let weekday = (first_weekday + month.length - 1) % 7;
            month.length - weekday.saturating_sub(4)
        }
        // It comes after the weekend that the month begins with, or reaches within four days.
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
    let at = words.iter().position(|it| text.eq_ignore_ascii_case(it))?;
    u32::try_from(at).ok()
}
