//! Proposals that can be read.

use std::ops::Range;

use super::characters::plain;
use super::meaning::Meant;
use super::{cron, date, duration, week};
use crate::calendar::Calendars;
use crate::entry::parse_scale;
use crate::except::ExceptedDates;
use crate::hours::Hours;
use crate::jitter::{parse_grace, parse_jitter, parse_notice};
use crate::moment::parse_moment;
use crate::times::Times;
use crate::zone::time_zone::Zone;

/// What a loose reading of one item, or of a whole text, takes it for.
pub(crate) enum Guess {
    Text(String),
    Hours(String),
    StartAndStop { start: String, stop: String },
    InZone { times: String, timezone: String },
}

/// What a text is read as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    Times,
    Hours,
    Steps,
    Dates,
    /// Dates and calendars, whatever calendars there are.
    DatesAndCalendars,
    Moment,
    Jitter,
    Grace,
    Notice,
}

impl Form {
    /// What the item of an error at `span` was meant for, if that can be read.
    pub(crate) fn meant(self, text: &str, span: Range<usize>) -> Option<Meant> {
        meant(text, span, |text| self.reads(text), |item| self.guess(item))
    }

    /// Whether a text can be read.
    fn reads(self, text: &str) -> bool {
        match self {
            Self::Times => Times::reads(text),
            Self::Hours => Hours::reads(text),
            Self::Steps => parse_scale(text).is_ok(),
            Self::Dates => ExceptedDates::parse(text).is_ok(),
            Self::DatesAndCalendars => {
                ExceptedDates::parse_with(text, &Calendars::default().or_any()).is_ok()
            }
            Self::Moment => parse_moment(text, Zone::UTC).is_ok(),
            Self::Jitter => parse_jitter(text).is_ok(),
            Self::Grace => parse_grace(text).is_ok(),
            Self::Notice => parse_notice(text).is_ok(),
        }
    }

    /// What an item, or a whole text, is taken for.
    fn guess(self, item: &str) -> Option<Guess> {
        match self {
            Self::Times => times(item),
            Self::Hours => week::hours(item),
            Self::Steps => steps(item),
            Self::Dates | Self::DatesAndCalendars => date::dates(item),
            Self::Moment => date::moment(item),
            Self::Jitter | Self::Grace | Self::Notice => {
                duration::seconds(item).map(|seconds| Guess::Text(duration::text(seconds)))
            }
        }
    }
}

/// What the item of an error at `span` was meant for, if that can be read: by `guess` for one item, and by
/// `reads` for a text.
pub(crate) fn meant(
    text: &str,
    span: Range<usize>,
    reads: impl Fn(&str) -> bool,
    guess: impl Fn(&str) -> Option<Guess>,
) -> Option<Meant> {
    let before = text.get(..span.start).unwrap_or_default();
    let after = text.get(span.end..).unwrap_or_default();
    let start = before.rfind(';').map_or(0, |at| at + 1);
    let end = after.find(';').map_or(text.len(), |at| span.end + at);
    let item = text.get(start..end).unwrap_or_default();
    let start = start + item.len() - item.trim_start().len();
    let place = start..start + item.trim().len();
    let is_only = item.len() == text.len();
    let item = item.trim();
    items(item, &reads, guess).and_then(|guess| match guess {
        Guess::Text(text) => (text != item && reads(&text)).then(|| Meant::Instead {
            place,
            text: text.into(),
        }),
        Guess::Hours(windows) => {
            (is_only && Hours::reads(&windows)).then(|| Meant::Hours(windows.into()))
        }
        Guess::StartAndStop { start, stop } => {
            let can_be = is_only && Times::reads(&start) && Times::reads(&stop);
            can_be.then(|| Meant::StartAndStop {
                start: start.into(),
                stop: stop.into(),
            })
        }
        Guess::InZone { times, timezone } => {
            let can_be = is_only && reads(&times) && Zone::named(&timezone).is_some();
            can_be.then(|| Meant::InZone {
                times: times.into(),
                timezone: timezone.into(),
            })
        }
    })
}

/// What was meant by an item, which may be several between semicolons that are none of the keyboard.
fn items(
    item: &str,
    reads: impl Fn(&str) -> bool,
    guess: impl Fn(&str) -> Option<Guess>,
) -> Option<Guess> {
    let plain = plain(item);
    if !plain.contains(';') {
        return guess(item);
    }
    let items = plain.split(';').map(str::trim);
    let items = items.filter(|item| !item.is_empty());
    let items: Option<Vec<_>> = items
        .map(|item| match guess(item) {
            _ if reads(item) => Some(item.to_owned()),
            Some(Guess::Text(text)) => Some(text),
            _ => None,
        })
        .collect();
    Some(Guess::Text(items?.join("; ")))
}

/// What was meant by an item of times.
fn times(item: &str) -> Option<Guess> {
    if let Some(moment) = date::local(item) {
        Some(moment)
    } else if cron::is_cron(item) {
        cron::times(item)
    } else {
        week::times(item)
    }
}

/// What was meant by an item of exact counts.
fn steps(item: &str) -> Option<Guess> {
    let plain = plain(item);
    let mut parts = plain.split('=');
    let mut time = parts.next()?.trim();
    let mut parts: Vec<_> = parts.map(str::trim).collect();
    let last = parts.pop()?;
    let mut steps = Vec::new();
    for part in parts {
        let (count, next) = part.split_once(',')?;
        steps.push(step(time, count)?);
        time = next.trim();
    }
    steps.push(step(time, last)?);
    Some(Guess::Text(steps.join("; ")))
}

fn step(time: &str, count: &str) -> Option<String> {
    let count = count.trim().trim_start_matches('+');
    let end = count
        .find(|it: char| !it.is_ascii_digit())
        .unwrap_or(count.len());
    let (digits, unit) = count.split_at_checked(end)?;
    let is_count = matches!(
        unit.trim(),
        "" | ".0" | "replica" | "replicas" | "pod" | "pods"
    );
    let digits = is_count.then_some(digits)?;
    if Times::reads(time) {
        return Some(format!("{time} = {digits}"));
    }
    match times(time)? {
        Guess::Text(time) => Some(format!("{time} = {digits}")),
        _ => None,
    }
}
