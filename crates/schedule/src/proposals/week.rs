//! Proposals for weekdays, times of day and windows in other notations, such as `9am to 5pm on
//! Mon/Wed/Fri`.
//!
//! Text is split into loose tokens, which are grouped into [`Segment`]s of days with their times
//! and windows. [`LooseDays`] reads misspelled and abbreviated days.

use std::fmt;

use dayshift_text::{nearest, number};

use crate::{
    days::{MonthDays, NAMES},
    proposals::Guess,
    text::tokens::normalize_characters,
};

/// Guesses an item of times.
pub(crate) fn guess_times(text: &str) -> Option<Guess> {
    let segments = parse_segments(text)?;
    let mut parts = segments.iter().flat_map(|segment| &segment.parts);
    if let [only] = &*segments
        && let [DayItem::Across(..)] = &*only.parts
    {
        return across(only);
    }
    if parts
        .clone()
        .all(|part| matches!(part, DayItem::Window(..)))
    {
        return Some(Guess::Hours(windows(&segments)?));
    }
    if !parts.all(|part| matches!(part, DayItem::At(_))) {
        return None;
    }
    let items: Option<Vec<_>> = segments.iter().map(Segment::as_times).collect();
    Some(Guess::Text(items?.join("; ")))
}

/// Guesses an item of hours.
pub(crate) fn guess_hours(text: &str) -> Option<Guess> {
    let segments = parse_segments(text)?;
    match &*segments {
        [only] if matches!(*only.parts, [DayItem::Across(..)]) => across(only),
        _ => Some(Guess::Text(windows(&segments)?)),
    }
}

fn windows(segments: &[Segment]) -> Option<String> {
    let items: Option<Vec<_>> = segments.iter().map(Segment::as_windows).collect();
    Some(items?.join("; "))
}

fn across(segment: &Segment) -> Option<Guess> {
    let [DayItem::Across(from, last, to)] = &*segment.parts else {
        return None;
    };
    let first = segment.days.as_ref()?.only()?;
    // On one day it could be a window of that day, or a whole week.
    (last.only()? != first).then_some(())?;
    let at = |days: &LooseDays, clock: Clock| {
        (!clock.is_midnight && !clock.is_bare && clock.second == 0)
            .then(|| time_on(Some(days), clock))
            .flatten()
    };
    Some(Guess::StartAndStop {
        start: at(segment.days.as_ref()?, *from)?,
        stop: at(last, *to)?,
    })
}

impl Segment {
    fn as_times(&self) -> Option<String> {
        let mut items = Vec::new();
        let mut plain = Vec::new();
        for part in &self.parts {
            let DayItem::At(clock) = part else {
                return None;
            };
            if clock.is_midnight && self.days.is_some() || clock.is_bare && self.parts.len() > 1 {
                return None; // midnight at which end of the day, or not a time at all
            }
            if clock.second > 0 {
                let days = match &self.days {
                    Some(days) => days.comma_list()?,
                    None => "*".to_owned(),
                };
                let (hour, minute) = (clock.minute / 60, clock.minute % 60);
                items.push(format!("{} {minute} {hour} * * {days}", clock.second));
            } else if clock.minute == END_OF_DAY {
                items.push(time_on(self.days.as_ref(), *clock)?);
            } else {
                plain.push(clock.text());
            }
        }
        if !plain.is_empty() {
            items.insert(
                0,
                format!("{}{}", prefix(self.days.as_ref()), plain.join(",")),
            );
        }
        Some(items.join("; "))
    }

    fn as_windows(&self) -> Option<String> {
        let mut windows = Vec::new();
        let mut is_next_day = false;
        for part in &self.parts {
            let DayItem::Window(from, to) = part else {
                return None;
            };
            if from.second + to.second > 0 || from.is_midnight && self.days.is_some() {
                return None;
            }
            // `9-5` could end at 17:00 or at 05:00 the next day.
            let is_unclear =
                |clock: &Clock| !clock.is_half_day && (60..=12 * 60 + 59).contains(&clock.minute);
            if from.is_half_day != to.is_half_day
                && !from.is_midnight
                && !to.is_midnight
                && (is_unclear(from) || is_unclear(to))
                || (from.is_bare || to.is_bare)
                    && to.minute <= from.minute
                    && is_unclear(from)
                    && is_unclear(to)
            {
                return None;
            }
            is_next_day |= from.minute == END_OF_DAY;
            let from = if from.minute == END_OF_DAY {
                Clock { minute: 0, ..*from }
            } else {
                *from
            };
            let to = if to.is_midnight {
                Clock {
                    minute: END_OF_DAY,
                    ..*to
                }
            } else {
                *to
            };
            windows.push(format!("{}-{}", from.text(), to.text()));
        }
        // A window from 24:00 is on the next day, and the others are not.
        if is_next_day && windows.len() > 1 {
            return None;
        }
        let days = match &self.days {
            Some(days) if is_next_day => Some(days.next()?),
            days => days.clone(),
        };
        Some(format!("{}{}", prefix(days.as_ref()), windows.join(",")))
    }
}

fn prefix(days: Option<&LooseDays>) -> String {
    days.map(|days| format!("{days} ")).unwrap_or_default()
}

/// A time on days. 24:00 becomes 00:00 on the next days.
fn time_on(days: Option<&LooseDays>, clock: Clock) -> Option<String> {
    if clock.minute < END_OF_DAY {
        return Some(format!("{}{}", prefix(days), clock.text()));
    }
    Some(match days {
        Some(days) => format!("{}00:00", prefix(Some(&days.next()?))),
        None => "00:00".to_owned(),
    })
}

/// Days, with the times and windows on them.
pub(crate) struct Segment {
    /// `None` means every day.
    pub(crate) days: Option<LooseDays>,
    pub(crate) parts: Vec<DayItem>,
}

/// A time or window on a day.
pub(crate) enum DayItem {
    At(Clock),
    Window(Clock, Clock),
    /// A window that ends on another day.
    Across(Clock, LooseDays, Clock),
}

#[derive(Clone, Copy)]
pub(crate) struct Clock {
    /// Minutes from midnight, up to 24:00.
    pub(crate) minute: u32,
    pub(crate) second: u32,
    /// Whether it has `am` or `pm`.
    pub(crate) is_half_day: bool,
    /// Whether it has only digits.
    pub(crate) is_bare: bool,
    /// Whether it is the word midnight, which can be the start or the end of a day.
    pub(crate) is_midnight: bool,
}

pub(crate) const END_OF_DAY: u32 = 24 * 60;

#[derive(Clone)]
enum Token {
    Days(LooseDays),
    Clock(Clock),
    Dash,
    Comma,
    /// Only between days, as in `Mon/Wed`.
    Slash,
}

/// The time of day, if the text has nothing else.
pub(crate) fn parse_clock(text: &str) -> Option<Clock> {
    match *tokenize(text)? {
        [Token::Clock(clock)] if !clock.is_midnight => Some(clock),
        _ => None,
    }
}

impl Clock {
    /// Formats as `HH:MM`.
    pub(crate) fn text(self) -> String {
        format!("{:02}:{:02}", self.minute / 60, self.minute % 60)
    }
}

pub(crate) fn parse_segments(text: &str) -> Option<Vec<Segment>> {
    let tokens = tokenize(text)?;
    let mut rest = &*tokens;
    let (mut segments, mut are_after) = (Vec::new(), Vec::new());
    while !rest.is_empty() {
        let mut days = take_days(&mut rest);
        if let [Token::Comma, Token::Clock(_), ..] = rest {
            rest = rest.get(1..)?;
        }
        let parts = take_parts(&mut rest)?;
        are_after.push(days.is_none() && matches!(rest, [Token::Days(_), ..]));
        if days.is_none() {
            days = take_days(&mut rest);
        }
        segments.push(Segment { days, parts });
        if let [Token::Comma, more @ ..] = rest {
            rest = more;
        }
    }
    // If days are before some times and after others, they could belong to either.
    let is_clear = are_after.iter().all(|is_after| *is_after) || !are_after.contains(&true);
    (is_clear && !segments.is_empty()).then_some(segments)
}

fn take_days(rest: &mut &[Token]) -> Option<LooseDays> {
    let mut all: Option<LooseDays> = None;
    loop {
        let (days, more) = match rest {
            [
                Token::Days(first),
                Token::Dash,
                Token::Days(last),
                more @ ..,
            ] => (first.to(last)?, more),
            [Token::Days(days), more @ ..] => (days.clone(), more),
            _ => return all,
        };
        all = Some(match all {
            Some(known) => known.union(days),
            None => days,
        });
        *rest = match more {
            [Token::Comma | Token::Slash, more @ ..] if matches!(more, [Token::Days(_), ..]) => {
                more
            }
            more => more,
        };
    }
}

fn take_parts(rest: &mut &[Token]) -> Option<Vec<DayItem>> {
    let mut parts = Vec::new();
    while let [Token::Clock(clock), more @ ..] = *rest {
        let (part, more) = match more {
            [Token::Dash, Token::Clock(to), more @ ..] => (DayItem::Window(*clock, *to), more),
            [Token::Dash, Token::Days(day), Token::Clock(to), more @ ..] => {
                (DayItem::Across(*clock, day.clone(), *to), more)
            }
            [Token::Dash, ..] => return None,
            more => (DayItem::At(*clock), more),
        };
        parts.push(part);
        *rest = match more {
            [Token::Comma, more @ ..] if matches!(more, [Token::Clock(_), ..]) => more,
            more => more,
        };
    }
    (!parts.is_empty()).then_some(parts)
}

fn tokenize(text: &str) -> Option<Vec<Token>> {
    let text = normalize_characters(text).to_lowercase();
    let text = text.replace("a.m.", "am").replace("p.m.", "pm");
    let mut rest = &*text;
    let mut tokens = Vec::new();
    while let Some(first) = rest.trim_start().chars().next() {
        rest = rest.trim_start();
        let (word, after) = split_word(rest, char::is_alphanumeric);
        if let Some(ordinal) = LooseDays::ordinal(word) {
            let (unit, more) = split_word(after.trim_start(), char::is_alphabetic);
            tokens.push(Token::Days(LooseDays::in_month(ordinal, unit)?));
            rest = more;
        } else if first.is_ascii_digit() {
            let (clock, after) = take_clock(rest)?;
            tokens.push(Token::Clock(clock));
            rest = after;
        } else if first.is_alphabetic() {
            let (word, after) = split_word(rest, char::is_alphabetic);
            if word == "of"
                && matches!(tokens.last(), Some(Token::Days(days)) if days.ends_in_month())
            {
                let months = ["month", "the month", "each month", "every month", "a month"];
                let after = after.trim_start();
                rest = months.iter().find_map(|month| after.strip_prefix(month))?;
                continue;
            }
            tokens.extend(word_token(word)?);
            // A day can be abbreviated, as in `Mon.`
            rest = match after.strip_prefix('.') {
                Some(more) if !more.starts_with('.') => more,
                _ => after,
            };
        } else if let Some(more) = rest.strip_prefix("..") {
            tokens.push(Token::Dash);
            rest = more.trim_start_matches('.');
        } else {
            tokens.push(match first {
                '-' | '~' => Token::Dash,
                ',' | '&' => Token::Comma,
                '/' | '+' | '|' => Token::Slash,
                _ => return None,
            });
            rest = rest.get(1..)?;
        }
    }
    Some(tokens)
}

/// The leading characters for which `is_part` holds, and the rest.
fn split_word(text: &str, is_part: fn(char) -> bool) -> (&str, &str) {
    let end = text
        .find(|character: char| !is_part(character))
        .unwrap_or(text.len());
    text.split_at_checked(end).unwrap_or((text, ""))
}

/// The token of a word. `Some(None)` for a word without meaning, and `None` for an unknown word.
fn word_token(word: &str) -> Option<Option<Token>> {
    let at = |minute, is_half_day, is_midnight| {
        Token::Clock(Clock {
            minute,
            second: 0,
            is_half_day,
            is_bare: false,
            is_midnight,
        })
    };
    Some(Some(match word {
        "at" | "on" | "from" | "every" | "each" | "the" => return Some(None),
        "to" | "till" | "til" | "until" | "through" | "thru" => Token::Dash,
        "and" => Token::Comma,
        "noon" | "midday" => at(12 * 60, true, false),
        "midnight" => at(0, false, true),
        _ => Token::Days(LooseDays::guess(word)?),
    }))
}

/// A time of day such as `9`, `900`, `9:30`, `9.30`, `9h30`, `9am` or `18:00:30`, and the rest.
fn take_clock(text: &str) -> Option<(Clock, &str)> {
    let end = text
        .find(|character: char| !(character.is_ascii_digit() || matches!(character, ':' | '.')));
    let run = text.get(..end.unwrap_or(text.len()))?;
    let run = run.split("..").next()?.trim_end_matches(['.', ':']);
    let mut rest = text.get(run.len()..)?;
    let groups: Vec<_> = run.split([':', '.']).collect();
    if groups.iter().any(|group| group.len() > 4) {
        return None;
    }
    let mut is_bare = groups.len() == 1;
    let (hour, mut minute, second): (u32, u32, u32) = match *groups {
        [both] if both.len() > 2 => {
            let (hour, minute) = both.split_at_checked(both.len() - 2)?;
            (number(hour)?, number(minute)?, 0)
        }
        [hour] => (number(hour)?, 0, 0),
        [hour, minute] if minute.len() == 2 || minute.len() == 1 && run.contains(':') => {
            (number(hour)?, number(minute)?, 0)
        }
        [hour, minute, second] if minute.len() == 2 && second.len() == 2 => {
            (number(hour)?, number(minute)?, number(second)?)
        }
        _ => return None,
    };
    let word = rest.trim_start();
    let end = word.find(|character: char| !character.is_alphabetic());
    let (word, after) = word.split_at_checked(end.unwrap_or(word.len()))?;
    let hour = match word {
        "am" | "pm" if !(1..=12).contains(&hour) => return None,
        "am" => hour % 12,
        "pm" => hour % 12 + 12,
        _ => hour,
    };
    let is_half_day = matches!(word, "am" | "pm");
    if is_half_day || matches!(word, "h" | "uhr") {
        rest = after;
        let digits = after.bytes().take_while(u8::is_ascii_digit).count();
        if word == "h" && run.len() <= 2 && digits == 2 {
            minute = number(after.get(..2)?)?;
            rest = after.get(2..)?;
        }
        is_bare = false;
    }
    let clock = Clock {
        minute: hour * 60 + minute,
        second,
        is_half_day,
        is_bare,
        is_midnight: false,
    };
    let is_in_day = minute < 60 && second < 60 && clock.minute * 60 + second <= END_OF_DAY * 60;
    is_in_day.then_some((clock, rest))
}

/// Weekdays, and days within the month.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LooseDays(Vec<DayRange>);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum DayRange {
    /// From one weekday to another; 0 is Monday.
    Range(usize, usize),
    /// An ordinal and its unit, such as `first Mon`.
    InMonth(&'static str, &'static str),
}

impl LooseDays {
    /// Guesses a day such as `Tues`, `mondays`, `everyday` or `Wendesday`.
    pub(crate) fn guess(word: &str) -> Option<Self> {
        let range = |first, last| Some(Self(vec![DayRange::Range(first, last)]));
        let word = word.to_lowercase();
        match &*word {
            "daily" | "day" | "days" | "everyday" => return range(0, 6),
            "weekday" | "workday" | "workdays" => return range(0, 4),
            "weekend" => return range(5, 6),
            _ => {}
        }
        let named = NAMES.iter().position(|name| {
            let name = name.to_lowercase();
            word.len() >= 3 && (name.starts_with(&word) || word.strip_suffix('s') == Some(&name))
        });
        if let Some(day) = named {
            return range(day, day);
        }
        let short = NAMES.iter().filter_map(|name| name.get(..3));
        let all = NAMES.iter().copied().chain(short);
        match nearest(&word, all.chain(["weekdays", "weekends", "daily"]))? {
            "weekdays" => range(0, 4),
            "weekends" => range(5, 6),
            "daily" => range(0, 6),
            name => {
                let day = NAMES.iter().position(|full| full.starts_with(name))?;
                range(day, day)
            }
        }
    }

    /// Guesses an ordinal such as `first`, `1st` or `frist`.
    pub(crate) fn ordinal(word: &str) -> Option<&'static str> {
        match word {
            "1st" => Some("first"),
            "2nd" => Some("second"),
            "3rd" => Some("third"),
            "4th" => Some("fourth"),
            // Short words are too similar to the names of days.
            _ if word.len() < 4 => None,
            _ => nearest(word, MonthDays::ordinals()),
        }
    }

    /// A day within the month: an ordinal, and `Mon`, `day` or `weekday`.
    pub(crate) fn in_month(ordinal: &'static str, unit: &str) -> Option<Self> {
        let unit = match unit {
            "day" => "day",
            "weekday" | "workday" => "weekday",
            name => short(Self::guess(name)?.only()?),
        };
        Some(Self(vec![DayRange::InMonth(ordinal, unit)]))
    }

    /// Whether the last day is a day within the month.
    pub(crate) fn ends_in_month(&self) -> bool {
        matches!(self.0.last(), Some(DayRange::InMonth(..)))
    }

    /// The weekday, if there is exactly one.
    pub(crate) fn only(&self) -> Option<usize> {
        match *self.0 {
            [DayRange::Range(first, last)] if first == last => Some(first),
            _ => None,
        }
    }

    /// The range from this day to another.
    pub(crate) fn to(&self, last: &Self) -> Option<Self> {
        Some(Self(vec![DayRange::Range(self.only()?, last.only()?)]))
    }

    pub(crate) fn union(mut self, others: Self) -> Self {
        self.0.extend(others.0);
        self
    }

    /// The following days; `None` within the month.
    pub(crate) fn next(&self) -> Option<Self> {
        let next = |day| (day + 1) % 7;
        let all = self.0.iter().map(|part| match *part {
            DayRange::Range(0, 6) => Some(DayRange::Range(0, 6)),
            DayRange::Range(first, last) => Some(DayRange::Range(next(first), next(last))),
            DayRange::InMonth(..) => None,
        });
        all.collect::<Option<_>>().map(Self)
    }

    /// The days without ranges for cron, such as `Mon,Tue`; `None` within the month.
    pub(crate) fn comma_list(&self) -> Option<String> {
        let mut is_meant = [false; 7];
        for part in &self.0 {
            let DayRange::Range(first, last) = *part else {
                return None;
            };
            for (day, is_meant) in is_meant.iter_mut().enumerate() {
                *is_meant |= (day + 7 - first) % 7 <= (last + 7 - first) % 7;
            }
        }
        if is_meant == [true; 7] {
            return Some("*".to_owned());
        }
        let days = (0..7).zip(is_meant).filter(|(_, is_meant)| *is_meant);
        let names: Vec<_> = days.map(|(day, _)| short(day)).collect();
        Some(names.join(","))
    }
}

/// The first three letters of a day.
fn short(day: usize) -> &'static str {
    NAMES
        .get(day)
        .and_then(|name| name.get(..3))
        .unwrap_or_default()
}

/// Formats as `Mon-Fri,Sun`.
impl fmt::Display for LooseDays {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, part) in self.0.iter().enumerate() {
            f.write_str(if number == 0 { "" } else { "," })?;
            match *part {
                DayRange::Range(0, 6) => f.write_str("daily")?,
                DayRange::Range(first, last) if first == last => f.write_str(short(first))?,
                DayRange::Range(first, last) => write!(f, "{}-{}", short(first), short(last))?,
                DayRange::InMonth(ordinal, unit) => write!(f, "{ordinal} {unit}")?,
            }
        }
        Ok(())
    }
}
