//! Formats of times and durations.

use chrono::{DateTime, NaiveDate, TimeDelta, Timelike, Utc};
use dayshift_schedule::Zone;

/// Formats a time in `zone` for a reader at `now`: `22:00 CET` today, `Mon 09:00 CET` within six days,
/// otherwise `Mon 2026-12-07 09:00 CET`. Seconds are shown unless they are 0.
pub fn short_time(at: DateTime<Utc>, zone: Zone, now: DateTime<Utc>) -> String {
    let at = at.with_timezone(&zone);
    let today = now.with_timezone(&zone).date_naive();
    let days = |date: NaiveDate| date.signed_duration_since(today).num_days();
    let date = match days(at.date_naive()) {
        0 => "",
        -6..=6 => "%a ",
        _ => "%a %Y-%m-%d ",
    };
    let time = time_of_day(&at);
    at.format(&format!("{date}{time} %Z")).to_string()
}

/// Formats a time in `zone` for a reader at any time: `Mon 2026-11-23 09:00:00 JST`.
pub fn full_time(at: DateTime<Utc>, zone: Zone) -> String {
    let local = at.with_timezone(&zone);
    local.format("%a %Y-%m-%d %H:%M:%S %Z").to_string()
}

/// `Mon 2026-11-23 09:00` in `zone`. Seconds are shown unless they are 0.
pub fn date_and_time(at: DateTime<Utc>, zone: Zone) -> String {
    let at = at.with_timezone(&zone);
    at.format(&format!("%a %Y-%m-%d {}", time_of_day(&at)))
        .to_string()
}

/// The format of a time of day, with seconds unless they are 0.
pub fn time_of_day(at: &impl Timelike) -> &'static str {
    if at.second() == 0 {
        "%H:%M"
    } else {
        "%H:%M:%S"
    }
}

/// `7 d`, `1 d 12 h`, `1 min 30 s` or `0 s`.
pub fn span(time: TimeDelta) -> String {
    let rest = time.num_seconds() % 86_400;
    let days = time.num_days();
    let parts = [
        (days, format!("{days} d")),
        (rest / 3600, format!("{} h", rest / 3600)),
        (rest / 60 % 60, format!("{} min", rest / 60 % 60)),
        (rest % 60, format!("{} s", rest % 60)),
    ];
    let some = parts.into_iter().filter(|(count, _)| *count > 0);
    let text: Vec<_> = some.map(|(_, part)| part).collect();
    if text.is_empty() {
        "0 s".to_owned()
    } else {
        text.join(" ")
    }
}

/// The distance from `now`: `in 2 h`, `in 3 d 4 h`, `5 min ago`.
pub fn distance(at: DateTime<Utc>, now: DateTime<Utc>) -> String {
    let time = at - now;
    match time.num_seconds() {
        0 => "now".to_owned(),
        1.. => format!("in {}", duration(time)),
        _ => format!("{} ago", duration(-time)),
    }
}

/// A duration, rounded, in one or two units: `73 s`, `5 min`, `2 h 59 min`, `3 d 4 h`, `12 d`.
pub fn duration(time: TimeDelta) -> String {
    let seconds = time.num_seconds().max(0);
    let rounded = |unit: i64| (seconds + unit / 2) / unit;
    let (minutes, hours, days) = (rounded(60), rounded(3600), rounded(86_400));
    let two = |large: i64, large_unit: &str, small: i64, small_unit: &str| match small {
        0 => format!("{large} {large_unit}"),
        _ => format!("{large} {large_unit} {small} {small_unit}"),
    };
    if seconds < 120 {
        format!("{seconds} s")
    } else if minutes < 60 {
        format!("{minutes} min")
    } else if minutes < 48 * 60 {
        two(minutes / 60, "h", minutes % 60, "min")
    } else if hours < 10 * 24 {
        two(hours / 24, "d", hours % 24, "h")
    } else {
        format!("{days} d")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_distance_has_its_two_largest_units() {
        let now = "2026-11-20T10:00:00Z".parse().unwrap();
        for (seconds, expected) in [
            (0, "now"),
            (59, "in 59 s"),
            (600, "in 10 min"),
            (7_140, "in 1 h 59 min"),
            (10_785, "in 3 h"),
            (7_200, "in 2 h"),
            (9_000, "in 2 h 30 min"),
            (277_200, "in 3 d 5 h"),
            (8_640_000, "in 100 d"),
            (-300, "5 min ago"),
        ] {
            assert_eq!(distance(now + TimeDelta::seconds(seconds), now), expected);
        }
    }

    #[test]
    fn a_duration_has_its_two_largest_units() {
        for (seconds, expected) in [
            (73, "73 s"),
            (300, "5 min"),
            (7_500, "2 h 5 min"),
            (7_200, "2 h"),
            (273_600, "3 d 4 h"),
            (-5, "0 s"),
        ] {
            assert_eq!(duration(TimeDelta::seconds(seconds)), expected);
        }
    }

    #[test]
    fn a_time_has_a_date_only_if_the_day_is_ambiguous() {
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
            assert_eq!(short_time(at.parse().unwrap(), berlin, now), expected);
        }
    }

    #[test]
    fn a_span_has_all_units_that_are_not_zero() {
        for (seconds, expected) in [
            (7 * 86_400, "7 d"),
            (86_400 + 43_200, "1 d 12 h"),
            (3600, "1 h"),
            (90, "1 min 30 s"),
            (0, "0 s"),
        ] {
            assert_eq!(span(TimeDelta::seconds(seconds)), expected);
        }
    }
}
