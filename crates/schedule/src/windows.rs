//! Windows on days as text: `Mon-Fri 09:00-19:00; last Sat 22:00-06:00`.

use super::text::days::ItemDays;
use super::text::diagnostic::Diagnostic;
use super::text::month_days::MonthDays;
use super::text::piece::Piece;
use super::text::tokens::{Kind, Tokens};
use super::text::wall_time::WallTime;

const EXAMPLE: &str = "Mon-Fri 09:00-19:00";

/// Seconds of a day.
pub(super) const DAY: u32 = 86_400;

/// Windows in seconds from midnight of the day on which they begin. One that reaches the next day
/// ends after 24:00.
#[derive(Default)]
pub(super) struct Windows {
    /// On each day of the week, from Monday.
    pub(super) weekly: [Vec<(u32, u32)>; 7],
    /// On days within the month.
    pub(super) monthly: Vec<(MonthDays, (u32, u32))>,
}

pub(super) fn read_windows(text: &str) -> Result<Windows, Diagnostic> {
    let mut windows = Windows::default();
    for item in Piece::items(text, EXAMPLE)? {
        read_item(item?, &mut windows)?;
    }
    Ok(windows)
}

/// `[days] HH:MM-HH:MM[,HH:MM-HH:MM…]`
fn read_item(item: Piece<'_>, windows: &mut Windows) -> Result<(), Diagnostic> {
    refuse_other_forms(item)?;
    let mut tokens = Tokens::of(item, EXAMPLE);
    let on = tokens.days()?;
    let mut before = item;
    loop {
        let first = tokens.word_after(before)?;
        let from = WallTime::parse(first)?;
        let Some(dash) = tokens.take(Kind::Dash)? else {
            return Err(no_end(first));
        };
        let last = match tokens.peek()? {
            None => return Err(no_end(first.to(dash))),
            Some(_) => tokens.word_after(dash)?,
        };
        let to = WallTime::parse_end(last)?;
        if from == to {
            return Err(first.to(last).fails(
                "begins and ends at the same time",
                "a whole day is `00:00-24:00`",
            ));
        }
        let (from, to) = (from.seconds(), to.seconds());
        let to = if to > from { to } else { to + DAY };
        match on {
            ItemDays::Month(days) => windows.monthly.push((days, (from, to))),
            ItemDays::Week(days) => {
                for day in days.iter() {
                    let known = windows.weekly.get_mut(day).into_iter();
                    known.for_each(|known| known.push((from, to)));
                }
            }
        }
        match tokens.take(Kind::Comma)? {
            Some(comma) => before = comma,
            None => return tokens.end(),
        }
    }
}

fn no_end(window: Piece<'_>) -> Diagnostic {
    window.fails(
        "has no end",
        "hours are windows such as `Mon-Fri 09:00-19:00`",
    )
}

/// Says it plainly where cron or a date stands among hours.
fn refuse_other_forms(item: Piece<'_>) -> Result<(), Diagnostic> {
    let text = item.text();
    let several = !text.contains(':') && item.words().nth(4).is_some();
    if text.starts_with('@') || text.contains('*') || several {
        return Err(item.fails(
            "is cron, which has no end",
            "hours are windows such as `Mon-Fri 09:00-19:00`",
        ));
    }
    let is_date = |word: &Piece<'_>| {
        let mut parts = word.text().split('-');
        parts
            .next()
            .is_some_and(|year| year.len() == 4 && !year.contains(':'))
            && parts.count() == 2
    };
    match item.words().next().filter(is_date) {
        Some(date) => Err(date.fails(
            "is a date",
            "hours are windows on days of the week such as `Mon-Fri 09:00-19:00`",
        )),
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
                "is not a time of day; write for example `09:00`",
            ),
            ("09:00–17:00", "–", "is not the plain `-`"),
            ("09:00 to 17:00", "09:00", "has no end"),
            ("09:00-17:00 Mon", "Mon", "comes after the time"),
            ("last 09:00-17:00", "last", "has no day after it"),
            ("first Mon,Tue 09:00-17:00", "first Mon,Tue", "mixes days"),
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
            let error = read_windows(&text).err().unwrap();
            let at = 24 + item.find(found).unwrap();
            assert_eq!(error.span(), at..at + found.len(), "{item}: {error}");
            assert!(error.to_string().contains(message), "{item}: {error}");
        }
        assert_eq!(read_windows("09:00-10:00;").err().unwrap().span(), 11..12);
    }
}
