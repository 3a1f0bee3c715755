//! Times of starts and stops: `Mon-Fri 09:00`, cron, or a local date and time.
//!
//! [`Times`] is a parsed list of such items, in a form that is independent of the notation: weekly
//! times, times on days within the month, cron expressions, and single dates and times. It answers
//! questions about one date; `crate::search` finds the date.

use std::collections::BTreeMap;

use crate::{
    cron::{self, Cron},
    date_time,
    dates::Date,
    days::{ItemDays, MonthDays},
    local::{DAY, HOUR, Local, WallTime},
    month::{Page, Toward, has},
    text::{Diagnostic, Grammar, Piece, TokenKind, Tokens},
};

/// A list of local times.
///
/// ```
/// use dayshift_schedule::Times;
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
    /// Single dates and times, sorted and without duplicates.
    pub(super) date_times: Box<[Local]>,
    /// Cron expressions, sorted and without duplicates.
    pub(super) crons: Box<[Cron]>,
}

/// A cron expression whose dates match either its day of month or its day of week.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EitherDayCron {
    /// Text for the days that match both fields, if days within the month can express them.
    pub both_days: Option<String>,
}

impl Times {
    /// Parses items separated by `;`. An item is cron (five fields, six with seconds first, or a
    /// nickname such as `@daily`), `[days] HH:MM[,HH:MM…]`, or a local `YYYY-MM-DD HH:MM`.
    ///
    /// # Errors
    /// An item is none of these, or its date never occurs (30 February). The span is in bytes of
    /// the text.
    pub fn parse(text: &str) -> Result<Self, Diagnostic> {
        Self::parse_items(text).map_err(|error| error.in_grammar(Grammar::Times, text))
    }

    /// Whether text can be parsed, without searching for a proposal.
    pub(super) fn is_valid(text: &str) -> bool {
        Self::parse_items(text).is_ok()
    }

    fn parse_items(text: &str) -> Result<Self, Diagnostic> {
        let mut times = TimesItems::default();
        for item in Piece::items(text, EXAMPLE)? {
            times.add(item?)?;
        }
        Ok(Self::from_items(times))
    }

    pub(super) fn from_items(items: TimesItems) -> Self {
        Self {
            weekly: Weekly::new(items.weekly),
            monthly: Monthly::new(items.monthly),
            date_times: sorted_set(items.date_times),
            crons: sorted_set(items.crons),
        }
    }

    /// The first cron expression in which both day fields are restricted. Many users expect that a
    /// date must match both.
    pub fn either_day_cron(&self) -> Option<EitherDayCron> {
        let cron = self.crons.iter().find(|cron| cron.either_day)?;
        Some(EitherDayCron {
            both_days: cron.both_days_text(),
        })
    }

    /// The minutes of the week, from Monday 00:00. `None` if the times differ from week to week,
    /// or are not at whole minutes.
    ///
    /// ```
    /// use dayshift_schedule::Times;
    ///
    /// let minutes = |text| Times::parse(text).unwrap().minutes_of_week();
    /// assert_eq!(minutes("0 9 * * 1,2"), Some(vec![540, 1440 + 540]));
    /// assert_eq!(minutes("0 9 1 * *"), None);
    /// ```
    pub fn minutes_of_week(&self) -> Option<Vec<u32>> {
        if !self.monthly.is_empty() || !self.date_times.is_empty() {
            return None;
        }
        let mut minutes = Vec::new();
        for cron in &self.crons {
            let days = cron.only_weekdays().filter(|_| cron.seconds == 1)?;
            let times = (0..MINUTES_OF_DAY).filter(|minute| cron.contains_second(minute * 60));
            let times: Vec<_> = times.collect();
            for day in (0..7).filter(|day| days >> day & 1 == 1) {
                minutes.extend(times.iter().map(|minute| day * MINUTES_OF_DAY + minute));
            }
        }
        for second in self.weekly.seconds() {
            minutes.push((second % 60 == 0).then_some(second / 60)?);
        }
        minutes.sort_unstable();
        minutes.dedup();
        Some(minutes)
    }

    /// Whether a cron expression matches several seconds of a minute.
    pub fn has_several_per_minute(&self) -> bool {
        let mut crons = self.crons.iter();
        crons.any(|cron| cron.seconds.count_ones() > 1)
    }

    /// Whether any of the times recurs.
    pub(super) fn has_recurring(&self) -> bool {
        !self.weekly.is_empty() || !self.monthly.is_empty() || !self.crons.is_empty()
    }

    /// The approximate number of parts that a search must check.
    pub(super) fn items(&self) -> usize {
        1 + self.crons.len() + self.monthly.iter().count()
    }

    /// Adds the days that have a recurring time.
    pub(super) fn add_days(&self, to: &mut DayPattern) {
        to.add_weekdays(self.weekly.days());
        to.add_within(self.monthly.days());
        self.crons.iter().for_each(|cron| to.add_cron(cron));
    }

    /// The nearest recurring time of a date from `second` on.
    pub(super) fn nearest_on(&self, date: &Date, second: u32, toward: Toward) -> Option<u32> {
        let weekly = self.weekly.nearest_on(date.weekday, second, toward);
        let monthly = self.monthly.on(date);
        let monthly = monthly.filter_map(|times| toward.sorted(times, second));
        let crons = self.crons.iter().filter(|cron| cron.is_on(date));
        let crons = crons.filter_map(|cron| cron.nearest_second(second, toward));
        toward.nearest(weekly.into_iter().chain(monthly).chain(crons))
    }

    /// Whether `local`, which must be on this date, is one of the times.
    pub(super) fn contains(&self, date: &Date, local: Local) -> bool {
        let second = local.second();
        self.date_times.binary_search(&local).is_ok()
            || self.nearest_on(date, second, Toward::Later) == Some(second)
    }

    /// Adds the times in the hour of this date that begins at `hour`.
    pub(super) fn add_to_hour(&self, date: &Date, hour: Local, seconds: &mut HourSeconds) {
        let date_times = self.date_times.partition_point(|time| *time < hour);
        let date_times = self.date_times.iter().skip(date_times);
        let date_times = date_times.take_while(|time| time.hour() == hour);
        let monthly = self.monthly.on(date).flatten().copied();
        let of_day = self.weekly.on(date.weekday).chain(monthly);
        let of_hour = of_day.filter(|second| second / HOUR == hour.second() / HOUR);
        for second in date_times.map(|time| time.second()).chain(of_hour) {
            if let Some(minute) = seconds.get_mut((second / 60 % 60) as usize) {
                *minute |= 1 << (second % 60);
            }
        }
        let crons = self.crons.iter().filter(|cron| cron.is_on(date));
        for cron in crons.filter(|cron| has(cron.hours, hour.second() / HOUR)) {
            for (minute, known) in (0..).zip(&mut *seconds) {
                if has(cron.minutes, minute) {
                    *known |= cron.seconds;
                }
            }
        }
    }
}

const MINUTES_OF_DAY: u32 = 1440;

/// Sorts the items and removes duplicates.
fn sorted_set<T: Ord>(mut items: Vec<T>) -> Box<[T]> {
    items.sort_unstable();
    items.dedup();
    items.into()
}

/// A correct item for error messages.
pub(super) const EXAMPLE: &str = "Mon-Fri 09:00";

/// The parsed items of a list, unsorted and possibly with duplicates.
#[derive(Default)]
pub(super) struct TimesItems {
    /// Seconds from Monday 00:00.
    pub(super) weekly: Vec<u32>,
    /// Seconds from midnight, with their days.
    pub(super) monthly: Vec<(u32, MonthDays)>,
    pub(super) date_times: Vec<Local>,
    pub(super) crons: Vec<Cron>,
}

impl TimesItems {
    /// Parses one item and adds it.
    pub(super) fn add(&mut self, item: Piece<'_>) -> Result<(), Diagnostic> {
        match ItemForm::guess(item) {
            ItemForm::Cron => self.crons.push(Cron::parse(item)?),
            ItemForm::DateTime => self.date_times.push(date_time::parse_local(item)?),
            ItemForm::Days => self.add_days(item)?,
        }
        Ok(())
    }

    /// Parses `[days] HH:MM[,HH:MM…]`.
    fn add_days(&mut self, item: Piece<'_>) -> Result<(), Diagnostic> {
        let mut tokens = Tokens::new(item, EXAMPLE);
        let days = ItemDays::parse(&mut tokens)?;
        let mut before = item;
        loop {
            let word = tokens.word_after(before)?;
            let second = WallTime::parse(word)?.seconds();
            if let Some(dash) = tokens.take(TokenKind::Dash)? {
                let end = tokens.take(TokenKind::Word)?.unwrap_or(dash);
                return Err(word.to(end).error("is a window", "write windows in the hours annotation, and here one time such as `Mon-Fri 09:00`"));
            }
            match days {
                ItemDays::Week(days) => {
                    let times = days.iter().map(|day| day_start(day) + second);
                    self.weekly.extend(times);
                }
                ItemDays::Month(days) => self.monthly.push((second, days)),
            }
            match tokens.take(TokenKind::Comma)? {
                Some(comma) => before = comma,
                None => return tokens.end(),
            }
        }
    }

    pub(super) fn append(&mut self, other: Self) {
        self.weekly.extend(other.weekly);
        self.monthly.extend(other.monthly);
        self.date_times.extend(other.date_times);
        self.crons.extend(other.crons);
    }
}

/// The three notations of an item. They are distinguished before parsing, so that errors are about
/// the notation that the user intended.
enum ItemForm {
    Cron,
    DateTime,
    Days,
}

impl ItemForm {
    fn guess(item: Piece<'_>) -> Self {
        let text = item.text();
        let looks_like_date = text.split('-').next().is_some_and(|year| {
            year.len() == 4
                && year.len() < text.len()
                && year.bytes().all(|digit| digit.is_ascii_digit())
        });
        if looks_like_date {
            return Self::DateTime;
        }
        // A time of day has a colon, which cron never has, and days begin with a letter.
        let several = !text.contains(':') && item.words().nth(2).is_some();
        if text.starts_with('@')
            || cron::is_zone_prefix(text)
            || text.contains('*')
            || several && !text.starts_with(char::is_alphabetic)
        {
            Self::Cron
        } else {
            Self::Days
        }
    }
}

fn day_start(day: usize) -> u32 {
    u32::try_from(day).unwrap_or_default() * DAY
}

/// Times that recur every week.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Weekly {
    /// Seconds since Monday 00:00, sorted and without duplicates.
    seconds: Box<[u32]>,
    /// The weekdays that have a time; bit 0 is Monday.
    days: u32,
}

impl Weekly {
    pub(crate) fn new(mut seconds: Vec<u32>) -> Self {
        seconds.sort_unstable();
        seconds.dedup();
        let days = seconds.iter().fold(0, |days, it| days | 1 << (it / DAY));
        Self {
            seconds: seconds.into(),
            days,
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.seconds.is_empty()
    }

    /// Seconds since Monday 00:00, in order.
    pub(crate) fn seconds(&self) -> &[u32] {
        &self.seconds
    }

    /// The weekdays that have a time; bit 0 is Monday.
    pub(crate) fn days(&self) -> u32 {
        self.days
    }

    /// The nearest time of a weekday from `second` on, in seconds from midnight.
    pub(crate) fn nearest_on(&self, weekday: usize, second: u32, toward: Toward) -> Option<u32> {
        let midnight = day_start(weekday);
        let nearest = toward.sorted(&self.seconds, midnight + second)?;
        let second = nearest.checked_sub(midnight);
        second.filter(|second| *second < DAY)
    }

    /// The times of a weekday, in seconds from midnight.
    pub(crate) fn on(&self, weekday: usize) -> impl Iterator<Item = u32> {
        let midnight = day_start(weekday);
        let first = self.seconds.partition_point(|second| *second < midnight);
        let times = self
            .seconds
            .iter()
            .skip(first)
            .map(move |second| second - midnight);
        times.take_while(|second| *second < DAY)
    }
}

/// Times on days within the month, in sorted seconds from midnight.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Monthly(Box<[(MonthDays, Box<[u32]>)]>);

impl Monthly {
    pub(crate) fn new(times: Vec<(u32, MonthDays)>) -> Self {
        // Group by time first, so that equal times compare equal, independent of the notation.
        let mut days_at: BTreeMap<u32, MonthDays> = BTreeMap::new();
        for (second, days) in times {
            let known = days_at.entry(second).or_insert(MonthDays::NONE);
            *known = known.union(days);
        }
        let mut times_on: BTreeMap<MonthDays, Vec<u32>> = BTreeMap::new();
        for (second, days) in days_at {
            times_on.entry(days).or_default().push(second);
        }
        let groups = times_on.into_iter();
        Self(groups.map(|(days, times)| (days, times.into())).collect())
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (MonthDays, &[u32])> {
        self.0.iter().map(|(days, times)| (*days, &**times))
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The days that have a time.
    pub(crate) fn days(&self) -> MonthDays {
        self.iter()
            .fold(MonthDays::NONE, |all, (days, _)| all.union(days))
    }

    /// The times of a date, grouped as they are stored.
    pub(crate) fn on(&self, date: &Date) -> impl Iterator<Item = &[u32]> {
        let is_on = |days: MonthDays| has(days.days_in(&date.month), date.of_month);
        let on = self.iter().filter(move |(days, _)| is_on(*days));
        on.map(|(_, times)| times)
    }
}

/// The union of the days of several [`Times`], in constant space: dates of the month, weekdays and
/// days within the month.
pub(crate) struct DayPattern {
    /// The dates for each month from January.
    of_month: [u64; 12],
    /// The weekdays for each month from January; bit 0 is Monday.
    of_week: [u32; 12],
    within: MonthDays,
}

/// All weekdays.
const WEEK: u32 = 0x7f;

impl DayPattern {
    pub(crate) const NONE: Self = Self {
        of_month: [0; 12],
        of_week: [0; 12],
        within: MonthDays::NONE,
    };

    /// Adds weekdays; bit 0 is Monday.
    pub(crate) fn add_weekdays(&mut self, days: u32) {
        self.of_week.iter_mut().for_each(|known| *known |= days);
    }

    pub(crate) fn add_within(&mut self, days: MonthDays) {
        self.within = self.within.union(days);
    }

    /// Adds the days of an expression. If a date must match both day fields, one of them is a
    /// star, so the other decides.
    pub(crate) fn add_cron(&mut self, cron: &Cron) {
        let weekdays = cron.weekdays();
        let by_month = cron.either_day || weekdays == WEEK;
        let by_week = cron.either_day || weekdays != WEEK;
        let each = self.of_month.iter_mut().zip(&mut self.of_week);
        for (_, (of_month, of_week)) in (1..).zip(each).filter(|(it, _)| has(cron.months, *it)) {
            if by_month {
                *of_month |= cron.days_of_month;
            }
            if by_week {
                *of_week |= weekdays;
            }
        }
    }

    /// The dates of a page that match.
    pub(crate) fn days_in(&self, page: &Page) -> u64 {
        let at = page.month.number.saturating_sub(1) as usize;
        let of_month = self.of_month.get(at).copied().unwrap_or_default();
        let of_week = self.of_week.get(at).copied().unwrap_or_default();
        (of_month | page.on_weekdays(of_week)) & page.month.days()
            | self.within.days_in(&page.month)
    }
}

/// A set of seconds of one local hour: 60 bits for each minute.
pub(super) type HourSeconds = [u64; 60];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn error_points_at_the_invalid_word() {
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
                "is a range, which days within the month cannot have",
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
            ("Mon 25:00", "25:00", "is out of range"),
            (
                "09:00:30",
                "09:00:30",
                "has seconds, which a time of day does not allow",
            ),
            ("09:00,", ",", "is not expected here"),
            ("09:00 10:00", "10:00", "is not expected here"),
            (
                "09:00 Mon-Fri",
                "Mon",
                "comes after the time; write days first",
            ),
            (
                "Mon-Fri 09:00 Europe/Berlin",
                "Europe/Berlin",
                "does not belong in the times; a time zone belongs in the timezone annotation",
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
                "is not a local date and time",
            ),
            (
                "2026-12-24 18:00 +09:00",
                "+09:00",
                "is not a local date and time",
            ),
            ("2026-12-24 18:00Z", "Z", "is not a local date and time"),
            (
                "2026-02-30 18:00",
                "2026-02-30",
                "is a date that does not exist",
            ),
            ("0 9 * *", "0 9 * *", "has 4 fields; cron has five"),
            ("9 30 0", "9 30 0", "has 3 fields; cron has five"),
            ("0 0 9 * * * 2026", "2026", "is a year field"),
            (
                "0 9 * * Mon-Fry",
                "Fry",
                "is not a day of the week; write 0 to 7",
            ),
        ] {
            let text = format!("weekdays 10:00;\u{3000}{item} ; 2026-12-24 18:00");
            let error = Times::parse_items(&text).unwrap_err();
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
}
