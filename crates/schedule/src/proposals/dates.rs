//! Proposals for dates and times in other notations, such as `24.12.2026 6pm`.

use chrono::{DateTime, Datelike, NaiveDate};
use dayshift_text::number;

use crate::{
    cron::CronField,
    days::NAMES,
    proposals::{
        cron::fix_name,
        week::{Clock, find_name, parse_clock},
    },
    text::tokens::normalize_characters,
};

/// Guesses a local date and time, to the minute.
pub(crate) fn guess_local(text: &str) -> Option<String> {
    let (date, clock) = split_date_and_clock(&normalize(text))?;
    (clock.second == 0).then(|| format!("{date} {}", clock.text()))
}

/// Guesses a date and time to the second, optionally with a UTC offset.
pub(crate) fn guess_date_time(text: &str) -> Option<String> {
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
pub(crate) fn guess_dates(text: &str) -> Option<String> {
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
