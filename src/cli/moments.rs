//! Instants, as short as a reader can take them.

use chrono::{DateTime, NaiveDate, Timelike as _, Utc};

use crate::schedule::Zone;

/// `at` on the clocks of `zone`, for one who reads it at `now`: `22:00 CET` today, `Mon 09:00 CET`
/// within six days, else `Mon 2026-12-07 09:00 CET`. Seconds are shown where there are any.
pub(super) fn clock(at: DateTime<Utc>, zone: Zone, now: DateTime<Utc>) -> String {
    let tz = zone.tz();
    let (at, today) = (at.with_timezone(&tz), now.with_timezone(&tz).date_naive());
    let days = |date: NaiveDate| date.signed_duration_since(today).num_days();
    let date = match days(at.date_naive()) {
        0 => "",
        -6..=6 => "%a ",
        _ => "%a %Y-%m-%d ",
    };
    let time = if at.second() == 0 {
        "%H:%M"
    } else {
        "%H:%M:%S"
    };
    at.format(&format!("{date}{time} %Z")).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_says_no_more_than_it_needs() {
        let berlin = Zone::parse("Europe/Berlin").unwrap();
        let now = "2026-11-20T10:00:00Z".parse().unwrap();
        for (at, expected) in [
            ("2026-11-20T21:00:00Z", "22:00 CET"),
            ("2026-11-20T21:00:05Z", "22:00:05 CET"),
            ("2026-11-20T23:30:00Z", "Sat 00:30 CET"),
            ("2026-11-19T18:00:00Z", "Thu 19:00 CET"),
            ("2026-11-26T08:00:00Z", "Thu 09:00 CET"),
            ("2026-11-27T08:00:00Z", "Fri 2026-11-27 09:00 CET"),
            ("2027-07-01T07:00:00Z", "Thu 2027-07-01 09:00 CEST"),
        ] {
            assert_eq!(clock(at.parse().unwrap(), berlin, now), expected);
        }
    }
}
