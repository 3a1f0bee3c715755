//! Times of day, as people write them: `09:00`.

use super::error::TextError;
use super::piece::Piece;
use super::reason::TextReason;
use super::wall_time::WallTime;
use crate::text::number;

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
        let two = |digits: &str| number::<u16>(digits).filter(|_| digits.len() == 2);
        if let Some((minute, second)) = minute.split_once(':')
            && two(minute).and(two(second)).is_some()
        {
            return Err(word.fails(TextReason::Seconds));
        }
        let hour = number::<u16>(hour).filter(|_| hour.len() <= 2);
        let (hour, minute) = hour
            .zip(two(minute))
            .ok_or_else(|| word.fails(TextReason::NotATime))?;
        let time = Self(hour * 60 + minute);
        if minute > 59 || time > Self::END_OF_DAY {
            return Err(word.fails(TextReason::OutOfDay));
        }
        Ok(time)
    }
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
