//! The end of an override, before it is known of which object.

use chrono::{DateTime, Datelike as _, Days, TimeDelta, Utc, Weekday};

use crate::schedule::{Diagnostic, Zone, parse_moment};

/// When an override ends, for any object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Until {
    /// At the same instant for all.
    At(DateTime<Utc>),
    /// At a time of day, also of a weekday, or a moment on the clocks of each object's zone.
    Local(String),
}

/// Why a text cannot be the end of an override.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum UntilError {
    /// The text is not a time.
    #[error(transparent)]
    Text(#[from] Diagnostic),
    /// The time is in the past; as it was written.
    #[error("`{0}` is in the past; write a future time, such as 22:00 or Mon 09:00")]
    Passed(String),
}

impl Until {
    /// A time that is read in the zone of each object.
    ///
    /// # Errors
    /// The text is not a time in any zone. It may be in the past in some.
    pub fn local(text: String, now: DateTime<Utc>) -> Result<Self, UntilError> {
        let until = Self::Local(text);
        // Anything but its being past is the same in all zones; that may not be.
        match until.in_zone(Zone::UTC, now) {
            Err(UntilError::Text(error)) => Err(error.into()),
            _ => Ok(until),
        }
    }

    /// The instant, in whole seconds, for an object whose local times are in `zone`.
    ///
    /// # Errors
    /// The text is not a date and time, or is in the past.
    pub fn in_zone(&self, zone: Zone, now: DateTime<Utc>) -> Result<DateTime<Utc>, UntilError> {
        let text = match self {
            Self::At(at) => return Ok(*at),
            Self::Local(text) => text.trim(),
        };
        let of_a_weekday = text
            .split_once(char::is_whitespace)
            .and_then(|(first, time)| Some((first.parse::<Weekday>().ok()?, time)));
        let (weekday, time) = match of_a_weekday {
            Some((day, time)) => (Some(day), time),
            None => (None, text),
        };
        let time = time.trim();
        let is_time_of_day =
            time.contains(':') && time.chars().all(|it| it.is_ascii_digit() || it == ':');
        if !is_time_of_day {
            return match parse_moment(text, zone)? {
                passed if passed <= now => Err(UntilError::Passed(text.to_owned())),
                until => Ok(until),
            };
        }
        let today = now.with_timezone(&zone).date_naive();
        let (first, step) = match weekday {
            Some(day) => (u64::from(day.days_since(today.weekday())), 7),
            None => (0, 1),
        };
        let in_days = |days| parse_moment(&format!("{} {time}", today + Days::new(days)), zone);
        match in_days(first)? {
            passed if passed <= now => Ok(in_days(first + step)?),
            until => Ok(until),
        }
    }
}

/// A time such as `72h`, `30s` or `1h30m`; `0` needs no unit.
///
/// # Errors
/// The text is not such a time: what to write instead.
pub fn parse_duration(text: &str) -> Result<TimeDelta, String> {
    humantime::parse_duration(text)
        .ok()
        .and_then(|duration| TimeDelta::from_std(duration).ok())
        .filter(|duration| *duration <= TimeDelta::days(3650))
        .ok_or_else(|| "write a time such as 30s, 1h30m or 72h, at most ten years".to_owned())
}

/// A span of time longer than zero.
///
/// # Errors
/// The text is not such a time: what to write instead.
pub fn parse_span(text: &str) -> Result<TimeDelta, String> {
    match parse_duration(text)? {
        none if none.is_zero() => Err("write a time longer than 0, such as 12h or 7d".to_owned()),
        long => Ok(long),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> DateTime<Utc> {
        text.parse().unwrap()
    }

    #[test]
    fn a_time_of_day_is_the_next_one_in_the_zone() {
        let (tokyo, berlin) = ("Asia/Tokyo", "Europe/Berlin");
        for (text, zone, now, expected) in [
            (
                "22:00",
                tokyo,
                "2026-11-20T12:59:59Z",
                "2026-11-20T13:00:00Z",
            ),
            (
                "22:00",
                tokyo,
                "2026-11-20T13:00:00Z",
                "2026-11-21T13:00:00Z",
            ),
            (
                "6:00",
                berlin,
                "2026-11-20T20:00:00Z",
                "2026-11-21T05:00:00Z",
            ),
            // 20 November is a Friday.
            (
                "Mon 09:00",
                berlin,
                "2026-11-20T20:00:00Z",
                "2026-11-23T08:00:00Z",
            ),
            (
                "friday  21:00",
                berlin,
                "2026-11-20T19:59:59Z",
                "2026-11-20T20:00:00Z",
            ),
            (
                "Fri 21:00",
                berlin,
                "2026-11-20T20:00:00Z",
                "2026-11-27T20:00:00Z",
            ),
            (
                "Sat 00:30",
                tokyo,
                "2026-11-20T15:00:00Z",
                "2026-11-20T15:30:00Z",
            ),
            // In the gap of 29 March it is the end of the gap.
            (
                "02:30",
                berlin,
                "2026-03-28T20:00:00Z",
                "2026-03-29T01:00:00Z",
            ),
            (
                "2026-12-24 18:00",
                berlin,
                "2026-11-20T20:00:00Z",
                "2026-12-24T17:00:00Z",
            ),
            (
                "2026-12-24T18:00:00-05:00",
                berlin,
                "2026-11-20T20:00:00Z",
                "2026-12-24T23:00:00Z",
            ),
        ] {
            let until = Until::Local(text.to_owned());
            let zone = Zone::parse(zone).unwrap();
            assert_eq!(
                until.in_zone(zone, at(now)),
                Ok(at(expected)),
                "{text} {now}"
            );
        }
    }

    #[test]
    fn says_what_to_write_instead() {
        let now = at("2026-11-20T10:00:00Z");
        for (text, part) in [
            ("tonight", "2026-12-24 18:00"),
            ("9pm", "2026-12-24 18:00"),
            ("Mon 9am", "2026-12-24 18:00"),
            ("Mon-Fri 09:00", "2026-12-24 18:00"),
            ("Mon", "2026-12-24 18:00"),
            ("Mon 25:00", "is not in a day"),
            ("25:00", "is not in a day"),
            ("22:00+01:00", "2026-12-24 18:00"),
            ("2026-12-24", "2026-12-24 18:00"),
            (
                "2026-11-20 09:59",
                "is in the past; write a future time, such as 22:00",
            ),
            ("", "2026-12-24 18:00"),
        ] {
            let until = Until::Local(text.to_owned());
            let error = until.in_zone(Zone::UTC, now).unwrap_err();
            assert!(error.to_string().contains(part), "{text}: {error}");
        }
    }
}
