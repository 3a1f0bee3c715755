//! Rules as values: the text that the library reads, and what it means for the model.

use chrono::{Datelike, NaiveDate, NaiveDateTime, NaiveTime, TimeDelta, Timelike};

pub(crate) const DAYS: [&str; 7] = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];

/// An item of start or stop.
#[derive(Clone, Debug)]
pub(crate) enum Item {
    /// Days of the week (bit 0 is Monday) and times of day.
    Weekly(u8, Vec<NaiveTime>),
    /// Minutes, hours, and days of the week as above.
    Cron(Vec<u32>, Vec<u32>, u8),
    /// One local moment.
    Moment(NaiveDateTime),
}

impl Item {
    pub(crate) fn daily(times: &[&str]) -> Self {
        Self::Weekly(0x7f, times.iter().map(|time| clock(time)).collect())
    }

    pub(crate) fn cron(minutes: &[u32], hours: &[u32]) -> Self {
        Self::Cron(minutes.to_vec(), hours.to_vec(), 0x7f)
    }

    pub(crate) fn text(&self) -> String {
        match self {
            Self::Weekly(days, times) => {
                let times: Vec<_> = times
                    .iter()
                    .map(|time| time.format("%H:%M").to_string())
                    .collect();
                format!("{}{}", days_text(*days), times.join(","))
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

    pub(crate) fn holds(&self, local: NaiveDateTime) -> bool {
        match self {
            Self::Weekly(days, times) => on(*days, local) && times.contains(&local.time()),
            Self::Cron(minutes, hours, days) => {
                on(*days, local)
                    && minutes.contains(&local.minute())
                    && hours.contains(&local.hour())
            }
            Self::Moment(at) => *at == local,
        }
    }
}

/// A window of hours: days, beginning and end (midnight at the end is 24:00).
#[derive(Clone, Debug)]
pub(crate) struct Window(pub(crate) u8, pub(crate) NaiveTime, pub(crate) NaiveTime);

impl Window {
    pub(crate) fn daily(from: &str, to: &str) -> Self {
        Self(0x7f, clock(from), clock(to))
    }

    pub(crate) fn text(&self) -> String {
        let Self(days, from, to) = self;
        let to = if *to == NaiveTime::MIN {
            "24:00".to_owned()
        } else {
            to.format("%H:%M").to_string()
        };
        format!("{}{}-{to}", days_text(*days), from.format("%H:%M"))
    }

    pub(crate) fn begins(&self, local: NaiveDateTime) -> bool {
        on(self.0, local) && local.time() == self.1
    }

    /// When the window ends that begins at `local`.
    pub(crate) fn end(&self, local: NaiveDateTime) -> NaiveDateTime {
        let same_day = local.date().and_time(self.2);
        if same_day > local {
            same_day
        } else {
            same_day + TimeDelta::days(1)
        }
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

fn on(days: u8, local: NaiveDateTime) -> bool {
    days & 1 << local.weekday().num_days_from_monday() != 0
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
