//! Cron texts of other tools, and how people would write them here.

use crate::convert::times::week::{DAY, clock, list};
use crate::schedule::Times;

/// A cron text that is about days of the week and times of day alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::convert) struct Weekly {
    /// Bit 0 is Monday.
    pub(in crate::convert) days: u8,
    /// Minutes of the day.
    pub(in crate::convert) times: Vec<u32>,
}

/// The most times of a day that are written out.
const MOST_TIMES: usize = 4;

impl Weekly {
    /// Reads minute, hour, day of month, month and day of week.
    pub(in crate::convert) fn read(fields: &[&str]) -> Option<Self> {
        let [minute, hour, of_month, month, of_week] = fields else {
            return None;
        };
        if !matches!(*of_month, "*" | "?") || *month != "*" {
            return None;
        }
        let (minutes, hours) = (field(minute, 0, 59, &[])?, field(hour, 0, 23, &[])?);
        let days = field(
            of_week,
            0,
            7,
            &["sun", "mon", "tue", "wed", "thu", "fri", "sat"],
        )?;
        let bit = |day: u32| 1_u8 << ((day + 6) % 7);
        let times =
            (0..DAY).filter(|it| minutes >> (it % 60) & 1 == 1 && hours >> (it / 60) & 1 == 1);
        Some(Self {
            days: (0..8)
                .filter(|day| days >> day & 1 == 1)
                .fold(0, |all, day| all | bit(day)),
            times: times.collect(),
        })
    }

    /// The minutes of the week.
    pub(in crate::convert) fn minutes(&self) -> Vec<u32> {
        let days = (0..7).filter(|day| self.days >> day & 1 == 1);
        let all = days.flat_map(|day| self.times.iter().map(move |it| day * DAY + it));
        all.collect()
    }
}

/// The values of a field, as bits.
fn field(text: &str, min: u32, max: u32, names: &[&str]) -> Option<u64> {
    let value = |text: &str| {
        let at = names.iter().position(|it| it.eq_ignore_ascii_case(text));
        let value = match at {
            Some(at) => u32::try_from(at).ok()?,
            None => text.parse().ok()?,
        };
        (min..=max).contains(&value).then_some(value)
    };
    // 7 is Sunday only where it is written.
    let highest = if names.is_empty() { max } else { max - 1 };
    let mut bits = 0;
    for item in text.split(',') {
        let (range, step) = match item.split_once('/') {
            Some((range, step)) => (
                range,
                Some(step.parse::<usize>().ok().filter(|it| *it > 0)?),
            ),
            None => (item, None),
        };
        let (first, last) = match range.split_once('-') {
            _ if matches!(range, "*" | "?") => (min, highest),
            Some((first, last)) => (value(first)?, value(last)?),
            None if step.is_some() => (value(range)?, highest),
            None => (value(range)?, value(range)?),
        };
        if first > last {
            return None;
        }
        bits = (first..=last)
            .step_by(step.unwrap_or(1))
            .fold(bits, |bits, it| bits | 1 << it);
    }
    Some(bits)
}

/// A cron text of five fields as people would write it: `Mon-Fri 08:00`, or else as it is;
/// `None` where it is not cron.
pub(in crate::convert) fn text(cron: &str) -> Option<String> {
    let fields: Vec<_> = cron.split_whitespace().collect();
    let plain = match Weekly::read(&fields) {
        Some(weekly) if weekly.times.len() <= MOST_TIMES => {
            let days = (0..7).filter(|day| weekly.days >> day & 1 == 1);
            let all = days.flat_map(|day| weekly.times.iter().map(move |it| (day, *it)));
            list(all.collect(), clock)
        }
        _ => fields.join(" "),
    };
    Times::parse(&plain).is_ok().then_some(plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_weekly_is_written_so() {
        for (cron, expected) in [
            ("0 8 * * 1-5", Some("Mon-Fri 08:00")),
            ("30 20 ? * *", Some("20:30")),
            ("0 8,20 * * SAT,0", Some("Sat-Sun 08:00,20:00")),
            ("*/5 * * * *", Some("*/5 * * * *")),
            ("0 8 1 * *", Some("0 8 1 * *")),
            ("0 8 * * 7", Some("Sun 08:00")),
            ("0 0/6 * * 2", Some("Tue 00:00,06:00,12:00,18:00")),
            ("61 8 * * *", None),
            ("8:00", None),
            ("0 8 * *", None),
        ] {
            let read = text(cron).filter(|_| cron.split_whitespace().count() == 5);
            assert_eq!(read.as_deref(), expected, "{cron}");
        }
    }
}
