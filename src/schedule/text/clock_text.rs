//! Times of day, as people write them: `09:00`.

use super::error::TextError;
use super::piece::Piece;
use super::reason::TextReason;
use super::wall_time::WallTime;

impl WallTime {
    /// Reads `HH:MM` or `H:MM`, from 00:00 to 23:59.
    pub(in crate::schedule) fn parse(word: Piece<'_>) -> Result<Self, TextError> {
        match Self::parse_end(word)? {
            Self::END_OF_DAY => Err(word.fails(TextReason::EndOfDay)),
            time => Ok(time),
        }
    }

    /// Reads the end of a window: as [`Self::parse`], and 24:00 too.
    pub(in crate::schedule) fn parse_end(word: Piece<'_>) -> Result<Self, TextError> {
        let (hour, minute) = word
            .text()
            .split_once(':')
            .ok_or_else(|| word.fails(TextReason::NotATime))?;
        if let Some((minute, second)) = minute.split_once(':')
            && two_digits(minute)
            && two_digits(second)
        {
            return Err(word.fails(TextReason::Seconds));
        }
        if !(two_digits(hour) || one_digit(hour)) || !two_digits(minute) {
            return Err(word.fails(TextReason::NotATime));
        }
        let (hour, minute) = (number(hour), number(minute));
        let time = Self(hour * 60 + minute);
        if minute > 59 || time > Self::END_OF_DAY {
            return Err(word.fails(TextReason::OutOfDay));
        }
        Ok(time)
    }
}

fn one_digit(text: &str) -> bool {
    matches!(text.as_bytes(), [a] if a.is_ascii_digit())
}

fn two_digits(text: &str) -> bool {
    matches!(text.as_bytes(), [a, b] if a.is_ascii_digit() && b.is_ascii_digit())
}

/// The number that up to four digits write.
fn number(digits: &str) -> u16 {
    digits.parse().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<WallTime, TextError> {
        WallTime::parse_end(Piece::whole(text, "").unwrap())
    }

    #[test]
    fn reads_hours_and_minutes() {
        for (text, minutes) in [("00:00", 0), ("9:05", 545), ("09:05", 545), ("24:00", 1440)] {
            assert_eq!(parse(text).unwrap(), WallTime(minutes), "{text}");
        }
    }

    #[test]
    fn says_what_is_wrong_with_a_time() {
        for (text, reason) in [
            ("9am", TextReason::NotATime),
            ("900", TextReason::NotATime),
            ("9.30", TextReason::NotATime),
            ("9:5", TextReason::NotATime),
            ("９:00", TextReason::NotATime),
            ("24:01", TextReason::OutOfDay),
            ("12:60", TextReason::OutOfDay),
            ("18:00:30", TextReason::Seconds),
        ] {
            let error = parse(text).unwrap_err();
            assert_eq!(
                (error.reason(), error.span()),
                (&reason, 0..text.len()),
                "{text}"
            );
        }
        let midnight = WallTime::parse(Piece::whole("24:00", "").unwrap()).unwrap_err();
        assert_eq!(midnight.reason(), &TextReason::EndOfDay);
    }
}
