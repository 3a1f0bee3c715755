//! Actions at times, and the search among them: which action applies if several coincide, and when
//! the next stop is that does not coincide with a start.

use std::fmt;

use crate::{
    dates::Dates,
    extra::ExtraWindows,
    local::{HOUR, Local},
    month::Toward,
    search::{ExcludedTimes, Search},
    times::{HourSeconds, Times},
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
