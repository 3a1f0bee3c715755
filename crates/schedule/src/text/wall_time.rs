//! Times of day, as people write them: `09:00`.

use std::fmt;

use dayshift_text::number;

use super::diagnostic::Diagnostic;
use super::piece::Piece;

/// A time of day, in minutes from midnight. 24:00 is the end of a day.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct WallTime(pub(crate) u16);

impl WallTime {
    pub(crate) const END_OF_DAY: Self = Self(24 * 60);

    /// Seconds from midnight.
    pub(crate) fn seconds(self) -> u32 {
        u32::from(self.0) * 60
    }

    /// Reads `HH:MM` or `H:MM`, from 00:00 to 23:59.
    pub(crate) fn parse(word: Piece<'_>) -> Result<Self, Diagnostic> {
        match Self::parse_end(word)? {
            Self::END_OF_DAY => Err(word.fails(
                "is not in a day",
                "midnight is `00:00` of the next day (`24:00` only ends a window)",
            )),
            time => Ok(time),
        }
    }

    /// Reads the end of a window: as [`Self::parse`], and 24:00 too.
    pub(crate) fn parse_end(word: Piece<'_>) -> Result<Self, Diagnostic> {
        let (hour, minute) = word
            .text()
            .split_once(':')
            .ok_or_else(|| not_a_time(word))?;
        let two = |digits: &str| number::<u16>(digits).filter(|_| digits.len() == 2);
        if let Some((minute, second)) = minute.split_once(':')
            && two(minute).and(two(second)).is_some()
        {
            return Err(word.fails(
                "has seconds, which a time of day does not take here",
                "write for example `09:00`",
            ));
        }
        let hour = number::<u16>(hour).filter(|_| hour.len() <= 2);
        let (hour, minute) = hour.zip(two(minute)).ok_or_else(|| not_a_time(word))?;
        let time = Self(hour * 60 + minute);
        if minute > 59 || time > Self::END_OF_DAY {
            return Err(Self::out_of_day(word));
        }
        Ok(time)
    }

    /// The refusal of hours above 23, or of minutes or seconds above 59.
    pub(crate) fn out_of_day(word: Piece<'_>) -> Diagnostic {
        word.fails("is not in a day", "times run from `00:00` to `23:59`")
    }
}

impl fmt::Display for WallTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:02}:{:02}", self.0 / 60, self.0 % 60)
    }
}

fn not_a_time(word: Piece<'_>) -> Diagnostic {
    word.fails("is not a time of day", "write for example `09:00`")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<WallTime, Diagnostic> {
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
        for (text, wrong) in [
            ("9am", "is not a time of day"),
            ("900", "is not a time of day"),
            ("9.30", "is not a time of day"),
            ("9:5", "is not a time of day"),
            ("９:00", "is not a time of day"),
            ("24:01", "is not in a day"),
            ("12:60", "is not in a day"),
            (
                "18:00:30",
                "has seconds, which a time of day does not take here",
            ),
        ] {
            let error = parse(text).unwrap_err();
            assert_eq!(error.message(), format!("`{text}` {wrong}"));
            assert_eq!(error.span(), 0..text.len());
        }
        let midnight = WallTime::parse(Piece::whole("24:00", "").unwrap()).unwrap_err();
        assert!(midnight.to_string().contains("`00:00` of the next day"));
    }
}
