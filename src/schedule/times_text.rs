//! The text of times: `Mon-Fri 09:00`, cron, or one local moment.

use super::cron::expression::Cron;
use super::cron::text as cron_text;
use super::moment;
use super::text::days::ItemDays;
use super::text::diagnostic::Diagnostic;
use super::text::month_days::MonthDays;
use super::text::piece::Piece;
use super::text::tokens::{Kind, Tokens};
use super::text::wall_time::WallTime;
use super::zone::local::Local;

/// Times as people write them, for errors that show one.
pub(super) const EXAMPLE: &str = "Mon-Fri 09:00";
/// What the items of a list say, in no order and with repeats.
#[derive(Default)]
pub(super) struct TimesItems {
    /// Seconds from Monday 00:00.
    pub(super) weekly: Vec<u32>,
    /// Seconds from midnight, and on which days.
    pub(super) monthly: Vec<(u32, MonthDays)>,
    pub(super) moments: Vec<Local>,
    pub(super) crons: Vec<Cron>,
}

impl TimesItems {
    /// Adds what one item says: cron, days with times, or a local moment.
    pub(super) fn add(&mut self, item: Piece<'_>) -> Result<(), Diagnostic> {
        match Form::of(item) {
            Form::Cron => self.crons.push(cron_text::parse(item)?),
            Form::Moment => self.moments.push(moment::parse_local(item)?),
            Form::Days => self.add_days(item)?,
        }
        Ok(())
    }

    /// `[days] HH:MM[,HH:MM…]`
    fn add_days(&mut self, item: Piece<'_>) -> Result<(), Diagnostic> {
        let mut tokens = Tokens::of(item, EXAMPLE);
        let days = tokens.days()?;
        let mut before = item;
        loop {
            let word = tokens.word_after(before)?;
            let second = WallTime::parse(word)?.seconds();
            if let Some(dash) = tokens.take(Kind::Dash)? {
                let end = tokens.take(Kind::Word)?.unwrap_or(dash);
                return Err(word.to(end).fails("is a window", "write windows in the hours annotation, and here one time such as `Mon-Fri 09:00`"));
            }
            match days {
                ItemDays::Week(days) => {
                    let times = days.iter().map(|day| day_start(day) + second);
                    self.weekly.extend(times);
                }
                ItemDays::Month(days) => self.monthly.push((second, days)),
            }
            match tokens.take(Kind::Comma)? {
                Some(comma) => before = comma,
                None => return tokens.end(),
            }
        }
    }

    /// Adds all that another one has.
    pub(super) fn append(&mut self, other: Self) {
        self.weekly.extend(other.weekly);
        self.monthly.extend(other.monthly);
        self.moments.extend(other.moments);
        self.crons.extend(other.crons);
    }
}

/// The three ways to write an item, told apart at a glance so that an error speaks of the one
/// that was meant.
enum Form {
    Cron,
    Moment,
    Days,
}

impl Form {
    fn of(item: Piece<'_>) -> Self {
        let text = item.text();
        let looks_like_date = text.split('-').next().is_some_and(|year| {
            year.len() == 4 && year.len() < text.len() && year.bytes().all(|it| it.is_ascii_digit())
        });
        if looks_like_date {
            return Self::Moment;
        }
        // A time of day has a colon, which cron never has; days begin with a letter.
        let several = !text.contains(':') && item.words().nth(2).is_some();
        if text.starts_with('@')
            || cron_text::is_zone(text)
            || text.contains('*')
            || several && !text.starts_with(char::is_alphabetic)
        {
            Self::Cron
        } else {
            Self::Days
        }
    }
}

fn day_start(day: usize) -> u32 {
    u32::try_from(day).unwrap_or_default() * 86_400
}
