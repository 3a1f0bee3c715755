//! An oracle of cron as robfig/cron documents it: whether it matches a minute.

use chrono::{Datelike, Timelike};

use super::clocks::Minute;

/// Five fields of numbers, ranges, lists and steps.
pub(crate) struct Cron {
    fields: Vec<Vec<bool>>,
    /// Whether a day must match both fields of days, because one of them is a star.
    both_days: bool,
}

/// Whether a field contains a value.
fn has(field: &str, value: u32, max: u32) -> bool {
    field.split(',').any(|item| {
        let (range, step) = item.split_once('/').unwrap_or((item, "1"));
        let step: u32 = step.parse().unwrap();
        let (from, to) = match range.split_once('-') {
            Some((from, to)) => (from.parse().unwrap(), to.parse().unwrap()),
            None if matches!(range, "*" | "?") => (0, max),
            None if item.contains('/') => (range.parse().unwrap(), max),
            None => (range.parse().unwrap(), range.parse().unwrap()),
        };
        (from..=to).contains(&value) && (value - from).is_multiple_of(step)
    })
}

impl Cron {
    pub(crate) fn new(text: &str) -> Self {
        let fields: Vec<_> = text.split(' ').collect();
        let values = |(field, max): (&&str, u32)| (0..=max).map(|it| has(field, it, max)).collect();
        Self {
            both_days: matches!(fields[2], "*" | "?") || matches!(fields[4], "*" | "?"),
            fields: fields.iter().zip([59, 23, 31, 12, 6]).map(values).collect(),
        }
    }

    pub(crate) fn matches(&self, minute: &Minute) -> bool {
        let local = minute.local;
        let has = |field: usize, value: u32| self.fields[field][usize::try_from(value).unwrap()];
        let of_month = has(2, local.day());
        let of_week = has(4, local.weekday().num_days_from_sunday());
        let is_day = if self.both_days {
            of_month && of_week
        } else {
            of_month || of_week
        };
        has(0, local.minute()) && has(1, local.hour()) && has(3, local.month()) && is_day
    }
}
