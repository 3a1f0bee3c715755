//! Content lines of iCalendar, `NAME;PARAMETER=VALUE:VALUE` (RFC 5545, 3.1), and the dates and
//! durations in their values.

use std::borrow::Cow;

use chrono::{NaiveDate, TimeDelta};
use dayshift_text::number;

use crate::{
    ical::{CalendarError, CalendarReason},
    local::{Local, day_number},
};

/// An unfolded line.
#[derive(Debug)]
pub(crate) struct ContentLine {
    /// The number of its first line in the file, from 1.
    pub(crate) number: usize,
    text: String,
    name: usize,
    value: usize,
}

impl ContentLine {
    fn read(number: usize, bytes: &[u8]) -> Result<Self, CalendarError> {
        // Folding can split a character, so decode the line after unfolding.
        let text = String::from_utf8_lossy(bytes).into_owned();
        let mut is_quoted = false;
        let colon = text.bytes().position(|byte| {
            is_quoted ^= byte == b'"';
            byte == b':' && !is_quoted
        });
        // An unmatched quotation mark does not hide the value.
        let colon = colon.or_else(|| text.find(':'));
        let name = text.find([';', ':']).filter(|end| *end > 0);
        let (Some(colon), Some(name)) = (colon, name) else {
            return Err(CalendarError::new(number, &text, CalendarReason::NotALine));
        };
        Ok(Self {
            number,
            text,
            name,
            value: colon + 1,
        })
    }

    /// Compares the name, ignoring case.
    pub(crate) fn is(&self, name: &str) -> bool {
        self.name().eq_ignore_ascii_case(name)
    }

    pub(crate) fn name(&self) -> &str {
        self.text.get(..self.name).unwrap_or_default()
    }

    /// The raw value without surrounding blanks.
    pub(crate) fn value(&self) -> &str {
        self.text.get(self.value..).unwrap_or_default().trim()
    }

    /// The value of a parameter, without quotation marks. The case of `name` is ignored.
    pub(crate) fn parameter(&self, name: &str) -> Option<&str> {
        let end = self.value.saturating_sub(1);
        let parameters = self.text.get(self.name..end).unwrap_or_default();
        let mut parameters = parameters
            .split(';')
            .filter_map(|parameter| parameter.split_once('='));
        let (_, value) = parameters.find(|(found, _)| found.eq_ignore_ascii_case(name))?;
        Some(value.trim_matches('"'))
    }

    /// Whether the value is a date, or is declared to be one.
    pub(crate) fn is_date(&self) -> bool {
        let value_type = self.parameter("VALUE");
        value_type.is_some_and(|value| value.eq_ignore_ascii_case("DATE"))
            || !self.value().contains(['T', 't'])
    }

    /// The unescaped value: `\,`, `\;`, `\\` and `\n` (RFC 5545, 3.3.11).
    pub(crate) fn text(&self) -> Cow<'_, str> {
        let value = self.value();
        if !value.contains('\\') {
            return Cow::Borrowed(value);
        }
        let mut text = String::with_capacity(value.len());
        let mut characters = value.chars();
        while let Some(character) = characters.next() {
            match character {
                '\\' => match characters.next() {
                    Some('n' | 'N') => text.push(' '),
                    Some(escaped) => text.push(escaped),
                    None => {}
                },
                plain => text.push(plain),
            }
        }
        Cow::Owned(text)
    }

    /// An error about some words of this line.
    pub(crate) fn error(&self, found: &str, reason: CalendarReason) -> CalendarError {
        CalendarError::new(self.number, found, reason)
    }
}

/// The unfolded lines of a file with CRLF or LF, without empty lines.
pub(crate) fn content_lines(
    file: &[u8],
) -> impl Iterator<Item = Result<ContentLine, CalendarError>> + '_ {
    let lines = file.split(|byte| *byte == b'\n');
    let mut lines = (1..)
        .zip(lines.map(|line| line.strip_suffix(b"\r").unwrap_or(line)))
        .peekable();
    std::iter::from_fn(move || {
        loop {
            let (number, line) = lines.next()?;
            let mut whole = Cow::Borrowed(line);
            while let Some((_, [b' ' | b'\t', more @ ..])) = lines.peek() {
                whole.to_mut().extend_from_slice(more);
                lines.next();
            }
            if !whole.trim_ascii().is_empty() {
                return Some(ContentLine::read(number, &whole));
            }
        }
    })
}

/// A date, or a date and time, as it is written in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct WrittenDate {
    /// Days since 1970-01-01.
    pub(crate) day: i32,
    /// Seconds since midnight; `None` for a date.
    pub(crate) second: Option<u32>,
    /// Whether the value ends with `Z`.
    pub(crate) is_utc: bool,
}

impl WrittenDate {
    /// Parses `20261225`, `20261225T180000` or `20261225T180000Z`.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (date, time) = match text.split_once(['T', 't']) {
            Some((date, time)) => (date, Some(time)),
            None => (text, None),
        };
        let is_utc = time.is_some_and(|time| time.ends_with(['Z', 'z']));
        let time = time.map(|time| time.trim_end_matches(['Z', 'z']));
        let [y1, y2, y3, y4, m1, m2, d1, d2] = *date.as_bytes() else {
            return None;
        };
        let year = number([y1, y2, y3, y4])?;
        let date = NaiveDate::from_ymd_opt(year, number([m1, m2])?, number([d1, d2])?)?;
        let second = match time.map(str::as_bytes) {
            None => None,
            Some(&[h1, h2, m1, m2, s1, s2]) => {
                let [hour, minute, second] = [
                    number::<u32>([h1, h2])?,
                    number([m1, m2])?,
                    number([s1, s2])?,
                ];
                // A leap second is written as 60.
                let is_in_day = hour < 24 && minute < 60 && second <= 60;
                Some(is_in_day.then_some(hour * 3600 + minute * 60 + second)?)
            }
            Some(_) => return None,
        };
        let day = day_number(date);
        Some(Self {
            day,
            second,
            is_utc,
        })
    }

    /// The local time; midnight for a date.
    pub(crate) fn local(self) -> Local {
        Local::on(self.day, self.second.unwrap_or_default())
    }
}

/// Parses a duration such as `P1D`, `P2W` or `PT24H`.
pub(crate) fn parse_duration(text: &str) -> Option<TimeDelta> {
    let mut rest = text.trim_start_matches('+').strip_prefix(['P', 'p'])?;
    let mut sum = TimeDelta::zero();
    let (mut is_time, mut is_empty) = (false, true);
    while !rest.is_empty() {
        if let Some(time) = rest.strip_prefix(['T', 't']).filter(|_| !is_time) {
            (is_time, rest) = (true, time);
            continue;
        }
        let end = rest.find(|character: char| !character.is_ascii_digit())?;
        let (digits, unit) = rest.split_at_checked(end)?;
        let count = i64::from(number::<u32>(digits)?);
        let of_unit = match (unit.as_bytes().first()?.to_ascii_uppercase(), is_time) {
            (b'W', false) => TimeDelta::try_weeks(count),
            (b'D', false) => TimeDelta::try_days(count),
            (b'H', true) => TimeDelta::try_hours(count),
            (b'M', true) => TimeDelta::try_minutes(count),
            (b'S', true) => TimeDelta::try_seconds(count),
            _ => None,
        };
        sum = sum.checked_add(&of_unit?)?;
        is_empty = false;
        rest = unit.get(1..)?;
    }
    (!is_empty).then_some(sum)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(file: &[u8]) -> Vec<ContentLine> {
        content_lines(file).map(Result::unwrap).collect()
    }

    #[test]
    fn unfolds_lines_and_keeps_their_numbers() {
        for end in ["\r\n", "\n"] {
            let file = ["A:one", " two", "\t three", "", "B:\u{fc}"].join(end);
            let found = lines(file.as_bytes());
            assert_eq!(found[0].value(), "onetwo three");
            assert_eq!((found[1].number, found[1].value()), (5, "\u{fc}"));
        }
        // Split within a character, as RFC 5545 warns.
        let cut = lines(b"SUMMARY:Fr\xc3\r\n \xbchling");
        assert_eq!(cut[0].value(), "Fr\u{fc}hling");
    }

    #[test]
    fn value_begins_after_the_first_unquoted_colon() {
        let line =
            &lines(b"SUMMARY;LANGUAGE=de;ALTREP=\"http://a/b;c\":Tag\\, der: \\n\\\\ \\;")[0];
        assert!(line.is("summary"));
        assert_eq!(line.parameter("language"), Some("de"));
        assert_eq!(line.parameter("altrep"), Some("http://a/b"));
        assert_eq!(line.parameter("x"), None);
        assert_eq!(line.text(), "Tag, der:  \\ ;");
        assert_eq!(lines(b"X;Y=\"open:value")[0].value(), "value");
        assert!(content_lines(b"no colon").next().unwrap().is_err());
        assert!(content_lines(b":no name").next().unwrap().is_err());
    }

    #[test]
    fn parses_only_icalendar_dates() {
        let day = |text: &str| day_number(text.parse().unwrap());
        assert_eq!(day("1970-01-01"), 0);
        for (text, expected) in [
            ("20261225", Some((day("2026-12-25"), None))),
            ("20261225T000000", Some((day("2026-12-25"), Some(0)))),
            ("20261225T183000Z", Some((day("2026-12-25"), Some(66_600)))),
            ("20260229", None),
            ("2026122", None),
            ("2026-12-25", None),
            ("20261225T24", None),
            ("20261225T240000", None),
            ("２０２６", None),
            ("", None),
        ] {
            let found = WrittenDate::parse(text).map(|written| (written.day, written.second));
            assert_eq!(found, expected, "{text}");
        }
    }

    #[test]
    fn parses_durations() {
        for (text, hours) in [
            ("P1D", Some(24)),
            ("+P2W", Some(336)),
            ("PT24H", Some(24)),
            ("P1DT12H", Some(36)),
            ("P", None),
            ("PT", None),
            ("P1H", None),
            ("-P1D", None),
            ("PD", None),
            ("P99999999999D", None),
            ("P4294967295W", Some(4_294_967_295 * 168)),
        ] {
            assert_eq!(
                parse_duration(text).map(|duration| duration.num_hours()),
                hours,
                "{text}"
            );
        }
    }
}
