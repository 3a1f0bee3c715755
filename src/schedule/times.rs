//! Times at which something happens once: `Mon-Fri 09:00`, cron, or one local moment.

use chrono::NaiveDateTime;

use super::cron::expression::Cron;
use super::days::monthly::Monthly;
use super::days::treated::TreatedDates;
use super::meant::propose;
use super::ranges::DayRanges;
use super::text::error::TextError;
use super::text::piece::Piece;
use super::times_text::{EXAMPLE, TimesItems};
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

    pub(super) fn read(text: &str) -> Result<Self, TextError> {
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
