//! Running hours: windows on days of the week or of the month, such as `Mon-Fri 09:00-19:00`.

use std::borrow::Cow;
use std::collections::BTreeMap;

use chrono::NaiveDateTime;

use super::days::dates::Dates;
use super::days::day::{Day, Shown};
use super::meant::propose;
use super::text::error::TextError;
use super::text::month_days::MonthDays;
use super::windows::{DAY, Windows, read_windows};
use super::zone::local::Local;

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
        let (except, treated) = Default::default();
        let dates = Dates {
            except: &except,
            treated: &treated,
        };
        self.next_change(after.into(), dates)?.to_naive()
    }

    /// Whether `local` is in a window that does not begin on an excepted date.
    pub(super) fn cover(&self, local: Local, dates: Dates<'_>) -> bool {
        self.shown(local.day(), dates).covers(local.second())
    }

    /// The first time after `local` at which [`Self::cover`] is no longer what it is at `local`.
    pub(super) fn next_change(&self, local: Local, dates: Dates<'_>) -> Option<Local> {
        let wanted = !self.cover(local, dates);
        let (mut day, mut from) = (local.day(), local.second() + 1);
        let mut alike = 0;
        while day <= Local::LAST.day() {
            if let Some(second) = self.shown(day, dates).first(from, wanted) {
                return Some(Local::on(day, second));
            }
            from = 0;
            let enough = self.days_to_know(day, dates);
            alike = if enough.is_some() { alike + 1 } else { 0 };
            day = match dates.except.range_of(day) {
                // Nothing begins before the range is over.
                Some((_, last)) if wanted => last + 1,
                _ if enough.is_some_and(|enough| alike > enough) => {
                    let treated = match dates.treated.range_of(day) {
                        Some((_, last)) => Some(last + 1),
                        None => dates.treated.next_from(day + 1),
                    };
                    let except = dates.except.next_from(day + 1);
                    let others = [treated, except, self.of_month().next_from(day + 1)];
                    others.into_iter().flatten().min()?
                }
                _ => day + 1,
            };
        }
        None
    }

    /// The last time at or before `local` at which [`Self::cover`] became what it is at `local`.
    pub(super) fn last_change(&self, local: Local, dates: Dates<'_>) -> Option<Local> {
        let wanted = !self.cover(local, dates);
        let (mut day, mut to) = (local.day(), local.second());
        let mut alike = 0;
        while day >= Local::FIRST.before().day() {
            if let Some(second) = self.shown(day, dates).last(to, wanted) {
                return Some(Local::on(day, second).after()).filter(|it| it.is_in_range());
            }
            to = DAY;
            let enough = self.days_to_know(day, dates);
            alike = if enough.is_some() { alike + 1 } else { 0 };
            day = match dates.except.range_of(day) {
                // On the first day of the range a window of the day before may end.
                Some((first, _)) if wanted && day > first => first,
                // The day after another one lacks, or has, what began on that.
                _ if enough.is_some_and(|enough| alike > enough) => {
                    let after = |day: Option<i32>| day.map(|day| day + 1);
                    let treated = match dates.treated.range_of(day) {
                        Some((first, _)) => Some(first),
                        None => after(dates.treated.last_to(day - 1)),
                    };
                    let except = after(dates.except.last_to(day - 1));
                    let month = after(self.of_month().last_to(day - 1));
                    [treated, except, month]
                        .into_iter()
                        .flatten()
                        .max()?
                        .min(day - 1)
                }
                _ => day - 1,
            };
        }
        None
    }

    fn shown(&self, day: i32, dates: Dates<'_>) -> Shown<'_> {
        let begun_on = |day| {
            let kept = dates.except.range_of(day).is_none();
            let begun = || self.begun_on(day, dates.treated.weekday(day));
            kept.then(begun).unwrap_or_default()
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

    /// The windows that begin on a date that counts as this day of the week, excepted or not.
    fn begun_on(&self, day: i32, weekday: usize) -> Cow<'_, Day> {
        let weekly = self
            .days
            .get(weekday)
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

    /// After how many days like this one, without a change, no other such day has one. `None` for a
    /// day that is like no other, as is one after another kind of day.
    fn days_to_know(&self, day: i32, dates: Dates<'_>) -> Option<u32> {
        let days = self.of_month();
        let is_plain = |day| dates.except.range_of(day).is_none() && !days.hold(day);
        let treated = dates.treated.range_of(day);
        let is_regular =
            is_plain(day) && is_plain(day - 1) && treated == dates.treated.range_of(day - 1);
        is_regular.then_some(if treated.is_some() { 1 } else { DAYS_OF_WEEK })
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

/// A week, and the day that was not looked at from its beginning.
const DAYS_OF_WEEK: u32 = 8;

#[cfg(test)]
mod tests {
    use chrono::{DateTime, NaiveDateTime};

    use super::*;
    use crate::schedule::{ExceptedDates, TreatedDates};

    /// The changes from Monday 2026-11-23 00:00 on: `+` on, `-` off.
    fn changes(text: &str, except: &str, count: usize) -> Vec<String> {
        let hours = Hours::parse(text).unwrap();
        let except = match except {
            "" => ExceptedDates::default(),
            dates => ExceptedDates::parse(dates).unwrap(),
        };
        let dates = Dates {
            except: &except,
            treated: &TreatedDates::default(),
        };
        let mut local = Local::from("2026-11-23T00:00:00".parse::<NaiveDateTime>().unwrap());
        let mut changes = Vec::new();
        while changes.len() < count {
            let Some(next) = hours.next_change(local, dates) else {
                break;
            };
            assert_eq!(hours.last_change(next, dates), Some(next), "{text}");
            assert_eq!(
                hours.last_change(next.before(), dates),
                hours.last_change(local, dates)
            );
            let sign = if hours.cover(next, dates) { '+' } else { '-' };
            let time = DateTime::from_timestamp(next.0, 0).unwrap();
            changes.push(format!("{sign}{}", time.format("%a %d %H:%M")));
            local = next;
        }
        // Asked long after the last of them, it is still found.
        if !changes.is_empty() && hours.next_change(local, dates).is_none() {
            let later = Local(local.0 + 100 * 86_400);
            assert_eq!(hours.last_change(later, dates), Some(local), "{text}");
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
