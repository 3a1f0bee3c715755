//! Times at which something happens once: `Mon-Fri 09:00`, cron, or one local moment.

use super::cron::Cron;
use super::error::TextError;
use super::local::{DAY, Local};
use super::reason::Reason;
use super::text::Piece;
use super::tokens::{Kind, Tokens};
use super::wall_time::WallTime;
use super::{cron_text, moment};

const EXAMPLE: &str = "Mon-Fri 09:00";
const WEEK: i64 = 7 * DAY;

/// Local times, of any number and kind, as one list.
///
/// ```
/// use dayshift::schedule::Times;
///
/// for text in [
///     "09:00",
///     "Mon-Fri 09:00; Sat,Sun 10:00,22:00",
///     "weekdays 09:00; 2026-12-24 14:00",
///     "0 9 * * Mon-Fri; @monthly",
///     "*/10 0 9 * * *", // with a leading field of seconds
/// ] {
///     assert!(Times::parse(text).is_ok());
/// }
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Times {
    /// Seconds since Monday 00:00, in order, each once.
    weekly: Box<[u32]>,
    /// In order, each once.
    moments: Box<[Local]>,
    /// Each once.
    crons: Box<[Cron]>,
}

impl Times {
    /// Reads items separated by `;`. Each is cron (five fields, six with seconds before them, or
    /// a nickname such as `@daily`), or `[days] HH:MM[,HH:MM…]`, or one local moment
    /// `YYYY-MM-DD HH:MM`.
    pub fn parse(text: &str) -> Result<Self, TextError> {
        let mut weekly = Vec::new();
        let mut moments = Vec::new();
        let mut crons = Vec::new();
        for item in Piece::items(text, EXAMPLE)? {
            let item = item?;
            match Form::of(item) {
                Form::Cron => crons.push(cron_text::parse(item)?),
                Form::Moment => moments.push(moment::parse_local(item)?),
                Form::Days => read_weekly(item, &mut weekly)?,
            }
        }
        Ok(Self {
            weekly: set(weekly),
            moments: set(moments),
            crons: set(crons),
        })
    }

    /// The first of them after `local`.
    pub(super) fn next(&self, local: Local) -> Option<Local> {
        let moment = self
            .moments
            .get(self.moments.partition_point(|&it| it <= local))
            .copied();
        let cron = self.crons.iter().filter_map(|cron| cron.next(local)).min();
        [self.next_weekly(local), moment, cron]
            .into_iter()
            .flatten()
            .min()
    }

    /// The last of them at or before `local`.
    pub(super) fn previous(&self, local: Local) -> Option<Local> {
        let moment = self
            .moments
            .get(..self.moments.partition_point(|&it| it <= local));
        let moment = moment.and_then(<[Local]>::last).copied();
        let cron = self
            .crons
            .iter()
            .filter_map(|cron| cron.previous(local))
            .max();
        [self.previous_weekly(local), moment, cron]
            .into_iter()
            .flatten()
            .max()
    }

    fn next_weekly(&self, local: Local) -> Option<Local> {
        let local = local.max(Local::FIRST.before());
        let (monday, second) = in_week(local);
        let next = match self
            .weekly
            .get(self.weekly.partition_point(|&it| i64::from(it) <= second))
        {
            Some(&later) => monday + i64::from(later),
            None => monday + WEEK + i64::from(*self.weekly.first()?),
        };
        Some(Local(next)).filter(|next| next.is_in_range())
    }

    fn previous_weekly(&self, local: Local) -> Option<Local> {
        let local = local.min(Local::LAST);
        let (monday, second) = in_week(local);
        let earlier = self
            .weekly
            .get(..self.weekly.partition_point(|&it| i64::from(it) <= second))?;
        let previous = match earlier.last() {
            Some(&earlier) => monday + i64::from(earlier),
            None => monday - WEEK + i64::from(*self.weekly.last()?),
        };
        Some(Local(previous)).filter(|previous| previous.is_in_range())
    }
}

/// Monday 00:00 of the week of `local`, and the seconds since then. 1970-01-01 was a Thursday.
fn in_week(local: Local) -> (i64, i64) {
    let second = (local.0 + 3 * DAY).rem_euclid(WEEK);
    (local.0 - second, second)
}

/// Sorted, each once.
fn set<T: Ord>(mut items: Vec<T>) -> Box<[T]> {
    items.sort_unstable();
    items.dedup();
    items.into()
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
        let several = item.words().nth(2).is_some() && !text.contains(':');
        let zone = item
            .words()
            .next()
            .is_some_and(|word| cron_text::is_zone(word.text()));
        if text.starts_with('@')
            || zone
            || text.contains('*')
            || several && !text.starts_with(char::is_alphabetic)
        {
            Self::Cron
        } else {
            Self::Days
        }
    }
}

/// `[days] HH:MM[,HH:MM…]`
fn read_weekly(item: Piece<'_>, weekly: &mut Vec<u32>) -> Result<(), TextError> {
    let mut tokens = Tokens::of(item, EXAMPLE);
    let days = tokens.days()?;
    let mut before = item;
    loop {
        let word = tokens.word_after(before)?;
        let time = WallTime::parse(word)?;
        if let Some(dash) = tokens.take(Kind::Dash)? {
            let end = tokens.take(Kind::Word)?.unwrap_or(dash);
            return Err(word.to(end).fails(Reason::WindowInTimes));
        }
        weekly.extend(days.iter().map(|day| day_start(day) + time.seconds()));
        match tokens.take(Kind::Comma)? {
            Some(comma) => before = comma,
            None => return tokens.end(),
        }
    }
}

fn day_start(day: usize) -> u32 {
    u32::try_from(day).unwrap_or_default() * 86_400
}
