//! Proposals for cron of other dialects, and for mistakes in cron.

use dayshift_text::{nearest, number};

use crate::{
    cron::{
        Cron, CronField, DAYS, MONTHS, NICKNAMES, is_aws, is_zone_prefix, limits, month_days_text,
        other_dialect,
    },
    days::NAMES,
    durations,
    proposals::Guess,
    text::{piece::Piece, tokens::normalize_characters},
};

/// Whether text is cron, or an interval of another tool: `@every 5m`, `rate(5 minutes)`.
pub(crate) fn is_cron(text: &str) -> bool {
    let text = normalize_characters(text).to_ascii_lowercase();
    let mut words = text.split(' ');
    let first = words.next().unwrap_or_default();
    let is_plain = |word: &str| {
        word.bytes()
            .all(|byte| byte.is_ascii_digit() || b"*/,-".contains(&byte))
    };
    text.starts_with('@')
        || text.contains(['*', '?'])
        || first.starts_with("cron(")
        || interval(&text).is_some()
        || is_zone_prefix(first)
        || words.clone().count() >= 4 && words.next().into_iter().chain([first]).all(is_plain)
        || NICKNAMES
            .iter()
            .any(|(name, _)| name.strip_prefix('@') == Some(&*text))
}

/// Guesses a cron item.
pub(crate) fn guess_times(text: &str) -> Option<Guess> {
    let text = normalize_characters(text);
    let lower = text.to_ascii_lowercase();
    if let Some(interval) = interval(&lower) {
        return cron_every(durations::parse_loosely(interval)?).map(Guess::Text);
    }
    if let Some(fields) = lower.strip_prefix("cron(") {
        let fields = text.get(5..5 + fields.strip_suffix(')')?.len())?;
        return without_year(&split_words(fields), true).map(Guess::Text);
    }
    if !text.contains(' ') {
        let name = format!("@{}", lower.trim_start_matches('@'));
        return nearest(&name, NICKNAMES.map(|(name, _)| name))
            .map(|name| Guess::Text(name.to_owned()));
    }
    if let Some((zone, rest)) = text
        .split_once(' ')
        .filter(|(word, _)| is_zone_prefix(word))
    {
        let (_, timezone) = zone.split_once('=')?;
        let times = if is_valid_cron(rest) {
            rest.to_owned()
        } else {
            fix_cron(&split_words(rest))?
        };
        return Some(Guess::InZone {
            times,
            timezone: timezone.to_owned(),
        });
    }
    fix_cron(&split_words(&text)).map(Guess::Text)
}

/// The interval in `@every 5m`, `every 5 minutes` or `rate(5 minutes)`.
fn interval(lower: &str) -> Option<&str> {
    if let Some(inner) = lower.strip_prefix("rate(") {
        return inner.strip_suffix(')');
    }
    let rest = lower
        .strip_prefix('@')
        .unwrap_or(lower)
        .strip_prefix("every ")?;
    (lower.starts_with('@') || rest.starts_with(|character: char| character.is_ascii_digit()))
        .then_some(rest)
}

/// A cron expression for an interval. Only intervals that divide an hour or a day are the same
/// every day.
fn cron_every(seconds: u64) -> Option<String> {
    let step = |count: u64| {
        if count == 1 {
            "*".to_owned()
        } else {
            format!("*/{count}")
        }
    };
    let divides = |part: u64, whole: u64| part > 0 && part < whole && whole.is_multiple_of(part);
    let (minutes, hours) = (seconds / 60, seconds / 3600);
    if divides(seconds, 60) {
        Some(format!("{} * * * * *", step(seconds)))
    } else if seconds.is_multiple_of(60) && divides(minutes, 60) {
        Some(format!("{} * * * *", step(minutes)))
    } else if seconds.is_multiple_of(3600) && divides(hours, 24) {
        Some(format!("0 {} * * *", step(hours)))
    } else {
        (seconds == 24 * 3600).then(|| "0 0 * * *".to_owned())
    }
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
    let is_aws = match *words {
        [_, _, day, _, week, year] => is_aws([day, week, year]),
        _ => false,
    };
    let plain = || match words {
        [rest @ .., _, _, _, _, _] if rest.len() <= 1 => {
            fix_fields(words).filter(|text| is_valid_cron(text))
        }
        _ => None,
    };
    within_month
        .or_else(plain)
        .or_else(|| without_year(words, is_aws))
}

/// Reads fields with a year at the end, as in AWS and Quartz. If the year is any year, it is
/// dropped; if the fields name one time, the result is a date and time. AWS and Quartz count
/// weekdays from 1 (Sunday), and other dialects might not.
fn without_year(words: &[&str], is_aws: bool) -> Option<String> {
    let (year, rest) = words.split_last()?;
    let [seconds @ .., minute, hour, day, month, week] = rest else {
        return None;
    };
    if seconds.len() > 1 {
        return None;
    }
    if matches!(*year, "*" | "?") {
        let week = if is_aws {
            days_from_one(week)?
        } else {
            (*week).to_owned()
        };
        let is_unclear = !is_aws && week.contains(|character: char| character.is_ascii_digit());
        let mut words = rest.to_vec();
        *words.last_mut()? = &week;
        return (!is_unclear).then(|| fix_fields(&words)).flatten();
    }
    let within =
        |text: &str, from: u32, to: u32| number(text).filter(|number| (from..=to).contains(number));
    let is_month = |name: &&str| name.eq_ignore_ascii_case(month);
    let month = match MONTHS.iter().position(is_month) {
        Some(at) => u32::try_from(at).ok()? + 1,
        None => within(month, 1, 12)?,
    };
    let (year, day) = (within(year, 1970, 2199)?, within(day, 1, 31)?);
    let (hour, minute) = (within(hour, 0, 23)?, within(minute, 0, 59)?);
    let is_one = matches!(*week, "*" | "?") && matches!(seconds, [] | ["0" | "00"]);
    is_one.then(|| format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}"))
}

/// Replaces weekday numbers that count from 1 (Sunday) with names.
fn days_from_one(week: &str) -> Option<String> {
    let day = |text: &str| match number::<usize>(text) {
        Some(number) => DAYS
            .get(number.checked_sub(1)?)
            .map(|name| name.to_ascii_uppercase()),
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
    let fields = FIELDS.get(FIELDS.len().checked_sub(words.len())?..)?;
    let words: Option<Vec<_>> = words
        .iter()
        .zip(fields)
        .map(|(word, field)| {
            let values = word.split(',').filter(|value| !value.is_empty());
            let values: Option<Vec<_>> = values.map(|value| fix_value(value, *field)).collect();
            values.map(|values| values.join(","))
        })
        .collect();
    words.map(|words| words.join(" "))
}

/// Corrects one value: abbreviates names to three letters, and splits a range that wraps.
fn fix_value(value: &str, field: CronField) -> Option<String> {
    if other_dialect(value, field).is_some() {
        return None;
    }
    let (range, step) = match value.split_once('/') {
        Some((range, step)) => (range, Some(number::<usize>(step).filter(|step| *step > 0)?)),
        None => (value, None),
    };
    if matches!(range, "*" | "?") {
        return Some(value.to_owned());
    }
    if field == CronField::DayOfWeek && step.is_none() {
        match &*range.to_ascii_lowercase() {
            "weekdays" | "weekday" => return Some("Mon-Fri".to_owned()),
            "weekends" | "weekend" => return Some("Sat,Sun".to_owned()),
            _ => {}
        }
    }
    let with_step = |range: String| match step {
        Some(step) => format!("{range}/{step}"),
        None => range,
    };
    let Some((first, last)) = range.split_once('-') else {
        return Some(with_step(fix_name(range, field)?.0));
    };
    let ((first, from), (last, to)) = (fix_name(first, field)?, fix_name(last, field)?);
    if from <= to {
        return Some(with_step(format!("{first}-{last}")));
    }
    let (least, most) = limits(field);
    if let Some(step) = step {
        let wrapped: Vec<_> = (from..=most).chain(least..=to).step_by(step).collect();
        let texts: Vec<_> = wrapped.iter().map(u32::to_string).collect();
        return Some(texts.join(","));
    }
    let is_named = first.starts_with(|character: char| character.is_alphabetic());
    let name = |number: u32, text: &str| match field {
        _ if !is_named => number.to_string(),
        CronField::Month => if number == 1 { "Jan" } else { "Dec" }.to_owned(),
        CronField::DayOfWeek => if number == 0 { "Sun" } else { "Sat" }.to_owned(),
        _ => text.to_owned(),
    };
    let part = |first: &str, last: &str, is_one| {
        if is_one {
            first.to_owned()
        } else {
            format!("{first}-{last}")
        }
    };
    Some(format!(
        "{},{}",
        part(&first, &name(most, &last), from == most),
        part(&name(least, &first), &last, to == least),
    ))
}

/// Corrects a number or name, and returns it with its number.
fn fix_name(text: &str, field: CronField) -> Option<(String, u32)> {
    if let Some(number) = number(text) {
        return Some((text.to_owned(), number));
    }
    let (short, full): (&[&str], Vec<&str>) = match field {
        CronField::Month => (&MONTHS, crate::proposals::dates::MONTHS.to_vec()),
        CronField::DayOfWeek => {
            let [monday_to_saturday @ .., sunday] = NAMES;
            (
                &DAYS,
                std::iter::once(sunday).chain(monday_to_saturday).collect(),
            )
        }
        _ => return None,
    };
    let least = limits(field).0;
    let number = |at: usize| u32::try_from(at).ok().map(|at| at + least);
    if let Some(at) = short
        .iter()
        .position(|name| name.eq_ignore_ascii_case(text))
    {
        return Some((text.to_owned(), number(at)?));
    }
    let begins = |name: &&str| {
        text.len() > 3
            && name
                .get(..text.len())
                .is_some_and(|begin| begin.eq_ignore_ascii_case(text))
    };
    let at = match full.iter().position(begins) {
        Some(at) => at,
        None => {
            let name = nearest(text, short.iter().chain(&full).copied())?;
            let is = |names: &[&str]| names.iter().position(|known| *known == name);
            is(short).or_else(|| is(&full))?
        }
    };
    let short = full.get(at)?.get(..3)?;
    let (first, rest) = short.split_at_checked(1)?;
    Some((format!("{}{rest}", first.to_ascii_uppercase()), number(at)?))
}
