//! The words of a text as days, times and windows, in the order in which they stand.

use dayshift_text::number;

use super::characters::plain;
use super::weekdays::Weekdays;

/// Days with the times and windows on them.
pub(super) struct Segment {
    /// None for every day.
    pub(super) days: Option<Weekdays>,
    pub(super) parts: Vec<Part>,
}

/// What is on a day.
pub(super) enum Part {
    At(Clock),
    Window(Clock, Clock),
    /// A window that ends on a day of its own.
    Across(Clock, Weekdays, Clock),
}

#[derive(Clone, Copy)]
pub(super) struct Clock {
    /// Minutes from midnight, up to 24:00.
    pub(super) minute: u32,
    pub(super) second: u32,
    /// Whether it has `am` or `pm`.
    pub(super) is_half_day: bool,
    /// Whether it is digits alone.
    pub(super) is_bare: bool,
    /// Whether it is the word for the beginning or the end of a day.
    pub(super) is_midnight: bool,
}

pub(super) const END_OF_DAY: u32 = 24 * 60;

#[derive(Clone)]
enum Token {
    Days(Weekdays),
    Clock(Clock),
    Dash,
    Comma,
    /// Between days alone: `Mon/Wed`.
    Slash,
}

/// The one time of day that a text says.
pub(super) fn clock(text: &str) -> Option<Clock> {
    match *tokens(text)? {
        [Token::Clock(clock)] if !clock.is_midnight => Some(clock),
        _ => None,
    }
}

impl Clock {
    /// `HH:MM`
    pub(super) fn text(self) -> String {
        format!("{:02}:{:02}", self.minute / 60, self.minute % 60)
    }
}

pub(super) fn segments(text: &str) -> Option<Vec<Segment>> {
    let tokens = tokens(text)?;
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
    // Days before some times and after others could belong to either.
    let is_clear = are_after.iter().all(|it| *it) || !are_after.contains(&true);
    (is_clear && !segments.is_empty()).then_some(segments)
}

fn take_days(rest: &mut &[Token]) -> Option<Weekdays> {
    let mut all: Option<Weekdays> = None;
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
            Some(known) => known.and(days),
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

fn take_parts(rest: &mut &[Token]) -> Option<Vec<Part>> {
    let mut parts = Vec::new();
    while let [Token::Clock(clock), more @ ..] = *rest {
        let (part, more) = match more {
            [Token::Dash, Token::Clock(to), more @ ..] => (Part::Window(*clock, *to), more),
            [Token::Dash, Token::Days(day), Token::Clock(to), more @ ..] => {
                (Part::Across(*clock, day.clone(), *to), more)
            }
            [Token::Dash, ..] => return None,
            more => (Part::At(*clock), more),
        };
        parts.push(part);
        *rest = match more {
            [Token::Comma, more @ ..] if matches!(more, [Token::Clock(_), ..]) => more,
            more => more,
        };
    }
    (!parts.is_empty()).then_some(parts)
}

fn tokens(text: &str) -> Option<Vec<Token>> {
    let text = plain(text).to_lowercase();
    let text = text.replace("a.m.", "am").replace("p.m.", "pm");
    let mut rest = &*text;
    let mut tokens = Vec::new();
    while let Some(first) = rest.trim_start().chars().next() {
        rest = rest.trim_start();
        let (word, after) = split_word(rest, char::is_alphanumeric);
        if let Some(ordinal) = Weekdays::ordinal(word) {
            let (unit, more) = split_word(after.trim_start(), char::is_alphabetic);
            tokens.push(Token::Days(Weekdays::in_month(ordinal, unit)?));
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
                rest = months.iter().find_map(|it| after.strip_prefix(it))?;
                continue;
            }
            tokens.extend(word_token(word)?);
            // `Mon.`
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

/// The characters that a text begins with, and the rest.
fn split_word(text: &str, is_part: fn(char) -> bool) -> (&str, &str) {
    let end = text.find(|it: char| !is_part(it)).unwrap_or(text.len());
    text.split_at_checked(end).unwrap_or((text, ""))
}

/// What a word says: one token, or nothing; `None` for a word that is not known.
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
        _ => Token::Days(Weekdays::meant_by(word)?),
    }))
}

/// A time of day and what follows it: `9`, `900`, `9:30`, `9.30`, `9h30`, `9am`, `18:00:30`.
fn take_clock(text: &str) -> Option<(Clock, &str)> {
    let end = text.find(|it: char| !(it.is_ascii_digit() || matches!(it, ':' | '.')));
    let run = text.get(..end.unwrap_or(text.len()))?;
    let run = run.split("..").next()?.trim_end_matches(['.', ':']);
    let mut rest = text.get(run.len()..)?;
    let groups: Vec<_> = run.split([':', '.']).collect();
    if groups.iter().any(|it| it.len() > 4) {
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
    let end = word.find(|it: char| !it.is_alphabetic());
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
