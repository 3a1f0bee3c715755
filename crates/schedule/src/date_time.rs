//! Dates such as `2026-12-24`, local dates and times such as `2026-12-24 18:00`, and RFC 3339.

use chrono::{DateTime, NaiveDate, Utc};
use dayshift_text::number;

use crate::{
    local::{Local, WallTime, day_number},
    text::{Diagnostic, DiagnosticKind, Grammar, Piece},
    zone::Zone,
};

const EXAMPLE: &str = "2026-12-24 18:00";

/// Parses a date and time to the second: RFC 3339 such as `2026-12-24T18:00:00+09:00`, or
/// `YYYY-MM-DD HH:MM[:SS]` in local time of `zone`. In RFC 3339 the seconds are optional and
/// fractions are dropped. A local time in a DST gap is the end of the gap, and one in a DST
/// overlap happens the first time.
///
/// ```
/// use dayshift_schedule::{Zone, parse_date_time};
///
/// let tokyo = Zone::parse("Asia/Tokyo").unwrap();
/// let local = parse_date_time("2026-12-24 18:00", tokyo).unwrap();
/// assert_eq!(local.to_rfc3339(), "2026-12-24T09:00:00+00:00");
/// assert_eq!(parse_date_time("2026-12-24T18:00:00+09:00", Zone::UTC).unwrap(), local);
/// ```
///
/// # Errors
/// The text is not a date and time, has no time, or is not in the years 1970 to 2199. The span is
/// in bytes of `text`.
pub fn parse_date_time(text: &str, zone: Zone) -> Result<DateTime<Utc>, Diagnostic> {
    parse_whole(text, zone).map_err(|error| error.in_grammar(Grammar::DateTime, text))
}

fn parse_whole(text: &str, zone: Zone) -> Result<DateTime<Utc>, Diagnostic> {
    let all = Piece::whole(text, EXAMPLE)?;
    let (date, rest) = split_date(all)?;
    let day = day_number(parse_date(date)?);
    let separator = rest.text().chars().next();
    let strict = matches!(separator, Some('T' | 't'));
    let time = if strict {
        rest.part(1..rest.text().len())
    } else {
        rest.trim()
    };
    let offset_at = time.text().find(['Z', 'z', '+', '-']);
    let clock = time.part(0..offset_at.unwrap_or(time.text().len()));
    if clock.text().is_empty() {
        return Err(missing_time(all));
    }
    let local = Local::on(day, parse_clock(clock)?);
    let second = match offset_at {
        Some(at) => local.0 - parse_offset(time.part(at..time.text().len()))?,
        None if strict => {
            return Err(all.error(
                "has no offset",
                "write `2026-12-24 18:00` for local time, or `2026-12-24T18:00:00Z`",
            ));
        }
        None => zone.second_of(local),
    };
    DateTime::from_timestamp(second, 0).ok_or_else(|| out_of_range(date))
}

/// Parses a date and time like [`parse_date_time`], or a date, which means midnight in
/// `zone`.
///
/// ```
/// use dayshift_schedule::{Zone, parse_date_or_date_time};
///
/// let tokyo = Zone::parse("Asia/Tokyo").unwrap();
/// for text in ["2026-11-23", "2026-11-23 00:00", "2026-11-22T15:00:00Z"] {
///     let at = parse_date_or_date_time(text, tokyo).unwrap();
///     assert_eq!(at.to_rfc3339(), "2026-11-22T15:00:00+00:00");
/// }
/// ```
///
/// # Errors
/// The text is neither, or is not in the years 1970 to 2199. The span is in bytes of `text`.
pub fn parse_date_or_date_time(text: &str, zone: Zone) -> Result<DateTime<Utc>, Diagnostic> {
    let date = Piece::whole(text, EXAMPLE)?;
    match parse_date(date) {
        Ok(_) => parse_date_time(&format!("{} 00:00", date.text()), zone),
        Err(_) => parse_date_time(text, zone),
    }
}

/// Parses `YYYY-MM-DD`, from 1970 to 2199.
pub(super) fn parse_date(word: Piece<'_>) -> Result<NaiveDate, Diagnostic> {
    let parts: Vec<_> = word.text().split('-').collect();
    let (year, month, day) = match *parts {
        [year, month, day] if (year.len(), month.len(), day.len()) == (4, 2, 2) => {
            (number(year), number(month), number(day))
        }
        _ => (None, None, None),
    };
    let (Some(year), Some(month), Some(day)) = (year, month, day) else {
        return Err(word.error("is not a date", "write for example `2026-12-24`"));
    };
    if !(1970_i32..2200).contains(&year) {
        return Err(out_of_range(word));
    }
    NaiveDate::from_ymd_opt(year, month, day).ok_or_else(|| {
        word.error(
            "is a date that does not exist",
            "write for example `2026-12-24`",
        )
    })
}

/// The error for a year before 1970 or after 2199.
pub(super) fn out_of_range(date: Piece<'_>) -> Diagnostic {
    date.error("is out of range", "years run from 1970 to 2199")
}

/// Parses `YYYY-MM-DD HH:MM`.
pub(super) fn parse_local(item: Piece<'_>) -> Result<Local, Diagnostic> {
    let (date, rest) = split_date(item)?;
    let day = day_number(parse_date(date)?);
    if rest.text().starts_with(['T', 't']) {
        return Err(not_local(item));
    }
    let mut words = rest.words();
    let time = words.next().ok_or_else(|| missing_time(item))?;
    if let Some(extra) = words.next() {
        return Err(not_local(extra));
    }
    if let Some(at) = time.text().find(['Z', 'z', '+', '-']) {
        return Err(not_local(time.part(at..time.text().len())));
    }
    Ok(Local::on(day, WallTime::parse(time)?.seconds()))
}

fn missing_time(date: Piece<'_>) -> Diagnostic {
    date.error("has no time of day", "write for example `2026-12-24 18:00`")
}

fn not_local(piece: Piece<'_>) -> Diagnostic {
    piece.error(
        "is not a local date and time",
        "write for example `2026-12-24 18:00`, without `T`, `Z` or an offset",
    )
}

/// The date at the start, and the rest, which is empty or begins with a blank or a `T`.
fn split_date(all: Piece<'_>) -> Result<(Piece<'_>, Piece<'_>), Diagnostic> {
    let text = all.text();
    let end =
        text.find(|character: char| character.is_whitespace() || matches!(character, 'T' | 't'));
    let date = all.part(0..end.unwrap_or(text.len()));
    if date
        .text()
        .starts_with(|character: char| character.is_ascii_digit())
        && date.text().contains('-')
    {
        Ok((date, all.part(date.text().len()..text.len())))
    } else {
        Err(all.error("is not a date and time", "write local time such as `2026-12-24 18:00`, or RFC 3339 such as `2026-12-24T18:00:00Z`").with_kind(DiagnosticKind::NotADateTime))
    }
}

/// Parses `HH:MM[:SS[.fraction]]` into seconds from midnight.
fn parse_clock(clock: Piece<'_>) -> Result<u32, Diagnostic> {
    let text = clock.text();
    let (Some(minutes), Some(rest)) = (text.get(..5), text.get(5..)) else {
        return Ok(WallTime::parse(clock)?.seconds());
    };
    let seconds = match rest.strip_prefix(':') {
        Some(rest) => {
            let (seconds, fraction) = rest.split_once('.').unwrap_or((rest, "0"));
            let is_whole = seconds.len() == 2
                && !fraction.is_empty()
                && fraction.bytes().all(|byte| byte.is_ascii_digit());
            number(seconds).filter(|_| is_whole)
        }
        None => rest.is_empty().then_some(0),
    };
    match seconds {
        Some(seconds @ 0..60) => {
            Ok(WallTime::parse(clock.part(0..minutes.len()))?.seconds() + seconds)
        }
        Some(_) => Err(WallTime::out_of_day(clock)),
        None => Ok(WallTime::parse(clock)?.seconds()),
    }
}

/// Parses `Z` or `±HH:MM` into seconds.
fn parse_offset(offset: Piece<'_>) -> Result<i64, Diagnostic> {
    let text = offset.text();
    if text.eq_ignore_ascii_case("Z") {
        return Ok(0);
    }
    let digits = text
        .strip_prefix(['+', '-'])
        .and_then(|digits| digits.split_once(':'));
    let digits = digits.filter(|(hours, minutes)| (hours.len(), minutes.len()) == (2, 2));
    let (hours, minutes) = digits.map_or((None, None), |(hours, minutes)| {
        (number::<u32>(hours), number::<u32>(minutes))
    });
    match (hours, minutes) {
        (Some(hours @ 0..24), Some(minutes @ 0..60)) => {
            let seconds = i64::from(hours * 3600 + minutes * 60);
            Ok(if text.starts_with('-') {
                -seconds
            } else {
                seconds
            })
        }
        _ => Err(offset.error(
            "is not an offset",
            "write `Z`, or hours and minutes such as `+09:00`",
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_local_time_and_rfc_3339() {
        let berlin = Zone::parse("Europe/Berlin").unwrap();
        for (text, expected) in [
            ("2026-12-24 18:00", "2026-12-24T17:00:00"),
            (" 2026-12-24  9:05 ", "2026-12-24T08:05:00"),
            ("2026-12-24 18:00:30", "2026-12-24T17:00:30"),
            ("2026-12-24T18:00:00Z", "2026-12-24T18:00:00"),
            ("2026-12-24t18:00z", "2026-12-24T18:00:00"),
            ("2026-12-24 18:00:00Z", "2026-12-24T18:00:00"),
            ("2026-12-24T18:00:00.999-05:30", "2026-12-24T23:30:00"),
            ("2026-03-29 02:30", "2026-03-29T01:00:00"),
            ("2026-10-25 02:30", "2026-10-25T00:30:00"),
        ] {
            let at = parse_date_time(text, berlin).unwrap();
            assert_eq!(at.naive_utc(), expected.parse().unwrap(), "{text}");
        }
    }

    #[test]
    fn error_points_at_the_invalid_part_of_a_date_time() {
        for (text, found, wrong) in [
            ("morgen", "morgen", "is not a date and time"),
            ("18:00", "18:00", "is not a date and time"),
            ("2026-12-24", "2026-12-24", "has no time of day"),
            ("2026-12-24T", "2026-12-24T", "has no time of day"),
            (
                "2026-02-30 18:00",
                "2026-02-30",
                "is a date that does not exist",
            ),
            (
                "2026-12-24T18:00:00",
                "2026-12-24T18:00:00",
                "has no offset",
            ),
            ("2026-12-24T18:00:00+9", "+9", "is not an offset"),
            ("2026-12-24T18:00:00+25:00", "+25:00", "is not an offset"),
            ("2026-12-24 18:00:60", "18:00:60", "is out of range"),
            ("2026-12-24 24:00", "24:00", "is out of range"),
            ("2026-12-24T25:00Z", "25:00", "is out of range"),
        ] {
            for text in [text.to_owned(), format!("\u{3000} {text}")] {
                let error = parse_date_time(&text, Zone::UTC).unwrap_err();
                assert_eq!(&text[error.span()], found, "{text}");
                assert_eq!(error.message(), format!("`{found}` {wrong}"));
            }
        }
        let error = parse_date_time("2026-12-24 18時", Zone::UTC).unwrap_err();
        assert_eq!(error.span(), 11..16);
    }

    #[test]
    fn text_without_a_date_or_date_time_is_an_error() {
        for text in [
            "tomorrow",
            "2026-11-23 9",
            "2026-02-30",
            "2026-11-23T09:00:00",
            "",
        ] {
            assert!(parse_date_or_date_time(text, Zone::UTC).is_err(), "{text}");
        }
    }

    #[test]
    fn parses_only_existing_dates() {
        let parse = |text| parse_date(Piece::whole(text, "").unwrap());
        for text in ["1970-01-01", "2028-02-29", "2199-12-31"] {
            assert_eq!(parse(text).unwrap().to_string(), text);
        }
        for (text, wrong) in [
            ("2026-02-29", "is a date that does not exist"),
            ("2026-13-01", "is a date that does not exist"),
            ("1969-12-31", "is out of range"),
            ("2200-01-01", "is out of range"),
            ("2026-1-01", "is not a date"),
            ("24.12.2026", "is not a date"),
            ("+026-12-24", "is not a date"),
            ("２026-12-2", "is not a date"),
        ] {
            let error = parse(text).unwrap_err();
            assert_eq!(error.message(), format!("`{text}` {wrong}"));
            assert_eq!(error.span(), 0..text.len());
        }
    }
}
