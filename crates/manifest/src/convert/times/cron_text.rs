//! Cron texts of other tools, and how people would write them here.

use std::collections::BTreeSet;

use dayshift_schedule::Times;

use crate::convert::times::week::{DAY, times};

/// The most times of a day that are written out.
const MAX_TIMES: usize = 4;

/// The minutes of the week at which a cron text comes, where it is about nothing else.
pub(crate) fn minutes_of_week(cron: &str) -> Option<Vec<u32>> {
    Times::parse(cron).ok()?.minutes_of_week()
}

/// The days of the week of some minutes of it; bit 0 is Monday.
pub(crate) fn days_of(minutes: &[u32]) -> u8 {
    let mut days = minutes.iter().map(|it| it / DAY);
    days.try_fold(0, |all, day| Some(all | 1_u8.checked_shl(day)?))
        .unwrap_or_default()
}

/// A cron text of five fields as people would write it: `Mon-Fri 08:00`, or else as it is;
/// `None` where it is not cron.
pub(crate) fn text(cron: &str) -> Option<String> {
    let fields: Vec<_> = cron.split_whitespace().collect();
    let cron = fields.join(" ");
    let read = Times::parse(&cron).ok()?;
    let minutes = read.minutes_of_week().filter(|minutes| {
        let times: BTreeSet<_> = minutes.iter().map(|it| it % DAY).collect();
        times.len() <= MAX_TIMES
    });
    Some(minutes.map_or(cron, |minutes| times(&minutes)))
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
