//! Dates, as people write them: `2026-12-24`.

use chrono::NaiveDate;

use super::error::TextError;
use super::piece::Piece;
use super::reason::TextReason;

/// Reads `YYYY-MM-DD`, from 1970 to 2199.
pub(in crate::schedule) fn parse_date(word: Piece<'_>) -> Result<NaiveDate, TextError> {
    let (year, month, day) = match *word.text().as_bytes() {
        [y1, y2, y3, y4, b'-', m1, m2, b'-', d1, d2] => (
            number(&[y1, y2, y3, y4]),
            number(&[m1, m2]),
            number(&[d1, d2]),
        ),
        _ => (None, None, None),
    };
    let (Some(year), Some(month), Some(day)) = (year, month, day) else {
        return Err(word.fails(TextReason::NotADate));
    };
    if !(1970..2200).contains(&year) {
        return Err(word.fails(TextReason::YearOutOfRange));
    }
    NaiveDate::from_ymd_opt(year.cast_signed(), month, day)
        .ok_or_else(|| word.fails(TextReason::NoSuchDate))
}

/// Reads ASCII digits as a number; `None` for any other character, or a number too large.
pub(in crate::schedule) fn number(digits: &[u8]) -> Option<u32> {
    digits.iter().try_fold(0_u32, |number, digit| {
        let value = digit.is_ascii_digit().then(|| u32::from(digit - b'0'))?;
        number.checked_mul(10)?.checked_add(value)
    })
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
