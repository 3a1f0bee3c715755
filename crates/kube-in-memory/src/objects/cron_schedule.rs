//! Which schedules a CronJob may have, in the words of robfig/cron, with which the server reads them.

use std::num::IntErrorKind;

/// The fields of a schedule in their order: the least number, the most, and names for some.
const FIELDS: [(u64, u64, &[&str]); 5] = [
    (0, 59, &[]),
    (0, 23, &[]),
    (1, 31, &[]),
    (
        1,
        12,
        &[
            "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
        ],
    ),
    (0, 6, &["sun", "mon", "tue", "wed", "thu", "fri", "sat"]),
];
const DESCRIPTORS: [&str; 7] = [
    "@yearly",
    "@annually",
    "@monthly",
    "@weekly",
    "@daily",
    "@midnight",
    "@hourly",
];
const UNITS: [&str; 8] = ["ns", "us", "µs", "μs", "ms", "s", "m", "h"];

/// Refuses a text that is not a schedule. A zone before it is not looked up.
pub(super) fn check(text: &str) -> Result<(), String> {
    let has_zone = text.starts_with("TZ=") || text.starts_with("CRON_TZ=");
    let text = match text.split_once(' ') {
        Some((_, rest)) if has_zone => rest.trim(),
        _ => text,
    };
    if let Some(duration) = text.strip_prefix("@every ") {
        return check_duration(duration)
            .map_err(|why| format!("failed to parse duration {text}: time: {why}"));
    }
    if text.starts_with('@') {
        let known = DESCRIPTORS.contains(&text);
        return known
            .then_some(())
            .ok_or_else(|| format!("unrecognized descriptor: {text}"));
    }
    let given: Vec<_> = text.split_whitespace().collect();
    if given.len() != FIELDS.len() {
        let (wanted, found, shown) = (FIELDS.len(), given.len(), given.join(" "));
        return Err(format!(
            "expected exactly {wanted} fields, found {found}: [{shown}]"
        ));
    }
    for (text, (least, most, names)) in given.into_iter().zip(FIELDS) {
        for range in text.split(',').filter(|range| !range.is_empty()) {
            check_range(range, least, most, names)?;
        }
    }
    Ok(())
}

/// A number, a name, a range of them or a star, and perhaps a step.
fn check_range(text: &str, least: u64, most: u64, names: &[&str]) -> Result<(), String> {
    let parts: Vec<_> = text.split('/').collect();
    let ends: Vec<_> = parts[0].split('-').collect();
    let value = |text: &str| {
        let name = text.to_lowercase();
        let named = names.iter().position(|known| *known == name);
        named.map_or_else(|| number(text), |place| Ok(place as u64 + least))
    };
    let (start, mut end) = match ends.as_slice() {
        ["*" | "?", ..] => (least, most),
        [only] => (value(only)?, value(only)?),
        [start, end] => (value(start)?, value(end)?),
        _ => return Err(format!("too many hyphens: {text}")),
    };
    let step = match parts.as_slice() {
        [_] => 1,
        [_, step] => number(step)?,
        _ => return Err(format!("too many slashes: {text}")),
    };
    if parts.len() == 2 && ends.len() == 1 {
        end = most;
    }
    if start < least {
        Err(format!(
            "beginning of range ({start}) below minimum ({least}): {text}"
        ))
    } else if end > most {
        Err(format!(
            "end of range ({end}) above maximum ({most}): {text}"
        ))
    } else if start > end {
        Err(format!(
            "beginning of range ({start}) beyond end of range ({end}): {text}"
        ))
    } else if step == 0 {
        Err(format!("step of range should be a positive number: {text}"))
    } else {
        Ok(())
    }
}

/// A number as Go's `Atoi` reads it.
fn number(text: &str) -> Result<u64, String> {
    let number: i64 = text.parse().map_err(|error: std::num::ParseIntError| {
        let why = match error.kind() {
            IntErrorKind::PosOverflow | IntErrorKind::NegOverflow => "value out of range",
            _ => "invalid syntax",
        };
        format!("failed to parse int from {text}: strconv.Atoi: parsing {text:?}: {why}")
    })?;
    u64::try_from(number).map_err(|_| format!("negative number ({number}) not allowed: {text}"))
}

/// A duration as Go's `ParseDuration` reads it, such as `1h30m`.
fn check_duration(whole: &str) -> Result<(), String> {
    let mut rest = whole.strip_prefix(['-', '+']).unwrap_or(whole);
    if rest == "0" {
        return Ok(());
    }
    let invalid = || format!("invalid duration {whole:?}");
    if rest.is_empty() {
        return Err(invalid());
    }
    while !rest.is_empty() {
        let is_number = |c: char| c.is_ascii_digit() || c == '.';
        let (number, after) = rest.split_at(rest.find(|c| !is_number(c)).unwrap_or(rest.len()));
        let dots = number.matches('.').count();
        if dots > 1 || number.len() == dots {
            return Err(invalid());
        }
        let (unit, next) = after.split_at(after.find(is_number).unwrap_or(after.len()));
        if unit.is_empty() {
            return Err(format!("missing unit in duration {whole:?}"));
        }
        if !UNITS.contains(&unit) {
            return Err(format!("unknown unit {unit:?} in duration {whole:?}"));
        }
        rest = next;
    }
    Ok(())
}
