//! The search for a time in several lists of times at once: first on the day itself, and then on the
//! days of each month that have a time. Its cost depends on the length of the lists, not on how
//! often their times occur, coincide or are excluded.

use std::cell::LazyCell;

use chrono::NaiveDateTime;

use crate::{
    dates::{Date, Dates},
    local::{DAY, Local},
    month::{Page, Toward},
    times::{DayPattern, HourSeconds, Times},
};

/// Several lists of times, searched as if they were one.
#[derive(Clone)]
pub(super) struct Search<'s, L> {
    lists: L,
    dates: Dates<'s>,
    excluded: ExcludedTimes,
}

/// Whether the times on excluded dates happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ExcludedTimes {
    Kept,
    Skipped,
}

impl Times {
    /// The first of these times after a local time, ignoring clock changes.
    pub fn next_local(&self, after: NaiveDateTime) -> Option<NaiveDateTime> {
        let (except, treated) = Default::default();
        let dates = Dates {
            except: &except,
            treated: &treated,
        };
        let search = Search::new(std::iter::once(self), dates, ExcludedTimes::Kept);
        let next = search.nearest(Local::from(after).after(), Toward::Later);
        next?.to_naive()
    }
}

impl<'s, L: Iterator<Item = &'s Times> + Clone> Search<'s, L> {
    pub(super) fn new(lists: L, dates: Dates<'s>, excluded: ExcludedTimes) -> Self {
        Self {
            lists,
            dates,
            excluded,
        }
    }

    /// The nearest time from `local` on.
    pub(super) fn nearest(&self, local: Local, toward: Toward) -> Option<Local> {
        let date_times = self.lists.clone().filter_map(|times| {
            let mut times = toward.all_sorted(&times.date_times, local);
            times.find(|time| !self.is_skipped(time.day()))
        });
        let recurring = self.nearest_recurring(local, toward);
        toward.nearest(date_times.chain(recurring))
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
                list.add_to_hour(&date, hour, &mut seconds);
            }
        }
        seconds
    }

    fn nearest_recurring(&self, local: Local, toward: Toward) -> Option<Local> {
        let from = match toward {
            Toward::Later => local.max(Local::FIRST),
            Toward::Earlier => local.min(Local::LAST),
        };
        if !from.is_in_range() || !self.lists.clone().any(Times::has_recurring) {
            return None;
        }
        let on = |day, second| {
            let date = self.date(day)?;
            let lists = self.lists.clone();
            let times = lists.filter_map(|times| times.nearest_on(&date, second, toward));
            Some(Local::on(day, toward.nearest(times)?))
        };
        let pattern = LazyCell::new(|| {
            let mut pattern = DayPattern::NONE;
            let lists = self.lists.clone();
            lists.for_each(|times| times.add_days(&mut pattern));
            pattern
        });
        on(from.day(), from.second()).or_else(|| {
            let day = match toward {
                Toward::Later => from.day() + 1,
                Toward::Earlier => from.day() - 1,
            };
            let first = toward.edge(DAY - 1);
            let days = |page: &Page| match pattern.days_in(page) {
                days if days != 0 && self.skips_excluded() => {
                    days & !self.dates.except.days_in(&page.month)
                }
                days => days,
            };
            self.dates.scan(day, toward, days, |day| on(day, first))
        })
    }

    /// The date of a day, unless it is skipped.
    fn date(&self, day: i32) -> Option<Date> {
        self.dates.date(day).filter(|_| !self.is_skipped(day))
    }

    fn skips_excluded(&self) -> bool {
        self.excluded == ExcludedTimes::Skipped
    }

    fn is_skipped(&self, day: i32) -> bool {
        self.skips_excluded() && self.dates.except.range_of(day).is_some()
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use chrono::{DateTime, NaiveDateTime};

    use super::*;
    use crate::dates::{ExcludedDates, TreatedDates};

    fn next(times: &Times, local: Local) -> Option<Local> {
        searched(times, |search| search.nearest(local.after(), Toward::Later))
    }

    fn previous(times: &Times, local: Local) -> Option<Local> {
        searched(times, |search| search.nearest(local, Toward::Earlier))
    }

    fn searched(
        times: &Times,
        ask: impl Fn(&Search<'_, std::iter::Once<&Times>>) -> Option<Local>,
    ) -> Option<Local> {
        let dates = Dates {
            except: &ExcludedDates::default(),
            treated: &TreatedDates::default(),
        };
        ask(&Search::new(
            std::iter::once(times),
            dates,
            ExcludedTimes::Kept,
        ))
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

    /// The lists are read for each visited day.
    #[test]
    fn long_ranges_of_treated_dates_are_skipped_by_the_month() {
        let treated = TreatedDates::parse("1970-01-01..2199-12-31 = Sun").unwrap();
        let dates = Dates {
            except: &ExcludedDates::default(),
            treated: &treated,
        };
        for text in ["Mon 09:00", "* * * * Mon", "Sat 09:00,10:00"] {
            let times = Times::parse(text).unwrap();
            let reads = Cell::new(0);
            let lists = std::iter::once(&times).inspect(|_| reads.set(reads.get() + 1));
            let search = Search::new(lists, dates, ExcludedTimes::Kept);
            for toward in [Toward::Later, Toward::Earlier] {
                reads.set(0);
                assert_eq!(search.nearest(monday(), toward), None, "{text}");
                let reads = reads.get();
                assert!(reads <= 5, "{text}: the lists are read {reads} times");
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
