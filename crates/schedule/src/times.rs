//! Times at which something happens once: `Mon-Fri 09:00`, cron, or one local moment.

use chrono::NaiveDateTime;

use super::cron::expression::Cron;
use super::cron::text as cron_text;
use super::days::dates::{Dates, Weekdays};
use super::days::day_pattern::DayPattern;
use super::days::month::has;
use super::days::page::{Page, PageDate};
use super::days::recurring::{Monthly, Weekly};
use super::meant::propose::Form;
use super::moment;
use super::search::{HOUR, HourSeconds, Search, earlier};
use super::text::days::ItemDays;
use super::text::diagnostic::Diagnostic;
use super::text::month_days::MonthDays;
use super::text::piece::Piece;
use super::text::tokens::{Kind, Tokens};
use super::text::wall_time::WallTime;
use super::zone::local::Local;

/// Local times, of any number and kind, as one list.
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
    pub fn parse(text: &str) -> Result<Self, Diagnostic> {
        Self::read(text)
            .map_err(|error| error.read_by(|text, span| Form::Times.meant(text, span), text))
    }

    /// Whether a text can be read.
    pub(super) fn reads(text: &str) -> bool {
        Self::read(text).is_ok()
    }

    pub(super) fn read(text: &str) -> Result<Self, Diagnostic> {
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

    /// The minutes of the week at which these times come, from Monday 00:00, where they come in every
    /// week and at whole minutes.
    ///
    /// ```
    /// use dayshift_schedule::Times;
    ///
    /// let minutes = |text| Times::parse(text).unwrap().minutes_of_week();
    /// assert_eq!(minutes("0 9 * * 1,2"), Some(vec![540, 1440 + 540]));
    /// assert_eq!(minutes("0 9 1 * *"), None);
    /// ```
    pub fn minutes_of_week(&self) -> Option<Vec<u32>> {
        if !self.monthly.is_empty() || !self.moments.is_empty() {
            return None;
        }
        let mut minutes = Vec::new();
        for cron in &self.crons {
            let days = cron.only_weekdays().filter(|_| cron.seconds == 1)?;
            let times = (0..MINUTES_OF_DAY).filter(|minute| cron.holds_second(minute * 60));
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

    /// The first of these times after a local time. No zone counts: clock changes are ignored.
    pub fn next_local(&self, after: NaiveDateTime) -> Option<NaiveDateTime> {
        let (except, treated) = Default::default();
        let dates = Dates {
            except: &except,
            treated: &treated,
        };
        let search = Search::new(std::iter::once(self), dates, false);
        search.next(after.into())?.to_naive()
    }

    /// The single moments after `local`.
    pub(super) fn moments_after(&self, local: Local) -> &[Local] {
        let at = self.moments.partition_point(|&it| it <= local);
        self.moments.get(at..).unwrap_or_default()
    }

    /// The single moments at or before `local`.
    pub(super) fn moments_to(&self, local: Local) -> &[Local] {
        let at = self.moments.partition_point(|&it| it <= local);
        self.moments.get(..at).unwrap_or_default()
    }

    /// Whether a cron among them comes several times a minute.
    pub fn are_more_than_once_a_minute(&self) -> bool {
        let mut crons = self.crons.iter();
        crons.any(|cron| cron.seconds.count_ones() > 1)
    }

    /// The last of the single moments.
    pub(super) fn last_moment(&self) -> Option<Local> {
        self.moments.last().copied()
    }

    /// Whether any of the times recurs.
    pub(super) fn recur(&self) -> bool {
        !self.weekly.is_empty() || !self.monthly.is_empty() || !self.crons.is_empty()
    }

    /// How many parts a search has to look at, about.
    pub(super) fn items(&self) -> usize {
        1 + self.crons.len() + self.monthly.iter().count()
    }

    /// The dates of a page on which any of the times recurs; bit 1 is the first of the month.
    pub(super) fn days_in(&self, page: &Page) -> u64 {
        let days = page.on_weekdays(self.weekly.days()) | self.monthly.days().days_in(&page.month);
        let crons = self.crons.iter();
        crons.fold(days, |days, cron| days | cron.days_in(page))
    }

    /// The days of the week on which any of the times can recur.
    pub(super) fn weekdays(&self) -> Weekdays {
        let crons = self.crons.iter();
        let crons = crons.map(|cron| {
            if cron.either_day {
                ALL
            } else {
                cron.weekdays()
            }
        });
        Weekdays {
            counted: crons.fold(self.weekly.days(), |days, more| days | more),
            own: self.monthly.days().weekdays(),
        }
    }

    /// Adds those days.
    pub(super) fn add_days(&self, to: &mut DayPattern) {
        to.add_weekdays(self.weekly.days());
        to.add_within(self.monthly.days());
        self.crons.iter().for_each(|cron| to.add_cron(cron));
    }

    /// The first recurring time of a date from `second` on.
    pub(super) fn first_on(&self, date: &PageDate, second: u32) -> Option<u32> {
        let weekly = self.weekly.first_on(date.weekday, second);
        let monthly = self.monthly.on(date).filter_map(|times| {
            let at = times.partition_point(|&it| it < second);
            times.get(at).copied()
        });
        let crons = self.crons_on(date);
        let crons = crons.filter_map(|cron| cron.second_from(second));
        earlier(weekly, earlier(monthly.min(), crons.min()))
    }

    /// The last recurring time of a date up to `second`.
    pub(super) fn last_on(&self, date: &PageDate, second: u32) -> Option<u32> {
        let weekly = self.weekly.last_on(date.weekday, second);
        let monthly = self.monthly.on(date).filter_map(|times| {
            let at = times.partition_point(|&it| it <= second);
            times.get(..at)?.last().copied()
        });
        let crons = self.crons_on(date);
        let crons = crons.filter_map(|cron| cron.second_to(second));
        weekly.max(monthly.max()).max(crons.max())
    }

    /// Whether `local`, which is on this date, is one of the times.
    pub(super) fn holds(&self, date: &PageDate, local: Local) -> bool {
        let second = local.second();
        self.moments.binary_search(&local).is_ok()
            || self.weekly.holds(date.weekday, second)
            || self
                .monthly
                .on(date)
                .any(|times| times.binary_search(&second).is_ok())
            || self.crons_on(date).any(|cron| cron.holds_second(second))
    }

    /// Marks the seconds of the times in the hour of this date that begins at `hour`.
    pub(super) fn mark_hour(&self, date: &PageDate, hour: Local, seconds: &mut HourSeconds) {
        let mut mark = |second: u32| {
            if let Some(minute) = seconds.get_mut((second / 60 % 60) as usize) {
                *minute |= 1 << (second % 60);
            }
        };
        let moments = self.moments_after(hour.before()).iter();
        for moment in moments.take_while(|it| it.0 < hour.0 + HOUR) {
            mark(moment.second());
        }
        let hour = hour.second() / 3600;
        let weekly = self.weekly.on(date.weekday);
        let monthly = self.monthly.on(date).flatten().copied();
        let times = weekly.chain(monthly);
        times.filter(|it| it / 3600 == hour).for_each(&mut mark);
        for cron in self.crons_on(date).filter(|it| has(it.hours, hour)) {
            for (minute, known) in (0..).zip(&mut *seconds) {
                if has(cron.minutes, minute) {
                    *known |= cron.seconds;
                }
            }
        }
    }

    /// The crons that have a date.
    fn crons_on(&self, date: &PageDate) -> impl Iterator<Item = &Cron> {
        let crons = self.crons.iter();
        crons.filter(|cron| has(cron.days_in(&date.page), date.of_month))
    }
}

const MINUTES_OF_DAY: u32 = 1440;

/// All days of the week.
const ALL: u32 = 0x7f;

/// Sorted, each once.
fn set<T: Ord>(mut items: Vec<T>) -> Box<[T]> {
    items.sort_unstable();
    items.dedup();
    items.into()
}

/// Times as people write them, for errors that show one.
pub(super) const EXAMPLE: &str = "Mon-Fri 09:00";

/// What the items of a list say, in no order and with repeats.
#[derive(Default)]
pub(super) struct TimesItems {
    /// Seconds from Monday 00:00.
    pub(super) weekly: Vec<u32>,
    /// Seconds from midnight, and on which days.
    pub(super) monthly: Vec<(u32, MonthDays)>,
    pub(super) moments: Vec<Local>,
    pub(super) crons: Vec<Cron>,
}

impl TimesItems {
    /// Adds what one item says: cron, days with times, or a local moment.
    pub(super) fn add(&mut self, item: Piece<'_>) -> Result<(), Diagnostic> {
        match ItemForm::of(item) {
            ItemForm::Cron => self.crons.push(cron_text::parse(item)?),
            ItemForm::Moment => self.moments.push(moment::parse_local(item)?),
            ItemForm::Days => self.add_days(item)?,
        }
        Ok(())
    }

    /// `[days] HH:MM[,HH:MM…]`
    fn add_days(&mut self, item: Piece<'_>) -> Result<(), Diagnostic> {
        let mut tokens = Tokens::of(item, EXAMPLE);
        let days = tokens.days()?;
        let mut before = item;
        loop {
            let word = tokens.word_after(before)?;
            let second = WallTime::parse(word)?.seconds();
            if let Some(dash) = tokens.take(Kind::Dash)? {
                let end = tokens.take(Kind::Word)?.unwrap_or(dash);
                return Err(word.to(end).fails("is a window", "write windows in the hours annotation, and here one time such as `Mon-Fri 09:00`"));
            }
            match days {
                ItemDays::Week(days) => {
                    let times = days.iter().map(|day| day_start(day) + second);
                    self.weekly.extend(times);
                }
                ItemDays::Month(days) => self.monthly.push((second, days)),
            }
            match tokens.take(Kind::Comma)? {
                Some(comma) => before = comma,
                None => return tokens.end(),
            }
        }
    }

    /// Adds all that another one has.
    pub(super) fn append(&mut self, other: Self) {
        self.weekly.extend(other.weekly);
        self.monthly.extend(other.monthly);
        self.moments.extend(other.moments);
        self.crons.extend(other.crons);
    }
}

/// The three ways to write an item, told apart at a glance so that an error speaks of the one
/// that was meant.
enum ItemForm {
    Cron,
    Moment,
    Days,
}

impl ItemForm {
    fn of(item: Piece<'_>) -> Self {
        let text = item.text();
        let looks_like_date = text.split('-').next().is_some_and(|year| {
            year.len() == 4 && year.len() < text.len() && year.bytes().all(|it| it.is_ascii_digit())
        });
        if looks_like_date {
            return Self::Moment;
        }
        // A time of day has a colon, which cron never has; days begin with a letter.
        let several = !text.contains(':') && item.words().nth(2).is_some();
        if text.starts_with('@')
            || cron_text::is_zone(text)
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
    u32::try_from(day).unwrap_or_default() * 86_400
}
