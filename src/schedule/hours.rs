//! Running hours: windows on days of the week, such as `Mon-Fri 09:00-19:00`.

use super::error::TextError;
use super::except::ExceptedDates;
use super::local::{Local, weekday};
use super::reason::Reason;
use super::text::Piece;
use super::tokens::{Kind, Tokens};
use super::wall_time::WallTime;

const EXAMPLE: &str = "Mon-Fri 09:00-19:00";
const DAY: u32 = 86_400;

/// Windows of every week. Where they overlap or touch they are one.
///
/// ```
/// use dayshift::schedule::Hours;
///
/// for text in ["Mon-Fri 09:00-19:00; Sat 10:00-14:00", "22:00-06:00", "weekends 00:00-24:00"] {
///     assert!(Hours::parse(text).is_ok());
/// }
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Hours {
    /// What begins on each day of the week, from Monday.
    days: [Day; 7],
}

/// The windows that begin on one day of the week.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct Day {
    /// Their parts on the day itself, from and to which second; in order, with a second or more
    /// between two.
    own: Box<[(u32, u32)]>,
    /// Up to which second of the next day the longest goes on.
    tail: u32,
}

impl Hours {
    /// Reads windows separated by `;`: `[days] HH:MM-HH:MM[,HH:MM-HH:MM…]`. One whose end is not
    /// after its beginning ends on the next day, and belongs to the day on which it begins.
    pub fn parse(text: &str) -> Result<Self, TextError> {
        let mut days: [Vec<(u32, u32)>; 7] = Default::default();
        for item in Piece::items(text, EXAMPLE)? {
            read_windows(item?, &mut days)?;
        }
        Ok(Self {
            days: days.map(Day::new),
        })
    }

    /// Whether `local` is in a window that does not begin on one of the dates `except`.
    pub(super) fn cover(&self, local: Local, except: &ExceptedDates) -> bool {
        self.shown(local.day(), except).covers(local.second())
    }

    /// The first time after `local` at which [`Self::cover`] is no longer what it is at `local`.
    pub(super) fn next_change(&self, local: Local, except: &ExceptedDates) -> Option<Local> {
        let wanted = !self.cover(local, except);
        let (mut day, mut from) = (local.day(), local.second() + 1);
        let mut plain = 0;
        while day <= Local::LAST.day() {
            if let Some(second) = self.shown(day, except).first(from, wanted) {
                return Some(Local::on(day, second));
            }
            from = 0;
            plain = if is_plain(day, except) { plain + 1 } else { 0 };
            day = match except.range_of(day) {
                // Nothing begins before the range is over.
                Some((_, last)) if wanted => last + 1,
                _ if plain > DAYS_TO_KNOW => except.next_from(day + 1)?,
                _ => day + 1,
            };
        }
        None
    }

    /// The last time at or before `local` at which [`Self::cover`] became what it is at `local`.
    pub(super) fn last_change(&self, local: Local, except: &ExceptedDates) -> Option<Local> {
        let wanted = !self.cover(local, except);
        let (mut day, mut to) = (local.day(), local.second());
        let mut plain = 0;
        while day >= Local::FIRST.before().day() {
            if let Some(second) = self.shown(day, except).last(to, wanted) {
                return Some(Local::on(day, second).after()).filter(|it| it.is_in_range());
            }
            to = DAY;
            plain = if is_plain(day, except) { plain + 1 } else { 0 };
            day = match except.range_of(day) {
                // On the first day of the range a window of the day before may end.
                Some((first, _)) if wanted && day > first => first,
                // The day after an excepted date lacks what would have begun on it.
                _ if plain > DAYS_TO_KNOW => (except.last_to(day - 1)? + 1).min(day - 1),
                _ => day - 1,
            };
        }
        None
    }

    fn shown(&self, day: i32, except: &ExceptedDates) -> Shown<'_> {
        let begun_on = |day| {
            self.days
                .get(weekday(day))
                .filter(|_| except.range_of(day).is_none())
        };
        Shown {
            tail: begun_on(day - 1).map_or(0, |day| day.tail),
            own: begun_on(day).map_or(&[], |day| &day.own),
        }
    }
}

/// After so many plain days without a change no plain day has one: that was a whole week.
const DAYS_TO_KNOW: u32 = 8;

/// Whether the windows of a day are those of every week.
fn is_plain(day: i32, except: &ExceptedDates) -> bool {
    except.range_of(day).is_none() && except.range_of(day - 1).is_none()
}

/// One date: what goes on from the day before, and what begins.
struct Shown<'a> {
    tail: u32,
    own: &'a [(u32, u32)],
}

impl Shown<'_> {
    fn covers(&self, second: u32) -> bool {
        second < self.tail || self.own_window(second).is_some()
    }

    fn own_window(&self, second: u32) -> Option<(u32, u32)> {
        let at = self.own.partition_point(|&(_, to)| to <= second);
        self.own
            .get(at)
            .copied()
            .filter(|&(from, _)| from <= second)
    }

    /// The first second from `from` on that is covered, or is not, as `wanted`.
    fn first(&self, from: u32, wanted: bool) -> Option<u32> {
        if wanted {
            if from < self.tail {
                return Some(from);
            }
            let at = self.own.partition_point(|&(_, to)| to <= from);
            return self.own.get(at).map(|&(begin, _)| begin.max(from));
        }
        let free = from.max(self.tail);
        let free = self.own_window(free).map_or(free, |(_, to)| to);
        (free < DAY).then_some(free)
    }

    /// The last second before `to` that is covered, or is not, as `wanted`.
    fn last(&self, to: u32, wanted: bool) -> Option<u32> {
        let last = to.checked_sub(1)?;
        if wanted {
            let at = self.own.partition_point(|&(from, _)| from <= last);
            let own = self
                .own
                .get(..at)?
                .last()
                .map(|&(_, end)| last.min(end - 1));
            return own.max(self.tail.checked_sub(1).map(|end| last.min(end)));
        }
        let free = match self.own_window(last) {
            Some((from, _)) => from.checked_sub(1)?,
            None => last,
        };
        (free >= self.tail).then_some(free)
    }
}

impl Day {
    /// Windows in seconds from midnight; those that reach the next day end after 24:00.
    fn new(mut windows: Vec<(u32, u32)>) -> Self {
        let tail = windows
            .iter()
            .map(|&(_, to)| to.saturating_sub(DAY))
            .max()
            .unwrap_or_default();
        windows.sort_unstable();
        windows.dedup_by(|next, kept| {
            let touches = next.0 <= kept.1;
            if touches {
                kept.1 = kept.1.max(next.1);
            }
            touches
        });
        Self {
            own: windows
                .into_iter()
                .map(|(from, to)| (from, to.min(DAY)))
                .collect(),
            tail,
        }
    }
}

/// `[days] HH:MM-HH:MM[,HH:MM-HH:MM…]`
fn read_windows(item: Piece<'_>, days: &mut [Vec<(u32, u32)>; 7]) -> Result<(), TextError> {
    refuse_other_forms(item)?;
    let mut tokens = Tokens::of(item, EXAMPLE);
    let on = tokens.days()?;
    let mut before = item;
    loop {
        let first = tokens.word_after(before)?;
        let from = WallTime::parse(first)?;
        let Some(dash) = tokens.take(Kind::Dash)? else {
            return Err(first.fails(Reason::NoEnd));
        };
        let last = match tokens.peek()? {
            None => return Err(first.to(dash).fails(Reason::NoEnd)),
            Some(_) => tokens.word_after(dash)?,
        };
        let to = WallTime::parse_end(last)?;
        if from == to {
            return Err(first.to(last).fails(Reason::EmptyWindow));
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
        return Err(item.fails(Reason::CronInHours));
    }
    let is_date = |word: &Piece<'_>| {
        let mut parts = word.text().split('-');
        parts
            .next()
            .is_some_and(|year| year.len() == 4 && !year.contains(':'))
            && parts.count() == 2
    };
    match item.words().next().filter(is_date) {
        Some(date) => Err(date.fails(Reason::DateInHours)),
        None => Ok(()),
    }
}
