//! Durations such as `5m` or `1h30m`: jitter (the time over which starts are spread), grace (how
//! long `enforce` lets a workload run), notice (the time between a stop notice and the stop), the
//! time after which a started workload is stopped, and the maximum wait for dependencies.

use std::{fmt, ops::Range};

use chrono::TimeDelta;
use dayshift_text::named_enum;

use crate::text::{Diagnostic, Grammar, Piece};

/// The maximum of a kind of duration, and texts for its errors.
struct DurationLimits {
    example: &'static str,
    most: &'static str,
    most_seconds: i64,
    grammar: Grammar,
}

/// The maximum wait in [`parse_items_and_wait`].
const MAX_WAIT: &str = "6h";
const MAX_WAIT_SECONDS: i64 = 6 * 3600;

const JITTER: DurationLimits = DurationLimits {
    example: "5m",
    most: "1h",
    most_seconds: 3600,
    grammar: Grammar::Jitter,
};

const GRACE: DurationLimits = DurationLimits {
    example: "30m",
    most: "24h",
    most_seconds: 24 * 3600,
    grammar: Grammar::Grace,
};

const NOTICE: DurationLimits = DurationLimits {
    example: "15m",
    most: "24h",
    most_seconds: 24 * 3600,
    grammar: Grammar::Notice,
};

const STOP_AFTER: DurationLimits = DurationLimits {
    example: "8h",
    most: "30d",
    most_seconds: 30 * 24 * 3600,
    grammar: Grammar::StopAfter,
};

/// The words after a duration that make [`StopAfter`] count from the creation.
const SINCE_CREATION: [&str; 2] = ["since", "creation"];

/// How long a workload runs before it is stopped (`stop-after`). It is displayed for messages, such as
/// `8h after its last start or deploy`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct StopAfter {
    /// One minute to 30 days, in whole seconds.
    pub duration: TimeDelta,
    /// From when the duration is counted.
    pub since: Since,
}

named_enum! {
    /// From when [`StopAfter`] counts.
    pub enum Since {
        /// The last start: by dayshift, by a user, by the creation, or by a deploy.
        Start = "start",
        /// The creation. Later starts and deploys count only after that duration has passed.
        Creation = "creation",
    }
}

impl fmt::Display for StopAfter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let duration = format_notice(self.duration);
        match self.since {
            Since::Start => write!(f, "{duration} after its last start or deploy"),
            Since::Creation => write!(f, "{duration} after its creation"),
        }
    }
}

impl StopAfter {
    /// Parses a duration from one minute to 30 days: `8h`, `1h30m`, `7d`, `48h since creation`.
    ///
    /// # Errors
    /// The text is not numbers with units, is not whole seconds, is shorter than a minute or longer
    /// than 30 days, or has other words after it. The span is in bytes of the text.
    pub fn parse(text: &str) -> Result<Self, Diagnostic> {
        Self::parse_strictly(text).map_err(|error| error.in_grammar(STOP_AFTER.grammar, text))
    }

    fn parse_strictly(text: &str) -> Result<Self, Diagnostic> {
        const HELP: &str = "write for example `8h`, `90m` or `48h since creation`";
        let all = Piece::whole(text, STOP_AFTER.example)?;
        if all.text().contains([';', ',']) {
            return Err(all.error("is a list, and only one duration is allowed", HELP));
        }
        let since = all
            .words()
            .find(|word| word.text().eq_ignore_ascii_case("since"));
        let (length, since) = match since {
            None => (all, Since::Start),
            Some(since) => {
                let at = since.span().start - all.span().start;
                let rest = all.part(at..all.text().len());
                let words = rest.words().map(Piece::text).map(str::to_lowercase);
                if !words.eq(SINCE_CREATION) {
                    let help = "write `since creation`, or only the duration, such as `8h`";
                    return Err(rest.error("is not known here", help));
                }
                (all.part(0..at).trim(), Since::Creation)
            }
        };
        let is_number = length.text().bytes().all(|byte| byte.is_ascii_digit());
        if is_number || !has_known_units(length.text()) {
            return Err(length.error("is not a duration", HELP));
        }
        let duration = parse_piece(length, STOP_AFTER.most, STOP_AFTER.most_seconds)?;
        if duration < TimeDelta::minutes(1) {
            return Err(length.error("is too short", "write at least `1m`"));
        }
        Ok(Self { duration, since })
    }
}

/// Parses a duration in whole seconds, at most an hour: `5m`, `90s`, `1m 30s`, `1h`.
///
/// # Errors
/// The text is not numbers with units, is not whole seconds, or is longer than an hour. The span
/// is in bytes of the text.
pub fn parse_jitter(text: &str) -> Result<TimeDelta, Diagnostic> {
    parse_text(text, &JITTER)
}

/// Parses a duration in whole seconds, from one second to a day: `30m`, `1h30m`, `24h`.
///
/// # Errors
/// The text is not numbers with units, is not whole seconds, is 0, or is longer than a day. The
/// span is in bytes of the text.
pub fn parse_grace(text: &str) -> Result<TimeDelta, Diagnostic> {
    let grace = parse_text(text, &GRACE)?;
    if grace.is_zero() {
        return Err(not_a_duration(Piece::whole(text, GRACE.example)?));
    }
    Ok(grace)
}

/// Parses a duration in whole seconds, at most a day: `15m`, `1h30m`. `0` means none.
///
/// # Errors
/// The text is not numbers with units, is not whole seconds, or is longer than a day. The span is
/// in bytes of the text.
pub fn parse_notice(text: &str) -> Result<TimeDelta, Diagnostic> {
    parse_text(text, &NOTICE)
}

/// Formats a duration for [`parse_notice`], in the largest unit that gives a whole number: `2h`,
/// `90m`, `45s`, `0`.
pub fn format_notice(length: TimeDelta) -> String {
    let seconds = length.num_seconds();
    let units = [(3600, "h"), (60, "m"), (1, "s")];
    let unit = units.into_iter().find(|(of, _)| seconds % of == 0);
    match unit.filter(|_| seconds != 0) {
        Some((of, unit)) => format!("{}{unit}", seconds / of),
        None => "0".to_owned(),
    }
}

/// Parses a list such as `sts/db; deploy/cache, 5m`: items between `;` with their byte positions,
/// and an optional duration from one second to six hours after a `,`.
///
/// # Errors
/// An item is empty, or the duration is invalid. The span is in bytes of the text.
#[expect(
    clippy::type_complexity,
    reason = "items as `list_items` gives them, and a length"
)]
pub fn parse_items_and_wait<'t>(
    text: &'t str,
    example: &'static str,
) -> Result<(Vec<(Range<usize>, &'t str)>, Option<TimeDelta>), Diagnostic> {
    let mut items = Piece::items(text, example)?.collect::<Result<Vec<_>, _>>()?;
    let mut wait = None;
    if let Some(last) = items.last_mut()
        && let Some((item, length)) = last.split_once(",")
    {
        let length = length.trim();
        if !length
            .text()
            .starts_with(|character: char| character.is_ascii_digit())
            || length.text().contains(['/', ','])
        {
            return Err(length.error(
                "follows a `,`, where only a duration is allowed",
                format!("separate objects with `;`, as in `{example}`"),
            ));
        }
        let duration = parse_piece(length, MAX_WAIT, MAX_WAIT_SECONDS)?;
        if duration.is_zero() {
            return Err(not_a_duration(length));
        }
        wait = Some(duration);
        *last = item.trim();
    }
    let items = items.into_iter().map(|item| (item.span(), item.text()));
    Ok((items.collect(), wait))
}

fn parse_text(text: &str, limits: &DurationLimits) -> Result<TimeDelta, Diagnostic> {
    let all = Piece::whole(text, limits.example);
    all.and_then(|all| parse_piece(all, limits.most, limits.most_seconds))
        .map_err(|error| error.in_grammar(limits.grammar, text))
}

fn parse_piece(all: Piece<'_>, most: &str, most_seconds: i64) -> Result<TimeDelta, Diagnostic> {
    if all.text() != "0" && !has_known_units(all.text()) {
        return Err(not_a_duration(all));
    }
    let seconds = match humantime::parse_duration(all.text()) {
        Ok(length) if length.subsec_nanos() > 0 => return Err(not_a_duration(all)),
        Ok(length) => i64::try_from(length.as_secs()).ok(),
        Err(humantime::DurationError::NumberOverflow) => None,
        Err(_) => return Err(not_a_duration(all)),
    };
    seconds
        .filter(|seconds| *seconds <= most_seconds)
        .map(TimeDelta::seconds)
        .ok_or_else(|| all.error("is too long", format!("write at most `{most}`")))
}

fn not_a_duration(length: Piece<'_>) -> Diagnostic {
    length.error("is not a duration", "write for example `5m`, `90s` or `1h`")
}

/// The accepted units, a subset of those that humantime knows.
const UNITS: [&str; 16] = [
    "s", "sec", "secs", "second", "seconds", "m", "min", "mins", "minute", "minutes", "h", "hr",
    "hrs", "hour", "hours", "d",
];

/// Whether text is numbers with accepted units. humantime would read `1 30s` as 130 seconds, `1M`
/// as a month and `1000ms` as a second.
fn has_known_units(text: &str) -> bool {
    let mut rest = text;
    while rest.starts_with(|character: char| character.is_ascii_digit()) {
        rest = rest
            .trim_start_matches(|character: char| character.is_ascii_digit())
            .trim_start();
        let unit = rest
            .find(|character: char| !character.is_alphabetic())
            .unwrap_or(rest.len());
        if !UNITS.contains(&&rest[..unit]) {
            return false;
        }
        rest = rest[unit..].trim_start();
    }
    rest.is_empty()
}

/// Parses `1,5h` or `PT1H30M` for a proposal. `None` if a number has no unit.
pub(crate) fn parse_loosely(text: &str) -> Option<u64> {
    let text = text.trim().to_lowercase().replace(',', ".");
    let text = text.strip_prefix("pt").unwrap_or(&text);
    let duration = humantime::parse_duration(text).ok()?;
    (duration.subsec_nanos() == 0).then_some(duration.as_secs())
}

/// Formats seconds as `1h30m`.
pub fn format_seconds(seconds: u64) -> String {
    let parts = [
        (seconds / 3600, 'h'),
        (seconds / 60 % 60, 'm'),
        (seconds % 60, 's'),
    ];
    parts
        .into_iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, unit)| format!("{count}{unit}"))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_whole_seconds_up_to_an_hour() {
        for (text, seconds) in [
            ("5m", 300),
            ("90s", 90),
            (" 1h ", 3600),
            ("1m30s", 90),
            ("0s", 0),
            ("5 min", 300),
            ("30s1m", 90),
            ("60m0s", 3600),
        ] {
            assert_eq!(
                parse_jitter(text).unwrap(),
                TimeDelta::seconds(seconds),
                "{text}"
            );
        }
    }

    #[test]
    fn zero_is_a_valid_notice_and_not_a_valid_grace() {
        assert_eq!(parse_notice("0"), Ok(TimeDelta::zero()));
        assert_eq!(parse_notice("24h"), Ok(TimeDelta::hours(24)));
        assert!(parse_grace("0s").is_err());
    }

    #[test]
    fn rejects_invalid_and_too_long_durations() {
        for (text, wrong) in [
            ("1 30s", "is not a duration"),
            ("1M", "is not a duration"),
            ("1000ms", "is not a duration"),
            ("1m 2\u{a0}30s", "is not a duration"),
            ("5", "is not a duration"),
            ("1.5h", "is not a duration"),
            ("-5m", "is not a duration"),
            ("m", "is not a duration"),
            ("1500ms", "is not a duration"),
            ("五m", "is not a duration"),
            ("1h1s", "is too long"),
            ("61m", "is too long"),
            ("99999999999999999999s", "is too long"),
            ("4294967295h", "is too long"),
        ] {
            let error = parse_jitter(&format!("\u{3000}{text}")).unwrap_err();
            assert_eq!(error.message(), format!("`{text}` {wrong}"));
            assert_eq!(error.span(), 3..3 + text.len());
        }
        assert_eq!(parse_jitter(" ").unwrap_err().span(), 0..1);
    }

    #[test]
    fn stop_after_is_a_duration_from_a_minute_to_30_days() {
        for (text, seconds, since) in [
            ("1m", 60, Since::Start),
            (" 8h ", 8 * 3600, Since::Start),
            ("1h 30m", 5400, Since::Start),
            ("30d", 30 * 86_400, Since::Start),
            ("48h since creation", 48 * 3600, Since::Creation),
            ("2d  Since\tcreation", 48 * 3600, Since::Creation),
        ] {
            let duration = TimeDelta::seconds(seconds);
            let expected = StopAfter { duration, since };
            assert_eq!(StopAfter::parse(text), Ok(expected), "{text}");
        }
    }

    #[test]
    fn stop_after_error_points_at_the_mistake_and_has_an_example() {
        let help = "write for example `8h`, `90m` or `48h since creation`";
        let since = "write `since creation`, or only the duration, such as `8h`";
        for (text, marked, wrong, help) in [
            ("0", "0", "is not a duration", help),
            ("8", "8", "is not a duration", help),
            (
                "8 hours of use",
                "8 hours of use",
                "is not a duration",
                help,
            ),
            ("-8h", "-8h", "is not a duration", help),
            ("since creation", "", "is not a duration", help),
            ("59s", "59s", "is too short", "write at least `1m`"),
            ("0m", "0m", "is too short", "write at least `1m`"),
            ("31d", "31d", "is too long", "write at most `30d`"),
            ("30d 1s", "30d 1s", "is too long", "write at most `30d`"),
            ("8h since birth", "since birth", "is not known here", since),
            (
                "8h since creation of it",
                "since creation of it",
                "is not known here",
                since,
            ),
            (
                "8h; 4h",
                "8h; 4h",
                "is a list, and only one duration is allowed",
                help,
            ),
            (
                "8h, 4h",
                "8h, 4h",
                "is a list, and only one duration is allowed",
                help,
            ),
        ] {
            let error = StopAfter::parse(text).unwrap_err();
            let shown = if marked.is_empty() {
                format!("{wrong}; {help}")
            } else {
                format!("`{marked}` {wrong}; {help}")
            };
            assert!(error.to_string().starts_with(&shown), "{text}: {error}");
        }
        assert!(
            StopAfter::parse(" ")
                .unwrap_err()
                .to_string()
                .contains("`8h`")
        );
    }

    #[test]
    fn error_names_the_maximum_duration() {
        for (error, expected) in [
            (parse_jitter("61m"), "`61m` is too long; write at most `1h`"),
            (parse_grace("25h"), "`25h` is too long; write at most `24h`"),
            (
                parse_notice("25h"),
                "`25h` is too long; write at most `24h`",
            ),
        ] {
            assert_eq!(error.unwrap_err().to_string(), expected);
        }
    }
}
