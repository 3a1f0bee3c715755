//! Cron: the dialect of Kubernetes' CronJob, plus 7 for Sunday and an optional leading seconds
//! field.
//!
//! CronJob uses the standard parser of robfig/cron v3. `docs/decisions/schedules/cron-text.md`
//! lists the differences and their reasons. An expression becomes one bit set for each field,
//! which can be searched in both directions. If other dialects allow `L`, `W` or `#`, the error
//! proposes days within the month.

use std::fmt;

use dayshift_text::number;

use crate::{
    dates::Date,
    days::MonthDays,
    local::WallTime,
    month::{Toward, has, lowest_from, month_length},
    text::{Diagnostic, Piece},
};

/// A cron expression. Bit `n` of a field represents the value `n`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Cron {
    pub(crate) seconds: u64,
    pub(crate) minutes: u64,
    pub(crate) hours: u64,
    pub(crate) days_of_month: u64,
    pub(crate) months: u64,
    /// Bit 0 is Sunday.
    pub(crate) days_of_week: u64,
    /// Whether a date matches if it matches one of the two day fields (crontab(5): "if both fields
    /// are restricted"). Otherwise it must match both, and one of them is a star.
    pub(crate) either_day: bool,
}

impl Cron {
    /// Parses five fields, six fields with seconds first, or a nickname such as `@daily`.
    ///
    /// # Errors
    /// CronJob rejects the expression (apart from the differences above), or its date never
    /// occurs.
    pub(crate) fn parse(item: Piece<'_>) -> Result<Self, Diagnostic> {
        if item.text().starts_with('@') {
            return parse_nickname(item);
        }
        if let Some(zone) = item
            .words()
            .next()
            .filter(|word| is_zone_prefix(word.text()))
        {
            return Err(zone.error(
                "does not belong in the times",
                "write the zone in the \
                timezone annotation, and the times without it, as in `0 9 * * *`",
            ));
        }
        parse_fields(item)
    }

    /// Whether the date occurs in any year.
    pub(crate) fn ever_occurs(&self) -> bool {
        self.either_day
            || (1..=12).any(|month| {
                let longest = if month == 2 {
                    29
                } else {
                    month_length(2024, month)
                };
                has(self.months, month) && lowest_from(self.days_of_month, 1) <= Some(longest)
            })
    }

    /// The weekdays of the expression; bit 0 is Monday.
    pub(crate) fn weekdays(&self) -> u32 {
        let days = self.days_of_week & 0x7f;
        u32::try_from((days >> 1 | days << 6) & 0x7f).unwrap_or_default()
    }

    /// The weekdays, if the other day fields and the months restrict nothing.
    pub(crate) fn only_weekdays(&self) -> Option<u32> {
        let all = (self.days_of_month, self.months) == (u64::from(u32::MAX) & !1, 0x1ffe);
        (all && !self.either_day).then(|| self.weekdays())
    }

    /// Whether a date matches.
    pub(crate) fn is_on(&self, date: &Date) -> bool {
        let by_month = has(self.days_of_month, date.of_month);
        let by_week = self.weekdays() >> date.weekday & 1 == 1;
        let is_on = if self.either_day {
            by_month || by_week
        } else {
            by_month && by_week
        };
        is_on && has(self.months, date.month.number)
    }

    /// Whether a second of the day is a time of day of the expression.
    pub(crate) fn contains_second(&self, second: u32) -> bool {
        has(self.hours, second / 3600)
            && has(self.minutes, second / 60 % 60)
            && has(self.seconds, second % 60)
    }

    /// The nearest matching second of the day from `second` on.
    pub(crate) fn nearest_second(&self, second: u32, toward: Toward) -> Option<u32> {
        let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
        let in_hour = |minute| {
            let minute = toward.bit(self.minutes, minute)?;
            Some(minute * 60 + toward.bit(self.seconds, toward.edge(59))?)
        };
        if has(self.hours, hour) {
            if has(self.minutes, minute)
                && let Some(second) = toward.bit(self.seconds, second)
            {
                return Some(hour * 3600 + minute * 60 + second);
            }
            if let Some(rest) = toward.step(minute).and_then(in_hour) {
                return Some(hour * 3600 + rest);
            }
        }
        Some(toward.bit(self.hours, toward.step(hour)?)? * 3600 + in_hour(toward.edge(59))?)
    }
}

/// Nicknames, and the five fields that they abbreviate.
pub(crate) const NICKNAMES: [(&str, &str); 7] = [
    ("@yearly", "0 0 1 1 *"),
    ("@annually", "0 0 1 1 *"),
    ("@monthly", "0 0 1 * *"),
    ("@weekly", "0 0 * * 0"),
    ("@daily", "0 0 * * *"),
    ("@midnight", "0 0 * * *"),
    ("@hourly", "0 * * * *"),
];

/// Whether a word begins with `TZ=` or `CRON_TZ=`.
pub(crate) fn is_zone_prefix(text: &str) -> bool {
    let name = text.split_once('=').map_or("", |(name, _)| name);
    name.eq_ignore_ascii_case("TZ") || name.eq_ignore_ascii_case("CRON_TZ")
}

fn parse_nickname(item: Piece<'_>) -> Result<Cron, Diagnostic> {
    let name = item.text().to_ascii_lowercase();
    if let Some((_, meaning)) = NICKNAMES.iter().find(|(nickname, _)| *nickname == name) {
        return parse_fields(Piece::whole(meaning, "")?);
    }
    let (wrong, help) = match name.split_whitespace().next() {
        Some("@every") => (
            "is relative to the start of a program, not to the clock",
            "write the times instead, such as `Mon-Fri 09:00,13:30`",
        ),
        Some("@reboot") => (
            "is not a time",
            "write the times instead, such as `Mon-Fri 09:00`",
        ),
        _ => (
            "is not a nickname",
            "write @yearly, @annually, @monthly, @weekly, @daily, @midnight or @hourly",
        ),
    };
    Err(item.error(wrong, help))
}

fn parse_fields(item: Piece<'_>) -> Result<Cron, Diagnostic> {
    let words: Vec<_> = item.words().take(8).collect();
    match *words.as_slice() {
        [minute, hour, day, month, week] => parse_values(None, [minute, hour, day, month, week]),
        [_, _, day, _, week, year] if is_aws([day, week, year].map(Piece::text)) => {
            Err(not_a_year(year))
        }
        [second, minute, hour, day, month, week] => {
            parse_values(Some(second), [minute, hour, day, month, week]).map_err(|error| {
                // Other dialects have five fields and a year.
                let is_year =
                    is_year(week.text()) && parse_values(None, [second, minute, hour, day, month]).is_ok();
                if is_year {
                    not_a_year(week)
                } else {
                    error
                }
            })
        }
        [_, _, _, _, _, _, year] => Err(not_a_year(year)),
        _ => Err(item.error(
            format!("has {} fields", item.words().count()),
            "cron has five (minute, hour, day of month, month, day of week), as in `0 9 * * Mon-Fri`, or six with seconds before them",
        )),
    }
}

fn not_a_year(word: Piece<'_>) -> Diagnostic {
    word.error(
        "is a year field, which some crons have and dayshift does not support",
        "write local dates and times such as `2026-12-24 18:00`",
    )
}

/// Whether six fields are AWS cron, given the third, the fifth and the sixth. AWS has a year at
/// the end and a `?` in one of the day fields, which would be meaningless for an hour or a month.
pub(crate) fn is_aws([day, week, year]: [&str; 3]) -> bool {
    is_year(year) && (day == "?" || week == "?")
}

/// Whether a word can be a year field, such as `2026` or `*`.
fn is_year(word: &str) -> bool {
    matches!(word, "*" | "?") || word.len() == 4 && word.bytes().all(|byte| byte.is_ascii_digit())
}

/// Text with days within the month, for an expression that uses `L`, `W` or `#` as other dialects
/// do.
pub(crate) fn month_days_text(item: Piece<'_>) -> Option<String> {
    let words: Vec<_> = item.words().take(7).collect();
    let (second, minute, hour, day, month, week) = match *words.as_slice() {
        [minute, hour, day, month, week] => (None, minute, hour, day, month, week),
        [second, minute, hour, day, month, week] => (Some(second), minute, hour, day, month, week),
        _ => return None,
    };
    let any = Piece::whole("*", "").ok()?;
    let daily = parse_values(second, [minute, hour, any, month, any]).ok()?;
    daily.text_on(find_month_days(day.text(), week.text())?)
}

/// Parses the fields from minute to day of week, and the seconds if given.
fn parse_values(second: Option<Piece<'_>>, fields: [Piece<'_>; 5]) -> Result<Cron, Diagnostic> {
    let [minute, hour, day, month, week] = fields;
    let seconds = match second {
        Some(second) => Values::parse(second, CronField::Second)?.bits,
        None => 1,
    };
    let minute = Values::parse(minute, CronField::Minute)?;
    let hour = Values::parse(hour, CronField::Hour)?;
    let days_of_month = Values::parse(day, CronField::DayOfMonth)?;
    let months = Values::parse(month, CronField::Month)?;
    let days_of_week = Values::parse(week, CronField::DayOfWeek)?;
    let cron = Cron {
        seconds,
        minutes: minute.bits,
        hours: hour.bits,
        days_of_month: days_of_month.bits,
        months: months.bits,
        days_of_week: days_of_week.bits,
        either_day: !days_of_month.star && !days_of_week.star,
    };
    if cron.ever_occurs() {
        Ok(cron)
    } else {
        Err(day.to(month).error(
            "is a date that never occurs",
            "write days that one of the months has",
        ))
    }
}

/// The month names in cron.
pub(crate) const MONTHS: [&str; 12] = [
    "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
];
/// The day names in cron, from Sunday.
pub(crate) const DAYS: [&str; 7] = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];

/// A field of a cron expression.
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

    /// The values that the field accepts, with an example.
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

/// The values of one field.
pub(crate) struct Values {
    pub(crate) bits: u64,
    /// Whether the field contains an unrestricted `*` or `?`.
    pub(crate) star: bool,
}

impl Values {
    /// Parses a comma-separated list. As in robfig/cron, empty values are ignored. A field without
    /// any value is an error, because it would never match.
    pub(crate) fn parse(word: Piece<'_>, field: CronField) -> Result<Self, Diagnostic> {
        let mut all = Self {
            bits: 0,
            star: false,
        };
        for value in word.split(',').filter(|value| !value.text().is_empty()) {
            let Self { bits, star } = Self::parse_value(value, field)?;
            all.bits |= bits;
            all.star |= star;
        }
        if all.bits == 0 {
            return Err(word.error(format!("has no {field}"), field.help()));
        }
        if field == CronField::DayOfWeek {
            // 7 also means Sunday.
            all.bits = (all.bits | all.bits >> 7) & 0x7f;
        }
        Ok(all)
    }

    /// Parses `5`, `1-5` or `*`, each optionally with `/step`. `5/15` is every 15th value from 5
    /// on.
    fn parse_value(value: Piece<'_>, field: CronField) -> Result<Self, Diagnostic> {
        if let Some((wrong, help)) = other_dialect(value.text(), field) {
            return Err(value.error(wrong, help));
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
                return Err(value.error(
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
        let from = parse_number(first, field, value)?;
        let to = match last {
            Some(last) => parse_number(last, field, value)?,
            None if step.is_some() => limits(field).1.max(from),
            None => from,
        };
        if from > to {
            return Err(value.error(
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

/// The smallest and the largest value of a `*`.
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

/// Parses a number or a name. The error points at `word`, or at `value` if `word` is empty.
fn parse_number(word: Piece<'_>, field: CronField, value: Piece<'_>) -> Result<u32, Diagnostic> {
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
    number::<u32>(word.text())
        .filter(|number| (least..=most).contains(number))
        .ok_or_else(|| {
            let blamed = if word.text().is_empty() { value } else { word };
            blamed.error(format!("is not {}", field.with_article()), field.help())
        })
}

fn parse_step(word: Piece<'_>, value: Piece<'_>) -> Result<u64, Diagnostic> {
    if word.text().contains('/') {
        return Err(not_a_range(value));
    }
    // Go's `int` has 64 bits.
    let step = number::<i64>(word.text()).filter(|step| *step > 0);
    step.map(i64::cast_unsigned).ok_or_else(|| {
        let blamed = if word.text().is_empty() { value } else { word };
        blamed.error(
            "is not a step",
            "write a whole number from 1 up, as in `*/15`",
        )
    })
}

fn not_a_range(value: Piece<'_>) -> Diagnostic {
    value.error(
        "is not a range",
        "write `from-to` or `from-to/step`, as in `9-17/2`",
    )
}

/// Why a value of another dialect is rejected, and the remedy.
pub(crate) fn other_dialect(value: &str, field: CronField) -> Option<(String, &'static str)> {
    let value = value.to_ascii_lowercase();
    let of_days = matches!(field, CronField::DayOfMonth | CronField::DayOfWeek);
    let is_number = |text: &str| text.is_empty() || number::<u64>(text).is_some();
    let is_year = |text: &str| number::<u32>(text).is_some_and(|year| (1970..2200).contains(&year));
    let within_month = |what| {
        let wrong = format!("is {what} in other crons and is not supported");
        Some((
            wrong,
            "write days within the month before a time, such as `last Fri 18:00`",
        ))
    };
    if value.contains('+') {
        let wrong = "has a `+`, which cron's fields do not allow".to_owned();
        Some((
            wrong,
            "write for example `0 9 * * Mon-Fri`, or local dates and times such as `2026-12-07 09:00`",
        ))
    } else if field == CronField::DayOfWeek && value.split('-').all(is_year) {
        let wrong = "is a year, and cron has no field of years here".to_owned();
        Some((
            wrong,
            "leave the year out, or write each date, such as `2030-01-01 05:00`",
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

/// The maximum number of times of day in a proposal.
const MAX_TIMES: usize = 4;

/// The days within the month that a day field means in dialects with `L`, `W` and `#`. `None` if
/// the dialects disagree, for example about weekday numbers, or if days within the month cannot
/// express it.
pub(crate) fn find_month_days(of_month: &str, of_week: &str) -> Option<MonthDays> {
    let day = |name: &str| {
        // `DAYS` begins with Sunday, and `MonthDays` with Monday.
        let day = (DAYS.iter().position(|day| *day == name)? + 6) % 7;
        u32::try_from(day).ok()
    };
    let is_star = |field: &str| matches!(field, "*" | "?");
    let (of_month, of_week) = (of_month.to_ascii_lowercase(), of_week.to_ascii_lowercase());
    if is_star(&of_week) {
        return match &*of_month {
            "l" => Some(MonthDays::LAST_DAY),
            "1w" => Some(MonthDays::FIRST_WEEKDAY),
            "lw" => Some(MonthDays::LAST_WEEKDAY),
            _ => None,
        };
    }
    if !is_star(&of_month) {
        return None;
    }
    match of_week.split_once('#') {
        Some((name, nth)) => {
            let nth = number(nth).filter(|nth| (1..=4).contains(nth))?;
            MonthDays::nth_of_week(nth, day(name)?)
        }
        None => MonthDays::nth_of_week(0, day(of_week.strip_suffix('l')?)?),
    }
}

impl Cron {
    /// Text for these days at the times of day of this expression. `None` if the expression is
    /// restricted to some months, or has seconds or too many times.
    pub(crate) fn text_on(&self, days: MonthDays) -> Option<String> {
        let is_plain = self.seconds == 1 && (1..=12).all(|month| has(self.months, month));
        let values = |bits: u64| (0_u16..60).filter(move |value| has(bits, u32::from(*value)));
        let times = values(self.hours)
            .flat_map(|hour| values(self.minutes).map(move |minute| WallTime(hour * 60 + minute)));
        let times: Vec<_> = times
            .take(MAX_TIMES + 1)
            .map(|time| time.to_string())
            .collect();
        (is_plain && times.len() <= MAX_TIMES).then(|| format!("{days}{}", times.join(",")))
    }

    /// For an expression that matches either day field: text for the days that match both, if days
    /// within the month can express them.
    pub(crate) fn both_days_text(&self) -> Option<String> {
        let weeks = [1_u32, 8, 15, 22];
        let week = weeks.map(|first| 0x7f << first);
        let nth = week.iter().position(|week| self.days_of_month == *week)?;
        let nth = u32::try_from(nth).ok()? + 1;
        let days = (0..7).filter(|day| has(self.days_of_week, (day + 1) % 7));
        let days = days.filter_map(|day| MonthDays::nth_of_week(nth, day));
        self.text_on(days.fold(MonthDays::NONE, MonthDays::union))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cron(text: &str) -> Result<Cron, Diagnostic> {
        Cron::parse(Piece::whole(text, "").unwrap())
    }

    #[test]
    fn parses_fields_and_nicknames() {
        assert_eq!(cron("30 9 * * *").unwrap().seconds, 1);
        assert_eq!(
            cron("*/20 30 9 * * *").unwrap().seconds,
            1 | 1 << 20 | 1 << 40
        );
        assert_eq!(cron("@Daily"), cron("0 0 * * *"));
        assert_eq!(cron("@yearly"), cron("0 0 1 jan ?"));
        assert_eq!(cron("@weekly"), cron("0 0 * * 7"));
    }

    /// crontab(5) and robfig/cron: if one day field is an unrestricted star, the other decides.
    #[test]
    fn matches_either_day_field_unless_one_is_a_star() {
        for (text, either) in [
            ("0 0 1 * Mon", true),
            ("0 0 */2 * Mon", true), // with a step it is no longer a star
            ("0 0 1-31 * Mon", true),
            ("0 0 * * Mon", false),
            ("0 0 ? * Mon", false),
            ("0 0 */1 * Mon", false),
            ("0 0 1,* * Mon", false),
            ("0 0 1 * *", false),
        ] {
            assert_eq!(cron(text).unwrap().either_day, either, "{text}");
        }
    }

    #[test]
    fn cron_error_points_at_the_invalid_value() {
        for (text, found, message) in [
            ("60 * * * *", "60", "is not a minute; write 0 to 59"),
            ("0 24 * * *", "24", "is not an hour; write 0 to 23"),
            ("0 0 0 * *", "0", "is not a day of the month; write 1 to 31"),
            (
                "0 0 1 13 *",
                "13",
                "is not a month; write 1 to 12 or Jan to Dec",
            ),
            ("0 0 1 January *", "January", "is not a month"),
            ("0 0 * * 8", "8", "is not a day of the week; write 0 to 7"),
            ("0 5 1 1 * 2030-2032", "2030-2032", "is a year"),
            ("0 0 0 1 1 2030", "2030", "is a year"),
            ("0 0 * * 1-8", "8", "is not a day of the week"),
            ("0 0 * * Monday", "Monday", "is not a day of the week"),
            ("60 0 0 * * *", "60", "is not a second; write 0 to 59"),
            ("Mon * * * *", "Mon", "is not a minute"),
            ("0 １2 * * *", "１2", "is not an hour"),
            (
                "0 99999999999999999999 * * *",
                "99999999999999999999",
                "is not an hour",
            ),
            ("0 1,2-x * * *", "x", "is not an hour"),
            ("0 -5 * * *", "-5", "is not an hour"),
            ("0 5- * * *", "5-", "is not an hour"),
            ("0 17-9 * * *", "17-9", "runs backwards"),
            (
                "0 0 * * Fri-Mon",
                "Fri-Mon",
                "runs backwards, and cron's ranges do not wrap",
            ),
            ("0 0 * * Fri-Sun", "Fri-Sun", "runs backwards"),
            ("*/0 * * * *", "0", "is not a step; write a whole number"),
            ("*/ * * * *", "*/", "is not a step"),
            ("*/x * * * *", "x", "is not a step"),
            (
                "*/9223372036854775808 * * * *",
                "9223372036854775808",
                "is not a step",
            ),
            ("1/2/3 * * * *", "1/2/3", "is not a range"),
            ("1-2-3 * * * *", "1-2-3", "is not a range"),
            ("*-5 * * * *", "*-5", "`*` is every value by itself"),
            (", * * * *", ",", "has no minute"),
            (
                "30 18 L * *",
                "L",
                "is the last day in other crons and is not supported; write days",
            ),
            ("0 0 L-3 * *", "L-3", "such as `last Fri 18:00`"),
            // In some dialects 5 is Thursday.
            ("0 0 * * 5L", "5L", "such as `last Fri 18:00`"),
            ("0 9,17 ? * friL", "friL", "such as `last Fri 18:00`"),
            ("0 9 * 6 FriL", "FriL", "such as `last Fri 18:00`"),
            ("0 9 L * Mon", "L", "such as `last Fri 18:00`"),
            ("* * L * *", "L", "such as `last Fri 18:00`"),
            ("30 0 9 L * *", "L", "such as `last Fri 18:00`"),
            ("0 0 9 L * ?", "L", "such as `last Fri 18:00`"),
            (
                "0 0 15W * *",
                "15W",
                "is the nearest weekday in other crons",
            ),
            ("0 7 lw * *", "lw", "such as `last Fri 18:00`"),
            ("0 7 1W * *", "1W", "such as `last Fri 18:00`"),
            (
                "0 7 * * Mon#2",
                "Mon#2",
                "is not supported; write days within the month",
            ),
            ("0 7 * * Mon#5", "Mon#5", "such as `last Fri 18:00`"),
            ("0 7 * * 1#2", "1#2", "such as `last Fri 18:00`"),
            ("+5 * * * *", "+5", "has a `+`"),
            ("0 0 1 * +Mon", "+Mon", "has a `+`"),
            ("0 0 30 2 *", "30 2", "is a date that never occurs"),
            (
                "0 0 30,31 Feb ?",
                "30,31 Feb",
                "is a date that never occurs",
            ),
            (
                "0 0 31 4,6,9,11 *",
                "31 4,6,9,11",
                "is a date that never occurs",
            ),
            ("0 0 9 * * * 2026", "2026", "is a year field"),
            ("* * * *", "* * * *", "has 4 fields"),
            ("* * * * * * * * *", "* * * * * * * * *", "has 9 fields"),
            (
                "@every 5m",
                "@every 5m",
                "is relative to the start of a program",
            ),
            ("@reboot", "@reboot", "is not a time"),
            ("@dayly", "@dayly", "is not a nickname"),
            ("@", "@", "is not a nickname"),
            (
                "TZ=Asia/Tokyo 0 9 * * *",
                "TZ=Asia/Tokyo",
                "write the zone in the timezone",
            ),
            (
                "CRON_TZ=UTC 0 9 * * *",
                "CRON_TZ=UTC",
                "write the zone in the timezone",
            ),
        ] {
            let padded = format!("\u{3000}{text}");
            let error = cron(&padded).unwrap_err();
            assert_eq!(&padded[error.span()], found, "{text}: {error}");
            assert!(error.to_string().contains(message), "{text}: {error}");
        }
        for text in ["0 0 29 2 *", "0 0 30 2 Mon", "0 0 30 1-2 *", "0 0 31 4 */2"] {
            assert!(cron(text).is_ok(), "{text}");
        }
    }

    fn values(field: CronField, text: &str) -> Vec<u32> {
        let bits = Values::parse(Piece::whole(text, "").unwrap(), field)
            .unwrap()
            .bits;
        (0..64).filter(|value| bits >> value & 1 == 1).collect()
    }

    #[test]
    fn parses_numbers_names_ranges_and_steps() {
        for (text, expected) in [
            ("5", vec![5]),
            ("05,0000005", vec![5]),
            ("1-5/2", vec![1, 3, 5]),
            ("50/4", vec![50, 54, 58]), // continues to the end of the field
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
            ("1/2", vec![1, 3, 5]), // as in CronJob: does not include 7
            ("7/2", vec![0]),
            ("mon-WED,Sat", vec![1, 2, 3, 6]),
            ("Sun-7/3", vec![0, 3, 6]),
        ] {
            assert_eq!(values(CronField::DayOfWeek, text), expected, "{text}");
        }
        assert_eq!(values(CronField::Month, "feb-Apr,DEC"), [2, 3, 4, 12]);
    }
}
