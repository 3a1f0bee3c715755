//! Times at which something happens once: `Mon-Fri 09:00`, cron, or one local moment.

use chrono::NaiveDateTime;

use super::cron::expression::Cron;
use super::meant::propose;
use super::monthly::Monthly;
use super::ranges::DayRanges;
use super::text::error::TextError;
use super::text::piece::Piece;
use super::times_text::{EXAMPLE, TimesItems};
use super::treated::TreatedDates;
use super::weekly::Weekly;
use super::zone::local::Local;

/// Local times, of any number and kind, as one list.
///
/// ```
/// use dayshift::schedule::Times;
///
/// for text in [
///     "09:00",
///     "Mon-Fri 09:00; Sat,Sun 10:00,22:00",
///     "weekdays 09:00; 2026-12-24 14:00",
///     "first Mon,last Fri 09:00; last weekday 18:00",
///     "0 9 * * Mon-Fri; @monthly",
///     "*/10 0 9 * * *", // with a leading field of seconds
/// ] {
///     assert!(Times::parse(text).is_ok());
/// }
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Times {
    pub(super) weekly: Weekly,
    pub(super) monthly: Monthly,
    /// Single moments, in order, each once.
    pub(super) moments: Box<[Local]>,
    /// Cron texts, each once.
    pub(super) crons: Box<[Cron]>,
}

impl Times {
    /// Reads items separated by `;`. Each is cron (five fields, six with seconds before them, or
    /// a nickname such as `@daily`), or `[days] HH:MM[,HH:MM…]`, or one local moment
    /// `YYYY-MM-DD HH:MM`.
    ///
    /// # Errors
    /// An item is none of these, or is a date that never comes (30 February). The span is in bytes
    /// of the text.
    pub fn parse(text: &str) -> Result<Self, TextError> {
        Self::read(text).map_err(|error| propose::of_item(error, text, Self::reads, propose::times))
    }

    /// Whether a text can be read.
    pub(super) fn reads(text: &str) -> bool {
        Self::read(text).is_ok()
    }

    fn read(text: &str) -> Result<Self, TextError> {
        let mut times = TimesItems::default();
        for item in Piece::items(text, EXAMPLE)? {
            times.add(item?)?;
        }
        Ok(Self::of(times))
    }

    pub(super) fn of(items: TimesItems) -> Self {
        Self {
            weekly: Weekly::new(items.weekly),
            monthly: Monthly::new(items.monthly),
            moments: set(items.moments),
            crons: set(items.crons),
        }
    }

    /// Whether cron among them has both fields of days restricted, so that either will do; and then
    /// the text for the days that match both, if days within the month say it.
    pub fn either_day(&self) -> Option<Option<String>> {
        let cron = self.crons.iter().find(|cron| cron.either_day)?;
        Some(cron.on_both_days())
    }

    /// The first of these times after a local time. No zone counts: clock changes are ignored.
    pub fn next_local(&self, after: NaiveDateTime) -> Option<NaiveDateTime> {
        self.next(after.into(), &TreatedDates::default())?
            .to_naive()
    }

    /// The first of them after `local`, where some dates count as other days of the week.
    pub(super) fn next(&self, local: Local, treated: &TreatedDates) -> Option<Local> {
        let moment = self
            .moments
            .get(self.moments.partition_point(|&it| it <= local))
            .copied();
        let mut usual = self.next_of_week(local);
        while let Some((_, last)) = usual.and_then(|it| treated.range_of(it.day())) {
            usual = self.next_of_week(Local::on(last + 1, 0).before());
        }
        let treated = treated
            .iter()
            .filter_map(|(day, dates)| self.next_as(day, dates, local));
        let others = [self.monthly.next(local), moment, usual];
        others.into_iter().flatten().chain(treated).min()
    }

    /// The last of them at or before `local`, where some dates count as other days of the week.
    pub(super) fn previous(&self, local: Local, treated: &TreatedDates) -> Option<Local> {
        let moment = self
            .moments
            .get(..self.moments.partition_point(|&it| it <= local));
        let moment = moment.and_then(<[Local]>::last).copied();
        let mut usual = self.previous_of_week(local);
        while let Some((first, _)) = usual.and_then(|it| treated.range_of(it.day())) {
            usual = self.previous_of_week(Local::on(first, 0).before());
        }
        let treated = treated
            .iter()
            .filter_map(|(day, dates)| self.previous_as(day, dates, local));
        let others = [self.monthly.previous(local), moment, usual];
        others.into_iter().flatten().chain(treated).max()
    }

    /// The first after `local` of the times that know the day of the week.
    fn next_of_week(&self, local: Local) -> Option<Local> {
        let cron = self.crons.iter().filter_map(|cron| cron.next(local));
        cron.chain(self.weekly.next(local)).min()
    }

    /// The last at or before `local` of the times that know the day of the week.
    fn previous_of_week(&self, local: Local) -> Option<Local> {
        let cron = self.crons.iter().filter_map(|cron| cron.previous(local));
        cron.chain(self.weekly.previous(local)).max()
    }

    /// The first of those times after `local` on one of these dates, which all count as one day.
    fn next_as(&self, weekday: usize, dates: &DayRanges, local: Local) -> Option<Local> {
        let crons = self.crons.iter().filter_map(|it| it.on_weekday(weekday));
        let cron = crons.filter_map(|cron| {
            let mut next = cron.next(local)?;
            while dates.range_of(next.day()).is_none() {
                let day = dates.next_from(next.day() + 1)?;
                next = cron.next(Local::on(day, 0).before())?;
            }
            Some(next)
        });
        let weekly = self.weekly.next_as(weekday, dates, local);
        cron.chain(weekly).min()
    }

    /// The last of those times at or before `local` on one of these dates, which all count as one
    /// day.
    fn previous_as(&self, weekday: usize, dates: &DayRanges, local: Local) -> Option<Local> {
        let crons = self.crons.iter().filter_map(|it| it.on_weekday(weekday));
        let cron = crons.filter_map(|cron| {
            let mut last = cron.previous(local)?;
            while dates.range_of(last.day()).is_none() {
                let day = dates.last_to(last.day() - 1)?;
                last = cron.previous(Local::on(day + 1, 0).before())?;
            }
            Some(last)
        });
        let weekly = self.weekly.previous_as(weekday, dates, local);
        cron.chain(weekly).max()
    }
}

/// Sorted, each once.
fn set<T: Ord>(mut items: Vec<T>) -> Box<[T]> {
    items.sort_unstable();
    items.dedup();
    items.into()
}

#[cfg(test)]
mod tests {
    use chrono::{DateTime, NaiveDateTime};

    use super::*;

    /// What `text` means from Monday 2026-11-23 00:00 on, in the order of time.
    fn first(text: &str, count: usize) -> Vec<String> {
        let times = Times::parse(text).unwrap();
        let mut local = monday().before();
        std::iter::from_fn(|| {
            local = times.next(local, &TreatedDates::default())?;
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
    fn reads_what_people_write() {
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
    fn says_where_a_text_is_wrong_and_what_to_write() {
        for (item, found, message) in [
            ("Mon-Fry 09:00", "Fry", "is not a day; write Mon,"),
            ("Mon-Frday 09:00", "Frday", "is not a day; write Mon,"),
            ("月曜 09:00", "月曜", "is not a day"),
            ("noon", "noon", "is not a day"),
            (
                "Mon-Fri",
                "Mon-Fri",
                "has no time of day; write for example `Mon-Fri 09:00`",
            ),
            (
                "Mon Wed 09:00",
                "Wed",
                "has no comma before it; write days as `Mon,Wed`",
            ),
            ("Mon-09:00", "09:00", "is not a day"),
            ("frist Mon 09:00", "frist", "is not a day"),
            ("last 09:00", "last", "has no day after it; write"),
            ("last", "last", "has no day after it"),
            ("first,Mon 09:00", "first", "has no day after it"),
            (
                "first weekdays 09:00",
                "weekdays",
                "cannot follow first, second, third, fourth or last",
            ),
            ("last first Fri 09:00", "first", "cannot follow"),
            ("last month 09:00", "month", "as in `first Mon 09:00`"),
            (
                "first Mon-Fri 09:00",
                "first Mon-Fri",
                "is a range, which days within the month do not make",
            ),
            ("Mon-last Fri 09:00", "Mon-last", "is a range"),
            (
                "first day - last day 09:00",
                "first day - last",
                "is a range",
            ),
            ("first-Mon 09:00", "first", "has no day after it"),
            (
                "first Mon,Wed 09:00",
                "first Mon,Wed",
                "mixes days within the month with days of every week; write two items",
            ),
            ("daily,last Fri 09:00", "daily,last Fri", "mixes"),
            ("first Mon Tue 09:00", "Tue", "has no comma before it"),
            ("Mon first Tue 09:00", "first", "has no comma before it"),
            ("first Mon", "first Mon", "has no time of day"),
            ("fifth Mon 09:00", "fifth", "is not a day"),
            ("weekday 09:00", "weekday", "is not a day"),
            ("09:00 first Mon", "first", "comes after the time"),
            ("Mon, 09:00", ",", "is not expected here"),
            ("Mon- 09:00-", "09:00", "is not a day"),
            ("Mon–Fri 09:00", "–", "is not the plain `-` of the keyboard"),
            (
                "Monday 9",
                "9",
                "is not a time of day; write for example `09:00`",
            ),
            (
                "9am",
                "9am",
                "is not a time of day; write for example `09:00`",
            ),
            (
                "900",
                "900",
                "is not a time of day; write for example `09:00`",
            ),
            ("Mon at 09:00", "at", "is not a time of day"),
            ("\"09:00\"", "\"09:00\"", "is not a time of day"),
            ("Mon 24:00", "24:00", "midnight is `00:00` of the next day"),
            ("Mon 25:00", "25:00", "is not in a day"),
            (
                "09:00:30",
                "09:00:30",
                "has seconds, which a time of day does not take",
            ),
            ("09:00,", ",", "is not expected here"),
            ("09:00 10:00", "10:00", "is not expected here"),
            (
                "09:00 Mon-Fri",
                "Mon",
                "comes after the time; write days first",
            ),
            ("Mon 09:00-17:00", "09:00-17:00", "is a window"),
            ("09:00 – 17:00", "–", "is not the plain `-`"),
            (
                "2026-12-24",
                "2026-12-24",
                "has no time of day; write for example `2026-12-24",
            ),
            (
                "2026-12-24T18:00",
                "2026-12-24T18:00",
                "is not a local moment",
            ),
            ("2026-12-24 18:00 +09:00", "+09:00", "is not a local moment"),
            ("2026-12-24 18:00Z", "Z", "is not a local moment"),
            (
                "2026-02-30 18:00",
                "2026-02-30",
                "is a date that does not exist",
            ),
            ("0 9 * *", "0 9 * *", "has 4 fields; cron has five"),
            ("9 30 0", "9 30 0", "has 3 fields; cron has five"),
            ("0 0 9 * * * 2026", "2026", "is in the place of a year"),
            (
                "0 9 * * Mon-Fry",
                "Fry",
                "is not a day of the week; write 0 to 7",
            ),
        ] {
            let text = format!("weekdays 10:00;\u{3000}{item} ; 2026-12-24 18:00");
            let error = Times::read(&text).unwrap_err();
            assert_eq!(&text[error.span()], found, "{item}: {error}");
            let at = 18 + item.find(found).unwrap();
            assert_eq!(error.span(), at..at + found.len(), "{item}");
            assert!(
                error.to_string().starts_with(&format!("`{found}` ")),
                "{error}"
            );
            assert!(error.to_string().contains(message), "{item}: {error}");
        }
        for (text, span) in [("", 0..0), ("09:00;", 5..6), ("09:00;;10:00", 6..7)] {
            assert_eq!(Times::parse(text).unwrap_err().span(), span, "{text}");
        }
    }

    #[test]
    fn counts_the_same_times_in_both_directions() {
        for text in [
            "Mon 00:00; Sun 23:59",
            "*/7 */5 * * *; 2026-11-24 18:00",
            "0 0 29 2 *",
            "first Mon,last day 00:00,23:59; third weekday 12:00",
        ] {
            let (times, none) = (Times::parse(text).unwrap(), TreatedDates::default());
            let mut forwards = Vec::new();
            let mut local = monday();
            while forwards.len() < 100 {
                let Some(next) = times.next(local, &TreatedDates::default()) else {
                    break;
                };
                assert_eq!(times.previous(next, &none), Some(next), "{text}");
                forwards.push(next);
                local = next;
            }
            for pair in forwards.windows(2) {
                assert_eq!(
                    times.previous(pair[1].before(), &none),
                    Some(pair[0]),
                    "{text}"
                );
                assert_eq!(
                    times.previous(pair[0].after(), &none),
                    Some(pair[0]),
                    "{text}"
                );
            }
        }
    }

    #[test]
    fn ends_where_schedules_end() {
        for text in [
            "daily 00:00",
            "0 0 * * *",
            "* * * * * *",
            "1970-01-01 00:00; 2199-12-31 23:59",
        ] {
            let (times, none) = (Times::parse(text).unwrap(), TreatedDates::default());
            assert_eq!(
                times.next(Local(i64::MIN / 2), &none),
                Some(Local::FIRST),
                "{text}"
            );
            assert_eq!(times.previous(Local::FIRST.before(), &none), None, "{text}");
            assert_eq!(times.next(Local::LAST, &none), None, "{text}");
            assert!(
                times.previous(Local(i64::MAX / 2), &none) > Some(Local(Local::LAST.0 - 86_400)),
                "{text}"
            );
        }
    }
}
