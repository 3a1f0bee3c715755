//! The minutes of a period as clocks show them.

use chrono::{DateTime, Datelike, NaiveDateTime, TimeDelta, Timelike, Utc};
use chrono_tz::Tz;

pub(crate) fn utc(text: &str) -> DateTime<Utc> {
    text.parse().unwrap()
}

/// Weeks with a clock change in Europe or America, and one without.
pub(crate) const PERIODS: [(&str, &str); 3] = [
    ("2027-03-08T00:00:00Z", "2027-04-05T00:00:00Z"),
    ("2027-10-25T00:00:00Z", "2027-11-15T00:00:00Z"),
    ("2027-07-05T00:00:00Z", "2027-07-19T00:00:00Z"),
];

#[derive(Clone, Copy, Debug)]
pub(crate) struct Minute {
    pub(crate) at: DateTime<Utc>,
    pub(crate) local: NaiveDateTime,
    /// Whether clocks have shown this time, or a later one, before.
    pub(crate) is_repeated: bool,
    /// The number of minutes that clocks skip before it.
    skipped: i32,
}

impl Minute {
    /// The skipped minutes just before it.
    pub(crate) fn skipped(self) -> impl Iterator<Item = Self> {
        let of_skipped = move |back: i32| Self {
            local: self.local - TimeDelta::minutes(back.into()),
            ..self
        };
        (1..=self.skipped).map(of_skipped)
    }

    /// The day of the week; 0 is Monday.
    pub(crate) fn weekday(&self) -> u32 {
        self.local.weekday().num_days_from_monday()
    }

    /// Minutes from midnight.
    pub(crate) fn of_day(&self) -> u32 {
        self.local.hour() * 60 + self.local.minute()
    }
}

/// The minutes of a period in a zone.
pub(crate) fn minutes(zone: Tz, from: &str, until: &str) -> Vec<Minute> {
    let (mut at, until) = (utc(from), utc(until));
    let mut latest = NaiveDateTime::MIN;
    let mut all = Vec::new();
    while at < until {
        let local = at.with_timezone(&zone).naive_local();
        let is_repeated = local <= latest;
        let step = (local - latest).num_minutes();
        let skipped = if all.is_empty() { 0 } else { step - 1 };
        latest = latest.max(local);
        all.push(Minute {
            at,
            local,
            is_repeated,
            skipped: i32::try_from(skipped).unwrap(),
        });
        at += TimeDelta::minutes(1);
    }
    all
}
