//! The reasons for which a text is refused, each with what to write instead.

use std::fmt;

use super::length::MAX_TEXT;

/// What is wrong with a text. `Display` goes on after the offending words: "is not a day; write …".
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TextReason {
    /// The text is longer than [`MAX_TEXT`](crate::schedule::MAX_TEXT) and was not read.
    #[error(
        "the text is longer than the {} bytes that are read; shorten it",
        MAX_TEXT
    )]
    TooLong,
    /// The text or one of its items is empty.
    #[error("the value is empty; write for example `{example}`")]
    Empty {
        /// A text that would do.
        example: &'static str,
    },
    /// A `;` with nothing before or after it.
    #[error("has nothing on one side; remove it")]
    EmptyItem,
    /// A dash that looks like `-` and is another character.
    #[error("is not the plain `-` of the keyboard; write for example `{example}`")]
    ForeignDash {
        /// A text that would do.
        example: &'static str,
    },
    /// A word where none is allowed.
    #[error("is not expected here; write for example `{example}`")]
    Unexpected {
        /// A text that would do.
        example: &'static str,
    },

    /// A word that is not a day of the week.
    #[error(
        "is not a day; write Mon, Tue, Wed, Thu, Fri, Sat or Sun, a range such as Mon-Fri, weekdays, weekends or daily"
    )]
    UnknownDay,
    /// `first` and the like with no day after it.
    #[error("has no day after it; write for example `first Mon`, `first day` or `first weekday`")]
    NthOfNothing,
    /// A word after `first` and the like that is not one day.
    #[error(
        "cannot follow first, second, third, fourth or last; write one day of the week, `day` or `weekday`, as in `first Mon 09:00`"
    )]
    NotInMonth,
    /// A range of days of which one is within the month.
    #[error(
        "is a range, which days within the month do not make; write each of them, as in `first Mon,first Tue`"
    )]
    RangeInMonth,
    /// Days within the month beside days of every week.
    #[error(
        "mixes days within the month with days of every week; write two items, such as `first Mon 09:00; Fri 09:00`"
    )]
    MixedDays,
    /// A word that is not `HH:MM`.
    #[error("is not a time of day; write for example `09:00`")]
    NotATime,
    /// Hours above 23 or minutes above 59.
    #[error("is not in a day; times run from `00:00` to `23:59`")]
    OutOfDay,
    /// `24:00` where a time is asked for and not the end of a window.
    #[error("is not in a day; midnight is `00:00` of the next day (`24:00` only ends a window)")]
    EndOfDay,
    /// `HH:MM:SS`.
    #[error("has seconds, which a time of day does not take here; write for example `09:00`")]
    Seconds,
    /// Days with no time after them.
    #[error("has no time of day; write for example `{example}`")]
    NoTime {
        /// A text that would do.
        example: &'static str,
    },
    /// Days that follow the time.
    #[error(
        "comes after the time; write days first, as in `{example}`, and separate items with `;`"
    )]
    DaysAfterTime {
        /// A text that would do.
        example: &'static str,
    },
    /// Two days with only a blank between them.
    #[error("has no comma before it; write days as `Mon,Wed` or `Mon-Fri`")]
    NoComma,
    /// A step without `=` and a count, or without a time.
    #[error("has no count; write for example `Mon-Fri 08:00 = 5`, and separate steps with `;`")]
    NoCount,
    /// A step at a time at which another step sets another count.
    #[error(
        "falls together with a step that sets {other}; leave that time out of one of them, as in `Mon-Fri 12:00 = 10; Sat 12:00 = 2`"
    )]
    TwoCounts {
        /// The count of the other step.
        other: u32,
    },
    /// A count that is not a whole number.
    #[error("is not a number of replicas; write a whole number, as in `Mon-Fri 08:00 = 5`")]
    NotACount,
    /// A window where a time is asked for.
    #[error(
        "is a window; write windows in the hours annotation, and here one time such as `Mon-Fri 09:00`"
    )]
    WindowInTimes,
    /// A window without its end.
    #[error("has no end; hours are windows such as `Mon-Fri 09:00-19:00`")]
    NoEnd,
    /// A window that ends where it begins.
    #[error("begins and ends at the same time; a whole day is `00:00-24:00`")]
    EmptyWindow,
    /// A cron text among hours.
    #[error("is cron, which has no end; hours are windows such as `Mon-Fri 09:00-19:00`")]
    CronInHours,
    /// A date among hours.
    #[error("is a date; hours are windows on days of the week such as `Mon-Fri 09:00-19:00`")]
    DateInHours,

    /// Not five or six fields.
    #[error(
        "has {found} fields; cron has five (minute, hour, day of month, month, day of week), as in `0 9 * * Mon-Fri`, or six with seconds before them"
    )]
    FieldCount {
        /// How many there are.
        found: usize,
    },
    /// A seventh field.
    #[error(
        "is in the place of a year, which cron does not have here; write local moments such as `2026-12-24 18:00`"
    )]
    Year,
    /// A value that is not a number (or name) of its field.
    #[error("is not {}; write {}", .field.with_article(), .field.values())]
    NotInField {
        /// The field it stands in.
        field: CronField,
    },
    /// A range whose beginning is after its end.
    #[error("runs backwards, and cron's ranges do not wrap; write two ranges")]
    Backwards,
    /// A step of zero or no number.
    #[error("is not a step; write a whole number from 1 up, as in `*/15`")]
    Step,
    /// More than one `-` or `/` in one value.
    #[error("is not a range; write `from-to` or `from-to/step`, as in `9-17/2`")]
    Range,
    /// `*-5`, which robfig/cron reads as `*`.
    #[error(
        "is not a range: `*` is every value by itself; write for example `0-5`, or `*/5` for every fifth"
    )]
    StarRange,
    /// A field with nothing but commas, which would never happen.
    #[error("has no {field}; write {}", .field.values())]
    NoValue {
        /// The field.
        field: CronField,
    },
    /// `L`, `W` or `#`: the last day, the nearest weekday or the nth weekday.
    #[error(
        "is {what} in other crons and is not supported; write days within the month before a time, such as `last Fri 18:00`"
    )]
    WithinMonth {
        /// What it is in other crons.
        what: &'static str,
    },
    /// `+`, by which other crons join day of month and day of week.
    #[error(
        "has a `+`, which cron's fields do not take; write for example `0 9 * * Mon-Fri`, or local moments such as `2026-12-07 09:00`"
    )]
    Plus,
    /// `@every`.
    #[error(
        "counts from when a program starts, not by the clock; write the times instead, such as `Mon-Fri 09:00,13:30`"
    )]
    Every,
    /// `@reboot`.
    #[error("is not a time; write the times instead, such as `Mon-Fri 09:00`")]
    Reboot,
    /// An unknown `@` nickname.
    #[error(
        "is not a nickname; write @yearly, @annually, @monthly, @weekly, @daily, @midnight or @hourly"
    )]
    Nickname,
    /// `TZ=` or `CRON_TZ=`.
    #[error(
        "does not belong in the times; put the zone into the timezone annotation and leave the times alone, as in `0 9 * * *`"
    )]
    ZoneInCron,
    /// A date that no year has.
    #[error("is a date that never comes; write days that one of the months has")]
    NeverComes,

    /// A word that is not `YYYY-MM-DD`.
    #[error("is not a date; write for example `2026-12-24`")]
    NotADate,
    /// A date that its year does not have.
    #[error("is a date that does not exist; write for example `2026-12-24`")]
    NoSuchDate,
    /// A date before 1970 or after 2199.
    #[error("is out of range; years run from 1970 to 2199")]
    YearOutOfRange,
    /// A date with a time where only dates can stand.
    #[error(
        "has more than a date; write whole days, such as `2026-12-24` or `2026-12-28..2027-01-03`"
    )]
    TimeInDates,
    /// A range of dates without an end or a beginning.
    #[error("is half of a range; write both dates, such as `2026-12-28..2027-01-03`")]
    OpenDates,
    /// A range of dates whose beginning is after its end.
    #[error("ends before it begins; look at the years, as in `2026-12-28..2027-01-03`")]
    DatesBackwards,

    /// Dates without `=` and the day of the week that they count as.
    #[error(
        "has no date or no day of the week; write for example `2026-10-10 = Mon`, and separate several with `;`"
    )]
    NotTreated,
    /// A word that is not exactly one day of the week.
    #[error(
        "is not one day of the week; write Mon, Tue, Wed, Thu, Fri, Sat or Sun, as in `2026-10-10 = Mon`"
    )]
    NotOneDay,
    /// A date that counts as two different days of the week.
    #[error("has {date}, which counts as another day already; write each date once")]
    TreatedTwice {
        /// The first such date.
        date: String,
    },
    /// More spans of dates than are looked through.
    #[error("has more than {most} spans of dates; leave out those that are over")]
    TooManyTreated {
        /// How many there may be.
        most: usize,
    },

    /// The name of a calendar that is not known.
    #[error("{}", unknown_calendar(.known))]
    UnknownCalendar {
        /// Those that are, separated by commas.
        known: Box<str>,
    },
    /// The name of a calendar whose file cannot be read.
    #[error("is a calendar that cannot be read: {why}")]
    UnreadableCalendar {
        /// The file, and what is wrong with it.
        why: std::sync::Arc<str>,
    },
    /// `calendar:` and something that cannot be a name.
    #[error(
        "is not the name of a calendar; write for example `calendar:de`, and give its file with `--calendar de=FILE.ics`"
    )]
    NotACalendarName,

    /// A text that does not begin with a date.
    #[error(
        "is not a date and time; write local time such as `2026-12-24 18:00`, or RFC 3339 such as `2026-12-24T18:00:00Z`"
    )]
    NotAMoment,
    /// A date without a time of day.
    #[error("has no time of day; write for example `2026-12-24 18:00`")]
    DateAlone,
    /// A moment with `T` and without `Z` or an offset.
    #[error("has no offset; write `2026-12-24 18:00` for local time, or `2026-12-24T18:00:00Z`")]
    NoOffset,
    /// A local moment with an offset, where the zone is set elsewhere.
    #[error(
        "is not a local moment; write for example `2026-12-24 18:00`, without `T`, `Z` or an offset"
    )]
    NotLocal,
    /// A word that is not an offset from UTC.
    #[error("is not an offset; write `Z`, or hours and minutes such as `+09:00`")]
    Offset,

    /// A name that is not a zone.
    #[error("is not a time zone; write a name of the IANA database{}", zone_hint(*nearest))]
    UnknownZone {
        /// The zone that may have been meant.
        nearest: Option<&'static str>,
    },

    /// A text that is not a duration.
    #[error("is not a duration; write for example `5m`, `90s` or `1h`")]
    NotADuration,
    /// A duration above the longest one that is allowed.
    #[error("is too long; write at most `{most}`")]
    DurationTooLong {
        /// The longest one that is allowed.
        most: &'static str,
    },
}

/// A field of cron.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CronField {
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
    fn values(self) -> &'static str {
        match self {
            Self::Second => "0 to 59, as in `0` or `*/10`",
            Self::Minute => "0 to 59, as in `0` or `*/15`",
            Self::Hour => "0 to 23, as in `9` or `9-17`",
            Self::DayOfMonth => "1 to 31, as in `1` or `1,15`",
            Self::Month => "1 to 12 or Jan to Dec, as in `1` or `Jan-Mar`",
            Self::DayOfWeek => {
                "0 to 7 (0 and 7 are Sunday) or Sun to Sat, as in `1-5` or `Mon-Fri`"
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

impl TextReason {
    /// What is wrong, without what to write instead.
    pub(in crate::schedule) fn problem(&self) -> String {
        let text = self.to_string();
        text.split_once("; ")
            .map_or(text.clone(), |(problem, _)| problem.to_owned())
    }
}

fn unknown_calendar(known: &str) -> String {
    if known.is_empty() {
        "is not a calendar that is known here; give its file, as in `--calendar de=FILE.ics`"
            .to_owned()
    } else {
        format!("is not a calendar that is known here; the known ones are: {known}")
    }
}

/// The zone that was meant; of one that is named as POSIX does, what it is besides.
fn zone_hint(nearest: Option<&str>) -> String {
    let Some(zone) = nearest else {
        return " such as `Europe/Berlin`, `Asia/Tokyo` or `UTC`".to_owned();
    };
    let digits = |sign: char| {
        zone.strip_prefix("Etc/GMT")
            .and_then(|it| it.strip_prefix(sign))
    };
    let is_utc = match (digits('-'), digits('+')) {
        (Some(hours), _) => format!(", which is UTC+{hours}"),
        (_, Some(hours)) => format!(", which is UTC-{hours}"),
        _ => String::new(),
    };
    format!(": did you mean `{zone}`{is_utc}?")
}
