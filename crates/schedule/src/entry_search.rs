//! The local times of entries, and which of them count where several are one time.

use super::boundary::Action;
use super::days::dates::Dates;
use super::days::page::PageDate;
use super::entry::Entry;
use super::search::{HOUR, HourSeconds, Search, earlier};
use super::times::Times;
use super::zone::local::{DAY, Local};

/// The entries of a schedule. What brings something up is not on excepted dates, and wins over what
/// brings everything down at the same time.
#[derive(Clone, Copy)]
pub(super) struct EntrySearch<'s> {
    pub(super) entries: &'s [Entry],
    pub(super) dates: Dates<'s>,
}

/// After this long every date has fallen on every day of the week, 29 February too.
const CYCLE: i64 = 40 * 366 * DAY;

/// How many hours, each once for each item of the lists, are searched for a stop that is not the
/// time of a start as well.
const MAX_STEPS: usize = 1_000_000;

impl<'s> EntrySearch<'s> {
    /// The times of the entries that bring something up, or of those that do not.
    pub(super) fn times(
        self,
        brings_up: bool,
    ) -> Search<'s, impl Iterator<Item = &'s Times> + Clone> {
        let entries = self.entries_that(brings_up).map(|it| &it.times);
        Search::new(entries, self.dates, brings_up)
    }

    /// What happens at one of those times. Of several counts the largest wins.
    pub(super) fn action(self, brings_up: bool, at: Local) -> Option<Action> {
        let mut entries = self.entries_that(brings_up).map(|it| it.action);
        if let (Some(only), None) = (entries.next(), entries.next()) {
            return Some(only);
        }
        let date = PageDate::of(at.day(), self.dates)?;
        let entries = self.entries_that(brings_up);
        let at = entries.filter(|it| it.times.holds(&date, at));
        at.map(|it| it.action).max_by_key(|it| it.rank())
    }

    /// The last time at or before `local`, and what happens at it.
    pub(super) fn latest(self, local: Local) -> Option<(Local, Action)> {
        let up = self.times(true).previous(local);
        let down = self.times(false).previous(local);
        let latest = up.max(down)?;
        Some((latest, self.action(up == Some(latest), latest)?))
    }

    /// The first time in `(after, to]` that brings everything down and nothing up. The two are at
    /// most some hours apart.
    pub(super) fn first_stop(self, after: Local, to: Local) -> Option<Local> {
        let (up, down) = (self.times(true), self.times(false));
        let mut after = after;
        loop {
            let first = down.next(after).filter(|it| *it <= to)?;
            if !up.holds(first) {
                return Some(first);
            }
            // Any number of stops may coincide with starts: all of an hour are looked at together.
            let hour = hour_of(first);
            let found = self.stops_in(hour).find(|it| *it > first);
            if found.is_some() {
                return found.filter(|it| *it <= to);
            }
            after = Local(hour.0 + HOUR - 1);
        }
    }

    /// The last time in `(after, to]` that brings everything down and nothing up. The two are at
    /// most some hours apart.
    pub(super) fn last_stop(self, after: Local, to: Local) -> Option<Local> {
        let (up, down) = (self.times(true), self.times(false));
        let mut to = to;
        loop {
            let last = down.previous(to).filter(|it| *it > after)?;
            if !up.holds(last) {
                return Some(last);
            }
            let hour = hour_of(last);
            let found = self.stops_in(hour).take_while(|it| *it < last).last();
            if found.is_some() {
                return found.filter(|it| *it > after);
            }
            to = hour.before();
        }
    }

    /// The first time after `after` that brings everything down and nothing up, however far away.
    /// Of hundreds of times that coincide for years it may say `None`.
    pub(super) fn next_stop(self, after: Local) -> Option<Local> {
        let (up, down) = (self.times(true), self.times(false));
        let items: usize = self.entries.iter().map(|it| it.times.items()).sum();
        // Moments and treated dates are no part of the cycle.
        let moments = self.entries.iter().filter_map(|it| it.times.last_moment());
        let treated = self.dates.treated.last_day().map(|day| Local::on(day, 0));
        let irregular = moments.chain(treated).max().unwrap_or(after);
        let until = Local(after.max(irregular).0 + CYCLE);
        let mut local = after;
        for _ in 0..MAX_STEPS / items.max(1) {
            let first = down.next(local)?;
            if !up.holds(first) {
                return Some(first);
            }
            let hour = hour_of(first);
            let found = self.stops_in(hour).find(|it| *it > first);
            if found.is_some() {
                return found;
            }
            local = Local(hour.0 + HOUR - 1);
            if local > until {
                // Nothing starts on an excepted date, so that any stop on it counts.
                let day = self.dates.except.next_from(local.day())?;
                local = local.max(Local::on(day, 0).before());
            }
        }
        None
    }

    /// The first time in `(after, to]` that several of the entries have, and what they say: first what
    /// wins.
    pub(super) fn first_tie(self, after: Local, to: Local) -> Option<(Local, Vec<Action>)> {
        let (up, down) = (self.times(true), self.times(false));
        let mut after = after;
        loop {
            let first = earlier(up.next(after), down.next(after)).filter(|it| *it <= to)?;
            let hour = hour_of(first);
            let (mut once, mut twice) = ([0; 60], [0; 60]);
            for entry in self.entries {
                let seconds = self.times_of(entry).seconds_of_hour(hour);
                for (minute, (once, twice)) in seconds.iter().zip(once.iter_mut().zip(&mut twice)) {
                    *twice |= *once & minute;
                    *once |= minute;
                }
            }
            if let Some(tie) = times_in(hour, twice).find(|it| *it > after) {
                return (tie <= to).then(|| (tie, self.actions_at(tie)));
            }
            after = Local(hour.0 + HOUR - 1);
        }
    }

    /// Whether on a date the same happens at the same times with other dates.
    pub(super) fn is_same_on(self, day: i32, dates: Dates<'s>) -> bool {
        let other = Self { dates, ..self };
        (0..24).all(|hour| {
            let hour = Local::on(day, hour * 3600);
            self.counted_in(hour) == other.counted_in(hour)
        })
    }

    /// The seconds of a local hour at which each entry counts, from the highest rank down.
    fn counted_in(self, hour: Local) -> Vec<HourSeconds> {
        let mut entries: Vec<_> = self.entries.iter().collect();
        entries.sort_by_key(|it| std::cmp::Reverse(it.action.rank()));
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
        let entries = entries.filter(|entry| self.times_of(entry).holds(local));
        let mut actions: Vec<_> = entries.map(|entry| entry.action).collect();
        actions.sort_by_key(|it| std::cmp::Reverse(it.rank()));
        actions
    }

    fn times_of(self, entry: &'s Entry) -> Search<'s, std::iter::Once<&'s Times>> {
        let times = std::iter::once(&entry.times);
        Search::new(times, self.dates, entry.action.brings_up())
    }

    /// The times in the local hour from `hour` on that bring everything down and nothing up.
    fn stops_in(self, hour: Local) -> impl Iterator<Item = Local> {
        let mut alone = self.times(false).seconds_of_hour(hour);
        let up = self.times(true).seconds_of_hour(hour);
        alone
            .iter_mut()
            .zip(up)
            .for_each(|(alone, up)| *alone &= !up);
        times_in(hour, alone)
    }

    fn entries_that(self, bring_up: bool) -> impl Iterator<Item = &'s Entry> + Clone {
        let entries = self.entries.iter();
        entries.filter(move |it| it.action.brings_up() == bring_up)
    }
}

/// The seconds of an hour as times.
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

/// The beginning of the hour of a local time.
fn hour_of(local: Local) -> Local {
    Local(local.0 - local.0.rem_euclid(HOUR))
}
