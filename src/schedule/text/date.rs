//! Dates, as people write them: `2026-12-24`.

use chrono::NaiveDate;

use super::diagnostic::Diagnostic;
use super::piece::Piece;
use crate::text::number;

/// Reads `YYYY-MM-DD`, from 1970 to 2199.
pub(in crate::schedule) fn parse_date(word: Piece<'_>) -> Result<NaiveDate, Diagnostic> {
    let parts: Vec<_> = word.text().split('-').collect();
    let (year, month, day) = match *parts {
        [year, month, day] if (year.len(), month.len(), day.len()) == (4, 2, 2) => {
            (number(year), number(month), number(day))
        }
        _ => (None, None, None),
    };
    let (Some(year), Some(month), Some(day)) = (year, month, day) else {
        return Err(word.fails("is not a date", "write for example `2026-12-24`"));
    };
    if !(1970_i32..2200).contains(&year) {
        return Err(year_out_of_range(word));
    }
    NaiveDate::from_ymd_opt(year, month, day).ok_or_else(|| {
        word.fails(
            "is a date that does not exist",
            "write for example `2026-12-24`",
        )
    })
}

/// The refusal of a date or moment before 1970 or after 2199.
pub(in crate::schedule) fn year_out_of_range(date: Piece<'_>) -> Diagnostic {
    date.fails("is out of range", "years run from 1970 to 2199")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<NaiveDate, Diagnostic> {
        parse_date(Piece::whole(text, "").unwrap())
    }

    #[test]
    fn reads_dates_that_exist() {
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
