//! Running hours: windows on days of the week or of the month, such as `Mon-Fri 09:00-19:00`.

use std::borrow::Cow;
use std::collections::BTreeMap;

use chrono::NaiveDateTime;

use super::day::{Day, Shown};
use super::except::ExceptedDates;
use super::meant::propose;
use super::text::error::TextError;
use super::text::month_days::MonthDays;
use super::windows::{DAY, Windows, read_windows};
use super::zone::local::{Local, weekday};

/// Windows of every week and every month. Where they overlap or touch they are one.
///
/// ```
/// use dayshift::schedule::Hours;
///
/// for text in ["Mon-Fri 09:00-19:00; Sat 10:00-14:00", "22:00-06:00", "last Fri 00:00-24:00"] {
///     assert!(Hours::parse(text).is_ok());
/// }
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Hours {
    /// What begins on each day of the week, from Monday.
    pub(super) days: [Day; 7],
    /// What begins besides on days within the month; each of those days once.
    pub(super) monthly: Box<[(MonthDays, Day)]>,
}

impl Hours {
    /// Reads windows separated by `;`: `[days] HH:MM-HH:MM[,HH:MM-HH:MM…]`. One whose end is not
    /// after its beginning ends on the next day, and belongs to the day on which it begins.
    ///
    /// # Errors
    /// An item is not a window, or is cron or a date, which hours do not take. The span is in bytes
    /// of the text.
    pub fn parse(text: &str) -> Result<Self, TextError> {
        match read_windows(text) {
            Ok(Windows { weekly, monthly }) => Ok(Self {
                days: weekly.map(Day::new),
                monthly: group(monthly),
            }),
            Err(error) => Err(propose::of_item(error, text, Self::reads, propose::hours)),
        }
    }

    /// Whether a text can be read.
    pub(super) fn reads(text: &str) -> bool {
        read_windows(text).is_ok()
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
            plain = if self.is_plain(day, except) {
                plain + 1
            } else {
                0
            };
            day = match except.range_of(day) {
                // Nothing begins before the range is over.
                Some((_, last)) if wanted => last + 1,
                _ if plain > DAYS_TO_KNOW => {
                    let others = [
                        except.next_from(day + 1),
                        self.of_month().next_from(day + 1),
                    ];
                    others.into_iter().flatten().min()?
                }
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
            plain = if self.is_plain(day, except) {
                plain + 1
            } else {
                0
            };
            day = match except.range_of(day) {
                // On the first day of the range a window of the day before may end.
                Some((first, _)) if wanted && day > first => first,
                // The day after an excepted date lacks what would have begun on it.
                _ if plain > DAYS_TO_KNOW => {
                    let others = [except.last_to(day - 1), self.of_month().last_to(day - 1)];
                    (others.into_iter().flatten().max()? + 1).min(day - 1)
                }
                _ => day - 1,
            };
        }
        None
    }

    fn shown(&self, day: i32, except: &ExceptedDates) -> Shown<'_> {
        let begun_on = |day| {
            let kept = except.range_of(day).is_none();
            kept.then(|| self.begun_on(day)).unwrap_or_default()
        };
        let tail = begun_on(day - 1).tail;
        Shown {
            tail,
            own: match begun_on(day) {
                Cow::Borrowed(day) => Cow::Borrowed(&*day.own),
                Cow::Owned(day) => Cow::Owned(day.own.into()),
            },
        }
    }

    /// The windows that begin on a date, whether it is excepted or not.
    fn begun_on(&self, day: i32) -> Cow<'_, Day> {
        let weekly = self
            .days
            .get(weekday(day))
            .map_or_else(Cow::default, Cow::Borrowed);
        if self.monthly.is_empty() {
            return weekly;
        }
        let monthly = self.monthly.iter().filter(|(days, _)| days.hold(day));
        monthly.fold(weekly, |all, (_, more)| Cow::Owned(all.with(more)))
    }

    /// The days within the month on which something begins.
    fn of_month(&self) -> MonthDays {
        let days = self.monthly.iter().map(|(days, _)| *days);
        days.fold(MonthDays::NONE, MonthDays::and)
    }

    /// Whether the windows of a day are those of every week.
    fn is_plain(&self, day: i32, except: &ExceptedDates) -> bool {
        let days = self.of_month();
        let is_plain = |day| except.range_of(day).is_none() && !days.hold(day);
        is_plain(day) && is_plain(day - 1)
    }
}

/// Windows by the days on which they begin, in a form of its own: equal windows are equal however
/// they were written.
fn group(windows: Vec<(MonthDays, (u32, u32))>) -> Box<[(MonthDays, Day)]> {
    let mut each: BTreeMap<MonthDays, Vec<(u32, u32)>> = BTreeMap::new();
    for (days, window) in windows {
        for day in days.each() {
            each.entry(day).or_default().push(window);
        }
    }
    let mut groups: Vec<(MonthDays, Day)> = Vec::new();
    for (days, windows) in each {
        let day = Day::new(windows);
        match groups.iter_mut().find(|(_, known)| *known == day) {
            Some((known, _)) => *known = known.and(days),
            None => groups.push((days, day)),
        }
    }
    groups.into()
}

/// After so many plain days without a change no plain day has one: that was a whole week.
const DAYS_TO_KNOW: u32 = 8;

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
