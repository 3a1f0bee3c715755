//! The search for a time in several lists of times at once: first for the date, month by month,
//! and then within the date. Its cost depends on the length of the lists, not on how often their
//! times occur, coincide or are excluded.

use std::cell::LazyCell;

use chrono::NaiveDateTime;

use crate::{
    dates::{Dates, PossibleWeekdays},
    local::{DAY, Local},
    month::{Page, PageCache, PageDate},
    times::{DayPattern, HourSeconds, Times, earliest},
};

/// Several lists of times, searched as if they were one.
#[derive(Clone)]
pub(super) struct Search<'s, L> {
    lists: L,
    dates: Dates<'s>,
    /// Whether times on excluded dates are skipped.
    skips_excluded: bool,
}

impl Times {
    /// The first of these times after a local time, ignoring clock changes.
    pub fn next_local(&self, after: NaiveDateTime) -> Option<NaiveDateTime> {
        let (except, treated) = Default::default();
        let dates = Dates {
            except: &except,
            treated: &treated,
        };
        let search = Search::new(std::iter::once(self), dates, false);
        search.next(after.into())?.to_naive()
    }
}

impl<'s, L: Iterator<Item = &'s Times> + Clone> Search<'s, L> {
    pub(super) fn new(lists: L, dates: Dates<'s>, skips_excluded: bool) -> Self {
        Self {
            lists,
            dates,
            skips_excluded,
        }
    }

    /// The first time after `local`.
    pub(super) fn next(&self, local: Local) -> Option<Local> {
        let date_times = self.filter_map(|times| {
            let later = times.date_times_after(local).iter();
            later.copied().find(|time| !self.is_skipped(time.day()))
        });
        earliest(self.next_recurring(local), date_times.min())
    }

    /// The last time at or before `local`.
    pub(super) fn previous(&self, local: Local) -> Option<Local> {
        let date_times = self.filter_map(|times| {
            let earlier = times.date_times_to(local).iter();
            earlier.copied().rfind(|time| !self.is_skipped(time.day()))
        });
        self.previous_recurring(local).max(date_times.max())
    }

    /// Whether `local` is one of the times.
    pub(super) fn contains(&self, local: Local) -> bool {
        self.date(local.day()).is_some_and(|date| {
            let mut lists = self.lists.clone();
            lists.any(|times| times.contains(&date, local))
        })
    }

    /// The times in the local hour that begins at `hour`.
    pub(super) fn seconds_of_hour(&self, hour: Local) -> HourSeconds {
        let mut seconds = [0; 60];
        if let Some(date) = self.date(hour.day()) {
            for list in self.lists.clone() {
                list.mark_hour(&date, hour, &mut seconds);
            }
        }
        seconds
    }

    fn next_recurring(&self, local: Local) -> Option<Local> {
        let from = local.after().max(Local::FIRST);
        if !from.is_in_range() || !self.lists.clone().any(Times::has_recurring) {
            return None;
        }
        let (today, second) = (from.day(), from.second());
        let date = self.dates.date(today)?;
        if !self.is_skipped(today)
            && let Some(second) = self.first_on(&date, second)
        {
            return Some(Local::on(today, second));
        }
        let mut days = self.days();
        let weekdays = LazyCell::new(|| self.weekdays());
        let skip = |day| {
            Some(
                self.dates
                    .first_possible(day, *weekdays, self.skips_excluded),
            )
        };
        let tomorrow = date.of_month + 1;
        let date = self
            .dates
            .first_date(date.page, tomorrow, skip, |page| days(page))?;
        Some(Local::on(date.day(), self.first_on(&date, 0)?))
    }

    fn previous_recurring(&self, local: Local) -> Option<Local> {
        let to = local.min(Local::LAST);
        if !to.is_in_range() || !self.lists.clone().any(Times::has_recurring) {
            return None;
        }
        let (today, second) = (to.day(), to.second());
        let date = self.dates.date(today)?;
        if !self.is_skipped(today)
            && let Some(second) = self.last_on(&date, second)
        {
            return Some(Local::on(today, second));
        }
        let mut days = self.days();
        let weekdays = LazyCell::new(|| self.weekdays());
        let skip = |day| {
            Some(
                self.dates
                    .last_possible(day, *weekdays, self.skips_excluded),
            )
        };
        let yesterday = date.of_month - 1;
        let date = self
            .dates
            .last_date(date.page, yesterday, skip, |page| days(page))?;
        Some(Local::on(date.day(), self.last_on(&date, DAY - 1)?))
    }

    /// The date of a day, unless it is skipped.
    fn date(&self, day: i32) -> Option<PageDate> {
        self.dates.date(day).filter(|_| !self.is_skipped(day))
    }

    /// The first time of a date that is at least `second`.
    fn first_on(&self, date: &PageDate, second: u32) -> Option<u32> {
        self.filter_map(|times| times.first_on(date, second)).min()
    }

    /// The last time of a date that is at most `second`.
    fn last_on(&self, date: &PageDate, second: u32) -> Option<u32> {
        self.filter_map(|times| times.last_on(date, second)).max()
    }

    /// The dates of a page that have a time. Most searches end on the first page, so it is
    /// computed from the lists directly, and the combined pattern only for later pages.
    fn days(&self) -> impl FnMut(&Page) -> u64 {
        let mut is_first = true;
        let mut cache = PageCache::new();
        let pattern = LazyCell::new(|| self.pattern());
        move |page| {
            let days = if std::mem::take(&mut is_first) {
                let lists = self.lists.clone();
                lists.fold(0, |days, it| days | it.days_in(page))
            } else {
                cache.get_or_compute(page, |page| pattern.days_in(page))
            };
            if days != 0 && self.skips_excluded {
                days & !self.dates.except.days_in(&page.month)
            } else {
                days
            }
        }
    }

    /// The weekdays that can have a time.
    fn weekdays(&self) -> PossibleWeekdays {
        let lists = self.lists.clone();
        lists.fold(PossibleWeekdays::NONE, |all, it| all.union(it.weekdays()))
    }

    fn pattern(&self) -> DayPattern {
        let mut pattern = DayPattern::NONE;
        let lists = self.lists.clone();
        lists.for_each(|times| times.add_days(&mut pattern));
        pattern
    }

    fn filter_map<T>(&self, map: impl Fn(&'s Times) -> Option<T>) -> impl Iterator<Item = T> {
        self.lists.clone().filter_map(map)
    }

    fn is_skipped(&self, day: i32) -> bool {
        self.skips_excluded && self.dates.except.range_of(day).is_some()
    }
}

#[cfg(test)]
mod tests {
    use chrono::{DateTime, NaiveDateTime};

    use super::*;
    use crate::{dates::TreatedDates, excluded_dates::ExcludedDates};

    fn next(times: &Times, local: Local) -> Option<Local> {
        searched(times, |search| search.next(local))
    }

    fn previous(times: &Times, local: Local) -> Option<Local> {
        searched(times, |search| search.previous(local))
    }

    fn searched(
        times: &Times,
        ask: impl Fn(&Search<'_, std::iter::Once<&Times>>) -> Option<Local>,
    ) -> Option<Local> {
        let dates = Dates {
            except: &ExcludedDates::default(),
            treated: &TreatedDates::default(),
        };
        ask(&Search::new(std::iter::once(times), dates, false))
    }

    /// Formats the first times of `text` from Monday 2026-11-23 00:00 on.
    fn first(text: &str, count: usize) -> Vec<String> {
        let times = Times::parse(text).unwrap();
        let mut local = monday().before();
        std::iter::from_fn(|| {
            local = next(&times, local)?;
            Some(
                DateTime::from_timestamp(local.0, 0)?
                    .format("%a %d %H:%M")
                    .to_string(),
            )
        })
        .take(count)
        .collect()
    }

    fn monday() -> Local {
        Local::from("2026-11-23T00:00:00".parse::<NaiveDateTime>().unwrap())
    }

    #[test]
    fn finds_the_next_times_of_all_notations() {
        for (text, expected) in [
            ("09:00", ["Mon 23 09:00", "Tue 24 09:00", "Wed 25 09:00"]),
            (
                "Mon-Fri 9:00",
                ["Mon 23 09:00", "Tue 24 09:00", "Wed 25 09:00"],
            ),
            (
                "fri-mon 09:00,18:30",
                ["Mon 23 09:00", "Mon 23 18:30", "Fri 27 09:00"],
            ),
            (
                "Mon - Wed , Sat 09:00",
                ["Mon 23 09:00", "Tue 24 09:00", "Wed 25 09:00"],
            ),
            (
                "Mon, Tue, Wed, Thu, Fri 09:00",
                ["Mon 23 09:00", "Tue 24 09:00", "Wed 25 09:00"],
            ),
            (
                "weekends 10:00",
                ["Sat 28 10:00", "Sun 29 10:00", "Sat 05 10:00"],
            ),
            (
                "Tuesday 00:00; daily 00:00",
                ["Mon 23 00:00", "Tue 24 00:00", "Wed 25 00:00"],
            ),
            (
                "2026-11-24 18:00;Sun 23:59",
                ["Tue 24 18:00", "Sun 29 23:59", "Sun 06 23:59"],
            ),
            (
                "FIRST Monday 09:00; second  tue 8:00",
                ["Mon 07 09:00", "Tue 08 08:00", "Mon 04 09:00"],
            ),
            (
                "first day,last weekday 18:00,06:00",
                ["Mon 30 06:00", "Mon 30 18:00", "Tue 01 06:00"],
            ),
            (
                "fourth weekday , last Sun 10:00; Tue 07:00",
                ["Tue 24 07:00", "Sun 29 10:00", "Tue 01 07:00"],
            ),
            (
                "0 9 * * 1-5",
                ["Mon 23 09:00", "Tue 24 09:00", "Wed 25 09:00"],
            ),
            (
                "30 0 9 ? * Sun",
                ["Sun 29 09:00", "Sun 06 09:00", "Sun 13 09:00"],
            ),
            (
                "@weekly; 23:00",
                ["Mon 23 23:00", "Tue 24 23:00", "Wed 25 23:00"],
            ),
            (
                "0 9 * * *\n; 10:00",
                ["Mon 23 09:00", "Mon 23 10:00", "Tue 24 09:00"],
            ),
        ] {
            assert_eq!(first(text, 3), expected, "{text}");
        }
        assert_eq!(
            first("2026-11-24 18:00; 2026-11-24 18:00", 3),
            ["Tue 24 18:00"]
        );
        assert_eq!(first("2025-11-24 18:00", 3), Vec::<String>::new());
    }

    #[test]
    fn finds_the_same_times_in_both_directions() {
        for text in [
            "Mon 00:00; Sun 23:59",
            "*/7 */5 * * *; 2026-11-24 18:00",
            "0 0 29 2 *",
            "first Mon,last day 00:00,23:59; third weekday 12:00",
        ] {
            let times = Times::parse(text).unwrap();
            let mut forwards = Vec::new();
            let mut local = monday();
            while forwards.len() < 100 {
                let Some(next) = next(&times, local) else {
                    break;
                };
                assert_eq!(previous(&times, next), Some(next), "{text}");
                forwards.push(next);
                local = next;
            }
            for pair in forwards.windows(2) {
                assert_eq!(previous(&times, pair[1].before()), Some(pair[0]), "{text}");
                assert_eq!(previous(&times, pair[0].after()), Some(pair[0]), "{text}");
            }
        }
    }

    #[test]
    fn finds_nothing_outside_of_the_years_of_schedules() {
        for text in [
            "daily 00:00",
            "0 0 * * *",
            "* * * * * *",
            "1970-01-01 00:00; 2199-12-31 23:59",
        ] {
            let times = Times::parse(text).unwrap();
            assert_eq!(
                next(&times, Local(i64::MIN / 2)),
                Some(Local::FIRST),
                "{text}"
            );
            assert_eq!(previous(&times, Local::FIRST.before()), None, "{text}");
            assert_eq!(next(&times, Local::LAST), None, "{text}");
            assert!(
                previous(&times, Local(i64::MAX / 2)) > Some(Local(Local::LAST.0 - 86_400)),
                "{text}"
            );
        }
    }
}
