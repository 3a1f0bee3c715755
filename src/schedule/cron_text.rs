//! Cron as text: the dialect of Kubernetes' CronJob, which is the standard parser of
//! robfig/cron v3, with 7 for Sunday and an optional leading field of seconds.
//!
//! What differs and why is written down in `docs/decisions/cron-text.md`.

use super::cron::Cron;
use super::error::TextError;
use super::reason::{CronField, Reason};
use super::text::Piece;

const NICKNAMES: [(&str, &str); 7] = [
    ("@yearly", "0 0 1 1 *"),
    ("@annually", "0 0 1 1 *"),
    ("@monthly", "0 0 1 * *"),
    ("@weekly", "0 0 * * 0"),
    ("@daily", "0 0 * * *"),
    ("@midnight", "0 0 * * *"),
    ("@hourly", "0 * * * *"),
];
const MONTHS: [&str; 12] = [
    "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
];
const DAYS: [&str; 7] = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];

/// Reads five fields, six with seconds before them, or a nickname such as `@daily`.
pub(super) fn parse(item: Piece<'_>) -> Result<Cron, TextError> {
    if item.text().starts_with('@') {
        return nickname(item);
    }
    if let Some(zone) = item.words().next().filter(|word| is_zone(word.text())) {
        return Err(zone.fails(Reason::ZoneInCron));
    }
    fields(item)
}

/// Whether a word is `TZ=…` or `CRON_TZ=…`.
pub(super) fn is_zone(word: &str) -> bool {
    let name = word.split('=').next().unwrap_or_default();
    name.len() < word.len()
        && (name.eq_ignore_ascii_case("TZ") || name.eq_ignore_ascii_case("CRON_TZ"))
}

fn nickname(item: Piece<'_>) -> Result<Cron, TextError> {
    let name = item.text().to_ascii_lowercase();
    if let Some((_, meaning)) = NICKNAMES.iter().find(|(nickname, _)| *nickname == name) {
        return fields(Piece::whole(meaning, "")?);
    }
    Err(item.fails(match name.split_whitespace().next() {
        Some("@every") => Reason::Every,
        Some("@reboot") => Reason::Reboot,
        _ => Reason::Nickname {
            nearest: nearest_nickname(&name),
        },
    }))
}

fn nearest_nickname(name: &str) -> Option<&'static str> {
    if name.len() > 12 {
        return None;
    }
    NICKNAMES
        .iter()
        .map(|&(nickname, _)| (strsim::osa_distance(name, nickname), nickname))
        .min()
        .filter(|&(distance, _)| distance <= 3)
        .map(|(_, nickname)| nickname)
}

fn fields(item: Piece<'_>) -> Result<Cron, TextError> {
    let words: Vec<_> = item.words().take(8).collect();
    let (second, rest) = match *words.as_slice() {
        [minute, hour, day, month, week] => (None, [minute, hour, day, month, week]),
        [second, minute, hour, day, month, week] => {
            (Some(second), [minute, hour, day, month, week])
        }
        [_, _, _, _, _, _, year] => return Err(year.fails(Reason::Year)),
        _ => {
            return Err(item.fails(Reason::FieldCount {
                found: item.words().count(),
            }));
        }
    };
    let [minute, hour, day, month, week] = rest;
    let second = second.map_or(
        Ok(Values {
            bits: 1,
            star: false,
        }),
        |second| Values::parse(second, CronField::Second),
    )?;
    let minute = Values::parse(minute, CronField::Minute)?;
    let hour = Values::parse(hour, CronField::Hour)?;
    let days_of_month = Values::parse(day, CronField::DayOfMonth)?;
    let months = Values::parse(month, CronField::Month)?;
    let days_of_week = Values::parse(week, CronField::DayOfWeek)?;
    let cron = Cron {
        seconds: second.bits,
        minutes: minute.bits,
        hours: hour.bits,
        days_of_month: days_of_month.bits,
        months: months.bits,
        days_of_week: days_of_week.bits,
        either_day: !days_of_month.star && !days_of_week.star,
    };
    if cron.ever_comes() {
        Ok(cron)
    } else {
        Err(day.to(month).fails(Reason::NeverComes))
    }
}

/// The values that one field means.
struct Values {
    bits: u64,
    /// Whether the field has a `*` or `?` that leaves nothing out.
    star: bool,
}

impl Values {
    /// A list of values between commas. Empty ones are passed over, as robfig/cron does, but one
    /// must be there: a field without any would never happen.
    fn parse(word: Piece<'_>, field: CronField) -> Result<Self, TextError> {
        let mut all = Self {
            bits: 0,
            star: false,
        };
        for value in word
            .split(|character| character == ',')
            .filter(|it| !it.text().is_empty())
        {
            let Self { bits, star } = Self::one(value, field)?;
            all.bits |= bits;
            all.star |= star;
        }
        if all.bits == 0 {
            return Err(word.fails(Reason::NoValue { field }));
        }
        if field == CronField::DayOfWeek {
            // Seven is another name of Sunday.
            all.bits = (all.bits | all.bits >> 7) & 0x7f;
        }
        Ok(all)
    }

    /// `5`, `1-5`, `*`, or any of these with `/step`. `5/15` goes on to the end of the field.
    fn one(value: Piece<'_>, field: CronField) -> Result<Self, TextError> {
        if let Some(reason) = other_dialect(value.text(), field) {
            return Err(value.fails(reason));
        }
        let (range, step) = match value.split_once("/") {
            Some((range, step)) => (range, Some(parse_step(step, value)?)),
            None => (value, None),
        };
        let (first, last) = match range.split_once("-") {
            Some((first, last)) => (first, Some(last)),
            None => (range, None),
        };
        if matches!(first.text(), "*" | "?") {
            if last.is_some() {
                return Err(value.fails(Reason::StarRange));
            }
            let (from, to) = limits(field);
            return Ok(Self {
                bits: bits(from, to, step),
                star: step.unwrap_or(1) == 1,
            });
        }
        if last.is_some_and(|last| last.text().contains('-')) {
            return Err(value.fails(Reason::Range));
        }
        let from = number(first, field, value)?;
        let to = match last {
            Some(last) => number(last, field, value)?,
            None if step.is_some() => limits(field).1.max(from),
            None => from,
        };
        if from > to {
            return Err(value.fails(Reason::Backwards {
                example: two_ranges(field),
            }));
        }
        Ok(Self {
            bits: bits(from, to, step),
            star: false,
        })
    }
}

/// The smallest and the greatest value that a `*` means.
fn limits(field: CronField) -> (u32, u32) {
    match field {
        CronField::Second | CronField::Minute => (0, 59),
        CronField::Hour => (0, 23),
        CronField::DayOfMonth => (1, 31),
        CronField::Month => (1, 12),
        CronField::DayOfWeek => (0, 6),
    }
}

fn bits(from: u32, to: u32, step: Option<u64>) -> u64 {
    let step = step
        .and_then(|step| usize::try_from(step).ok())
        .unwrap_or(1);
    (from..=to)
        .step_by(step.max(1))
        .fold(0, |bits, value| bits | 1 << value)
}

/// A number or name of the field. An error blames it, or the whole value where it is empty.
fn number(word: Piece<'_>, field: CronField, value: Piece<'_>) -> Result<u32, TextError> {
    let names: &[&str] = match field {
        CronField::Month => &MONTHS,
        CronField::DayOfWeek => &DAYS,
        _ => &[],
    };
    let (least, most) = limits(field);
    if let Some(at) = names
        .iter()
        .position(|name| word.text().eq_ignore_ascii_case(name))
    {
        return Ok(u32::try_from(at).unwrap_or_default() + least);
    }
    let most = if field == CronField::DayOfWeek {
        7
    } else {
        most
    };
    digits(word.text())
        .and_then(|number| u32::try_from(number).ok())
        .filter(|number| (least..=most).contains(number))
        .ok_or_else(|| {
            let blamed = if word.text().is_empty() { value } else { word };
            blamed.fails(Reason::NotInField { field })
        })
}

fn parse_step(word: Piece<'_>, value: Piece<'_>) -> Result<u64, TextError> {
    if word.text().contains('/') {
        return Err(value.fails(Reason::Range));
    }
    digits(word.text()).filter(|&step| step > 0).ok_or_else(|| {
        let blamed = if word.text().is_empty() { value } else { word };
        blamed.fails(Reason::Step)
    })
}

/// A whole number in ASCII digits alone, as far as Go's 64-bit `int` reaches.
fn digits(text: &str) -> Option<u64> {
    let plain = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse()
        .ok()
        .filter(|&number: &u64| plain && i64::try_from(number).is_ok())
}

/// Why a value that other crons take is refused here.
fn other_dialect(value: &str, field: CronField) -> Option<Reason> {
    let value = value.to_ascii_lowercase();
    let of_days = matches!(field, CronField::DayOfMonth | CronField::DayOfWeek);
    let is_number = |text: &str| text.is_empty() || digits(text).is_some();
    if value.contains('+') {
        Some(Reason::Plus)
    } else if of_days && value.contains('#') {
        Some(Reason::NthWeekday)
    } else if of_days && (value == "lw" || value.strip_suffix('w').is_some_and(is_number)) {
        Some(Reason::NearestWeekday)
    } else if of_days
        && (value.strip_prefix("l-").is_some_and(is_number)
            || value
                .strip_suffix('l')
                .is_some_and(|day| is_number(day) || DAYS.contains(&day)))
    {
        Some(Reason::Last)
    } else {
        None
    }
}

/// How to write a range that wraps.
fn two_ranges(field: CronField) -> &'static str {
    match field {
        CronField::Second | CronField::Minute => "50-59,0-10",
        CronField::Hour => "22-23,0-6",
        CronField::DayOfMonth => "28-31,1-3",
        CronField::Month => "Nov-Dec,Jan-Feb",
        CronField::DayOfWeek => "Fri-Sat,Sun-Mon",
    }
}
