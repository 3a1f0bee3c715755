//! Actions at times, the `scale` annotation (`Mon-Fri 08:00 = 5; 19:00 = 0`), and the search among
//! actions: which one applies if several coincide, and when the next stop is that does not coincide
//! with a start.
//!
//! Two different counts at one time are rejected if the text shows it; see [`Ties`] for the
//! limits.

use std::{collections::HashMap, fmt};

use dayshift_text::number;

use crate::{
    cron::Cron,
    dates::Dates,
    days::MonthDays,
    extra::ExtraWindows,
    local::{DAY, HOUR, Local},
    month::Toward,
    search::{ExcludedTimes, Search},
    text::{Diagnostic, Grammar, Piece},
    times::{HourSeconds, Times, TimesItems},
};

/// The action of a schedule at a boundary.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Action {
    /// Starts the workload.
    Start,
    /// Stops the workload.
    Stop,
    /// Sets exactly this many replicas.
    Scale(u32),
}

impl Action {
    /// Whether something runs afterwards. Jitter delays only such actions, and excluded dates drop
    /// only such actions.
    pub const fn is_up(self) -> bool {
        !matches!(self, Self::Stop | Self::Scale(0))
    }

    /// Whether something runs afterwards, as a direction.
    pub const fn direction(self) -> Direction {
        if self.is_up() {
            Direction::Up
        } else {
            Direction::Down
        }
    }

    /// The count of a `Scale`.
    pub const fn count(self) -> Option<u32> {
        match self {
            Self::Scale(count) => Some(count),
            Self::Start | Self::Stop => None,
        }
    }

    /// `start`, `stop` or `scale`, without a count.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Start => "start",
            Self::Stop => "stop",
            Self::Scale(_) => "scale",
        }
    }

    /// The action on this many replicas: `scale from 10 to 5`, or else the same as [`Display`](fmt::Display).
    pub fn text_from(self, current: u32) -> String {
        match self {
            Self::Scale(count) if count != current => format!("scale from {current} to {count}"),
            _ => self.to_string(),
        }
    }

    /// If actions coincide, the highest rank applies.
    const fn rank(self) -> u64 {
        match self {
            Self::Start => u64::MAX,
            Self::Stop => 0,
            Self::Scale(count) => count as u64,
        }
    }
}

impl fmt::Display for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Scale(count) => f.pad(&format!("scale to {count}")),
            Self::Start | Self::Stop => f.pad(self.name()),
        }
    }
}

/// Whether something runs after an action.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Direction {
    /// A start, or a count above 0.
    Up,
    /// A stop, or the count 0.
    Down,
}

impl Direction {
    /// The other direction.
    #[must_use]
    pub const fn opposite(self) -> Self {
        match self {
            Self::Up => Self::Down,
            Self::Down => Self::Up,
        }
    }
}

/// A list of times with the action at each of them.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TimedAction {
    /// The local times.
    pub times: Times,
    /// The action at each of the times.
    pub action: Action,
}

/// Excluded dates drop only actions that go up.
const fn excluded_times(direction: Direction) -> ExcludedTimes {
    match direction {
        Direction::Up => ExcludedTimes::Skipped,
        Direction::Down => ExcludedTimes::Kept,
    }
}

/// Searches the actions of a schedule. Actions that go up do not happen on excluded dates, and
/// take precedence over actions that go down.
#[derive(Clone, Copy)]
pub(super) struct ActionSearch<'s> {
    pub(super) entries: &'s [TimedAction],
    pub(super) dates: Dates<'s>,
    /// Each window starts and stops, even on excluded dates.
    pub(super) extra: &'s ExtraWindows,
}

/// The maximum number of hours to check in [`ActionSearch::next_stop`], divided by the number of
/// items.
const MAX_HOURS: usize = 1_000_000;

impl<'s> ActionSearch<'s> {
    /// The nearest time from `local` on of the actions with this direction.
    pub(super) fn nearest_going(
        self,
        direction: Direction,
        local: Local,
        toward: Toward,
    ) -> Option<Local> {
        let time = self.times(direction).nearest(local, toward);
        let extra = self.nearest_extra(direction, local, toward);
        toward.nearest(time.into_iter().chain(extra))
    }

    /// The times of the actions with this direction, without additional windows.
    fn times(self, direction: Direction) -> Search<'s, impl Iterator<Item = &'s Times> + Clone> {
        let entries = self.actions_going(direction).map(|entry| &entry.times);
        Search::new(entries, self.dates, excluded_times(direction))
    }

    /// The nearest time from `local` on, and its action.
    pub(super) fn nearest(self, local: Local, toward: Toward) -> Option<(Local, Action)> {
        let up = self.nearest_going(Direction::Up, local, toward);
        let down = self.nearest_going(Direction::Down, local, toward);
        let nearest = toward.nearest(up.into_iter().chain(down))?;
        let direction = if up == Some(nearest) {
            Direction::Up
        } else {
            Direction::Down
        };
        Some((nearest, self.action(direction, nearest)?))
    }

    /// The action at one of these times. If several counts coincide, the largest applies.
    fn action(self, direction: Direction, at: Local) -> Option<Action> {
        if self.is_extra(direction, at) {
            return Some(match direction {
                Direction::Up => Action::Start,
                Direction::Down => Action::Stop,
            });
        }
        let mut entries = self.actions_going(direction).map(|entry| entry.action);
        if let (Some(only), None) = (entries.next(), entries.next()) {
            return Some(only);
        }
        let date = self.dates.date(at.day())?;
        let entries = self.actions_going(direction);
        let at = entries.filter(|entry| entry.times.contains(&date, at));
        at.map(|entry| entry.action)
            .max_by_key(|action| action.rank())
    }

    fn nearest_extra(self, direction: Direction, local: Local, toward: Toward) -> Option<Local> {
        match direction {
            Direction::Up => self.extra.nearest_start(local, toward),
            Direction::Down => self.extra.nearest_end(local, toward),
        }
    }

    /// Whether an additional window starts (up) or ends (down) at a time.
    fn is_extra(self, direction: Direction, at: Local) -> bool {
        self.nearest_extra(direction, at, Toward::Later) == Some(at)
    }

    /// The times in `(after, to]` that have an action down and none up. The cost depends on the
    /// number of hours, not on how many times coincide.
    pub(super) fn stops_between(self, after: Local, to: Local) -> impl Iterator<Item = Local> {
        let hours = (after.after().hour().0..=to.0).step_by(HOUR as usize);
        hours
            .flat_map(move |hour| self.stops_in(Local(hour)))
            .filter(move |time| after < *time && *time <= to)
    }

    /// The first time after `after` that has an action down and none up, however far away. If
    /// hundreds of thousands of hours have only stops that coincide with starts, the result might be
    /// `None` although there is one.
    pub(super) fn next_stop(self, after: Local) -> Option<Local> {
        let up = self.times(Direction::Up);
        let items: usize = self.entries.iter().map(|entry| entry.times.items()).sum();
        let mut after = after;
        for _ in 0..MAX_HOURS / items.max(1) {
            let first = self.nearest_going(Direction::Down, after.after(), Toward::Later)?;
            if !up.contains(first) && !self.is_extra(Direction::Up, first) {
                return Some(first);
            }
            after = Local(first.hour().0 + i64::from(HOUR) - 1);
            let found = self.stops_between(first, after).next();
            if found.is_some() {
                return found;
            }
        }
        None
    }

    /// The first time in `(after, to]` at which several actions coincide, and the actions in
    /// descending order of precedence.
    pub(super) fn first_tie(self, after: Local, to: Local) -> Option<(Local, Vec<Action>)> {
        let mut after = after;
        loop {
            let (first, _) = self.nearest(after.after(), Toward::Later)?;
            if first > to {
                return None;
            }
            let hour = first.hour();
            let (mut once, mut twice) = ([0; 60], [0; 60]);
            for entry in self.entries {
                let seconds = self.times_of(entry).seconds_of_hour(hour);
                for (minute, (once, twice)) in seconds.iter().zip(once.iter_mut().zip(&mut twice)) {
                    *twice |= *once & minute;
                    *once |= minute;
                }
            }
            if let Some(tie) = times_in(hour, twice).find(|time| *time > after) {
                return (tie <= to).then(|| (tie, self.actions_at(tie)));
            }
            after = Local(hour.0 + i64::from(HOUR) - 1);
        }
    }

    /// Whether the same actions happen on a day with other excluded or treated dates.
    pub(super) fn is_same_on(self, day: i32, dates: Dates<'s>) -> bool {
        let other = Self { dates, ..self };
        (0..24).all(|hour| {
            let hour = Local::on(day, hour * HOUR);
            self.counted_in(hour) == other.counted_in(hour)
        })
    }

    /// The seconds of a local hour at which each action applies, from the highest rank down.
    fn counted_in(self, hour: Local) -> Vec<HourSeconds> {
        let mut entries: Vec<_> = self.entries.iter().collect();
        entries.sort_by_key(|entry| std::cmp::Reverse(entry.action.rank()));
        let mut taken = [0; 60];
        let counted = entries.into_iter().map(|entry| {
            let mut own = self.times_of(entry).seconds_of_hour(hour);
            for (own, taken) in own.iter_mut().zip(&mut taken) {
                *own &= !*taken;
                *taken |= *own;
            }
            own
        });
        counted.collect()
    }

    fn actions_at(self, local: Local) -> Vec<Action> {
        let entries = self.entries.iter();
        let entries = entries.filter(|entry| self.times_of(entry).contains(local));
        let mut actions: Vec<_> = entries.map(|entry| entry.action).collect();
        actions.sort_by_key(|action| std::cmp::Reverse(action.rank()));
        actions
    }

    fn times_of(self, entry: &'s TimedAction) -> Search<'s, std::iter::Once<&'s Times>> {
        let times = std::iter::once(&entry.times);
        Search::new(times, self.dates, excluded_times(entry.action.direction()))
    }

    /// The times in the local hour that begins at `hour` that have an action down and none up.
    fn stops_in(self, hour: Local) -> impl Iterator<Item = Local> {
        let mut alone = self.seconds_of_hour(Direction::Down, hour);
        let up = self.seconds_of_hour(Direction::Up, hour);
        alone
            .iter_mut()
            .zip(up)
            .for_each(|(alone, up)| *alone &= !up);
        times_in(hour, alone)
    }

    fn seconds_of_hour(self, direction: Direction, hour: Local) -> HourSeconds {
        let mut seconds = self.times(direction).seconds_of_hour(hour);
        let mut from = hour;
        while let Some(edge) = self.nearest_extra(direction, from, Toward::Later)
            && edge.hour() == hour
        {
            if let Some(minute) = seconds.get_mut((edge.second() / 60 % 60) as usize) {
                *minute |= 1 << (edge.second() % 60);
            }
            from = edge.after();
        }
        seconds
    }

    fn actions_going(self, direction: Direction) -> impl Iterator<Item = &'s TimedAction> + Clone {
        let entries = self.entries.iter();
        entries.filter(move |entry| entry.action.direction() == direction)
    }
}

/// The times of a set of seconds.
fn times_in(hour: Local, seconds: HourSeconds) -> impl Iterator<Item = Local> {
    let minutes = (0..).zip(seconds);
    minutes.flat_map(move |(minute, mut rest)| {
        std::iter::from_fn(move || {
            let second = (rest != 0).then(|| rest.trailing_zeros())?;
            rest &= rest - 1;
            Some(Local(hour.0 + 60 * minute + i64::from(second)))
        })
    })
}

const EXAMPLE: &str = "Mon-Fri 08:00 = 5; 19:00 = 0";

/// The maximum of `spec.replicas`, an int32.
const MAX_COUNT: u32 = i32::MAX as u32;

/// Parses steps separated by `;`. A step is a time as in [`Times::parse`], `=` and a count. Steps
/// with the same count are merged, in the order in which the counts first occur.
///
/// # Errors
/// A step has no time, no `=` or no count from 0 to 2147483647, a date never occurs, or the text
/// shows that two steps set different counts at one time. The span is in bytes of the text.
///
/// ```
/// use dayshift_schedule::{Action, parse_scale};
///
/// let steps = parse_scale("Mon-Fri 08:00 = 5; 12:00 = 10; 0 22 * * * = 0").unwrap();
/// let actions: Vec<_> = steps.iter().map(|step| step.action).collect();
/// assert_eq!(actions, [Action::Scale(5), Action::Scale(10), Action::Scale(0)]);
/// ```
pub fn parse_scale(text: &str) -> Result<Box<[TimedAction]>, Diagnostic> {
    parse_steps(text).map_err(|error| error.in_grammar(Grammar::ScaleSteps, text))
}

fn parse_steps(text: &str) -> Result<Box<[TimedAction]>, Diagnostic> {
    let mut steps: Vec<(u32, TimesItems)> = Vec::new();
    let mut ties = Ties::default();
    for item in Piece::items(text, EXAMPLE)? {
        let item = item?;
        let Some((times, count)) = item.split_once("=") else {
            return Err(missing_count(item));
        };
        let (times, count) = (times.trim(), count.trim());
        if times.text().is_empty() || count.text().is_empty() {
            return Err(missing_count(item));
        }
        // An error in the time is more useful than one in the count.
        let mut of_item = TimesItems::default();
        of_item.add(times)?;
        let count = parse_count(count)?;
        let moment = ties.weekly_conflict(&of_item, count).map(format_moment);
        if let Some(other) = ties.add(&of_item, count) {
            let at = moment.map_or(String::new(), |moment| format!(" at {moment}"));
            return Err(times.error(
                format!("coincides{at} with a step that sets {other}"),
                "leave that time out of one of them, as in `Mon-Fri 12:00 = 10; Sat 12:00 = 2`",
            ));
        }
        match steps.iter_mut().find(|(known, _)| *known == count) {
            Some((_, known)) => known.append(of_item),
            None => steps.push((count, of_item)),
        }
    }
    let entry = |(count, times): (u32, TimesItems)| TimedAction {
        times: Times::from_items(times),
        action: Action::Scale(count),
    };
    Ok(steps.into_iter().map(entry).collect())
}

fn missing_count(step: Piece<'_>) -> Diagnostic {
    step.error(
        "has no count",
        "write for example `Mon-Fri 08:00 = 5`, and separate steps with `;`",
    )
}

fn parse_count(word: Piece<'_>) -> Result<u32, Diagnostic> {
    number(word.text())
        .filter(|count| *count <= MAX_COUNT)
        .ok_or_else(|| {
            word.error(
                "is not a number of replicas",
                "write a whole number, as in `Mon-Fri 08:00 = 5`",
            )
        })
}

/// Finds steps that set different counts at one time.
///
/// Two steps coincide if they share a time of day, and a weekday, a date of a month or a day
/// within the month. Steps that coincide only in some years are not found, for example the first
/// of a month and a Saturday.
#[derive(Default)]
struct Ties {
    /// Counts by seconds from Monday 00:00.
    weekly: HashMap<u32, u32>,
    /// Counts by day within the month and seconds from midnight.
    monthly: HashMap<(MonthDays, u32), u32>,
    date_times: HashMap<Local, u32>,
    crons: Vec<(Cron, u32)>,
}

impl Ties {
    /// Adds the times of a step. Returns another count that is already set at one of them.
    pub(crate) fn add(&mut self, times: &TimesItems, count: u32) -> Option<u32> {
        let mut others = None;
        let mut meet = |other: Option<u32>| {
            others = others.or(other.filter(|other| *other != count));
        };
        for second in &times.weekly {
            meet(self.weekly.insert(*second, count));
            let monthly = self.monthly.iter();
            let mut others_then = monthly
                .filter(|(day, _)| second_of_week(day) == Some(*second))
                .map(|(_, other)| *other);
            meet(others_then.find(|other| *other != count));
            meet(self.other_cron(count, |cron| matches_weekly(cron, *second)));
        }
        for second in times.weekly.iter().filter(|second| **second < DAY) {
            if self.daily(*second) == Some(count) {
                meet(self.other_cron(count, |cron| cron.contains_second(*second)));
            }
        }
        for (second, days) in &times.monthly {
            for day in days.each() {
                meet(self.monthly.insert((day, *second), count));
                if let Some(second) = second_of_week(&(day, *second)) {
                    meet(self.weekly.get(&second).copied());
                    meet(self.other_cron(count, |cron| matches_weekly(cron, second)));
                }
            }
        }
        for date_time in &times.date_times {
            meet(self.date_times.insert(*date_time, count));
        }
        for cron in &times.crons {
            meet(self.other_cron(count, |known| coincide(known, cron)));
            let monthly = self.monthly.iter();
            let monthly = monthly.filter_map(|(day, other)| Some((second_of_week(day)?, *other)));
            let weekly = self.weekly.iter().map(|(second, other)| (*second, *other));
            let mut known = weekly.chain(monthly);
            let other =
                known.find(|(second, other)| *other != count && matches_weekly(cron, *second));
            meet(other.map(|(_, other)| other));
            let mondays = self.weekly.keys().filter(|second| **second < DAY);
            let mut daily = mondays.filter(|second| cron.contains_second(**second));
            meet(daily.find_map(|second| self.daily(*second).filter(|other| *other != count)));
        }
        self.crons
            .extend(times.crons.iter().map(|cron| (*cron, count)));
        others
    }

    /// The first second from Monday 00:00 at which another count is set.
    fn weekly_conflict(&self, times: &TimesItems, count: u32) -> Option<u32> {
        let mut seconds = times.weekly.iter().copied();
        seconds.find(|second| self.weekly.get(second).is_some_and(|other| *other != count))
    }

    /// The count of the first matching cron expression with a different count.
    fn other_cron(&self, count: u32, matches: impl Fn(&Cron) -> bool) -> Option<u32> {
        let mut crons = self.crons.iter();
        let found = crons.find(|(cron, other)| *other != count && matches(cron));
        found.map(|(_, other)| *other)
    }

    /// The count at this second from midnight, if it is the same on all weekdays.
    fn daily(&self, second: u32) -> Option<u32> {
        let count = self.weekly.get(&second).copied();
        let mut days = (1..7).map(|day| self.weekly.get(&(day * DAY + second)).copied());
        count.filter(|_| days.all(|other| other == count))
    }
}

/// `Fri 19:00`, from seconds since Monday 00:00.
fn format_moment(second: u32) -> String {
    const DAYS: [&str; 7] = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];
    let day = DAYS[(second / DAY % 7) as usize];
    let (hour, minute) = (second % DAY / 3600, second / 60 % 60);
    format!("{day} {hour:02}:{minute:02}")
}

/// Seconds from Monday 00:00, if the day within the month is always the same weekday.
fn second_of_week((day, second): &(MonthDays, u32)) -> Option<u32> {
    let weekday = day.weekday()?;
    Some(weekday * DAY + second)
}

/// Whether an expression matches this second of every week, or of every week in some months.
fn matches_weekly(cron: &Cron, second: u32) -> bool {
    is_by_week(cron)
        && cron.weekdays() >> (second / DAY) & 1 == 1
        && cron.contains_second(second % DAY)
}

fn coincide(one: &Cron, other: &Cron) -> bool {
    let both = Cron {
        seconds: one.seconds & other.seconds,
        minutes: one.minutes & other.minutes,
        hours: one.hours & other.hours,
        days_of_month: one.days_of_month & other.days_of_month,
        months: one.months & other.months,
        days_of_week: one.days_of_week & other.days_of_week,
        either_day: false,
    };
    if both.seconds == 0 || both.minutes == 0 || both.hours == 0 || both.months == 0 {
        return false;
    }
    let by_week = is_by_week(one) && is_by_week(other) && both.days_of_week != 0;
    by_week || is_by_month(one) && is_by_month(other) && both.ever_occurs()
}

/// Whether the day of week is sufficient for a date to match.
fn is_by_week(cron: &Cron) -> bool {
    cron.either_day || cron.days_of_month == u64::from(u32::MAX) & !1
}

/// Whether the day of month is sufficient for a date to match.
fn is_by_month(cron: &Cron) -> bool {
    cron.either_day || cron.weekdays() == 0x7f
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_the_time_at_which_two_steps_coincide() {
        let error = parse_scale("Mon-Fri 19:00 = 0; Fri 19:00 = 2").unwrap_err();
        assert_eq!(
            error.message(),
            "`Fri 19:00` coincides at Fri 19:00 with a step that sets 0"
        );
    }

    #[test]
    fn parses_a_count_for_each_time() {
        for (text, expected) in [
            ("08:00 = 5", vec![("08:00", 5)]),
            (
                "Mon-Fri 08:00=5;19:00=0",
                vec![("Mon-Fri 08:00", 5), ("19:00", 0)],
            ),
            (
                "Mon 08:00 = 5; Tue 09:00 = 7; Wed 10:00 = 5",
                vec![("Mon 08:00; Wed 10:00", 5), ("Tue 09:00", 7)],
            ),
            (
                "0 9 * * 1-5 = 3; 2026-12-24 18:00 = 2147483647",
                vec![("0 9 * * 1-5", 3), ("2026-12-24 18:00", 2_147_483_647)],
            ),
        ] {
            let expected: Box<[TimedAction]> = expected
                .into_iter()
                .map(|(times, count)| TimedAction {
                    times: Times::parse(times).unwrap(),
                    action: Action::Scale(count),
                })
                .collect();
            assert_eq!(parse_scale(text).unwrap(), expected, "{text}");
        }
    }

    #[test]
    fn error_points_at_the_invalid_step() {
        for (item, found, message) in [
            (
                "08:00",
                "08:00",
                "has no count; write for example `Mon-Fri 08:00 = 5`",
            ),
            ("= 5", "= 5", "has no count"),
            ("08:00 =", "08:00 =", "has no count"),
            ("08:00 = five", "five", "is not a number of replicas"),
            ("08:00 = -1", "-1", "is not a number of replicas"),
            ("08:00 = 1.5", "1.5", "is not a number of replicas"),
            (
                "08:00 = 2147483648",
                "2147483648",
                "is not a number of replicas",
            ),
            ("08:00 = 5 = 6", "5 = 6", "is not a number of replicas"),
            (
                "08:00 = 5, 12:00 = 6",
                "5, 12:00 = 6",
                "is not a number of replicas",
            ),
            ("Mon-Fry 08:00 = x", "Fry", "is not a day"),
            ("08:00-19:00 = 5", "08:00-19:00", "is a window"),
        ] {
            let text = format!("07:00 = 1; {item} ;20:00 = 0");
            let error = parse_scale(&text).unwrap_err();
            assert_eq!(&text[error.span()], found, "{item}: {error}");
            assert!(error.to_string().contains(message), "{item}: {error}");
        }
        assert_eq!(parse_scale("08:00 = 5;").unwrap_err().span(), 9..10);
    }

    #[test]
    fn two_counts_at_one_time_are_rejected_if_the_text_shows_it() {
        for (first, second, refused) in [
            ("12:00", "Sat 12:00", true),
            ("Mon-Fri 12:00", "Sat 12:00", false),
            ("Mon 12:00", "Mon 11:59,12:00", true),
            ("2026-12-24 12:00", "2026-12-24 12:00", true),
            ("12:00", "2026-12-24 12:00", false),
            ("0 12 * * *", "Sat 12:00", true),
            ("0 12 * * 1-5", "Sat 12:00", false),
            ("0 12 1 * *", "12:00", true),
            ("0 12 1 * *", "Mon-Sat 12:00", false),
            ("0 12 1 * *", "0 12 * * *", true),
            ("0 12 1 * *", "0 12 * * Sat", false),
            ("0 12 1 * Sat", "0 12 * * Sat", true),
            ("0 12 1 * Mon", "0 12 1,2 3 *", true),
            ("0 12 1 1-6 *", "0 12 1 7-12 *", false),
            ("0 12 29 2 *", "0 12 29 2,4 *", true),
            ("0 12 30 2,3 *", "0 12 30 2,4 *", false),
            ("* 12 * * *", "30 12 * * *", true),
            ("0 0 12 * * *", "30 0 12 * * *", false),
            ("first Mon 12:00", "Mon 12:00", true),
            ("first Mon 12:00", "second Mon 12:00", false),
            ("first Mon,last day 12:00", "last day 12:00", true),
            ("last Fri 12:00", "0 12 * * 5", true),
            ("first day 12:00", "Mon 12:00", false),
        ] {
            for (first, second) in [(first, second), (second, first)] {
                let same = format!("{first} = 5; {second} = 5");
                assert!(parse_scale(&same).is_ok(), "{same}");
                let text = format!("{first} = 10; 03:33 = 1; {second} = 2");
                match parse_scale(&text) {
                    Ok(_) => assert!(!refused, "{text}"),
                    Err(error) => {
                        assert!(refused, "{text}: {error}");
                        assert_eq!(&text[error.span()], second, "{text}");
                        assert!(error.message().ends_with(" a step that sets 10"), "{error}");
                    }
                }
            }
        }
    }
}
