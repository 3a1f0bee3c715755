//! One field of cron: `*/15`, `9-17`, `Mon-Fri`.

use std::fmt;

use crate::text::diagnostic::Diagnostic;
use crate::text::piece::Piece;

/// The months as cron names them.
pub(crate) const MONTHS: [&str; 12] = [
    "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
];
/// The days as cron names them, from Sunday.
pub(crate) const DAYS: [&str; 7] = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];

/// A field of cron.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum CronField {
    /// 0-59, the optional leading field.
    Second,
    /// 0-59.
    Minute,
    /// 0-23.
    Hour,
    /// 1-31.
    DayOfMonth,
    /// 1-12 or Jan-Dec.
    Month,
    /// 0-7 or Sun-Sat; 0 and 7 are Sunday.
    DayOfWeek,
}

impl CronField {
    /// One value of the field, in words.
    fn with_article(self) -> String {
        match self {
            Self::Hour => "an hour".to_owned(),
            Self::DayOfMonth => "a day of the month".to_owned(),
            Self::DayOfWeek => "a day of the week".to_owned(),
            field => format!("a {field}"),
        }
    }

    /// What may stand in the field, with an example.
    fn help(self) -> &'static str {
        match self {
            Self::Second => "write 0 to 59, as in `0` or `*/10`",
            Self::Minute => "write 0 to 59, as in `0` or `*/15`",
            Self::Hour => "write 0 to 23, as in `9` or `9-17`",
            Self::DayOfMonth => "write 1 to 31, as in `1` or `1,15`",
            Self::Month => "write 1 to 12 or Jan to Dec, as in `1` or `Jan-Mar`",
            Self::DayOfWeek => {
                "write 0 to 7 (0 and 7 are Sunday) or Sun to Sat, as in `1-5` or `Mon-Fri`"
            }
        }
    }
}

impl fmt::Display for CronField {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Second => "second",
            Self::Minute => "minute",
            Self::Hour => "hour",
            Self::DayOfMonth => "day of month",
            Self::Month => "month",
            Self::DayOfWeek => "day of week",
        })
    }
}

/// The values that one field means.
pub(crate) struct Values {
    pub(crate) bits: u64,
    /// Whether the field has a `*` or `?` that leaves nothing out.
    pub(crate) star: bool,
}

impl Values {
    /// Reads a list of values between commas. Like robfig/cron it ignores empty values, but a field
    /// with nothing else is an error: it would never match.
    pub(crate) fn parse(word: Piece<'_>, field: CronField) -> Result<Self, Diagnostic> {
        let mut all = Self {
            bits: 0,
            star: false,
        };
        for value in word.split(',').filter(|it| !it.text().is_empty()) {
            let Self { bits, star } = Self::one(value, field)?;
            all.bits |= bits;
            all.star |= star;
        }
        if all.bits == 0 {
            return Err(word.fails(format!("has no {field}"), field.help()));
        }
        if field == CronField::DayOfWeek {
            // Seven is another name of Sunday.
            all.bits = (all.bits | all.bits >> 7) & 0x7f;
        }
        Ok(all)
    }

    /// Reads `5`, `1-5`, `*`, or any of these with `/step`. `5/15` is every 15th value from 5 on.
    fn one(value: Piece<'_>, field: CronField) -> Result<Self, Diagnostic> {
        if let Some((wrong, help)) = other_dialect(value.text(), field) {
            return Err(value.fails(wrong, help));
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
                return Err(value.fails(
                    "is not a range: `*` is every value by itself",
                    "write for example `0-5`, or `*/5` for every fifth",
                ));
            }
            let (from, to) = limits(field);
            return Ok(Self {
                bits: bits(from, to, step),
                star: step.unwrap_or(1) == 1,
            });
        }
        if last.is_some_and(|last| last.text().contains('-')) {
            return Err(not_a_range(value));
        }
        let from = number(first, field, value)?;
        let to = match last {
            Some(last) => number(last, field, value)?,
            None if step.is_some() => limits(field).1.max(from),
            None => from,
        };
        if from > to {
            return Err(value.fails(
                "runs backwards, and cron's ranges do not wrap",
                "write two ranges",
            ));
        }
        Ok(Self {
            bits: bits(from, to, step),
            star: false,
        })
    }
}

/// The smallest and the greatest value that a `*` means.
pub(crate) fn limits(field: CronField) -> (u32, u32) {
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

/// Reads a number or name of the field. An error points at `word`, or at all of `value` where
/// `word` is empty.
fn number(word: Piece<'_>, field: CronField, value: Piece<'_>) -> Result<u32, Diagnostic> {
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
    dayshift_text::number::<u32>(word.text())
        .filter(|number| (least..=most).contains(number))
        .ok_or_else(|| {
            let blamed = if word.text().is_empty() { value } else { word };
            blamed.fails(format!("is not {}", field.with_article()), field.help())
        })
}

fn parse_step(word: Piece<'_>, value: Piece<'_>) -> Result<u64, Diagnostic> {
    if word.text().contains('/') {
        return Err(not_a_range(value));
    }
    // As far as Go's 64-bit `int` reaches.
    let step = dayshift_text::number::<i64>(word.text()).filter(|step| *step > 0);
    step.map(i64::cast_unsigned).ok_or_else(|| {
        let blamed = if word.text().is_empty() { value } else { word };
        blamed.fails(
            "is not a step",
            "write a whole number from 1 up, as in `*/15`",
        )
    })
}

fn not_a_range(value: Piece<'_>) -> Diagnostic {
    value.fails(
        "is not a range",
        "write `from-to` or `from-to/step`, as in `9-17/2`",
    )
}

/// Why a value that other crons take is refused here, and what to write.
pub(crate) fn other_dialect(value: &str, field: CronField) -> Option<(String, &'static str)> {
    let value = value.to_ascii_lowercase();
    let of_days = matches!(field, CronField::DayOfMonth | CronField::DayOfWeek);
    let is_number = |text: &str| text.is_empty() || dayshift_text::number::<u64>(text).is_some();
    let within_month = |what| {
        let wrong = format!("is {what} in other crons and is not supported");
        Some((
            wrong,
            "write days within the month before a time, such as `last Fri 18:00`",
        ))
    };
    if value.contains('+') {
        let wrong = "has a `+`, which cron's fields do not take".to_owned();
        Some((
            wrong,
            "write for example `0 9 * * Mon-Fri`, or local moments such as `2026-12-07 09:00`",
        ))
    } else if of_days && value.contains('#') {
        within_month("the nth weekday")
    } else if of_days && (value == "lw" || value.strip_suffix('w').is_some_and(is_number)) {
        within_month("the nearest weekday")
    } else if of_days
        && (value.strip_prefix("l-").is_some_and(is_number)
            || value
                .strip_suffix('l')
                .is_some_and(|day| is_number(day) || DAYS.contains(&day)))
    {
        within_month("the last day")
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(field: CronField, text: &str) -> Vec<u32> {
        let bits = Values::parse(Piece::whole(text, "").unwrap(), field)
            .unwrap()
            .bits;
        (0..64).filter(|value| bits >> value & 1 == 1).collect()
    }

    #[test]
    fn reads_numbers_names_ranges_and_steps() {
        for (text, expected) in [
            ("5", vec![5]),
            ("05,0000005", vec![5]),
            ("1-5/2", vec![1, 3, 5]),
            ("50/4", vec![50, 54, 58]), // goes on to the end of the field
            ("*/30", vec![0, 30]),
            ("?/40,3", vec![0, 3, 40]),
            (",7,,9,", vec![7, 9]),
            ("3-3/99", vec![3]),
            ("*/5000000000", vec![0]),
        ] {
            assert_eq!(values(CronField::Minute, text), expected, "{text}");
        }
        for (text, expected) in [
            ("0", vec![0]),
            ("7", vec![0]),
            ("5-7", vec![0, 5, 6]),
            ("0-7", vec![0, 1, 2, 3, 4, 5, 6]),
            ("1/2", vec![1, 3, 5]), // as in CronJob: without the other Sunday
            ("7/2", vec![0]),
            ("mon-WED,Sat", vec![1, 2, 3, 6]),
            ("Sun-7/3", vec![0, 3, 6]),
        ] {
            assert_eq!(values(CronField::DayOfWeek, text), expected, "{text}");
        }
        assert_eq!(values(CronField::Month, "feb-Apr,DEC"), [2, 3, 4, 12]);
    }
}
