//! Proposals for dates and times in other notations, such as `24.12.2026 6pm`.

use chrono::{Datelike, NaiveDate};
use dayshift_text::number;

use crate::{
    days::NAMES,
    proposals::{
        Guess,
        week::{Clock, parse_clock},
    },
    text::tokens::normalize_characters,
};

pub(crate) const MONTHS: [&str; 12] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];

/// Guesses a local date and time, to the minute.
pub(crate) fn guess_local(text: &str) -> Option<Guess> {
    let text = normalize(text);
    let (date, clock) = split_date_and_clock(&text)?;
    (clock.second == 0).then_some(())?;
    Some(Guess::Text(format!("{date} {}", clock.text())))
}

/// Guesses a date and time to the second, optionally with a UTC offset.
pub(crate) fn guess_date_time(text: &str) -> Option<Guess> {
    let text = normalize(text);
    let (local, offset) = split_offset(&text);
    let (date, clock) = split_date_and_clock(local)?;
    let seconds = match (clock.second, offset.is_empty()) {
        (0, true) => String::new(),
        (second, _) => format!(":{second:02}"),
    };
    let separator = if offset.is_empty() { ' ' } else { 'T' };
    Some(Guess::Text(format!(
        "{date}{separator}{}{seconds}{offset}",
        clock.text()
    )))
}

/// Guesses a date, a range, or a list of dates, ranges and calendars.
pub(crate) fn guess_dates(text: &str) -> Option<Guess> {
    let text = normalize(text);
    if let Some(item) = guess_range(&text) {
        return Some(Guess::Text(item));
    }
    let items: Option<Vec<_>> = text
        .split([',', '&'])
        .map(|item| range_or_calendar(item.trim()))
        .collect();
    Some(Guess::Text(items?.join("; ")))
}

/// Guesses one or more treated dates.
pub(crate) fn guess_treated(text: &str) -> Option<Guess> {
    let text = normalize_characters(text);
    let items: Option<Vec<_>> = text
        .split(',')
        .map(|item| {
            let (dates, day) = item.split_once('=')?;
            let dates = range_or_calendar(&normalize(dates))?;
            Some(format!("{dates} = {}", day.trim()))
        })
        .collect();
    Some(Guess::Text(items?.join("; ")))
}

fn range_or_calendar(item: &str) -> Option<String> {
    let is_calendar = item.starts_with("calendar:");
    guess_range(item).or_else(|| is_calendar.then(|| item.to_owned()))
}

fn guess_range(text: &str) -> Option<String> {
    if let Some(one) = guess_date(text) {
        return Some(one.to_string());
    }
    ["...", "..", " to ", " until ", " through ", " - ", "~", "/"]
        .iter()
        .find_map(|separator| {
            let (first, last) = text.split_once(separator)?;
            let (first, last) = (guess_date(first.trim())?, guess_date(last.trim())?);
            (first <= last).then(|| format!("{first}..{last}"))
        })
}

/// Normalizes characters, and separates date and time with a blank.
fn normalize(text: &str) -> String {
    let text = normalize_characters(text)
        .replace(['年', '月'], "-")
        .replace('日', " ");
    let mut joined = String::with_capacity(text.len());
    let mut before = ' ';
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        let is_between = before.is_ascii_digit()
            && characters.peek().is_some_and(char::is_ascii_digit)
            && matches!(character, 'T' | 't');
        joined.push(if is_between { ' ' } else { character });
        before = character;
    }
    joined.trim().to_owned()
}

/// The text before a UTC offset, and the offset in RFC 3339 notation.
fn split_offset(text: &str) -> (&str, String) {
    let lower = text.to_ascii_lowercase();
    for utc in ["utc", "gmt", "z"] {
        if let Some(local) = lower.strip_suffix(utc) {
            let local = text.get(..local.len()).unwrap_or_default().trim_end();
            if local.ends_with(|character: char| {
                character.is_ascii_digit() || character == 'm' || character == 'M'
            }) {
                return (local, "Z".to_owned());
            }
        }
    }
    let signed = || {
        let colon = text.find(':')?;
        let at = colon + text.get(colon..)?.find(['+', '-'])?;
        let (local, offset) = text.split_at_checked(at)?;
        let (sign, digits) = offset.split_at_checked(1)?;
        let (hours, minutes) = match digits.split_once(':') {
            Some(both) => both,
            None if digits.len() > 2 => digits.split_at_checked(digits.len() - 2)?,
            None => (digits, "00"),
        };
        let (hours, minutes) = (number::<u8>(hours)?, number::<u8>(minutes)?);
        Some((local.trim_end(), format!("{sign}{hours:02}:{minutes:02}")))
    };
    signed().unwrap_or((text, String::new()))
}

/// A date and a time of day, in either order.
fn split_date_and_clock(text: &str) -> Option<(NaiveDate, Clock)> {
    let words: Vec<_> = text.split_whitespace().collect();
    (1..words.len().min(8)).find_map(|at| {
        let (first, last) = words.split_at_checked(at)?;
        let (first, last) = (first.join(" "), last.join(" "));
        guess_date(&first)
            .zip(parse_clock(&last))
            .or_else(|| guess_date(&last).zip(parse_clock(&first)))
    })
}

/// The date that a text means. `None` if day and month could be swapped.
fn guess_date(text: &str) -> Option<NaiveDate> {
    let text = text.trim().to_lowercase();
    if text.len() > 40 || text.contains("..") {
        return None;
    }
    let parts: Vec<_> = text
        .split([' ', ',', '/', '.', '-'])
        .filter(|part| !part.is_empty())
        .collect();
    let (weekday, parts) = match parts.split_first() {
        Some((first, rest)) if weekday(first).is_some() => (weekday(first), rest),
        _ => (None, &*parts),
    };
    let (year, month, day) = match *parts {
        [all] if all.len() == 8 => (
            number(all.get(..4)?)?,
            number(all.get(4..6)?)?,
            number(all.get(6..)?)?,
        ),
        [year, month, day] if year.len() == 4 && number::<i32>(year).is_some() => {
            (number::<i32>(year)?, month_of(month)?, day_of(day)?)
        }
        [first, second, year] if year.len() == 4 => {
            let year = number::<i32>(year)?;
            match (
                day_of(first),
                month_of(first),
                day_of(second),
                month_of(second),
            ) {
                (Some(day), None, _, Some(month)) | (_, Some(month), Some(day), None) => {
                    (year, month, day)
                }
                (Some(first), Some(_), Some(second), Some(month))
                    if first == second || text.contains('.') =>
                {
                    (year, month, first)
                }
                _ => return None,
            }
        }
        _ => return None,
    };
    let date = NaiveDate::from_ymd_opt(year, month, day)?;
    let fits = weekday.is_none_or(|day| day == date.weekday().num_days_from_monday() as usize);
    fits.then_some(date)
}

fn weekday(word: &str) -> Option<usize> {
    let is = |name: &&str| word.len() >= 3 && name.to_lowercase().starts_with(word);
    NAMES.iter().position(is)
}

fn month_of(word: &str) -> Option<u32> {
    let named = MONTHS
        .iter()
        .position(|name| word.len() >= 3 && name.starts_with(word));
    let number = match named {
        Some(at) => u32::try_from(at + 1).ok(),
        None => number(word),
    };
    number.filter(|number| (1..=12).contains(number))
}

fn day_of(word: &str) -> Option<u32> {
    let digits = word.trim_end_matches(char::is_alphabetic);
    let is_plain = matches!(
        word.get(digits.len()..),
        Some("" | "st" | "nd" | "rd" | "th")
    );
    number(digits).filter(|day| is_plain && (1..=31).contains(day))
}
