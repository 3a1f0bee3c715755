//! Proposals for cron of other dialects, and for mistakes in cron.

use chrono::Month;
use dayshift_text::{nearest, number};

use crate::{
    cron::{
        Cron, CronField, DAYS, NICKNAMES, is_aws, is_zone_prefix, limits, month_days_text,
        other_dialect,
    },
    days::NAMES,
    proposals::week::find_name,
    text::{Piece, Proposal, normalize_characters},
};

/// Whether text is cron.
pub(crate) fn is_cron(text: &str) -> bool {
    let text = normalize_characters(text).to_ascii_lowercase();
    let mut words = text.split(' ');
    let first = words.next().unwrap_or_default();
    let is_plain = |word: &str| {
        let mut bytes = word.bytes();
        bytes.all(|byte| byte.is_ascii_digit() || b"*/,-".contains(&byte))
    };
    text.starts_with('@')
        || text.contains(['*', '?'])
        || first.starts_with("cron(")
        || is_zone_prefix(first)
        || words.clone().count() >= 4 && words.next().into_iter().chain([first]).all(is_plain)
        || is_nickname(&format!("@{text}"))
}

fn is_nickname(name: &str) -> bool {
    NICKNAMES.iter().any(|(known, _)| *known == name)
}

/// Guesses a cron item.
pub(crate) fn guess(text: &str) -> Option<Proposal> {
    let text = normalize_characters(text);
    let lower = text.to_ascii_lowercase();
    let fixed = if let Some(fields) = lower.strip_prefix("cron(") {
        let fields = text.get(5..5 + fields.strip_suffix(')')?.len())?;
        without_year(&split_words(fields), WeekdayNumbers::FromOne)
    } else if let Some((word, rest)) = text.split_once(' ') {
        if is_zone_prefix(word) {
            let (_, timezone) = word.split_once('=')?;
            let times = Some(rest.to_owned()).filter(|rest| is_valid_cron(rest));
            return Some(Proposal::InZone {
                times: times.or_else(|| fix_cron(&split_words(rest)))?.into(),
                timezone: timezone.into(),
            });
        }
        fix_cron(&split_words(&text))
    } else {
        let name = format!("@{}", lower.trim_start_matches('@'));
        nearest(&name, NICKNAMES.map(|(name, _)| name)).map(str::to_owned)
    };
    Some(Proposal::replace_all(&text, &fixed?))
}

fn split_words(text: &str) -> Vec<&str> {
    text.split_whitespace().take(8).collect()
}

fn is_valid_cron(text: &str) -> bool {
    Piece::whole(text, "").is_ok_and(|item| Cron::parse(item).is_ok())
}

fn fix_cron(words: &[&str]) -> Option<String> {
    let text = words.join(" ");
    let within_month = Piece::whole(&text, "").ok().and_then(month_days_text);
    let weekdays = match *words {
        [_, _, day, _, week, year] if is_aws([day, week, year]) => WeekdayNumbers::FromOne,
        _ => WeekdayNumbers::Unknown,
    };
    let plain = || fix_fields(words).filter(|text| is_valid_cron(text));
    within_month
        .or_else(plain)
        .or_else(|| without_year(words, weekdays))
}

/// The weekday that a number means in a cron expression with a year.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum WeekdayNumbers {
    /// 1 is Sunday, as in AWS and Quartz.
    FromOne,
    /// The dialect is not known.
    Unknown,
}

/// Reads fields with a year at the end, as in AWS and Quartz. If the year is any year, it is
/// dropped; if the fields name one time, the result is a date and time.
fn without_year(words: &[&str], weekdays: WeekdayNumbers) -> Option<String> {
    let (year, rest) = words.split_last()?;
    let [seconds @ .., minute, hour, day, month, week] = rest else {
        return None;
    };
    if matches!(*year, "*" | "?") {
        let has_number = week.contains(|character: char| character.is_ascii_digit());
        let week = match weekdays {
            WeekdayNumbers::FromOne => days_from_one(week)?,
            WeekdayNumbers::Unknown if has_number => return None,
            WeekdayNumbers::Unknown => (*week).to_owned(),
        };
        let mut words = rest.to_vec();
        *words.last_mut()? = &week;
        return fix_fields(&words);
    }
    let within =
        |text: &str, from: u32, to: u32| number(text).filter(|number| (from..=to).contains(number));
    let (_, month) = fix_name(month, CronField::Month)?;
    let (year, day) = (within(year, 1970, 2199)?, within(day, 1, 31)?);
    let (hour, minute) = (within(hour, 0, 23)?, within(minute, 0, 59)?);
    let is_one = matches!(*week, "*" | "?") && matches!(seconds, [] | ["0" | "00"]);
    is_one.then(|| format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}"))
}

/// Replaces weekday numbers that count from 1 (Sunday) with names.
fn days_from_one(week: &str) -> Option<String> {
    let day = |text: &str| match number::<u32>(text) {
        Some(number) => name_of(number.checked_sub(1)?, CronField::DayOfWeek),
        None => Some(text.to_owned()),
    };
    let range = |text: &str| {
        let days: Option<Vec<_>> = text.split('-').map(day).collect();
        Some(days?.join("-"))
    };
    let values: Option<Vec<_>> = week.split(',').map(range).collect();
    values.map(|values| values.join(","))
}

/// Corrects the values of five fields, or six with seconds.
fn fix_fields(words: &[&str]) -> Option<String> {
    const FIELDS: [CronField; 6] = [
        CronField::Second,
        CronField::Minute,
        CronField::Hour,
        CronField::DayOfMonth,
        CronField::Month,
        CronField::DayOfWeek,
    ];
    let fields = FIELDS.get(FIELDS.len().checked_sub(words.len().max(5))?..)?;
    let fixed = words.iter().zip(fields).map(|(word, field)| {
        let values = word.split(',').filter(|value| !value.is_empty());
        let values: Option<Vec<_>> = values.map(|value| fix_value(value, *field)).collect();
        values.map(|values| values.join(","))
    });
    let fixed: Vec<_> = fixed.collect::<Option<_>>()?;
    (fixed.len() == fields.len()).then(|| fixed.join(" "))
}

/// Corrects one value: abbreviates names to three letters, and writes out a range that wraps.
fn fix_value(value: &str, field: CronField) -> Option<String> {
    if other_dialect(value, field).is_some() {
        return None;
    }
    let (range, step) = match value.split_once('/') {
        Some((range, step)) => (range, number::<usize>(step).filter(|step| *step > 0)?),
        None => (value, 1),
    };
    let step_text = value.get(range.len()..)?;
    if matches!(range, "*" | "?") {
        return Some(value.to_owned());
    }
    let Some((first, last)) = range.split_once('-') else {
        return Some(fix_name(range, field)?.0 + step_text);
    };
    let is_named = number::<u32>(first).is_none();
    let ((first, from), (last, to)) = (fix_name(first, field)?, fix_name(last, field)?);
    if from <= to {
        return Some(format!("{first}-{last}{step_text}"));
    }
    let (least, most) = limits(field);
    let wrapped = (from..=most).chain(least..=to).step_by(step);
    let texts = wrapped.map(|number| {
        let name = name_of(number, field).filter(|_| is_named);
        name.unwrap_or_else(|| number.to_string())
    });
    Some(texts.collect::<Vec<_>>().join(","))
}

/// The full names of a field's numbers.
fn names(field: CronField) -> Vec<&'static str> {
    match field {
        CronField::Month => {
            let months = (1..=12).filter_map(|number: u8| Month::try_from(number).ok());
            months.map(|month| month.name()).collect()
        }
        CronField::DayOfWeek => NAMES.into_iter().cycle().skip(6).take(DAYS.len()).collect(),
        _ => Vec::new(),
    }
}

/// The first three letters of a number's name.
fn name_of(number: u32, field: CronField) -> Option<String> {
    let at = number.checked_sub(limits(field).0)?;
    let name = names(field).get(at as usize)?.get(..3)?;
    Some(name.to_owned())
}

/// Corrects a number or name, and returns it with its number.
pub(crate) fn fix_name(text: &str, field: CronField) -> Option<(String, u32)> {
    if let Some(number) = number(text) {
        return Some((text.to_owned(), number));
    }
    let all = names(field);
    let at = find_name(text, &all)?;
    let number = u32::try_from(at).ok()? + limits(field).0;
    let short = name_of(number, field)?;
    let is_short = text.eq_ignore_ascii_case(&short);
    Some((if is_short { text.to_owned() } else { short }, number))
}
