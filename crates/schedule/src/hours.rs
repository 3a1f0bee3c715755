//! Running hours: windows on weekdays or on days within the month, such as `Mon-Fri 09:00-19:00`
//! or `last Sat 22:00-06:00`.
//!
//! [`Hours`] finds the next and the last edge of the united windows by a scan over days. To find the
//! end of continuous running, the scan checks only [`UncoveredDays`].

use std::{borrow::Cow, collections::BTreeMap};

use chrono::NaiveDateTime;

use crate::{
    dates::Dates,
    days::{ItemDays, MonthDays},
    local::{DAY, Local, WallTime},
    month::{LAYOUTS, Month, Page, Toward, has, merge_spans},
    text::{Diagnostic, Grammar, Piece, TokenKind, Tokens},
};

/// Windows that recur every week or every month. Windows that overlap or touch are united.
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
    /// The windows that begin on each weekday, from Monday.
    pub(super) days: [DayWindows; 7],
    /// Further windows, which begin on days within the month, for example on the last Friday. Each
    /// of these days occurs in one entry only.
    pub(super) monthly: Box<[(MonthDays, DayWindows)]>,
}

impl Hours {
    /// The approximate number of parts that a search must check.
    pub(super) fn items(&self) -> usize {
        1 + self.monthly.len()
    }

    /// Parses windows separated by `;`: `[days] HH:MM-HH:MM[,HH:MM-HH:MM…]`. If the end is not
    /// after the beginning, the window ends on the next day. A window belongs to the day on which
    /// it begins.
    ///
    /// # Errors
    /// An item is not a window. Cron expressions and dates are not allowed in hours. The span is
    /// in bytes of the text.
    pub fn parse(text: &str) -> Result<Self, Diagnostic> {
        match parse_windows(text) {
            Ok(Windows { weekly, monthly }) => Ok(Self {
                days: weekly.map(DayWindows::new),
                monthly: group(monthly),
            }),
            Err(error) => Err(error.in_grammar(Grammar::Hours, text)),
        }
    }

    /// Whether text can be parsed, without searching for a proposal.
    pub(super) fn is_valid(text: &str) -> bool {
        parse_windows(text).is_ok()
    }

    /// The first edge of a window after a local time, ignoring clock changes.
    pub fn next_edge(&self, after: NaiveDateTime) -> Option<NaiveDateTime> {
        let (except, treated) = Default::default();
        let dates = Dates {
            except: &except,
            treated: &treated,
        };
        self.next_change(after.into(), dates)?.to_naive()
    }

    /// Whether `local` is in a window. Windows that begin on excluded dates do not count.
    pub(super) fn contains(&self, local: Local, dates: Dates<'_>) -> bool {
        self.coverage(local.day(), dates).covers(local.second())
    }

    /// Whether the coverage of a date and of the next date stays the same if `others` replaces the
    /// excluded and treated dates.
    pub(super) fn is_same_on(&self, day: i32, dates: Dates<'_>, others: Dates<'_>) -> bool {
        [day, day + 1].into_iter().all(|day| {
            let [one, other] = [dates, others].map(|dates| self.coverage(day, dates).covered());
            one == other
        })
    }

    /// The first time after `local` at which the result of [`Self::contains`] changes.
    pub(super) fn next_change(&self, local: Local, dates: Dates<'_>) -> Option<Local> {
        let wanted = self.cover_state(local, dates).other();
        let next = self.nearest(local.after(), wanted, dates, Toward::Later);
        next.filter(|local| local.is_in_range())
    }

    /// The last time at or before `local` at which the result of [`Self::contains`] changed.
    pub(super) fn last_change(&self, local: Local, dates: Dates<'_>) -> Option<Local> {
        let wanted = self.cover_state(local, dates).other();
        let last = self.nearest(local.before(), wanted, dates, Toward::Earlier);
        last.map(Local::after).filter(|local| local.is_in_range())
    }

    fn cover_state(&self, local: Local, dates: Dates<'_>) -> CoverState {
        self.coverage(local.day(), dates)
            .cover_state(local.second())
    }

    /// The nearest time from `local` on with this state.
    fn nearest(
        &self,
        local: Local,
        wanted: CoverState,
        dates: Dates<'_>,
        toward: Toward,
    ) -> Option<Local> {
        let on = |day, from| {
            let coverage = self.coverage(day, dates);
            Some(Local::on(day, coverage.nearest(from, wanted, toward)?))
        };
        let today = local.day();
        let on_day = |day| on(day, toward.edge(DAY - 1));
        let after = |days| match toward {
            Toward::Later => today + days,
            Toward::Earlier => today - days,
        };
        let now = on(today, local.second());
        if wanted == CoverState::Covered {
            let begun = |page: &Page| self.covered_days(page, dates);
            return now.or_else(|| dates.scan(after(1), toward, begun, on_day));
        }
        // Check the days of one week first. If none of them has a gap, gaps are rare, so search for
        // them month by month.
        let soon = || (1..=7).find_map(|days| on_day(after(days)));
        now.or_else(soon).or_else(|| {
            let mut gaps = UncoveredDays::new(self, dates);
            dates.scan(after(8), toward, |page| gaps.days_in(page), on_day)
        })
    }

    /// The weekdays on which windows begin; bit 0 is Monday.
    fn weekdays(&self) -> u32 {
        let begun = (0..).zip(&self.days).filter(|(_, it)| !it.own.is_empty());
        begun.fold(0, |days, (day, _): (u32, _)| days | 1 << day)
    }

    /// The dates of a month on which windows begin or might end.
    fn covered_days(&self, page: &Page, dates: Dates<'_>) -> u64 {
        let monthly = self.monthly.iter();
        let weekly = page.on_weekdays(self.weekdays());
        let begun = monthly.fold(weekly, |all, (days, _)| all | days.days_in(&page.month));
        let begun = if begun == 0 {
            0
        } else {
            begun & !dates.except.days_in(&page.month)
        };
        if self.groups().any(|day| day.tail > 0) {
            begun | begun << 1 | FIRST_DAY
        } else {
            begun
        }
    }

    /// The windows of each weekday, and of each group of days within the month.
    fn groups(&self) -> impl Iterator<Item = &DayWindows> {
        let monthly = self.monthly.iter().map(|(_, day)| day);
        self.days.iter().chain(monthly)
    }

    fn coverage(&self, day: i32, dates: Dates<'_>) -> DateCoverage<'_> {
        let windows_on = |day| {
            let kept = dates.except.range_of(day).is_none();
            let begun = || self.windows_on(day, dates.treated.weekday(day));
            kept.then(begun).unwrap_or_default()
        };
        let tail = windows_on(day - 1).tail;
        DateCoverage {
            tail,
            own: match windows_on(day) {
                Cow::Borrowed(day) => Cow::Borrowed(&*day.own),
                Cow::Owned(day) => Cow::Owned(day.own.into()),
            },
        }
    }

    /// The windows that begin on a date that counts as this weekday, even if it is excluded.
    fn windows_on(&self, day: i32, weekday: usize) -> Cow<'_, DayWindows> {
        let weekly = self
            .days
            .get(weekday)
            .map_or_else(Cow::default, Cow::Borrowed);
        if self.monthly.is_empty() {
            return weekly;
        }
        let Some((month, of_month)) = Month::containing(day) else {
            return weekly;
        };
        let monthly = self.monthly.iter();
        let monthly = monthly.filter(|(days, _)| has(days.days_in(&month), of_month));
        monthly.fold(weekly, |all, (_, more)| Cow::Owned(all.with(more)))
    }
}

/// Groups windows by their days in a canonical form, so that equal windows compare equal,
/// independent of the notation.
fn group(windows: Vec<(MonthDays, (u32, u32))>) -> Box<[(MonthDays, DayWindows)]> {
    let mut each: BTreeMap<MonthDays, Vec<(u32, u32)>> = BTreeMap::new();
    for (days, window) in windows {
        for day in days.each() {
            each.entry(day).or_default().push(window);
        }
    }
    let mut groups: Vec<(MonthDays, DayWindows)> = Vec::new();
    for (days, windows) in each {
        let day = DayWindows::new(windows);
        match groups.iter_mut().find(|(_, known)| *known == day) {
            Some((known, _)) => *known = known.union(days),
            None => groups.push((days, day)),
        }
    }
    groups.into()
}

/// The first of a month, in a set of its dates.
const FIRST_DAY: u64 = 1 << 1;

const EXAMPLE: &str = "Mon-Fri 09:00-19:00";

/// Windows in seconds from midnight of the day on which they begin. If a window reaches the next
/// day, its end is after 24:00.
#[derive(Default)]
pub(super) struct Windows {
    /// The windows of each weekday, from Monday.
    pub(super) weekly: [Vec<(u32, u32)>; 7],
    /// The windows of days within the month.
    pub(super) monthly: Vec<(MonthDays, (u32, u32))>,
}

pub(super) fn parse_windows(text: &str) -> Result<Windows, Diagnostic> {
    let mut windows = Windows::default();
    for item in Piece::items(text, EXAMPLE)? {
        parse_window_item(item?, &mut windows)?;
    }
    Ok(windows)
}

/// Parses `[days] HH:MM-HH:MM[,HH:MM-HH:MM…]`.
pub(super) fn parse_window_item(item: Piece<'_>, windows: &mut Windows) -> Result<(), Diagnostic> {
    reject_other_forms(item)?;
    let mut tokens = Tokens::new(item, EXAMPLE);
    let on = ItemDays::parse(&mut tokens)?;
    let mut before = item;
    loop {
        let first = tokens.word_after(before)?;
        let from = WallTime::parse(first)?;
        let Some(dash) = tokens.take(TokenKind::Dash)? else {
            return Err(missing_end(first));
        };
        let last = match tokens.peek()? {
            None => return Err(missing_end(first.to(dash))),
            Some(_) => tokens.word_after(dash)?,
        };
        let to = WallTime::parse_end(last)?;
        if from == to {
            return Err(first.to(last).error(
                "begins and ends at the same time",
                "a whole day is `00:00-24:00`",
            ));
        }
        let (from, to) = (from.seconds(), to.seconds());
        let to = if to > from { to } else { to + DAY };
        match on {
            ItemDays::Month(days) => windows.monthly.push((days, (from, to))),
            ItemDays::Week(days) => {
                for day in days.iter() {
                    let known = windows.weekly.get_mut(day).into_iter();
                    known.for_each(|known| known.push((from, to)));
                }
            }
        }
        match tokens.take(TokenKind::Comma)? {
            Some(comma) => before = comma,
            None => return tokens.end(),
        }
    }
}

fn missing_end(window: Piece<'_>) -> Diagnostic {
    window.error(
        "has no end",
        "hours are windows such as `Mon-Fri 09:00-19:00`",
    )
}

/// Whether a time is in a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CoverState {
    Covered,
    Uncovered,
}

impl CoverState {
    const fn other(self) -> Self {
        match self {
            Self::Covered => Self::Uncovered,
            Self::Uncovered => Self::Covered,
        }
    }
}

/// Rejects cron expressions and dates with an error of their own.
fn reject_other_forms(item: Piece<'_>) -> Result<(), Diagnostic> {
    let text = item.text();
    let several = !text.contains(':') && item.words().nth(4).is_some();
    if text.starts_with('@') || text.contains('*') || several {
        return Err(item.error(
            "is cron, which has no end",
            "hours are windows such as `Mon-Fri 09:00-19:00`",
        ));
    }
    let is_date = |word: &Piece<'_>| {
        let mut parts = word.text().split('-');
        parts
            .next()
            .is_some_and(|year| year.len() == 4 && !year.contains(':'))
            && parts.count() == 2
    };
    match item.words().next().filter(is_date) {
        Some(date) => Err(date.error(
            "is a date",
            "hours are windows on days of the week such as `Mon-Fri 09:00-19:00`; to run on a date too, write the annotation extra, such as `2026-12-24 10:00-18:00`",
        )),
        None => Ok(()),
    }
}

/// The windows that begin on one day.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct DayWindows {
    /// The part of the windows on the day itself: sorted pairs of the first second and the second
    /// after the last, with at least one second between pairs.
    pub(crate) own: Box<[(u32, u32)]>,
    /// The second of the next day at which the longest window ends.
    pub(crate) tail: u32,
}

/// The coverage of one date: the windows from the day before, and those that begin.
pub(crate) struct DateCoverage<'a> {
    pub(crate) tail: u32,
    pub(crate) own: Cow<'a, [(u32, u32)]>,
}

impl DateCoverage<'_> {
    pub(crate) fn covers(&self, second: u32) -> bool {
        second < self.tail || self.own_window(second).is_some()
    }

    /// The covered seconds as sorted pairs of start and end.
    pub(crate) fn covered(&self) -> Vec<(u32, u32)> {
        let tail = (self.tail > 0).then_some((0, self.tail));
        let spans = tail.into_iter().chain(self.own.iter().copied());
        merge_spans(spans.collect(), |end, begin| begin <= end)
    }

    fn own_window(&self, second: u32) -> Option<(u32, u32)> {
        window_at(&self.own, second)
    }

    fn cover_state(&self, second: u32) -> CoverState {
        if self.covers(second) {
            CoverState::Covered
        } else {
            CoverState::Uncovered
        }
    }

    /// The nearest second from `from` on with this state.
    pub(crate) fn nearest(&self, from: u32, wanted: CoverState, toward: Toward) -> Option<u32> {
        if self.cover_state(from) == wanted {
            return Some(from);
        }
        match (toward, wanted) {
            (Toward::Later, CoverState::Covered) => {
                let at = self.own.partition_point(|&(_, to)| to <= from);
                self.own.get(at).map(|&(begin, _)| begin)
            }
            (Toward::Later, CoverState::Uncovered) => {
                let free = from.max(self.tail);
                let free = self.own_window(free).map_or(free, |(_, to)| to);
                (free < DAY).then_some(free)
            }
            (Toward::Earlier, CoverState::Covered) => {
                let at = self.own.partition_point(|&(begin, _)| begin <= from);
                let end = self.own.get(..at)?.last().map_or(0, |&(_, end)| end);
                end.max(self.tail).checked_sub(1)
            }
            (Toward::Earlier, CoverState::Uncovered) => {
                let free = match self.own_window(from) {
                    Some((begin, _)) => begin.checked_sub(1)?,
                    None => from,
                };
                (free >= self.tail).then_some(free)
            }
        }
    }
}

/// The window that contains a second; `windows` is sorted.
fn window_at(windows: &[(u32, u32)], second: u32) -> Option<(u32, u32)> {
    let at = windows.partition_point(|&(_, to)| to <= second);
    let window = windows.get(at).copied();
    window.filter(|&(from, _)| from <= second)
}

impl DayWindows {
    /// Whether a window covers this second of the day on which it begins.
    pub(crate) fn covers(&self, second: u32) -> bool {
        window_at(&self.own, second).is_some()
    }

    /// The union of both sets of windows.
    pub(crate) fn with(&self, other: &Self) -> Self {
        let own = [&*self.own, &*other.own].concat();
        let tail = self.tail.max(other.tail);
        Self {
            tail,
            ..Self::new(own)
        }
    }

    /// `windows` are in seconds from midnight, and end after 24:00 if they reach the next day.
    pub(crate) fn new(windows: Vec<(u32, u32)>) -> Self {
        let tail = windows
            .iter()
            .map(|&(_, to)| to.saturating_sub(DAY))
            .max()
            .unwrap_or_default();
        Self {
            own: merge_spans(windows, |end, begin| begin <= end)
                .into_iter()
                .map(|(from, to)| (from, to.min(DAY)))
                .collect(),
            tail,
        }
    }
}

/// Finds the days that are not covered from midnight to midnight.
///
/// All windows that begin on the same days form a group: first the groups of the weekdays from
/// Monday, then those of the days within the month. For each time of day, a bit set contains the
/// groups that cover it.
struct UncoveredDays<'h> {
    hours: &'h Hours,
    dates: Dates<'h>,
    /// For each time of day, the groups that cover it if they begin on the day itself, and those
    /// that cover it if they began on the day before. One of them is required.
    requirements: Vec<(u64, u64)>,
    /// The uncovered dates for each [layout](Month::layout) without treated dates.
    known: Vec<Option<u64>>,
}

impl<'h> UncoveredDays<'h> {
    fn new(hours: &'h Hours, dates: Dates<'h>) -> Self {
        let groups = || hours.groups();
        let edges = |day: &'h DayWindows| {
            let own = day.own.iter().flat_map(|&(from, to)| [from, to]);
            own.chain([0, day.tail])
        };
        let mut times: Vec<u32> = groups().flat_map(edges).collect();
        times.sort_unstable();
        times.dedup();
        let covering = |covers: &dyn Fn(&DayWindows) -> bool| {
            let bits = (0..).zip(groups()).filter(|(_, day)| covers(day));
            bits.fold(0, |all, (bit, _): (u32, _)| all | 1 << bit)
        };
        let times = times.into_iter().filter(|time| *time < DAY);
        let need = |time| {
            let own = covering(&|day| day.covers(time));
            (own, covering(&|day| time < day.tail))
        };
        let mut requirements: Vec<_> = times.map(need).collect();
        requirements.sort_unstable();
        requirements.dedup();
        Self {
            hours,
            dates,
            requirements,
            known: vec![None; LAYOUTS],
        }
    }

    /// The dates of a page that might be uncovered: those that are uncovered without exclusions, the
    /// excluded dates, and the dates after them.
    fn days_in(&mut self, page: &Page) -> u64 {
        let excluded = self.dates.except.days_in(&page.month);
        let excluded = match excluded {
            0 if self.dates.except.range_of(page.month.first - 1).is_none() => 0,
            _ => excluded | excluded << 1 | FIRST_DAY,
        };
        excluded & page.month.days() | self.without_excluded(page)
    }

    fn without_excluded(&mut self, page: &Page) -> u64 {
        let before = page.month.previous().map(|month| self.dates.page(month));
        if page.is_treated() || before.as_ref().is_some_and(Page::is_treated) {
            // If all dates of both months count as the same weekday, which can last for years, one
            // check is enough.
            let weekday = page.only_weekday();
            let is_same = weekday == before.as_ref().and_then(Page::only_weekday);
            return match weekday.filter(|_| is_same) {
                Some(weekday) if self.is_always_covered(weekday) => 0,
                _ => self.compute(page, before.as_ref()),
            };
        }
        let layout = page.month.layout();
        if let Some(Some(known)) = self.known.get(layout) {
            return *known;
        }
        let days = self.compute(page, before.as_ref());
        self.known
            .get_mut(layout)
            .into_iter()
            .for_each(|known| *known = Some(days));
        days
    }

    /// Whether a day is covered from midnight to midnight if it and the day before count as this
    /// weekday.
    fn is_always_covered(&self, weekday: usize) -> bool {
        let mut requirements = self.requirements.iter();
        requirements.all(|(own, tails)| (own | tails) >> weekday & 1 == 1)
    }

    /// The uncovered dates, if none are excluded.
    fn compute(&self, page: &Page, before: Option<&Page>) -> u64 {
        let begun = self.start_days(page);
        let last = before.map(|before| (self.start_days(before), before.month.length));
        let tail = |group: usize| {
            let last = last.as_ref().and_then(|(days, length)| {
                let days = days.get(group)?;
                Some(days >> length & 1)
            });
            let own = begun.get(group).copied().unwrap_or_default();
            own << 1 | last.unwrap_or_default() << 1
        };
        let tails: [u64; MAX_GROUPS] = std::array::from_fn(tail);
        let requirements = self.requirements.iter();
        let covered = requirements.map(|(own, last)| union(*own, &begun) | union(*last, &tails));
        !covered.fold(u64::MAX, |all, days| all & days) & page.month.days()
    }

    /// The dates of a page on which each group of windows begins.
    fn start_days(&self, page: &Page) -> [u64; MAX_GROUPS] {
        let mut days = [0; MAX_GROUPS];
        let weekly = (0..7).map(|day: u32| page.on_weekdays(1 << day));
        let monthly = self.hours.monthly.iter();
        let monthly = monthly.map(|(days, _)| days.days_in(&page.month));
        for (known, days) in days.iter_mut().zip(weekly.chain(monthly)) {
            *known = days;
        }
        days
    }
}

/// The number of weekdays and of days within the month, rounded up to the bits of a set of groups.
const MAX_GROUPS: usize = 64;

/// The dates of all these groups.
fn union(groups: u64, days: &[u64; MAX_GROUPS]) -> u64 {
    let (mut rest, mut all) = (groups, 0);
    while rest != 0 {
        all |= days.get(rest.trailing_zeros() as usize).unwrap_or(&0);
        rest &= rest - 1;
    }
    all
}

#[cfg(test)]
mod tests {
    use chrono::DateTime;

    use super::*;
    use crate::{ExcludedDates, TreatedDates};

    /// The changes from Monday 2026-11-23 00:00 on: `+` when windows begin, `-` when they end.
    fn changes(text: &str, except: &str, count: usize) -> Vec<String> {
        let hours = Hours::parse(text).unwrap();
        let except = match except {
            "" => ExcludedDates::default(),
            dates => ExcludedDates::parse(dates).unwrap(),
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
            let sign = if hours.contains(next, dates) {
                '+'
            } else {
                '-'
            };
            let time = DateTime::from_timestamp(next.0, 0).unwrap();
            changes.push(format!("{sign}{}", time.format("%a %d %H:%M")));
            local = next;
        }
        // A search that begins long after the last change should find it too.
        if !changes.is_empty() && hours.next_change(local, dates).is_none() {
            let later = Local(local.0 + 100 * 86_400);
            assert_eq!(hours.last_change(later, dates), Some(local), "{text}");
        }
        changes
    }

    #[test]
    fn unites_overlapping_and_touching_windows() {
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

    /// A search visits the months, but none of their days.
    #[test]
    fn long_ranges_of_treated_dates_are_skipped_by_the_month() {
        let treated = TreatedDates::parse("1970-01-01..2199-12-31 = Sun").unwrap();
        let dates = Dates {
            except: &ExcludedDates::default(),
            treated: &treated,
        };
        let first = Month::containing(0).map(|(month, _)| month);
        let months: Vec<Month> = std::iter::successors(first, Month::next).collect();
        assert_eq!(months.len(), 230 * 12);
        let visited = |days: &mut dyn FnMut(&Page) -> u64| {
            let pages = months.iter().map(|month| dates.page(*month));
            pages.map(|page| days(&page).count_ones()).sum::<u32>()
        };
        let weekdays = Hours::parse("Mon-Sat 09:00-18:00").unwrap();
        assert_eq!(visited(&mut |page| weekdays.covered_days(page, dates)), 0);
        let always = Hours::parse("daily 00:00-24:00").unwrap();
        let mut gaps = UncoveredDays::new(&always, dates);
        assert_eq!(visited(&mut |page| gaps.days_in(page)), 0);
    }

    #[test]
    fn drops_windows_of_excluded_dates_before_uniting() {
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

    #[test]
    fn error_points_at_the_invalid_part_of_a_window() {
        for (item, found, message) in [
            ("Mon-Fri 09:00", "09:00", "has no end; hours are windows"),
            ("Mon-Fri 09:00-", "09:00-", "has no end"),
            (
                "Mon-Fri",
                "Mon-Fri",
                "has no time of day; write for example `Mon-Fri 09:00-19:00`",
            ),
            ("09:00-09:00", "09:00-09:00", "a whole day is `00:00-24:00`"),
            ("00:00-00:00", "00:00-00:00", "a whole day is `00:00-24:00`"),
            ("24:00-09:00", "24:00", "midnight is `00:00`"),
            ("09:00-24:30", "24:30", "is out of range"),
            (
                "9-17",
                "9",
                "is not a time of day; write for example `09:00`",
            ),
            (
                "9am-5pm",
                "9am",
                "is not a time of day; write for example `09:00`",
            ),
            (
                "09:00-5pm",
                "5pm",
                "is not a time of day; write for example `09:00`",
            ),
            ("09:00–17:00", "–", "is not the plain `-`"),
            ("09:00 to 17:00", "09:00", "has no end"),
            ("09:00-17:00 Mon", "Mon", "comes after the time"),
            ("last 09:00-17:00", "last", "has no day after it"),
            ("first Mon,Tue 09:00-17:00", "first Mon,Tue", "mixes days"),
            ("Mön 09:00-17:00", "Mön", "is not a day"),
            ("0 9 * * 1-5", "0 9 * * 1-5", "is cron, which has no end"),
            ("0 9 1 1 1", "0 9 1 1 1", "is cron, which has no end"),
            ("@daily", "@daily", "is cron, which has no end"),
            (
                "2026-12-24 09:00-17:00",
                "2026-12-24",
                "is a date; hours are windows on days of the week such as `Mon-Fri 09:00-19:00`; to run on a date too, write the annotation extra, such as",
            ),
        ] {
            let text = format!("weekdays 10:00-11:00;\u{3000}{item} ; Sun 09:00-10:00");
            let error = parse_windows(&text).err().unwrap();
            let at = 24 + item.find(found).unwrap();
            assert_eq!(error.span(), at..at + found.len(), "{item}: {error}");
            assert!(error.to_string().contains(message), "{item}: {error}");
        }
        assert_eq!(parse_windows("09:00-10:00;").err().unwrap().span(), 11..12);
    }
}
