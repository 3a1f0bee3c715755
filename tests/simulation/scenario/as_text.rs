//! Zones, dates and times of stored scenarios, as strings.

use chrono::{DateTime, NaiveDate, NaiveDateTime, Utc};
use chrono_tz::Tz;
use serde::{Deserialize as _, Deserializer, Serialize as _, Serializer, de::Error};

/// A value that is stored as a string.
pub trait AsText: Sized {
    fn to_text(&self) -> String;
    fn of_text(text: &str) -> Option<Self>;
}

pub fn serialize<T: AsText, S: Serializer>(value: &T, serializer: S) -> Result<S::Ok, S::Error> {
    value.to_text().serialize(serializer)
}

pub fn deserialize<'de, T: AsText, D: Deserializer<'de>>(deserializer: D) -> Result<T, D::Error> {
    let text = String::deserialize(deserializer)?;
    T::of_text(&text).ok_or_else(|| Error::custom(format!("cannot read {text:?}")))
}

impl AsText for DateTime<Utc> {
    fn to_text(&self) -> String {
        format!("{self:?}")
    }

    fn of_text(text: &str) -> Option<Self> {
        text.parse().ok()
    }
}

impl AsText for NaiveDateTime {
    fn to_text(&self) -> String {
        format!("{self:?}")
    }

    fn of_text(text: &str) -> Option<Self> {
        text.parse().ok()
    }
}

impl AsText for Tz {
    fn to_text(&self) -> String {
        self.name().to_owned()
    }

    fn of_text(text: &str) -> Option<Self> {
        text.parse().ok()
    }
}

/// An empty string is `None`.
impl AsText for Option<Tz> {
    fn to_text(&self) -> String {
        self.map_or_else(String::new, |zone| zone.name().to_owned())
    }

    fn of_text(text: &str) -> Option<Self> {
        if text.is_empty() {
            return Some(None);
        }
        text.parse().ok().map(Some)
    }
}

/// Dates with numbers: `2026-10-10=0;2026-10-11=4`.
impl AsText for Vec<(NaiveDate, u32)> {
    fn to_text(&self) -> String {
        let dates = self.iter().map(|(date, number)| format!("{date}={number}"));
        dates.collect::<Vec<_>>().join(";")
    }

    fn of_text(text: &str) -> Option<Self> {
        let date = |item: &str| {
            let (date, number) = item.split_once('=')?;
            Some((date.parse().ok()?, number.parse().ok()?))
        };
        let items = text.split(';').filter(|item| !item.is_empty());
        items.map(date).collect()
    }
}

impl AsText for NaiveDate {
    fn to_text(&self) -> String {
        self.to_string()
    }

    fn of_text(text: &str) -> Option<Self> {
        text.parse().ok()
    }
}

/// Ranges of dates: `2026-12-28..2027-01-03;2027-01-11..2027-01-11`.
impl AsText for Vec<(NaiveDate, NaiveDate)> {
    fn to_text(&self) -> String {
        let ranges = self.iter().map(|(first, last)| format!("{first}..{last}"));
        ranges.collect::<Vec<_>>().join(";")
    }

    fn of_text(text: &str) -> Option<Self> {
        let range = |range: &str| {
            let (first, last) = range.split_once("..")?;
            Some((first.parse().ok()?, last.parse().ok()?))
        };
        let ranges = text.split(';').filter(|range| !range.is_empty());
        ranges.map(range).collect()
    }
}
