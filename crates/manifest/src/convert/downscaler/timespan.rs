//! Parses the time spans of GoKubeDownscaler and py-kube-downscaler: `Mon-Fri 08:00-20:00
//! Europe/Berlin, 2026-12-24T00:00:00Z-2026-12-27T00:00:00Z`.

use std::ops::Range;

use chrono::{DateTime, Utc};
use dayshift_schedule::Zone;
use dayshift_text::{number, quote};

use crate::{
    convert::{
        conversion::{SpanDefaults, Topic},
        week::{DAY, DatedSpan, WeekCounts, day},
    },
    finding::Finding,
};

/// A parsed list of time spans.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Spans {
    /// The zone of the weekly spans; `None` if there are none.
    pub(crate) zone: Option<Zone>,
    /// The minutes of the weekly spans, and of `always`.
    pub(crate) week: WeekCounts,
    /// The hours after midnight of reversed times, which the tools cut off. They are part of `week`.
    pub(crate) mornings: WeekCounts,
    /// The spans between dates, in order of the text.
    pub(crate) absolute: Vec<DatedSpan>,
}

/// Why a text is not a list of spans, or cannot be converted to one zone, and the bytes to mark.
pub(crate) type SpanFinding = Finding<Topic, Range<usize>>;

impl Spans {
    pub(crate) fn parse(text: &str, defaults: &SpanDefaults) -> Result<Self, SpanFinding> {
        let mut spans = Self::default();
        let mut begin = 0;
        for item in text.split(',') {
            let trimmed = item.trim();
            let at = begin + item.len() - item.trim_start().len();
            begin += item.len() + 1;
            let item = SpanText {
                text: trimmed,
                span: at..at + trimmed.len(),
            };
            spans.add(&item, defaults)?;
        }
        Ok(spans)
    }

    fn add(&mut self, item: &SpanText<'_>, defaults: &SpanDefaults) -> Result<(), SpanFinding> {
        match &*item.text.to_ascii_lowercase() {
            "always" | "true" => {
                self.week = WeekCounts::always();
                return Ok(());
            }
            "never" | "false" => return Ok(()),
            _ => {}
        }
        if let Some(absolute) = item.absolute() {
            self.absolute.push(absolute);
            return Ok(());
        }
        let weekly = item.weekly(defaults)?;
        if let (Some(known), Some(zone)) = (self.zone, weekly.zone)
            && known != zone
        {
            return Err(Finding::new(
                Topic::TwoZones,
                item.span.clone(),
                format!(
                    "the time spans use two time zones, {} and {}; an object can have one",
                    known.name(),
                    zone.name()
                ),
                format!("write all of them in {}", known.name()),
            ));
        }
        self.zone = weekly.zone;
        self.week = self.week.union(&weekly.week);
        self.mornings = self.mornings.union(&weekly.mornings);
        Ok(())
    }

    /// Whether it is `always` or equivalent.
    pub(crate) fn is_always(&self) -> bool {
        self.week.is_always()
    }

    /// The spans between dates that are not over.
    pub(crate) fn future_spans(&self, now: DateTime<Utc>) -> impl Iterator<Item = &DatedSpan> {
        let is_over = move |span: &&DatedSpan| span.to.is_some_and(|to| to <= now);
        self.absolute.iter().filter(move |span| !is_over(span))
    }

    /// Whether it is `never` or equivalent.
    pub(crate) fn is_never(&self) -> bool {
        self.week.is_empty() && self.absolute.is_empty()
    }
}

/// The length in minutes of a period without an end in py-kube-downscaler.
const PERIOD: u32 = 30;

/// One span of a text.
struct SpanText<'a> {
    text: &'a str,
    /// Its bytes in the whole text.
    span: Range<usize>,
}

impl SpanText<'_> {
    fn absolute(&self) -> Option<DatedSpan> {
        let instant = |text: &str| {
            let read = DateTime::parse_from_rfc3339(text.trim()).ok()?;
            Some(read.to_utc())
        };
        let of = |from, to| DatedSpan {
            from,
            to,
            span: self.span.clone(),
        };
        let open = self
            .text
            .split_once(' ')
            .map(|(word, rest)| (word.to_ascii_lowercase(), rest));
        match open.as_ref().map(|(word, rest)| (&**word, *rest)) {
            Some(("from", rest)) => return Some(of(Some(instant(rest)?), None)),
            Some(("until", rest)) => return Some(of(None, Some(instant(rest)?))),
            _ => {}
        }
        if !self
            .text
            .starts_with(|letter: char| letter.is_ascii_digit())
        {
            return None;
        }
        let mut dashes = self.text.match_indices('-');
        dashes.find_map(|(at, _)| {
            let (from, to) = (self.text.get(..at)?, self.text.get(at + 1..)?);
            Some(of(Some(instant(from)?), Some(instant(to)?)))
        })
    }

    fn error(&self, part: &str, message: &str) -> SpanFinding {
        let at = self.text.find(part).unwrap_or_default();
        let begin = self.span.start + at;
        Finding::new(
            Topic::NotRead,
            begin..begin + part.len(),
            format!("`{}` {message}", quote(part)),
            "the tool does not read it either; write for example Mon-Fri 08:00-20:00 Europe/Berlin",
        )
    }

    fn without(&self, part: &str, flag: &str, example: &str) -> SpanFinding {
        Finding::new(
            Topic::NeedsDefault,
            self.span.clone(),
            format!(
                "`{}` has no {part}, and uses the tool's default",
                quote(self.text)
            ),
            format!("give that default: {flag} {example}"),
        )
    }

    /// Reads a span such as `Mon-Fri 08:00-20:00 Europe/Berlin`.
    fn weekly(&self, defaults: &SpanDefaults) -> Result<Spans, SpanFinding> {
        let mut words = self.text.split_whitespace().peekable();
        let days = words.next_if(|word| !word.contains(':'));
        let Some(time) = words.next() else {
            return Err(self.error(self.text, "is not a time span"));
        };
        let zone = words.next();
        if let Some(more) = words.next() {
            return Err(self.error(more, "is not expected here"));
        }
        let (first, last) = match days {
            Some(days) => {
                let range = days.split_once('-');
                let range = range.and_then(|(first, last)| Some((day(first)?, day(last)?)));
                range.ok_or_else(|| self.error(days, "is not a range of days such as Mon-Fri"))?
            }
            // py-kube-downscaler's short form applies to every day.
            None if !time.contains('-') => (0, 6),
            None => defaults
                .days
                .ok_or_else(|| self.without("days", "--default-weekframe", "Mon-Fri"))?,
        };
        let minute = |text| {
            minute(text).ok_or_else(|| self.error(text, "is not a time of day such as 08:00"))
        };
        let (from, to) = match time.split_once('-') {
            Some((from, to)) => (minute(from)?, minute(to)?),
            None => {
                let from = minute(time)?;
                let end = from + PERIOD;
                // As in py-kube-downscaler, such a period does not extend to the next day.
                (from, if end >= DAY { DAY - 1 } else { end })
            }
        };
        let zone = match zone {
            Some(name) => defaults.tzdata.parse_zone(name).map_err(|error| {
                let text = error.to_string();
                let problem = text.split_once("` ").map_or(&*text, |(_, rest)| rest);
                self.error(name, problem)
            })?,
            None => defaults
                .zone
                .ok_or_else(|| self.without("time zone", "--default-timezone", "Europe/Berlin"))?,
        };
        let count = (last + 7 - first) % 7 + 1;
        let days = || (0..count).map(|nth| (first + nth) % 7);
        let mut week = WeekCounts::default();
        for day in days() {
            if from <= to {
                week = week.union(&WeekCounts::on(day, from, to));
            } else {
                week = week.union(&WeekCounts::on(day, 0, to));
                week = week.union(&WeekCounts::on(day, from, DAY));
            }
        }
        // The minutes after the midnight of the last day, which the tools cut off from reversed
        // times.
        let after = (last + 1) % 7;
        let mut mornings = WeekCounts::default();
        if from > to && from < DAY && days().all(|day| day != after) {
            mornings = WeekCounts::on(after, 0, to).without(&week);
        }
        Ok(Spans {
            zone: Some(zone),
            week: week.union(&mornings),
            mornings,
            absolute: Vec::new(),
        })
    }
}

/// Parses `08:00`. The tools treat later times than 24:00 as 24:00.
fn minute(text: &str) -> Option<u32> {
    let (hour, minute) = text.split_once(':')?;
    let read = |text: &str| number::<u32>(text).filter(|_| text.len() <= 2);
    let (hour, minute) = (read(hour)?, read(minute)?);
    (hour <= 24 && minute < 60).then(|| (hour * 60 + minute).min(DAY))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Spans, SpanFinding> {
        Spans::parse(text, &SpanDefaults::default())
    }

    #[test]
    fn parses_documented_spans() {
        for (text, hours) in [
            ("Mon-Fri 08:00-20:00 Asia/Tokyo", "Mon-Fri 08:00-20:00"),
            ("Sat-Sun 00:00-24:00 UTC", "Sat-Sun 00:00-24:00"),
            ("Mon-Sun 00:00-00:00 America/New_York", ""),
            (
                "Mon-Tue 20:00-24:00 Africa/Johannesburg",
                "Mon-Tue 20:00-24:00",
            ),
            (
                "Mon-Tue 20:00-00:00 Europe/Amsterdam",
                "Mon-Tue 20:00-24:00",
            ),
            ("Fri-Mon 08:00-09:00 CET", "Fri-Mon 08:00-09:00"),
            ("sat-sat 08:00-09:00 PST8PDT", "Sat 08:00-09:00"),
            ("19:00 UTC", "19:00-19:30"),
            ("Mon-Fri 23:45 UTC", "Mon-Fri 23:45-23:59"),
            ("ALWAYS", "00:00-24:00"),
            ("false", ""),
        ] {
            assert_eq!(parse(text).unwrap().week.hours(), hours, "{text}");
        }
        let spans = parse(
            "2024-07-29T08:30:00Z - 2024-07-29T16:00:00+02:00,2019-01-01T00:00:00+00:00-2019-01-02T12:34:56+00:00, from 2026-09-01T08:30:00Z",
        )
        .unwrap();
        let shown = |instant: Option<DateTime<Utc>>| {
            instant
                .map(|instant| instant.to_rfc3339())
                .unwrap_or_default()
        };
        let all: Vec<_> = spans
            .absolute
            .iter()
            .map(|span| (shown(span.from), shown(span.to)))
            .collect();
        assert_eq!(all[0].1, "2024-07-29T14:00:00+00:00");
        assert_eq!(all[1].1, "2019-01-02T12:34:56+00:00");
        assert_eq!(
            all[2],
            ("2026-09-01T08:30:00+00:00".to_owned(), String::new())
        );
    }

    #[test]
    fn keeps_reversed_times_after_the_last_day() {
        let spans = parse("Mon-Fri 20:00-08:00 UTC").unwrap();
        assert_eq!(spans.mornings.hours(), "Sat 00:00-08:00");
        let spans = parse("Sat-Sun 00:00-24:00 UTC, Mon-Fri 20:00-08:00 UTC").unwrap();
        let rest = WeekCounts::always().without(&spans.week);
        assert_eq!(rest.hours(), "Mon-Fri 08:00-20:00");
        let spans = parse("Mon-Sun 20:00-08:00 UTC").unwrap();
        assert_eq!(spans.mornings.hours(), "");
    }

    #[test]
    fn points_at_the_invalid_part() {
        for (text, part, message) in [
            (
                "Mon-Fri 08:00-20:00 Europe/Berln",
                "Europe/Berln",
                "Europe/Berlin",
            ),
            ("Mon-Fry 08:00-20:00 UTC", "Mon-Fry", "range of days"),
            ("Mon-Fri 08:00-26:00 UTC", "26:00", "time of day"),
            ("Mon-Fri 08:00-20:00 UTC x", "x", "not expected"),
            ("Mon-Fri 08:00-20:00", "Mon-Fri 08:00-20:00", "no time zone"),
            ("08:00-20:00 UTC", "08:00-20:00 UTC", "no days"),
            ("", "", "not a time span"),
            ("weekdays", "weekdays", "not a time span"),
            (
                "Mon-Fri 08:00-20:00 UTC, Sat-Sat 08:00-09:00 CET",
                "Sat-Sat 08:00-09:00 CET",
                "two time zones",
            ),
        ] {
            let error = parse(text).unwrap_err();
            assert_eq!(&text[error.place.clone()], part, "{text}: {error:?}");
            assert!(error.message.contains(message), "{text}: {error:?}");
        }
        let defaults = SpanDefaults {
            zone: Some(Zone::UTC),
            days: Some((0, 4)),
            ..SpanDefaults::default()
        };
        let spans = Spans::parse("08:00-20:00", &defaults).unwrap();
        assert_eq!(spans.week.hours(), "Mon-Fri 08:00-20:00");
    }
}
