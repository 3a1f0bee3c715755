//! Jitter: how long the starts of many objects are spread over.

use chrono::TimeDelta;

use super::text::date::number;
use super::text::error::TextError;
use super::text::piece::Piece;
use super::text::reason::TextReason;

/// The longest jitter, in seconds.
const MOST: u32 = 3600;

/// Reads a length of time in whole seconds, at most an hour: `5m`, `90s`, `1m30s`, `1h`.
///
/// # Errors
/// The text is not whole hours, minutes and seconds in this order, or is longer than an hour. The
/// span is in bytes of the text.
pub fn parse_jitter(text: &str) -> Result<TimeDelta, TextError> {
    length(text, "5m", MOST)
}

/// The longest grace, in seconds.
const MOST_GRACE: u32 = 24 * 3600;

/// Reads a length of time in whole seconds, from one second to a day: `30m`, `1h30m`, `24h`.
///
/// # Errors
/// The text is not whole hours, minutes and seconds in this order, or is 0 or longer than a day.
/// The span is in bytes of the text.
pub fn parse_grace(text: &str) -> Result<TimeDelta, TextError> {
    let grace = length(text, "30m", MOST_GRACE)?;
    if grace.is_zero() {
        return Err(Piece::whole(text, "30m")?.fails(TextReason::NotALength));
    }
    Ok(grace)
}

fn length(text: &str, example: &'static str, most: u32) -> Result<TimeDelta, TextError> {
    let all = Piece::whole(text, example)?;
    let mut rest = all;
    let mut total = 0_u32;
    let mut last_unit = u32::MAX;
    while !rest.text().is_empty() {
        let digits = rest.text().bytes().take_while(u8::is_ascii_digit).count();
        let unit = match rest.text().as_bytes().get(digits) {
            Some(b'h') => 3600,
            Some(b'm') => 60,
            Some(b's') => 1,
            _ => return Err(all.fails(TextReason::NotALength)),
        };
        // From the greatest unit to the smallest, each at most once.
        if digits == 0 || unit >= last_unit {
            return Err(all.fails(TextReason::NotALength));
        }
        let count = number(rest.part(0..digits).text().as_bytes());
        total = count
            .and_then(|count| count.checked_mul(unit)?.checked_add(total))
            .filter(|&total| total <= most)
            .ok_or_else(|| all.fails(TextReason::TooMuchJitter))?;
        rest = rest.part(digits + 1..rest.text().len());
        last_unit = unit;
    }
    Ok(TimeDelta::seconds(total.into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_whole_seconds_up_to_an_hour() {
        for (text, seconds) in [
            ("5m", 300),
            ("90s", 90),
            (" 1h ", 3600),
            ("1m30s", 90),
            ("0s", 0),
            ("60m0s", 3600),
        ] {
            assert_eq!(
                parse_jitter(text).unwrap(),
                TimeDelta::seconds(seconds),
                "{text}"
            );
        }
    }

    #[test]
    fn refuses_what_is_no_length_or_too_long() {
        for (text, reason) in [
            ("5", TextReason::NotALength),
            ("5 m", TextReason::NotALength),
            ("5min", TextReason::NotALength),
            ("1.5h", TextReason::NotALength),
            ("-5m", TextReason::NotALength),
            ("m", TextReason::NotALength),
            ("30s1m", TextReason::NotALength),
            ("1m1m", TextReason::NotALength),
            ("五m", TextReason::NotALength),
            ("1h1s", TextReason::TooMuchJitter),
            ("61m", TextReason::TooMuchJitter),
            ("99999999999999999999s", TextReason::TooMuchJitter),
            ("4294967295h", TextReason::TooMuchJitter),
        ] {
            let text = format!("\u{3000}{text}");
            let error = parse_jitter(&text).unwrap_err();
            assert_eq!(
                (error.reason(), error.span()),
                (&reason, 3..text.len()),
                "{text}"
            );
        }
        assert_eq!(parse_jitter(" ").unwrap_err().span(), 0..1);
    }
}
