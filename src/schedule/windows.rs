//! Windows on days of the week as text: `Mon-Fri 09:00-19:00; Sat 22:00-06:00`.

use super::text::error::TextError;
use super::text::piece::Piece;
use super::text::reason::TextReason;
use super::text::tokens::{Kind, Tokens};
use super::text::wall_time::WallTime;

const EXAMPLE: &str = "Mon-Fri 09:00-19:00";

/// Seconds of a day.
pub(super) const DAY: u32 = 86_400;

/// The windows that begin on each day of the week from Monday, in seconds from midnight. One that
/// reaches the next day ends after 24:00.
pub(super) fn read_windows(text: &str) -> Result<[Vec<(u32, u32)>; 7], TextError> {
    let mut days: [Vec<(u32, u32)>; 7] = Default::default();
    for item in Piece::items(text, EXAMPLE)? {
        read_item(item?, &mut days)?;
    }
    Ok(days)
}

/// `[days] HH:MM-HH:MM[,HH:MM-HH:MM…]`
fn read_item(item: Piece<'_>, days: &mut [Vec<(u32, u32)>; 7]) -> Result<(), TextError> {
    refuse_other_forms(item)?;
    let mut tokens = Tokens::of(item, EXAMPLE);
    let on = tokens.days()?;
    let mut before = item;
    loop {
        let first = tokens.word_after(before)?;
        let from = WallTime::parse(first)?;
        let Some(dash) = tokens.take(Kind::Dash)? else {
            return Err(first.fails(TextReason::NoEnd));
        };
        let last = match tokens.peek()? {
            None => return Err(first.to(dash).fails(TextReason::NoEnd)),
            Some(_) => tokens.word_after(dash)?,
        };
        let to = WallTime::parse_end(last)?;
        if from == to {
            return Err(first.to(last).fails(TextReason::EmptyWindow));
        }
        let (from, to) = (from.seconds(), to.seconds());
        let to = if to > from { to } else { to + DAY };
        for day in on.iter() {
            days.get_mut(day)
                .into_iter()
                .for_each(|windows| windows.push((from, to)));
        }
        match tokens.take(Kind::Comma)? {
            Some(comma) => before = comma,
            None => return tokens.end(),
        }
    }
}

/// Says it plainly where cron or a date stands among hours.
fn refuse_other_forms(item: Piece<'_>) -> Result<(), TextError> {
    let text = item.text();
    let several = item.words().nth(4).is_some() && !text.contains(':');
    if text.starts_with('@') || text.contains('*') || several {
        return Err(item.fails(TextReason::CronInHours));
    }
    let is_date = |word: &Piece<'_>| {
        let mut parts = word.text().split('-');
        parts
            .next()
            .is_some_and(|year| year.len() == 4 && !year.contains(':'))
            && parts.count() == 2
    };
    match item.words().next().filter(is_date) {
        Some(date) => Err(date.fails(TextReason::DateInHours)),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn says_where_a_window_is_wrong() {
        for (item, found, message) in [
            ("Mon-Fri 09:00", "09:00", "has no end; hours are windows"),
            ("Mon-Fri 09:00-", "09:00-", "has no end"),
            (
                "Mon-Fri",
                "Mon-Fri",
                "has no time of day; write for example `Mon-Fri 09:00-19:00`",
            ),
            ("09:00-09:00", "09:00-09:00", "a whole day is `00:00-24:00`"),
            ("00:00-00:00", "00:00-00:00", "a whole day is `00:00-24:00`"),
            ("24:00-09:00", "24:00", "midnight is `00:00`"),
            ("09:00-24:30", "24:30", "is not in a day"),
            (
                "9-17",
                "9",
                "is not a time of day; write for example `09:00`",
            ),
            (
                "9am-5pm",
                "9am",
                "is not a time of day; write for example `09:00`",
            ),
            (
                "09:00-5pm",
                "5pm",
                "is not a time of day; write for example `17:00`",
            ),
            ("09:00–17:00", "–", "is not the plain `-`"),
            ("09:00 to 17:00", "09:00", "has no end"),
            ("09:00-17:00 Mon", "Mon", "comes after the time"),
            ("Mön 09:00-17:00", "Mön", "is not a day"),
            ("0 9 * * 1-5", "0 9 * * 1-5", "is cron, which has no end"),
            ("0 9 1 1 1", "0 9 1 1 1", "is cron, which has no end"),
            ("@daily", "@daily", "is cron, which has no end"),
            (
                "2026-12-24 09:00-17:00",
                "2026-12-24",
                "is a date; hours are windows",
            ),
        ] {
            let text = format!("weekdays 10:00-11:00;\u{3000}{item} ; Sun 09:00-10:00");
            let error = read_windows(&text).unwrap_err();
            let at = 24 + item.find(found).unwrap();
            assert_eq!(error.span(), at..at + found.len(), "{item}: {error}");
            assert!(error.to_string().contains(message), "{item}: {error}");
        }
        assert_eq!(read_windows("09:00-10:00;").unwrap_err().span(), 11..12);
    }
}
