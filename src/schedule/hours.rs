//! Running hours: windows on days of the week, such as `Mon-Fri 09:00-19:00`.

use chrono::NaiveDateTime;

use super::except::ExceptedDates;
use super::text::error::TextError;
use super::windows::{DAY, read_windows};
use super::zone::local::{Local, weekday};

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
    pub(super) days: [Day; 7],
}

/// The windows that begin on one day of the week.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Day {
    /// Their parts on the day itself, from and to which second; in order, with a second or more
    /// between two.
    pub(super) own: Box<[(u32, u32)]>,
    /// Up to which second of the next day the longest goes on.
    pub(super) tail: u32,
}

impl Hours {
    /// Reads windows separated by `;`: `[days] HH:MM-HH:MM[,HH:MM-HH:MM…]`. One whose end is not
    /// after its beginning ends on the next day, and belongs to the day on which it begins.
    ///
    /// # Errors
    /// An item is not a window, or is cron or a date, which hours do not take. The span is in bytes
    /// of the text.
    pub fn parse(text: &str) -> Result<Self, TextError> {
        Ok(Self {
            days: read_windows(text)?.map(Day::new),
        })
    }

    /// The first edge of a window after a local time. No zone counts: clock changes are ignored.
    pub fn next_edge(&self, after: NaiveDateTime) -> Option<NaiveDateTime> {
        self.next_change(after.into(), &ExceptedDates::default())?
            .to_naive()
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

#[cfg(test)]
mod tests {
    use chrono::{DateTime, NaiveDateTime};

    use super::*;

    /// The changes from Monday 2026-11-23 00:00 on: `+` on, `-` off.
    fn changes(text: &str, except: &str, count: usize) -> Vec<String> {
        let hours = Hours::parse(text).unwrap();
        let except = match except {
            "" => ExceptedDates::default(),
            dates => ExceptedDates::parse(dates).unwrap(),
        };
        let mut local = Local::from("2026-11-23T00:00:00".parse::<NaiveDateTime>().unwrap());
        let mut changes = Vec::new();
        while changes.len() < count {
            let Some(next) = hours.next_change(local, &except) else {
                break;
            };
            assert_eq!(hours.last_change(next, &except), Some(next), "{text}");
            assert_eq!(
                hours.last_change(next.before(), &except),
                hours.last_change(local, &except)
            );
            let sign = if hours.cover(next, &except) { '+' } else { '-' };
            let time = DateTime::from_timestamp(next.0, 0).unwrap();
            changes.push(format!("{sign}{}", time.format("%a %d %H:%M")));
            local = next;
        }
        // Asked long after the last of them, it is still found.
        if !changes.is_empty() && hours.next_change(local, &except).is_none() {
            let later = Local(local.0 + 100 * 86_400);
            assert_eq!(hours.last_change(later, &except), Some(local), "{text}");
        }
        changes
    }

    #[test]
    fn windows_are_united() {
        for (text, expected) in [
            (
                "09:00-19:00",
                ["+Mon 23 09:00", "-Mon 23 19:00", "+Tue 24 09:00"],
            ),
            (
                "Sat 22:00 - 06:00",
                ["+Sat 28 22:00", "-Sun 29 06:00", "+Sat 05 22:00"],
            ),
            (
                "Mon-Tue 00:00-24:00",
                ["-Wed 25 00:00", "+Mon 30 00:00", "-Wed 02 00:00"],
            ),
            (
                "09:00-12:00,12:00-13:00",
                ["+Mon 23 09:00", "-Mon 23 13:00", "+Tue 24 09:00"],
            ),
            (
                "09:00-12:00; 11:00-13:00",
                ["+Mon 23 09:00", "-Mon 23 13:00", "+Tue 24 09:00"],
            ),
            (
                "Tue 20:00-06:00; Wed 05:00-07:00",
                ["+Tue 24 20:00", "-Wed 25 07:00", "+Tue 01 20:00"],
            ),
            (
                "Tue 20:00-00:00; Wed 00:00-07:00",
                ["+Tue 24 20:00", "-Wed 25 07:00", "+Tue 01 20:00"],
            ),
        ] {
            assert_eq!(changes(text, "", 3), expected, "{text}");
        }
        for always in [
            "00:00-24:00",
            "00:00-12:00; 12:00-00:00",
            "22:00-10:00; 09:00-22:00",
        ] {
            assert_eq!(changes(always, "", 3), Vec::<String>::new(), "{always}");
        }
    }

    #[test]
    fn windows_that_begin_on_excepted_dates_are_dropped_before_the_union() {
        for (text, except, expected) in [
            (
                "09:00-19:00",
                "2026-11-23..2026-11-30",
                vec!["+Tue 01 09:00", "-Tue 01 19:00"],
            ),
            (
                "22:00-06:00",
                "2026-11-24",
                vec![
                    "-Mon 23 06:00",
                    "+Mon 23 22:00",
                    "-Tue 24 06:00",
                    "+Wed 25 22:00",
                ],
            ),
            (
                "00:00-24:00",
                "2027-03-01",
                vec!["-Mon 01 00:00", "+Tue 02 00:00"],
            ),
            (
                "00:00-24:00",
                "2026-12-01..2199-12-31",
                vec!["-Tue 01 00:00"],
            ),
            (
                "Mon 22:00-06:00; Tue 02:00-08:00",
                "2026-11-23",
                vec!["+Tue 24 02:00", "-Tue 24 08:00"],
            ),
            (
                "12:00-11:00; 11:00-12:00",
                "2027-06-01",
                vec!["-Tue 01 11:00", "+Wed 02 11:00"],
            ),
            ("Mon 09:00-10:00", "2026-11-01..2199-12-31", vec![]),
        ] {
            assert_eq!(
                changes(text, except, expected.len()),
                expected,
                "{text} but {except}"
            );
        }
    }
}
