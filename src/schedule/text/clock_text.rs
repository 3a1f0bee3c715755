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
        let (hour, minute) = word.text().split_once(':').ok_or_else(|| {
            word.fails(TextReason::NotATime {
                meant: Self::meant_by(word.text()),
            })
        })?;
        if let Some((minute, second)) = minute.split_once(':')
            && two_digits(minute)
            && two_digits(second)
        {
            return Err(word.fails(TextReason::Seconds {
                meant: Self::meant_by(word.text()),
            }));
        }
        if !(two_digits(hour) || one_digit(hour)) || !two_digits(minute) {
            return Err(word.fails(TextReason::NotATime {
                meant: Self::meant_by(word.text()),
            }));
        }
        let (hour, minute) = (number(hour), number(minute));
        let time = Self(hour * 60 + minute);
        if minute > 59 || time > Self::END_OF_DAY {
            return Err(word.fails(TextReason::OutOfDay));
        }
        Ok(time)
    }

    /// The time that somebody means by `9am`, `7 pm`, `900` or `9.30`, for the error to suggest;
    /// 09:00 for any other text.
    fn meant_by(text: &str) -> Self {
        if !text.starts_with(|character: char| character.is_ascii_digit()) {
            return Self::NINE;
        }
        let text = text.to_ascii_lowercase();
        let mut groups = text
            .split(|character: char| !character.is_ascii_digit())
            .filter(|group| (1..=4).contains(&group.len()));
        let (hour, minute) = match (groups.next(), groups.next()) {
            (Some(only), None) if only.len() > 2 => {
                let both = number(only);
                (both / 100, both % 100)
            }
            (Some(hour), minute) => (number(hour), minute.map_or(0, number)),
            (None, _) => return Self::NINE,
        };
        let hour = match hour {
            12 if text.ends_with("am") => 0,
            1..12 if text.ends_with("pm") => hour + 12,
            _ => hour,
        };
        if hour < 24 && minute < 60 {
            Self(hour * 60 + minute)
        } else {
            Self::NINE
        }
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
    fn says_which_time_was_meant() {
        for (text, expected) in [
            ("9am", "is not a time of day; write for example `09:00`"),
            ("12am", "is not a time of day; write for example `00:00`"),
            ("7:30pm", "is not a time of day; write for example `19:30`"),
            ("900", "is not a time of day; write for example `09:00`"),
            ("1930", "is not a time of day; write for example `19:30`"),
            ("9.30", "is not a time of day; write for example `09:30`"),
            ("9:5", "is not a time of day; write for example `09:05`"),
            ("９:00", "is not a time of day; write for example `09:00`"),
            (
                "99999999999999999",
                "is not a time of day; write for example `09:00`",
            ),
            (
                "24:01",
                "is not in a day; times run from `00:00` to `23:59`",
            ),
            (
                "12:60",
                "is not in a day; times run from `00:00` to `23:59`",
            ),
            (
                "18:00:30",
                "has seconds; write `18:00`, or cron with a leading field of seconds such as `30 0 9 * * *`",
            ),
        ] {
            let error = parse(text).unwrap_err();
            assert_eq!(error.to_string(), format!("`{text}` {expected}"));
            assert_eq!(error.span(), 0..text.len());
        }
        let midnight = WallTime::parse(Piece::whole("24:00", "").unwrap()).unwrap_err();
        assert_eq!(midnight.reason(), &TextReason::EndOfDay);
    }
}
