//! `wake-on-request`: how long a connection to its Service wakes an object, and when.

use std::ops::Range;

use chrono::{DateTime, TimeDelta, Utc};
use dayshift_schedule::{
    Action, Diagnostic, ExceptedDates, Hours, Schedule, ScheduleRule, Zone, parse_grace,
    parse_items,
};

use crate::inputs::effective::Inputs;
use crate::inputs::problem::Problem;
use crate::keys::Key;

/// How long a connection wakes an object, and the hours in which one does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WakeOnRequest {
    /// How long the object runs, from the connection on: one second to a day.
    pub lasts: TimeDelta,
    hours: Option<Hours>,
}

impl WakeOnRequest {
    /// Reads a length of time and, after a `;`, running hours in which a connection counts: `2h`,
    /// `2h; Mon-Fri 06:00-23:00`.
    ///
    /// # Errors
    /// The length or the hours cannot be read. The span is in bytes of the text.
    pub fn parse(text: &str) -> Result<Self, Diagnostic> {
        let (lasts, hours) = match text.split_once(';') {
            Some((lasts, _)) => {
                // Blanks in place of the length: so the spans are those of the whole text.
                let blanks = " ".repeat(lasts.len() + 1);
                (lasts, Some(blanks + &text[lasts.len() + 1..]))
            }
            None => (text, None),
        };
        // What was meant by a part is not what was meant by the whole.
        let of_whole = |error: Diagnostic| error.meaning(None);
        Ok(Self {
            lasts: parse_grace(lasts).map_err(of_whole)?,
            hours: hours
                .map(|hours| Hours::parse(&hours).map_err(of_whole))
                .transpose()?,
        })
    }

    /// Whether a connection at that instant wakes an object whose times are in this zone.
    pub fn counts_at(&self, now: DateTime<Utc>, zone: Zone) -> bool {
        let Some(hours) = &self.hours else {
            return true;
        };
        let rule = ScheduleRule::Hours(hours.clone());
        let schedule = Schedule::new(rule, ExceptedDates::default(), zone);
        schedule.says(now, TimeDelta::zero()) == Some(Action::Start)
    }
}

/// Paths of HTTP requests that do not wake an object: `/healthz; /metrics; /static/*`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct IgnoredPaths(Vec<Box<str>>);

impl IgnoredPaths {
    /// Reads paths separated by `;`. A `*` at the end stands for anything.
    ///
    /// # Errors
    /// The list or an item is empty; an item does not begin with `/`, has a blank, or a `*` before its
    /// end. The span is in bytes of the text.
    pub fn parse(text: &str) -> Result<Self, Diagnostic> {
        const EXAMPLE: &str = "/healthz; /static/*";
        let path = |(span, item): (Range<usize>, &str)| {
            let plain = item.strip_suffix('*').unwrap_or(item);
            let is_path = plain.starts_with('/')
                && !plain.contains(|it: char| it == '*' || it.is_whitespace() || it.is_control());
            is_path.then(|| Box::from(item)).ok_or_else(|| {
                let help = format!("write for example `{EXAMPLE}`");
                Diagnostic::new(span, item, "is not a path", help)
            })
        };
        let items = parse_items(text, EXAMPLE)?.into_iter();
        items.map(path).collect::<Result<_, _>>().map(Self)
    }

    /// Whether a request for this path, which has no query, does not wake.
    pub fn has(&self, path: &str) -> bool {
        self.0.iter().any(|it| match it.strip_suffix('*') {
            Some(begins) => path.starts_with(begins),
            None => path == &**it,
        })
    }
}

/// What is wrong with the texts that are in force for `dayshift activator`. The scaler reads neither.
pub fn wake_on_request_problems(inputs: &Inputs) -> Vec<Problem> {
    let text = |key| inputs.text(key);
    let wake = text(Key::WakeOnRequest).map(|it| WakeOnRequest::parse(it).err());
    let ignore = text(Key::WakeOnRequestIgnore).map(|it| IgnoredPaths::parse(it).err());
    [
        (Key::WakeOnRequest, wake.flatten()),
        (Key::WakeOnRequestIgnore, ignore.flatten()),
    ]
    .into_iter()
    .filter_map(|(key, error)| {
        let origin = inputs.origin(key)?;
        Some(Problem::new(key.name(), error?).from(origin))
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_length_alone_wakes_at_any_time() {
        for (text, seconds) in [("2h", 7200), (" 90s ", 90), ("1h30m", 5400), ("24h", 86400)] {
            let wake = WakeOnRequest::parse(text).unwrap();
            assert_eq!(wake.lasts, TimeDelta::seconds(seconds), "{text}");
            assert!(wake.counts_at(DateTime::UNIX_EPOCH, Zone::UTC));
        }
    }

    #[test]
    fn hours_limit_it_in_the_zone_of_the_object() {
        let wake = WakeOnRequest::parse("2h; Mon-Fri 06:00-23:00").unwrap();
        let tokyo = Zone::parse("Asia/Tokyo").unwrap();
        for (at, zone, expected) in [
            ("2026-11-25T06:00:00Z", Zone::UTC, true),
            ("2026-11-25T05:59:59Z", Zone::UTC, false),
            ("2026-11-25T23:00:00Z", Zone::UTC, false),
            ("2026-11-28T12:00:00Z", Zone::UTC, false),
            ("2026-11-24T21:00:00Z", tokyo, true),
            ("2026-11-25T14:00:00Z", tokyo, false),
        ] {
            let at = at.parse().unwrap();
            assert_eq!(wake.counts_at(at, zone), expected, "{at}");
        }
        let always = WakeOnRequest::parse("2h; 00:00-24:00").unwrap();
        assert!(always.counts_at(DateTime::UNIX_EPOCH, Zone::UTC));
    }

    #[test]
    fn says_what_is_wrong_and_where() {
        for (text, span, message) in [
            ("two hours", 0..9, "`two hours` is not a duration"),
            ("0s", 0..2, "`0s` is not a duration"),
            ("25h", 0..3, "`25h` is too long"),
            ("2h; Mon-Fry 06:00-23:00", 8..11, "`Fry` is not a day"),
            ("2h; 09:00", 4..9, "`09:00`"),
            ("2h;", 0..3, "is empty"),
            ("", 0..0, "is empty"),
            (" 3 ; Mon-Fri 06:00-23:00", 1..2, "`3` is not a duration"),
        ] {
            let error = WakeOnRequest::parse(text).unwrap_err();
            assert!(error.message().contains(message), "{text}: {error}");
            assert_eq!(error.span(), span, "{text}: {error}");
        }
    }

    #[test]
    fn a_path_is_ignored_whole_or_by_its_beginning() {
        let paths = IgnoredPaths::parse("/healthz ; /static/*").unwrap();
        for (path, expected) in [
            ("/healthz", true),
            ("/healthz/", false),
            ("/static/", true),
            ("/static/a/b", true),
            ("/", false),
        ] {
            assert_eq!(paths.has(path), expected, "{path}");
        }
        for (text, span) in [
            ("healthz", 0..7),
            ("/a; b", 4..5),
            ("/a*b", 0..4),
            ("/a b", 0..4),
            ("", 0..0),
            (" ;", 0..2),
            ("/a;", 2..3),
            ("/a;;/b", 3..4),
        ] {
            let error = IgnoredPaths::parse(text).unwrap_err();
            assert_eq!(error.span(), span, "{text}: {error}");
        }
    }

    #[test]
    fn the_scaler_takes_a_schedule_beside_a_text_that_cannot_be_read() {
        let inputs = Inputs::default()
            .with(Key::Hours, "09:00-19:00")
            .with(Key::WakeOnRequest, "soon");
        let read = crate::read(&inputs, &crate::ParseContext::default());
        assert!(matches!(read, crate::ParsedInputs::Scheduled(_)));
        let problems = wake_on_request_problems(&inputs);
        assert_eq!(&*problems[0].annotation, "wake-on-request");
    }
}
