//! The end of an override and its duration, as users write them.

use chrono::{DateTime, Datelike as _, Days, TimeDelta, Utc, Weekday};
use dayshift_schedule::{Diagnostic, Proposal, Times, Zone, parse_date_time};

/// The end of an override, for any object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Until {
    /// The same time for all objects.
    At(DateTime<Utc>),
    /// A time of day, a weekday with a time of day, or a date and time, in the time zone of each object.
    Local(String),
}

/// Why a text is not the end of an override.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum UntilError {
    /// The text is not a time.
    #[error(transparent)]
    Text(#[from] Diagnostic),
    /// The time is in the past; the text.
    #[error("`{0}` is in the past; write a future time, such as 22:00 or Mon 09:00")]
    Passed(String),
}

impl Until {
    /// Checks a local time that will be read in the time zone of each object.
    ///
    /// # Errors
    /// If the text is not a time in any zone. It may be in the past in some zones.
    pub fn local(text: String, now: DateTime<Utc>) -> Result<Self, UntilError> {
        let until = Self::Local(text);
        // Only "in the past" depends on the time zone.
        match until.in_zone(Zone::UTC, now) {
            Err(UntilError::Text(error)) => Err(error.into()),
            _ => Ok(until),
        }
    }

    /// The end in whole seconds, for an object with this time zone.
    ///
    /// # Errors
    /// If the text is not a date and time, or is in the past.
    pub fn in_zone(&self, zone: Zone, now: DateTime<Utc>) -> Result<DateTime<Utc>, UntilError> {
        match self {
            Self::At(at) => Ok(*at),
            Self::Local(text) => read(text.trim(), zone, now).map_err(|error| match error {
                UntilError::Text(error) => advised(error, text.trim()).into(),
                passed @ UntilError::Passed(_) => passed,
            }),
        }
    }
}

fn read(text: &str, zone: Zone, now: DateTime<Utc>) -> Result<DateTime<Utc>, UntilError> {
    let of_a_weekday = text
        .split_once(char::is_whitespace)
        .and_then(|(first, time)| Some((first.parse::<Weekday>().ok()?, time)));
    let (weekday, time) = match of_a_weekday {
        Some((day, time)) => (Some(day), time),
        None => (None, text),
    };
    let time = time.trim();
    let is_time_of_day = time.contains(':')
        && time
            .chars()
            .all(|character| character.is_ascii_digit() || character == ':');
    if !is_time_of_day {
        return match parse_date_time(text, zone)? {
            passed if passed <= now => Err(UntilError::Passed(text.to_owned())),
            until => Ok(until),
        };
    }
    let today = now.with_timezone(&zone).date_naive();
    let (first, step) = match weekday {
        Some(day) => (u64::from(day.days_since(today.weekday())), 7),
        None => (0, 1),
    };
    let in_days = |days| parse_date_time(&format!("{} {time}", today + Days::new(days)), zone);
    match in_days(first)? {
        passed if passed <= now => Ok(in_days(first + step)?),
        until => Ok(until),
    }
}

/// The time of day that is suggested if the text has only a day.
const EXAMPLE_TIME: &str = "09:00";

/// Adds a suggestion to the error, if the meaning of the text can be guessed.
fn advised(error: Diagnostic, text: &str) -> Diagnostic {
    let of_all = |wrong, help| Diagnostic::new(0..text.len(), text, wrong, help);
    let probable_end = probable_end(text);
    if parse_span(text).is_ok() {
        let time =
            probable_end.map_or_else(String::new, |time| format!("; a time of day is `{time}`"));
        let help = format!("it goes with `for` instead of `until`{time}");
        return of_all("is a duration", help);
    }
    let mut words = text.split_whitespace();
    if words.any(|word| word.eq_ignore_ascii_case("tomorrow")) {
        let help = "write the day of the week and a time, such as `Mon 09:00`";
        return of_all("is not a date and time", help.to_owned());
    }
    match probable_end {
        Some(end) => error.with_proposal(Some(Proposal::replace_all(text, &end))),
        None => error,
    }
}

/// The end that the text probably means: `9am` is `09:00`. For a day without a time, a time on that day.
fn probable_end(text: &str) -> Option<String> {
    let reads = |text: &str| read(text, Zone::UTC, DateTime::UNIX_EPOCH).is_ok();
    let loose = |text: String| match Times::parse(&text) {
        Ok(_) => Some(text),
        Err(error) => error.proposal()?.apply_to(&text),
    };
    let on_that_day = match text.parse::<Weekday>() {
        Ok(day) => format!("{day} {EXAMPLE_TIME}"),
        Err(_) => format!("{text} {EXAMPLE_TIME}"),
    };
    match &*text.to_ascii_lowercase() {
        "" => return None,
        "tonight" => return Some("22:00".to_owned()),
        _ => {}
    }
    let mut all = [text.to_owned(), on_that_day].into_iter().filter_map(loose);
    all.find(|proposal| proposal != text && reads(proposal))
}

/// Parses a duration such as `72h`, `30s` or `1h30m`; `0` needs no unit.
///
/// # Errors
/// If the text is not such a duration; the error has a correct example.
pub fn parse_duration(text: &str) -> Result<TimeDelta, String> {
    humantime::parse_duration(text)
        .ok()
        .and_then(|duration| TimeDelta::from_std(duration).ok())
        .filter(|duration| *duration <= TimeDelta::days(3650))
        .ok_or_else(|| "write a time such as 30s, 1h30m or 72h, at most ten years".to_owned())
}

/// Parses the duration of an override. If the text is an end instead, the error explains that.
///
/// # Errors
/// If the text is not a duration; the error has a correct example.
pub fn parse_length(text: &str) -> Result<TimeDelta, String> {
    parse_span(text).map_err(|error| {
        let until = Until::Local(text.to_owned());
        let is_end = until.in_zone(Zone::UTC, DateTime::UNIX_EPOCH).is_ok();
        let is_number = text
            .trim()
            .chars()
            .all(|character| character.is_ascii_digit());
        let end = if is_end {
            Some(text.trim().to_owned())
        } else {
            probable_end(text.trim())
        };
        match end.filter(|_| !is_number) {
            Some(end) => {
                format!("is not a duration; `{end}` goes with `until` instead of `for`")
            }
            None => error,
        }
    })
}

/// Parses a duration longer than zero.
///
/// # Errors
/// If the text is not such a duration; the error has a correct example.
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
    fn a_time_of_day_is_the_next_one_in_the_time_zone() {
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
            // In the DST gap of 29 March it is the end of the gap.
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
    fn an_invalid_end_suggests_a_correct_one() {
        let now = at("2026-11-20T10:00:00Z");
        let example = "write local time such as `2026-12-24 18:00`";
        for (text, part) in [
            ("tonight", "; write `22:00`"),
            ("9pm", "; write `21:00`"),
            ("9am", "; write `09:00`"),
            ("9.30pm", "; write `21:30`"),
            ("noon", "; write `12:00`"),
            ("18", "; write `18:00`"),
            ("Mon 9am", "; write `Mon 09:00`"),
            ("mon 9", "; write `Mon 09:00`"),
            ("Mon", "; write `Mon 09:00`"),
            ("monday", "; write `Mon 09:00`"),
            ("Fridya", "; write `Fri 09:00`"),
            ("2026-12-31", "; write `2026-12-31 09:00`"),
            ("31.12.2026 6pm", "; write `2026-12-31 18:00`"),
            (
                "18h",
                "is a duration; it goes with `for` instead of `until`; a time of day is `18:00`",
            ),
            (
                "90m",
                "is a duration; it goes with `for` instead of `until`",
            ),
            (
                "tomorrow",
                "; write the day of the week and a time, such as `Mon 09:00`",
            ),
            (
                "tomorrow 9am",
                "; write the day of the week and a time, such as `Mon 09:00`",
            ),
            ("Mon-Fri 09:00", example),
            ("weekdays", example),
            ("next week", example),
            ("Mon 25:00", "is out of range"),
            ("25:00", "is out of range"),
            ("22:00+01:00", example),
            (
                "2026-11-20 09:59",
                "is in the past; write a future time, such as 22:00",
            ),
            ("", "2026-12-24 18:00"),
        ] {
            let until = Until::Local(text.to_owned());
            let error = until.in_zone(Zone::UTC, now).unwrap_err().to_string();
            assert!(error.contains(part), "{text}: {error}");
            // Each suggestion can be parsed.
            if let Some((_, proposed)) = error.split_once("; write `") {
                let until = Until::Local(proposed.trim_end_matches('`').to_owned());
                assert!(until.in_zone(Zone::UTC, now).is_ok(), "{error}");
            }
        }
    }

    #[test]
    fn an_end_given_as_a_duration_is_recognized() {
        for (text, part) in [
            ("22:00", "`22:00` goes with `until` instead of `for`"),
            ("monday", "`Mon 09:00` goes with `until`"),
            ("9am", "`09:00` goes with `until`"),
            ("tonight", "`22:00` goes with `until`"),
            ("2026-12-24 18:00", "`2026-12-24 18:00` goes with `until`"),
            ("2", "write a time such as 30s"),
            ("-1h", "write a time such as 30s"),
            ("soon", "write a time such as 30s"),
            ("0", "longer than 0"),
        ] {
            let error = parse_length(text).unwrap_err();
            assert!(error.contains(part), "{text}: {error}");
        }
        assert_eq!(parse_length("1h30m"), Ok(TimeDelta::minutes(90)));
    }
}
