//! Days that somebody means.

use std::fmt;

use dayshift_text::nearest;

use crate::text::days::NAMES;
use crate::text::month_days::MonthDays;

/// Days of the week, and days within the month.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Weekdays(Vec<Part>);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    /// From one day of the week to another; 0 is Monday.
    Range(usize, usize),
    /// `first Mon`
    InMonth(&'static str, &'static str),
}

impl Weekdays {
    /// `Tues`, `mondays`, `everyday`, `Wendesday`.
    pub(super) fn meant_by(word: &str) -> Option<Self> {
        let range = |first, last| Some(Self(vec![Part::Range(first, last)]));
        let word = word.to_lowercase();
        match &*word {
            "daily" | "day" | "days" | "everyday" => return range(0, 6),
            "weekday" | "workday" | "workdays" => return range(0, 4),
            "weekend" => return range(5, 6),
            _ => {}
        }
        let named = NAMES.iter().position(|name| {
            let name = name.to_lowercase();
            word.len() >= 3 && (name.starts_with(&word) || word.strip_suffix('s') == Some(&name))
        });
        if let Some(day) = named {
            return range(day, day);
        }
        let short = NAMES.iter().filter_map(|name| name.get(..3));
        let all = NAMES.iter().copied().chain(short);
        match nearest(&word, all.chain(["weekdays", "weekends", "daily"]))? {
            "weekdays" => range(0, 4),
            "weekends" => range(5, 6),
            "daily" => range(0, 6),
            name => {
                let day = NAMES.iter().position(|full| full.starts_with(name))?;
                range(day, day)
            }
        }
    }

    /// Which of the days of a month a word says: `first`, `1st`, `frist`.
    pub(super) fn ordinal(word: &str) -> Option<&'static str> {
        match word {
            "1st" => Some("first"),
            "2nd" => Some("second"),
            "3rd" => Some("third"),
            "4th" => Some("fourth"),
            // Too near to names of days to be misspelt ones.
            _ if word.len() < 4 => None,
            _ => nearest(word, MonthDays::ordinals()),
        }
    }

    /// A day within the month: `first`, and `Mon`, `day` or `weekday`.
    pub(super) fn in_month(ordinal: &'static str, unit: &str) -> Option<Self> {
        let unit = match unit {
            "day" => "day",
            "weekday" | "workday" => "weekday",
            name => short(Self::meant_by(name)?.only()?),
        };
        Some(Self(vec![Part::InMonth(ordinal, unit)]))
    }

    /// Whether the last of them is a day within the month.
    pub(super) fn ends_in_month(&self) -> bool {
        matches!(self.0.last(), Some(Part::InMonth(..)))
    }

    /// The day of the week, where it is one.
    pub(super) fn only(&self) -> Option<usize> {
        match *self.0 {
            [Part::Range(first, last)] if first == last => Some(first),
            _ => None,
        }
    }

    /// From this day to another one.
    pub(super) fn to(&self, last: &Self) -> Option<Self> {
        Some(Self(vec![Part::Range(self.only()?, last.only()?)]))
    }

    /// These and others.
    pub(super) fn and(mut self, others: Self) -> Self {
        self.0.extend(others.0);
        self
    }

    /// The days after them; `None` within the month.
    pub(super) fn next(&self) -> Option<Self> {
        let next = |day| (day + 1) % 7;
        let all = self.0.iter().map(|part| match *part {
            Part::Range(0, 6) => Some(Part::Range(0, 6)),
            Part::Range(first, last) => Some(Part::Range(next(first), next(last))),
            Part::InMonth(..) => None,
        });
        all.collect::<Option<_>>().map(Self)
    }

    /// Each by itself, for cron: `Mon,Tue`. `None` within the month.
    pub(super) fn listed(&self) -> Option<String> {
        let mut is_meant = [false; 7];
        for part in &self.0 {
            let Part::Range(first, last) = *part else {
                return None;
            };
            for (day, is_meant) in is_meant.iter_mut().enumerate() {
                *is_meant |= (day + 7 - first) % 7 <= (last + 7 - first) % 7;
            }
        }
        if is_meant == [true; 7] {
            return Some("*".to_owned());
        }
        let days = (0..7).zip(is_meant).filter(|(_, is_meant)| *is_meant);
        let names: Vec<_> = days.map(|(day, _)| short(day)).collect();
        Some(names.join(","))
    }
}

/// The first three letters of a day.
fn short(day: usize) -> &'static str {
    NAMES
        .get(day)
        .and_then(|name| name.get(..3))
        .unwrap_or_default()
}

/// `Mon-Fri,Sun`
impl fmt::Display for Weekdays {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, part) in self.0.iter().enumerate() {
            f.write_str(if number == 0 { "" } else { "," })?;
            match *part {
                Part::Range(0, 6) => f.write_str("daily")?,
                Part::Range(first, last) if first == last => f.write_str(short(first))?,
                Part::Range(first, last) => write!(f, "{}-{}", short(first), short(last))?,
                Part::InMonth(ordinal, unit) => write!(f, "{ordinal} {unit}")?,
            }
        }
        Ok(())
    }
}
