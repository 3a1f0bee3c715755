//! Cron as text: the dialect of Kubernetes' CronJob, which is the standard parser of
//! robfig/cron v3, with 7 for Sunday and an optional leading field of seconds.
//!
//! What differs and why is written down in `docs/decisions/schedules/cron-text.md`.

use super::expression::Cron;
use super::field::{CronField, Values};
use super::within_month::days_meant;
use crate::text::diagnostic::Diagnostic;
use crate::text::piece::Piece;

/// Names for five fields.
pub(crate) const NICKNAMES: [(&str, &str); 7] = [
    ("@yearly", "0 0 1 1 *"),
    ("@annually", "0 0 1 1 *"),
    ("@monthly", "0 0 1 * *"),
    ("@weekly", "0 0 * * 0"),
    ("@daily", "0 0 * * *"),
    ("@midnight", "0 0 * * *"),
    ("@hourly", "0 * * * *"),
];
/// Reads five fields, six with seconds before them, or a nickname such as `@daily`. Errors: a
/// field that CronJob refuses (but for the differences above), and dates that never come.
pub(crate) fn parse(item: Piece<'_>) -> Result<Cron, Diagnostic> {
    if item.text().starts_with('@') {
        return nickname(item);
    }
    if let Some(zone) = item.words().next().filter(|word| is_zone(word.text())) {
        return Err(zone.fails("does not belong in the times", "put the zone into the timezone annotation and leave the times alone, as in `0 9 * * *`"));
    }
    fields(item)
}

/// Whether a text begins with `TZ=…` or `CRON_TZ=…`.
pub(crate) fn is_zone(text: &str) -> bool {
    let name = text.split_once('=').map_or("", |(name, _)| name);
    name.eq_ignore_ascii_case("TZ") || name.eq_ignore_ascii_case("CRON_TZ")
}

fn nickname(item: Piece<'_>) -> Result<Cron, Diagnostic> {
    let name = item.text().to_ascii_lowercase();
    if let Some((_, meaning)) = NICKNAMES.iter().find(|(nickname, _)| *nickname == name) {
        return fields(Piece::whole(meaning, "")?);
    }
    let (wrong, help) = match name.split_whitespace().next() {
        Some("@every") => (
            "counts from when a program starts, not by the clock",
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
    Err(item.fails(wrong, help))
}

fn fields(item: Piece<'_>) -> Result<Cron, Diagnostic> {
    let words: Vec<_> = item.words().take(8).collect();
    match *words.as_slice() {
        [minute, hour, day, month, week] => read(None, [minute, hour, day, month, week]),
        [_, _, day, _, week, year] if is_aws([day, week, year].map(Piece::text)) => {
            Err(not_a_year(year))
        }
        [second, minute, hour, day, month, week] => {
            read(Some(second), [minute, hour, day, month, week]).map_err(|error| {
                // Others have five fields and a year.
                let is_year =
                    is_year(week.text()) && read(None, [second, minute, hour, day, month]).is_ok();
                if is_year {
                    not_a_year(week)
                } else {
                    error
                }
            })
        }
        [_, _, _, _, _, _, year] => Err(not_a_year(year)),
        _ => Err(item.fails(
            format!("has {} fields", item.words().count()),
            "cron has five (minute, hour, day of month, month, day of week), as in `0 9 * * Mon-Fri`, or six with seconds before them",
        )),
    }
}

fn not_a_year(word: Piece<'_>) -> Diagnostic {
    word.fails(
        "stands where some crons have a year, which dayshift does not read",
        "write local moments such as `2026-12-24 18:00`",
    )
}

/// Whether the third, the fifth and the sixth of six fields are days and a year, as AWS has them: one
/// field of days is a `?` there, which for an hour or a month would mean nothing.
pub(crate) fn is_aws([day, week, year]: [&str; 3]) -> bool {
    is_year(year) && (day == "?" || week == "?")
}

/// Whether a word may be a year, or any: `2026`, `*`.
fn is_year(word: &str) -> bool {
    matches!(word, "*" | "?") || word.len() == 4 && word.bytes().all(|it| it.is_ascii_digit())
}

/// The days within the month that `L`, `W` and `#` mean in other crons, with the times of day.
pub(crate) fn within_month(item: Piece<'_>) -> Option<String> {
    let words: Vec<_> = item.words().take(7).collect();
    let (second, minute, hour, day, month, week) = match *words.as_slice() {
        [minute, hour, day, month, week] => (None, minute, hour, day, month, week),
        [second, minute, hour, day, month, week] => (Some(second), minute, hour, day, month, week),
        _ => return None,
    };
    let any = Piece::whole("*", "").ok()?;
    let daily = read(second, [minute, hour, any, month, any]).ok()?;
    daily.on(days_meant(day.text(), week.text())?)
}

/// Reads the fields from the minute on, and the seconds where there are some.
fn read(second: Option<Piece<'_>>, fields: [Piece<'_>; 5]) -> Result<Cron, Diagnostic> {
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
    if cron.ever_comes() {
        Ok(cron)
    } else {
        Err(day.to(month).fails(
            "is a date that never comes",
            "write days that one of the months has",
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cron(text: &str) -> Result<Cron, Diagnostic> {
        parse(Piece::whole(text, "").unwrap())
    }

    #[test]
    fn reads_fields_and_nicknames() {
        assert_eq!(cron("30 9 * * *").unwrap().seconds, 1);
        assert_eq!(
            cron("*/20 30 9 * * *").unwrap().seconds,
            1 | 1 << 20 | 1 << 40
        );
        assert_eq!(cron("@Daily"), cron("0 0 * * *"));
        assert_eq!(cron("@yearly"), cron("0 0 1 jan ?"));
        assert_eq!(cron("@weekly"), cron("0 0 * * 7"));
    }

    /// crontab(5) and robfig/cron: a star that leaves nothing out makes the other field rule.
    #[test]
    fn either_field_of_days_will_do_unless_one_is_a_star() {
        for (text, either) in [
            ("0 0 1 * Mon", true),
            ("0 0 */2 * Mon", true), // a step takes the star away
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
    fn says_which_value_is_wrong_and_what_to_write() {
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
            // In some crons 5 is Thursday.
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
            ("0 0 30 2 *", "30 2", "is a date that never comes"),
            ("0 0 30,31 Feb ?", "30,31 Feb", "is a date that never comes"),
            (
                "0 0 31 4,6,9,11 *",
                "31 4,6,9,11",
                "is a date that never comes",
            ),
            (
                "0 0 9 * * * 2026",
                "2026",
                "stands where some crons have a year",
            ),
            ("* * * *", "* * * *", "has 4 fields"),
            ("* * * * * * * * *", "* * * * * * * * *", "has 9 fields"),
            (
                "@every 5m",
                "@every 5m",
                "counts from when a program starts",
            ),
            ("@reboot", "@reboot", "is not a time"),
            ("@dayly", "@dayly", "is not a nickname"),
            ("@", "@", "is not a nickname"),
            (
                "TZ=Asia/Tokyo 0 9 * * *",
                "TZ=Asia/Tokyo",
                "put the zone into the timezone",
            ),
            (
                "CRON_TZ=UTC 0 9 * * *",
                "CRON_TZ=UTC",
                "put the zone into the timezone",
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
}
