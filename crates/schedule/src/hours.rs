//! Running hours: windows on days of the week or of the month, such as `Mon-Fri 09:00-19:00`.

use std::borrow::Cow;
use std::collections::BTreeMap;

use chrono::NaiveDateTime;

use super::days::dates::{Dates, Weekdays};
use super::days::day::{Day, Shown};
use super::days::gaps::Gaps;
use super::days::month::{Month, has};
use super::days::page::{self, EachSort, Page};
use super::meant::propose::Form;
use super::text::diagnostic::Diagnostic;
use super::text::month_days::MonthDays;
use super::windows::{DAY, Windows, read_windows};
use super::zone::local::Local;

/// Windows of every week and every month. Where they overlap or touch they are one.
///
/// ```
/// use dayshift_schedule::Hours;
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
    pub fn parse(text: &str) -> Result<Self, Diagnostic> {
        match read_windows(text) {
            Ok(Windows { weekly, monthly }) => Ok(Self {
                days: weekly.map(Day::new),
                monthly: group(monthly),
            }),
            Err(error) => Err(error.read_by(|text, span| Form::Hours.meant(text, span), text)),
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

    /// Whether on a date and the next the same is covered with other dates.
    pub(super) fn is_same_on(&self, day: i32, dates: Dates<'_>, others: Dates<'_>) -> bool {
        [day, day + 1].into_iter().all(|day| {
            let [one, other] = [dates, others].map(|it| self.shown(day, it).covered());
            one == other
        })
    }

    /// The first time after `local` at which [`Self::cover`] is no longer what it is at `local`.
    pub(super) fn next_change(&self, local: Local, dates: Dates<'_>) -> Option<Local> {
        let wanted = !self.cover(local, dates);
        let today = local.day();
        let first_on = |day, from| {
            let second = self.shown(day, dates).first(from, wanted)?;
            (day <= Local::LAST.day()).then(|| Local::on(day, second))
        };
        let now = first_on(today, local.second() + 1);
        if wanted {
            return now.or_else(|| {
                let begun = self.begun(dates);
                let skip = |day| Some(dates.first_possible(day, self.possible_days(), true));
                first_on(page::day_from(today + 1, dates, skip, begun)?, 0)
            });
        }
        let soon = || (1..=DAYS_OF_WEEK).find_map(|later| first_on(today + later, 0));
        now.or_else(soon).or_else(|| {
            let gaps = Gaps::of(self, dates);
            let day = page::day_from(
                today + DAYS_OF_WEEK + 1,
                dates,
                |day| gaps.next_unlike(day),
                gaps.days(),
            )?;
            first_on(day, 0)
        })
    }

    /// The last time at or before `local` at which [`Self::cover`] became what it is at `local`.
    pub(super) fn last_change(&self, local: Local, dates: Dates<'_>) -> Option<Local> {
        let wanted = !self.cover(local, dates);
        let today = local.day();
        let last_on = |day, to| {
            let second = self.shown(day, dates).last(to, wanted)?;
            Some(Local::on(day, second))
        };
        let now = last_on(today, local.second());
        let last = if wanted {
            now.or_else(|| {
                let begun = self.begun(dates);
                let skip = |day| Some(dates.last_possible(day, self.possible_days(), true));
                let day = page::day_to(today - 1, dates, skip, begun)?;
                // What begins on a day may end on the next.
                let end = (day + 1 < today).then(|| last_on(day + 1, DAY));
                end.flatten().or_else(|| last_on(day, DAY))
            })
        } else {
            let soon = || (1..=DAYS_OF_WEEK).find_map(|before| last_on(today - before, DAY));
            now.or_else(soon).or_else(|| {
                let gaps = Gaps::of(self, dates);
                let from = today - DAYS_OF_WEEK - 1;
                let day = page::day_to(from, dates, |day| gaps.last_unlike(day), gaps.days())?;
                last_on(day, DAY)
            })
        };
        last.map(Local::after).filter(|it| it.is_in_range())
    }

    /// The days of the week on which windows begin; bit 0 is Monday.
    fn weekdays(&self) -> u32 {
        let begun = (0..).zip(&self.days).filter(|(_, it)| !it.own.is_empty());
        begun.fold(0, |days, (day, _): (u32, _)| days | 1 << day)
    }

    /// The days of the week on which windows can begin.
    fn possible_days(&self) -> Weekdays {
        let monthly = self.monthly.iter().map(|(days, _)| days.weekdays());
        Weekdays {
            counted: self.weekdays(),
            own: monthly.fold(0, |days, more| days | more),
        }
    }

    /// What a page has of the dates on which windows begin that are not excepted; bit 1 is the first
    /// of the month.
    fn begun(&self, dates: Dates<'_>) -> impl FnMut(&Page) -> u64 {
        let mut each_sort = EachSort::new();
        move |page| {
            let begun = each_sort.of(page, |page| {
                let monthly = self.monthly.iter();
                let monthly = monthly.map(|(days, _)| days.days_in(&page.month));
                let weekly = page.on_weekdays(self.weekdays());
                monthly.fold(weekly, |all, days| all | days)
            });
            if begun == 0 {
                return 0;
            }
            begun & !dates.except.days_in(&page.month)
        }
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
        let Some((month, of_month)) = Month::of(day) else {
            return weekly;
        };
        let monthly = self.monthly.iter();
        let monthly = monthly.filter(|(days, _)| has(days.days_in(&month), of_month));
        monthly.fold(weekly, |all, (_, more)| Cow::Owned(all.with(more)))
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

/// Where no day of a week has a gap, few later ones have.
const DAYS_OF_WEEK: i32 = 7;

#[cfg(test)]
mod tests {
    use chrono::{DateTime, NaiveDateTime};

    use super::*;
    use crate::{ExceptedDates, TreatedDates};

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
