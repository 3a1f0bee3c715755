//! Entry point of proposals: reads the rejected item loosely, and checks the result with the
//! strict parser before it is shown.

use std::{fmt, ops::Range};

use crate::{
    calendars::Calendars,
    date_time::parse_date_time,
    dates::TreatedDates,
    durations::{self, parse_grace, parse_jitter, parse_notice},
    excluded_dates::ExcludedDates,
    hours::Hours,
    proposals::{Guess, cron, dates, week},
    scale::parse_scale,
    text::{
        diagnostic::{Advice, Diagnostic, Grammar, Proposal},
        tokens::normalize_characters,
    },
    times::Times,
    tzdata::Tzdata,
    zone::Zone,
};

impl Diagnostic {
    /// The intended text, if it is unambiguous. Each call searches again.
    pub fn proposal(&self) -> Option<Proposal> {
        match self.advice.as_ref()? {
            Advice::Known(proposal) => Some((**proposal).clone()),
            Advice::Search { grammar, text } => propose(text, self.span(), *grammar),
        }
    }

    /// The remedy: the proposal if it is short, else a general example.
    pub fn help(&self) -> String {
        let proposal = self.proposal().filter(Proposal::is_short);
        proposal.map_or_else(
            || self.fixed_help.to_string(),
            |proposal| proposal.to_string(),
        )
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}; {}", self.message(), self.help())
    }
}

/// Whether text can be parsed with this grammar.
fn is_valid(text: &str, grammar: Grammar) -> bool {
    let any_calendar = || Calendars::default().accepting_any();
    match grammar {
        Grammar::Times => Times::is_valid(text),
        Grammar::Hours => Hours::is_valid(text),
        Grammar::ScaleSteps => parse_scale(text).is_ok(),
        Grammar::Dates => ExcludedDates::parse(text).is_ok(),
        Grammar::DatesAndCalendars => ExcludedDates::parse_with(text, &any_calendar()).is_ok(),
        Grammar::TreatedDates => TreatedDates::parse_with(text, &any_calendar()).is_ok(),
        Grammar::DateTime => parse_date_time(text, Zone::UTC).is_ok(),
        Grammar::Jitter => parse_jitter(text).is_ok(),
        Grammar::Grace => parse_grace(text).is_ok(),
        Grammar::Notice => parse_notice(text).is_ok(),
    }
}

/// Reads one item, or the whole text, loosely.
fn guess(item: &str, grammar: Grammar) -> Option<Guess> {
    match grammar {
        Grammar::Times => guess_times(item),
        Grammar::Hours => week::guess_hours(item),
        Grammar::ScaleSteps => guess_steps(item),
        Grammar::Dates | Grammar::DatesAndCalendars => dates::guess_dates(item),
        Grammar::TreatedDates => dates::guess_treated(item),
        Grammar::DateTime => dates::guess_date_time(item),
        Grammar::Jitter | Grammar::Grace | Grammar::Notice => durations::parse_loosely(item)
            .map(|seconds| Guess::Text(durations::format_seconds(seconds))),
    }
}

/// A proposal for the item that contains `span`, if it can be parsed strictly.
fn propose(text: &str, span: Range<usize>, grammar: Grammar) -> Option<Proposal> {
    let before = text.get(..span.start).unwrap_or_default();
    let after = text.get(span.end..).unwrap_or_default();
    let start = before.rfind(';').map_or(0, |at| at + 1);
    let end = after.find(';').map_or(text.len(), |at| span.end + at);
    let item = text.get(start..end).unwrap_or_default();
    let start = start + item.len() - item.trim_start().len();
    let place = start..start + item.trim().len();
    let is_only = item.len() == text.len();
    let item = item.trim();
    guess_items(item, grammar).and_then(|guess| match guess {
        Guess::Text(text) => {
            (text != item && is_valid(&text, grammar)).then(|| Proposal::Replace {
                span: place,
                text: text.into(),
            })
        }
        Guess::Hours(windows) => {
            (is_only && Hours::is_valid(&windows)).then(|| Proposal::Hours(windows.into()))
        }
        Guess::StartAndStop { start, stop } => {
            let can_be = is_only && Times::is_valid(&start) && Times::is_valid(&stop);
            can_be.then(|| Proposal::StartAndStop {
                start: start.into(),
                stop: stop.into(),
            })
        }
        Guess::InZone { times, timezone } => {
            let can_be =
                is_only && is_valid(&times, grammar) && Tzdata::bundled().zone(&timezone).is_some();
            can_be.then(|| Proposal::InZone {
                times: times.into(),
                timezone: timezone.into(),
            })
        }
    })
}

/// Reads an item that might contain several items, between semicolons that are not ASCII.
fn guess_items(item: &str, grammar: Grammar) -> Option<Guess> {
    let plain = normalize_characters(item);
    if !plain.contains(';') {
        return guess(item, grammar);
    }
    let items = plain.split(';').map(str::trim);
    let items = items.filter(|item| !item.is_empty());
    let items: Option<Vec<_>> = items
        .map(|item| match guess(item, grammar) {
            _ if is_valid(item, grammar) => Some(item.to_owned()),
            Some(Guess::Text(text)) => Some(text),
            _ => None,
        })
        .collect();
    Some(Guess::Text(items?.join("; ")))
}

/// Guesses an item of times.
fn guess_times(item: &str) -> Option<Guess> {
    if let Some(moment) = dates::guess_local(item) {
        Some(moment)
    } else if cron::is_cron(item) {
        cron::guess_times(item)
    } else {
        week::guess_times(item)
    }
}

/// Guesses an item of exact counts.
fn guess_steps(item: &str) -> Option<Guess> {
    let plain = normalize_characters(item);
    let mut parts = plain.split('=');
    let mut time = parts.next()?.trim();
    let mut parts: Vec<_> = parts.map(str::trim).collect();
    let last = parts.pop()?;
    let mut steps = Vec::new();
    for part in parts {
        let (count, next) = part.split_once(',')?;
        steps.push(guess_step(time, count)?);
        time = next.trim();
    }
    steps.push(guess_step(time, last)?);
    Some(Guess::Text(steps.join("; ")))
}

fn guess_step(time: &str, count: &str) -> Option<String> {
    let count = count.trim().trim_start_matches('+');
    let end = count
        .find(|character: char| !character.is_ascii_digit())
        .unwrap_or(count.len());
    let (digits, unit) = count.split_at_checked(end)?;
    let is_count = matches!(
        unit.trim(),
        "" | ".0" | "replica" | "replicas" | "pod" | "pods"
    );
    let digits = is_count.then_some(digits)?;
    if Times::is_valid(time) {
        return Some(format!("{time} = {digits}"));
    }
    match guess_times(time)? {
        Guess::Text(time) => Some(format!("{time} = {digits}")),
        _ => None,
    }
}
