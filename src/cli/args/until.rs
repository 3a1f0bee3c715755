//! `--for 2h` and `--until 22:00`.

use chrono::{DateTime, Days, TimeDelta, Utc};

use super::value_parsers::span;
use crate::schedule::{TextError, Zone, parse_moment};

/// How long an override lasts.
#[derive(Debug, clap::Args)]
#[group(multiple = false)]
pub(crate) struct UntilArgs {
    /// How long, from now on, such as 2h or 90m
    #[arg(long = "for", value_name = "TIME", value_parser = span, env = "DAYSHIFT_FOR")]
    length: Option<TimeDelta>,

    /// Until when: 22:00 is the next one in the Deployment's own zone; also "2026-12-24 18:00", or
    /// RFC 3339
    #[arg(long, value_name = "T", env = "DAYSHIFT_UNTIL")]
    until: Option<String>,
}

/// When an override ends, for any object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Until {
    /// At the same instant for all.
    At(DateTime<Utc>),
    /// At a time of day or a moment on the clocks of each object's zone.
    Local(String),
}

/// Why a text is no end of an override.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum UntilError {
    #[error(transparent)]
    Text(#[from] TextError),
    #[error("{0} has passed")]
    Passed(String),
}

impl UntilArgs {
    /// The end; none where neither flag is given.
    ///
    /// # Errors
    /// Where the text is no moment, or one that has passed in any zone.
    pub(crate) fn until(&self, now: DateTime<Utc>) -> Result<Option<Until>, UntilError> {
        if let Some(length) = self.length {
            return Ok(Some(Until::At(now + length)));
        }
        let Some(text) = &self.until else {
            return Ok(None);
        };
        let until = Until::Local(text.clone());
        // Anything but its being past is the same in all zones; that may not be.
        match until.in_zone(Zone::UTC, now) {
            Err(UntilError::Text(error)) => Err(error.into()),
            _ => Ok(Some(until)),
        }
    }
}

impl Until {
    /// The instant, in whole seconds, for an object whose local times are in `zone`.
    ///
    /// # Errors
    /// Where the text is no moment, or has passed.
    pub(crate) fn in_zone(
        &self,
        zone: Zone,
        now: DateTime<Utc>,
    ) -> Result<DateTime<Utc>, UntilError> {
        let text = match self {
            Self::At(at) => return Ok(*at),
            Self::Local(text) => text.trim(),
        };
        let is_time_of_day =
            text.contains(':') && text.chars().all(|it| it.is_ascii_digit() || it == ':');
        if !is_time_of_day {
            return match parse_moment(text, zone)? {
                passed if passed <= now => Err(UntilError::Passed(text.to_owned())),
                until => Ok(until),
            };
        }
        let today = now.with_timezone(&zone.tz()).date_naive();
        let on = |date| parse_moment(&format!("{date} {text}"), zone);
        match on(today)? {
            passed if passed <= now => Ok(on(today + Days::new(1))?),
            until => Ok(until),
        }
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
            ("25:00", "is not in a day"),
            ("22:00+01:00", "2026-12-24 18:00"),
            ("2026-12-24", "2026-12-24 18:00"),
            ("2026-11-20 09:59", "has passed"),
            ("", "2026-12-24 18:00"),
        ] {
            let until = Until::Local(text.to_owned());
            let error = until.in_zone(Zone::UTC, now).unwrap_err();
            assert!(error.to_string().contains(part), "{text}: {error}");
        }
    }
}
