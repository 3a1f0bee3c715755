//! Proposals for rejected text: a second, loose parser that finds the intended valid text.
//!
//! The parsers of the annotations are strict. These modules read the same text as people and other
//! tools write it, for example `9:00 AM - 5:00 PM`, `Mon/Wed/Fri`, `12/24/2026` or AWS cron. If
//! text is ambiguous, there is no proposal. The strict parser checks each proposal before it is
//! shown, so this is the top layer of the crate.

mod cron;
mod dates;
mod week;

use std::{fmt, ops::Range};

use crate::{
    calendars::Calendars,
    date_time::parse_date_time,
    dates::TreatedDates,
    durations::{self, StopAfter, parse_grace, parse_jitter, parse_notice},
    excluded_dates::ExcludedDates,
    hours::Hours,
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

    /// Searches for a proposal now, and forgets one that a message has no room for, so that no copy
    /// of the text is kept.
    pub fn compact(&mut self) {
        let proposal = self.proposal().filter(Proposal::is_short);
        self.advice = proposal.map(|proposal| Advice::Known(Box::new(proposal)));
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
        Grammar::StopAfter => StopAfter::parse(text).is_ok(),
    }
}

/// Reads one item, or the whole text, loosely. A replacement is of the item.
fn guess(item: &str, grammar: Grammar) -> Option<Proposal> {
    let text = match grammar {
        Grammar::Times => return guess_times(item),
        Grammar::Hours => return week::guess(item, week::Wanted::Windows),
        Grammar::ScaleSteps => guess_steps(item),
        Grammar::Dates | Grammar::DatesAndCalendars => dates::guess_dates(item),
        Grammar::TreatedDates => None,
        Grammar::DateTime => dates::guess_date_time(item),
        Grammar::Jitter | Grammar::Grace | Grammar::Notice | Grammar::StopAfter => {
            durations::parse_loosely(item).map(durations::format_seconds)
        }
    };
    Some(Proposal::replace_all(item, &text?))
}

/// A proposal for the item that contains `span`, if it can be parsed strictly.
fn propose(text: &str, span: Range<usize>, grammar: Grammar) -> Option<Proposal> {
    let before = text.get(..span.start).unwrap_or_default();
    let after = text.get(span.end..).unwrap_or_default();
    let start = before.rfind(';').map_or(0, |at| at + 1);
    let end = after.find(';').map_or(text.len(), |at| span.end + at);
    let whole = text.get(start..end).unwrap_or_default();
    let start = start + whole.len() - whole.trim_start().len();
    let is_only = whole.len() == text.len();
    let item = whole.trim();
    let mut proposal = guess_items(item, grammar)?;
    let is_valid = match &mut proposal {
        Proposal::Replace { span, text } => {
            *span = start..start + item.len();
            **text != *item && is_valid(text, grammar)
        }
        Proposal::Hours(windows) => is_only && Hours::is_valid(windows),
        Proposal::InZone { times, timezone } => {
            is_only && is_valid(times, grammar) && Tzdata::bundled().zone(timezone).is_some()
        }
    };
    is_valid.then_some(proposal)
}

/// Reads an item that might contain several items, between semicolons that are not ASCII.
fn guess_items(item: &str, grammar: Grammar) -> Option<Proposal> {
    let plain = normalize_characters(item);
    if !plain.contains(';') {
        return guess(item, grammar);
    }
    let items = plain.split(';').map(str::trim);
    let items = items.filter(|item| !item.is_empty());
    let items = items.map(|item| match guess(item, grammar) {
        _ if is_valid(item, grammar) => Some(item.into()),
        Some(Proposal::Replace { text, .. }) => Some(text),
        _ => None,
    });
    let items: Vec<Box<str>> = items.collect::<Option<_>>()?;
    Some(Proposal::replace_all(item, &items.join("; ")))
}

/// Guesses an item of times.
fn guess_times(item: &str) -> Option<Proposal> {
    if let Some(moment) = dates::guess_local(item) {
        Some(Proposal::replace_all(item, &moment))
    } else if cron::is_cron(item) {
        cron::guess(item)
    } else {
        week::guess(item, week::Wanted::Times)
    }
}

/// Guesses an item of exact counts.
fn guess_steps(item: &str) -> Option<String> {
    let plain = normalize_characters(item);
    let mut parts = plain.split('=').map(str::trim);
    let mut time = parts.next()?;
    let mut parts: Vec<_> = parts.collect();
    let last = parts.pop()?;
    let mut steps = Vec::new();
    for part in parts {
        let (count, next) = part.split_once(',')?;
        steps.push(guess_step(time, count)?);
        time = next.trim();
    }
    steps.push(guess_step(time, last)?);
    Some(steps.join("; "))
}

fn guess_step(time: &str, count: &str) -> Option<String> {
    let count = count.trim().trim_start_matches('+');
    let unit = count.trim_start_matches(|character: char| character.is_ascii_digit());
    let digits = count.strip_suffix(unit)?;
    let units = ["", ".0", "replica", "replicas", "pod", "pods"];
    if !units.contains(&unit.trim()) {
        return None;
    }
    if Times::is_valid(time) {
        return Some(format!("{time} = {digits}"));
    }
    match guess_times(time)? {
        Proposal::Replace { text, .. } => Some(format!("{text} = {digits}")),
        _ => None,
    }
}
