//! Times and windows as plain values: their text, and their dates.

use std::fmt::Write;

use chrono::{Datelike, NaiveDate, NaiveDateTime, NaiveTime, TimeDelta};
use serde::{Deserialize, Serialize};

use crate::scenario::as_text;

/// Which of several equivalent texts is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Style {
    Names,
    Cron,
    Loud,
}

/// A window with its beginning and end in minutes of the day. If the end is not after the beginning, the
/// window ends on the next day.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Window {
    pub days: u8,
    /// The day within the month, instead of days of the week.
    #[serde(default)]
    pub within: Option<Within>,
    pub from: u32,
    pub to: u32,
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub enum At {
    Weekly {
        days: u8,
        minute: u32,
    },
    Monthly {
        #[serde(flatten)]
        within: Within,
        minute: u32,
    },
    Once(#[serde(with = "as_text")] NaiveDateTime),
}

/// The number of a day within its month; it counts from the end if `from_end` is set.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Within {
    #[serde(with = "as_text")]
    pub like: NaiveDate,
    pub unit: Unit,
    pub from_end: bool,
}

/// The days that are counted within a month.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Unit {
    Day,
    /// Monday to Friday.
    Weekday,
    /// The days with the same day of the week as the date.
    SameDay,
}

pub const NAMES: [&str; 7] = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];

impl Unit {
    /// The counted days in the month of a date, in order.
    pub fn in_month(self, date: NaiveDate) -> impl Iterator<Item = NaiveDate> {
        let first = date.with_day(1).unwrap();
        let all = first
            .iter_days()
            .take_while(move |it| it.month() == date.month());
        all.filter(move |it| match self {
            Self::Day => true,
            Self::Weekday => it.weekday().num_days_from_monday() < 5,
            Self::SameDay => it.weekday() == date.weekday(),
        })
    }
}

impl Window {
    pub fn text(self, style: Style) -> String {
        let window = format!("{}-{}", clock(self.from), clock(self.to));
        match self.within {
            Some(within) => within.text(&window, style),
            None => with_days(self.days, &window, style),
        }
    }

    /// Whether the window begins on a date that counts as this day of the week.
    pub fn is_on(self, date: NaiveDate, day: u32) -> bool {
        match self.within {
            Some(within) => within.is_on(date),
            None => self.days & 1 << day != 0,
        }
    }
}

impl At {
    pub fn text(self, style: Style) -> String {
        match self {
            Self::Once(local) => local.format("%Y-%m-%d %H:%M").to_string(),
            Self::Weekly { days, minute } if style == Style::Cron => {
                let numbers: Vec<_> = on(days).map(|day| ((day + 1) % 7).to_string()).collect();
                let days = if days == 0x7f {
                    "*".to_owned()
                } else {
                    numbers.join(",")
                };
                format!("{} {} * * {days}", minute % 60, minute / 60)
            }
            Self::Weekly { days, minute } => with_days(days, &clock(minute), style),
            Self::Monthly { within, minute } => within.text(&clock(minute), style),
        }
    }

    /// The time on a date that counts as this day of the week; `None` if there is none.
    pub fn on(self, date: NaiveDate, day: u32) -> Option<NaiveDateTime> {
        match self {
            Self::Weekly { days, minute } => (days & 1 << day != 0).then(|| local(date, minute)),
            Self::Monthly { within, minute } => within.is_on(date).then(|| local(date, minute)),
            Self::Once(local) => (local.date() == date).then_some(local),
        }
    }
}

impl Within {
    /// The text of the day within the month, followed by a time or a window.
    fn text(self, time: &str, style: Style) -> String {
        let Self { like, unit, .. } = self;
        let nth = if self.from_end {
            "last"
        } else {
            let before = unit.in_month(like).filter(|it| *it < like).count();
            ["first", "second", "third", "fourth"][before]
        };
        let unit = match unit {
            Unit::Day => "day",
            Unit::Weekday => "weekday",
            Unit::SameDay => NAMES[like.weekday().num_days_from_monday() as usize],
        };
        let text = format!("{nth} {unit} {time}");
        match style {
            Style::Loud => text.to_uppercase(),
            _ => text,
        }
    }

    fn is_on(self, date: NaiveDate) -> bool {
        let Self { like, unit, .. } = self;
        if unit == Unit::SameDay && like.weekday() != date.weekday() {
            false
        } else if self.from_end {
            unit.in_month(date).last() == Some(date)
        } else {
            let nth = unit.in_month(like).position(|it| it == like);
            nth.is_some() && unit.in_month(date).position(|it| it == date) == nth
        }
    }
}

pub fn local(date: NaiveDate, minute: u32) -> NaiveDateTime {
    date.and_time(NaiveTime::MIN) + TimeDelta::minutes(i64::from(minute))
}

fn on(days: u8) -> impl Iterator<Item = usize> {
    (0..7).filter(move |day| days & (1 << day) != 0)
}

fn clock(minute: u32) -> String {
    format!("{:02}:{:02}", minute / 60, minute % 60)
}

fn with_days(days: u8, time: &str, style: Style) -> String {
    let mut text = match days {
        0x7f if style == Style::Loud => "DAILY".to_owned(),
        0x7f => String::new(),
        0x1f if style == Style::Loud => "Weekdays".to_owned(),
        0x1f => "Mon-Fri".to_owned(),
        0x60 => "weekends".to_owned(),
        _ => on(days).map(|day| NAMES[day]).collect::<Vec<_>>().join(","),
    };
    if style == Style::Loud {
        text = text.to_uppercase();
    }
    let blank = if text.is_empty() { "" } else { " " };
    write!(text, "{blank}{time}").unwrap();
    text
}
