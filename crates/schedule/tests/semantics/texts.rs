//! Rules as values, with their text for the library and their meaning for the model.

use std::collections::BTreeMap;

use chrono::{Datelike, NaiveDate, NaiveDateTime, NaiveTime, TimeDelta, Timelike};

pub(crate) const DAYS: [&str; 7] = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];

/// The days in front of a time of day.
#[derive(Clone, Debug)]
pub(crate) enum On {
    /// Weekdays; bit 0 is Monday.
    Week(u8),
    /// Days within the month.
    Month(Vec<Nth>),
}

impl On {
    pub(crate) const DAILY: Self = Self::Week(0x7f);

    fn text(&self) -> String {
        match self {
            Self::Week(days) => days_text(*days),
            Self::Month(days) => {
                let days: Vec<_> = days.iter().map(Nth::text).collect();
                format!("{} ", days.join(","))
            }
        }
    }

    fn matches(&self, date: NaiveDate, weekday: u32) -> bool {
        match self {
            Self::Week(days) => days & 1 << weekday != 0,
            Self::Month(days) => days.iter().any(|it| it.matches(date)),
        }
    }
}

/// An ordinal (the fifth counts from the end) and its unit: a weekday, any day, or a day from
/// Monday to Friday.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Nth(pub(crate) usize, pub(crate) usize);

pub(crate) const ORDINALS: [&str; 5] = ["first", "second", "third", "fourth", "last"];
pub(crate) const UNITS: [&str; 9] = [
    "Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun", "day", "weekday",
];

impl Nth {
    pub(crate) fn text(&self) -> String {
        format!("{} {}", ORDINALS[self.0], UNITS[self.1])
    }

    /// Counts through the days of the month, from the end for the last.
    pub(crate) fn matches(self, date: NaiveDate) -> bool {
        let first = date.with_day(1).unwrap();
        let in_month = first
            .iter_days()
            .take_while(|it| it.month() == date.month());
        let counted = in_month.filter(|it| {
            let weekday = it.weekday().num_days_from_monday() as usize;
            match self.1 {
                7 => true,
                8 => weekday < 5,
                day => weekday == day,
            }
        });
        let counted: Vec<_> = counted.collect();
        let found = match self.0 {
            4 => counted.last(),
            nth => counted.get(nth),
        };
        found == Some(&date)
    }
}

/// An item of `start` or `stop`.
#[derive(Clone, Debug)]
pub(crate) enum Item {
    /// Days and times of day.
    Days(On, Vec<NaiveTime>),
    /// Minutes, hours, and weekdays as above.
    Cron(Vec<u32>, Vec<u32>, u8),
    /// A local date and time.
    Moment(NaiveDateTime),
}

impl Item {
    pub(crate) fn daily(times: &[&str]) -> Self {
        Self::Days(On::DAILY, times.iter().map(|time| clock(time)).collect())
    }

    pub(crate) fn cron(minutes: &[u32], hours: &[u32]) -> Self {
        Self::Cron(minutes.to_vec(), hours.to_vec(), 0x7f)
    }

    pub(crate) fn text(&self) -> String {
        match self {
            Self::Days(days, times) => {
                let times: Vec<_> = times
                    .iter()
                    .map(|time| time.format("%H:%M").to_string())
                    .collect();
                format!("{}{}", days.text(), times.join(","))
            }
            Self::Cron(minutes, hours, days) => {
                let week: Vec<_> = (0..7)
                    .filter(|day| days & 1 << day != 0)
                    .map(|day| day + 1)
                    .collect();
                let week = if *days == 0x7f {
                    "*".to_owned()
                } else {
                    list(&week)
                };
                format!("{} {} * * {week}", list(minutes), list(hours))
            }
            Self::Moment(at) => at.format("%Y-%m-%d %H:%M").to_string(),
        }
    }

    /// Whether a local time matches, on a date that counts as this weekday.
    pub(crate) fn matches(&self, local: NaiveDateTime, weekday: u32) -> bool {
        match self {
            Self::Days(days, times) => {
                days.matches(local.date(), weekday) && times.contains(&local.time())
            }
            Self::Cron(minutes, hours, days) => {
                On::Week(*days).matches(local.date(), weekday)
                    && minutes.contains(&local.minute())
                    && hours.contains(&local.hour())
            }
            Self::Moment(at) => *at == local,
        }
    }
}

/// A window of hours: days, start and end (midnight at the end is 24:00).
#[derive(Clone, Debug)]
pub(crate) struct Window(pub(crate) On, pub(crate) NaiveTime, pub(crate) NaiveTime);

impl Window {
    pub(crate) fn daily(from: &str, to: &str) -> Self {
        Self(On::DAILY, clock(from), clock(to))
    }

    pub(crate) fn text(&self) -> String {
        let Self(days, from, to) = self;
        let to = if *to == NaiveTime::MIN {
            "24:00".to_owned()
        } else {
            to.format("%H:%M").to_string()
        };
        format!("{}{}-{to}", days.text(), from.format("%H:%M"))
    }

    pub(crate) fn begins(&self, local: NaiveDateTime, weekday: u32) -> bool {
        self.0.matches(local.date(), weekday) && local.time() == self.1
    }

    /// The end of the window that begins at `local`.
    pub(crate) fn end(&self, local: NaiveDateTime) -> NaiveDateTime {
        let same_day = local.date().and_time(self.2);
        if same_day > local {
            same_day
        } else {
            same_day + TimeDelta::days(1)
        }
    }
}

/// Additional windows on the dates from the first to the last.
#[derive(Clone, Debug)]
pub(crate) struct Extra(
    pub(crate) NaiveDate,
    pub(crate) NaiveDate,
    pub(crate) Window,
);

impl Extra {
    pub(crate) fn text(&self) -> String {
        let Self(first, last, window) = self;
        if first == last {
            format!("{first} {}", window.text())
        } else {
            format!("{first}..{last} {}", window.text())
        }
    }

    /// Whether a window begins at a local time. Its weekdays are those of the calendar.
    pub(crate) fn begins(&self, local: NaiveDateTime) -> bool {
        let weekday = local.weekday().num_days_from_monday();
        (self.0..=self.1).contains(&local.date()) && self.2.begins(local, weekday)
    }

    /// Whether any window begins.
    pub(crate) fn is_possible(&self) -> bool {
        let mut dates = self.0.iter_days().take_while(|date| *date <= self.1);
        dates.any(|date| self.begins(date.and_time(self.2.1)))
    }
}

pub(crate) fn clock(text: &str) -> NaiveTime {
    NaiveTime::parse_from_str(text, "%H:%M").unwrap()
}

pub(crate) fn joined(items: impl IntoIterator<Item = String>) -> String {
    items.into_iter().collect::<Vec<_>>().join("; ")
}

pub(crate) fn dates_text<'a>(dates: impl IntoIterator<Item = &'a NaiveDate>) -> String {
    joined(dates.into_iter().map(ToString::to_string))
}

fn days_text(days: u8) -> String {
    if days == 0x7f {
        return String::new();
    }
    let names: Vec<_> = (0..7)
        .filter(|day| days & 1 << day != 0)
        .map(|day| DAYS[day])
        .collect();
    format!("{} ", names.join(","))
}

fn list(values: &[u32]) -> String {
    values
        .iter()
        .map(ToString::to_string)
        .collect::<Vec<_>>()
        .join(",")
}

/// Treated dates as text, some of them as ranges.
pub(crate) fn treated_text(treated: &BTreeMap<NaiveDate, u32>) -> String {
    let mut items: Vec<(NaiveDate, NaiveDate, u32)> = Vec::new();
    for (&date, &day) in treated {
        match items.last_mut() {
            Some((_, last, known)) if *known == day && last.succ_opt() == Some(date) => {
                *last = date;
            }
            _ => items.push((date, date, day)),
        }
    }
    joined(items.into_iter().map(|(first, last, day)| {
        let day = DAYS[day as usize];
        if first == last {
            format!("{first} = {day}")
        } else {
            format!("{first}..{last}={}", day.to_uppercase())
        }
    }))
}
