//! Dates, as people write them: `2026-12-24`.

use chrono::NaiveDate;

use super::error::TextError;
use super::piece::Piece;
use super::reason::TextReason;
use crate::text::number;

/// Reads `YYYY-MM-DD`, from 1970 to 2199.
pub(in crate::schedule) fn parse_date(word: Piece<'_>) -> Result<NaiveDate, TextError> {
    let parts: Vec<_> = word.text().split('-').collect();
    let (year, month, day) = match *parts {
        [year, month, day] if (year.len(), month.len(), day.len()) == (4, 2, 2) => {
            (number(year), number(month), number(day))
        }
        _ => (None, None, None),
    };
    let (Some(year), Some(month), Some(day)) = (year, month, day) else {
        return Err(word.fails(TextReason::NotADate));
    };
    if !(1970_i32..2200).contains(&year) {
        return Err(word.fails(TextReason::YearOutOfRange));
    }
    NaiveDate::from_ymd_opt(year, month, day).ok_or_else(|| word.fails(TextReason::NoSuchDate))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<NaiveDate, TextError> {
        parse_date(Piece::whole(text, "").unwrap())
    }

    #[test]
    fn reads_dates_that_exist() {
        for text in ["1970-01-01", "2028-02-29", "2199-12-31"] {
            assert_eq!(parse(text).unwrap().to_string(), text);
        }
        for (text, reason) in [
            ("2026-02-29", TextReason::NoSuchDate),
            ("2026-13-01", TextReason::NoSuchDate),
            ("1969-12-31", TextReason::YearOutOfRange),
            ("2200-01-01", TextReason::YearOutOfRange),
            ("2026-1-01", TextReason::NotADate),
            ("24.12.2026", TextReason::NotADate),
            ("+026-12-24", TextReason::NotADate),
            ("２026-12-2", TextReason::NotADate),
        ] {
            let error = parse(text).unwrap_err();
            assert_eq!(
                (error.reason(), error.span()),
                (&reason, 0..text.len()),
                "{text}"
            );
        }
    }
}
