//! Proposals for rejected text: a second, loose parser that finds the intended valid text.
//!
//! The parsers of the annotations are strict. These modules read the same text as people and other
//! tools write it, for example `9:00 AM - 5:00 PM`, `Mon/Wed/Fri`, `12/24/2026` or AWS cron. If
//! text is ambiguous, there is no proposal. The strict parser checks each proposal before it is
//! shown, so this is the top layer of the crate.

use std::{fmt, ops::Range};

use chrono::{DateTime, Datelike, NaiveDate};
use dayshift_text::number;

use crate::{
    actions::parse_scale,
    calendars::Calendars,
    cron::CronField,
    date_time::parse_date_time,
    dates::{ExcludedDates, TreatedDates},
    days::NAMES,
    durations::{self, StopAfter, parse_grace, parse_jitter, parse_notice},
    hours::Hours,
    proposals::{
        cron::fix_name,
        week::{Clock, find_name, parse_clock},
    },
    text::{Advice, Diagnostic, Grammar, Proposal, normalize_characters},
    times::Times,
    tzdata::Tzdata,
    zone::Zone,
};

mod cron;
mod week;

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
        Grammar::Dates | Grammar::DatesAndCalendars => guess_dates(item),
        Grammar::TreatedDates => None,
        Grammar::DateTime => guess_date_time(item),
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
    if let Some(moment) = guess_local(item) {
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

/// Guesses a local date and time, to the minute.
fn guess_local(text: &str) -> Option<String> {
    let (date, clock) = split_date_and_clock(&normalize(text))?;
    (clock.second == 0).then(|| format!("{date} {}", clock.text()))
}

/// Guesses a date and time to the second, optionally with a UTC offset.
fn guess_date_time(text: &str) -> Option<String> {
    if let Ok(at) = DateTime::parse_from_str(text, "%Y-%m-%dT%H:%M:%S%z") {
        return Some(at.to_rfc3339());
    }
    let text = normalize(text);
    let utc = without_utc(&text);
    let (date, clock) = split_date_and_clock(utc.unwrap_or(&text))?;
    let (time, second) = (clock.text(), clock.second);
    Some(match utc {
        Some(_) => format!("{date}T{time}:{second:02}Z"),
        None if second == 0 => format!("{date} {time}"),
        None => format!("{date} {time}:{second:02}"),
    })
}

/// Guesses a date, a range, or a list of dates, ranges and calendars.
fn guess_dates(text: &str) -> Option<String> {
    let text = normalize(text);
    let items = || {
        let items = text.split([',', '&']).map(str::trim);
        Some(
            items
                .map(range_or_calendar)
                .collect::<Option<Vec<_>>>()?
                .join("; "),
        )
    };
    guess_range(&text).or_else(items)
}

fn range_or_calendar(item: &str) -> Option<String> {
    let is_calendar = item.starts_with("calendar:");
    guess_range(item).or_else(|| is_calendar.then(|| item.to_owned()))
}

fn guess_range(text: &str) -> Option<String> {
    if let Some(date) = guess_date(text) {
        return Some(date.to_string());
    }
    let separators = ["...", "..", " to ", " until ", " through ", " - ", "~", "/"];
    separators.iter().find_map(|separator| {
        let (first, last) = text.split_once(separator)?;
        let (first, last) = (guess_date(first)?, guess_date(last)?);
        (first <= last).then(|| format!("{first}..{last}"))
    })
}

/// Normalizes characters, and separates date and time with a blank.
fn normalize(text: &str) -> String {
    let text = normalize_characters(text);
    let is_digit = |character: char| character.is_ascii_digit();
    match text.split_once(['T', 't']) {
        Some((date, time)) if date.ends_with(is_digit) && time.starts_with(is_digit) => {
            format!("{date} {time}")
        }
        _ => text.trim().to_owned(),
    }
}

/// The text before the name of UTC, if it has one.
fn without_utc(text: &str) -> Option<&str> {
    let lower = text.to_ascii_lowercase();
    let is_time = |local: &&str| local.ends_with(|c: char| c.is_ascii_digit() || "mM".contains(c));
    ["utc", "gmt", "z"].iter().find_map(|utc| {
        let local = text.get(..lower.strip_suffix(utc)?.len())?;
        Some(local.trim_end()).filter(is_time)
    })
}

/// A date and a time of day.
fn split_date_and_clock(text: &str) -> Option<(NaiveDate, Clock)> {
    let words: Vec<_> = text.split_whitespace().collect();
    (1..words.len().min(8)).find_map(|at| {
        let (first, last) = words.split_at_checked(at)?;
        Some((guess_date(&first.join(" "))?, parse_clock(&last.join(" "))?))
    })
}

/// The date that a text means. `None` if day and month could be swapped.
fn guess_date(text: &str) -> Option<NaiveDate> {
    let text = text.trim().to_lowercase();
    if text.len() > 40 || text.contains("..") {
        return None;
    }
    let parts = text.split([' ', ',', '/', '.', '-']);
    let mut parts: Vec<_> = parts.filter(|part| !part.is_empty()).collect();
    let weekday = find_name(parts.first()?, &NAMES);
    if weekday.is_some() {
        parts.remove(0);
    }
    let (year, month, day) = match *parts {
        [all] if all.len() == 8 => (
            all.get(..4)?,
            month_of(all.get(4..6)?)?,
            day_of(all.get(6..)?)?,
        ),
        [year, month, day] if year.len() == 4 && number::<i32>(year).is_some() => {
            (year, month_of(month)?, day_of(day)?)
        }
        [first, second, year] if year.len() == 4 => {
            let (day, month) = (day_of(first), month_of(second));
            let (other_month, other_day) = (month_of(first), day_of(second));
            match (day.zip(month), other_day.zip(other_month)) {
                (Some((day, month)), None) => (year, month, day),
                (None, Some((day, month))) => (year, month, day),
                (Some((day, month)), Some(_)) if day == month || text.contains('.') => {
                    (year, month, day)
                }
                _ => return None,
            }
        }
        _ => return None,
    };
    let date = NaiveDate::from_ymd_opt(number(year)?, month, day)?;
    let is_same = |day| day == date.weekday().num_days_from_monday() as usize;
    weekday.is_none_or(is_same).then_some(date)
}

fn month_of(word: &str) -> Option<u32> {
    let (_, month) = fix_name(word, CronField::Month)?;
    (1..=12).contains(&month).then_some(month)
}

fn day_of(word: &str) -> Option<u32> {
    let digits = word.trim_end_matches(char::is_alphabetic);
    let ordinals = ["", "st", "nd", "rd", "th"];
    let is_plain = ordinals.contains(&word.get(digits.len()..)?);
    number(digits).filter(|day| is_plain && (1..=31).contains(day))
}
