//! Days of the week, as people write them: `Mon-Fri`, `Sat,Sun`, `weekdays`.

use super::diagnostic::Diagnostic;
use super::month_days::MonthDays;
use super::piece::Piece;

/// The days of an item: the same in every week, or in every month.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ItemDays {
    /// `Mon-Fri`
    Week(Days),
    /// `first Mon,last Fri`
    Month(MonthDays),
}

impl ItemDays {
    /// The days of both; `None` where one is of the week and the other of the month.
    pub(crate) fn and(self, other: Self) -> Option<Self> {
        match (self, other) {
            (Self::Week(days), Self::Week(more)) => Some(Self::Week(days.and(more))),
            (Self::Month(days), Self::Month(more)) => Some(Self::Month(days.and(more))),
            _ => None,
        }
    }
}

/// A set of weekdays; bit 0 is Monday.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Days(u8);

/// The days in full, from Monday.
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

    /// Reads one word: a day in three letters or in full, `weekdays`, `weekends` or `daily`. Case
    /// does not matter.
    pub(crate) fn parse(word: Piece<'_>) -> Result<Self, Diagnostic> {
        if let Some(day) = day_of(word.text()) {
            return Ok(Self(1 << day));
        }
        let group = GROUPS
            .iter()
            .find(|(name, _)| word.text().eq_ignore_ascii_case(name));
        group.map(|&(_, days)| days).ok_or_else(|| unknown(word))
    }

    /// Reads one day, in three letters or in full; 0 is Monday.
    pub(crate) fn one(word: Piece<'_>) -> Result<usize, Diagnostic> {
        day_of(word.text()).ok_or_else(|| {
            word.fails(
                "is not one day of the week",
                "write Mon, Tue, Wed, Thu, Fri, Sat or Sun, as in `2026-10-10 = Mon`",
            )
        })
    }

    /// Days from one word to another, both included; `Fri-Mon` wraps, as in spoken use.
    pub(crate) fn range(first: Piece<'_>, last: Piece<'_>) -> Result<Self, Diagnostic> {
        let from = day_of(first.text()).ok_or_else(|| unknown(first))?;
        let to = day_of(last.text()).ok_or_else(|| unknown(last))?;
        let length = (to + 7 - from) % 7;
        Ok((0..=length).fold(Self::NONE, |days, next| {
            days.and(Self(1 << ((from + next) % 7)))
        }))
    }

    /// The days of both sets.
    pub(crate) fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// The days in order; 0 is Monday.
    pub(crate) fn iter(self) -> impl Iterator<Item = usize> {
        (0..7).filter(move |day| self.0 & (1 << day) != 0)
    }
}

/// The day of the week of that name, in three letters or in full; 0 is Monday.
pub(super) fn day_of(text: &str) -> Option<usize> {
    NAMES.iter().position(|name| {
        text.eq_ignore_ascii_case(name)
            || name
                .get(..3)
                .is_some_and(|short| text.eq_ignore_ascii_case(short))
    })
}

fn unknown(word: Piece<'_>) -> Diagnostic {
    word.fails("is not a day", "write Mon, Tue, Wed, Thu, Fri, Sat or Sun, a range such as Mon-Fri, weekdays, weekends or daily")
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
                if days.iter().any(|it| it == day) {
                    'x'
                } else {
                    '-'
                }
            })
            .collect()
    }

    #[test]
    fn reads_days_groups_and_ranges() {
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
    fn a_group_is_no_end_of_a_range() {
        assert!(Days::range(piece("weekdays"), piece("Sat")).is_err());
    }
}
