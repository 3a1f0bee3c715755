//! A naive model of schedules that checks every minute of some days and shares no code with the
//! library.

use std::collections::{BTreeMap, BTreeSet};

use chrono::{DateTime, Datelike as _, NaiveDate, NaiveDateTime, TimeDelta, Utc};
use chrono_tz::Tz;
use dayshift_schedule::{Action, Boundary};

use crate::texts::{Extra, Item, Window};

/// The local times that the clocks of a zone show during some days.
pub(crate) struct Clocks {
    from: DateTime<Utc>,
    until: DateTime<Utc>,
    /// Each local minute from the first to the last, including those in a DST gap, and the instant
    /// at which it happens.
    minutes: Vec<(NaiveDateTime, DateTime<Utc>)>,
    /// Dates that count as another weekday; 0 is Monday.
    treated: BTreeMap<NaiveDate, u32>,
    /// Whether each of `minutes` is in an additional window.
    extra: Vec<bool>,
}

const MINUTE: TimeDelta = TimeDelta::minutes(1);

impl Clocks {
    pub(crate) fn watched(zone: Tz, from: DateTime<Utc>, until: DateTime<Utc>) -> Self {
        // A time in a DST overlap happens the first time.
        let mut shown = BTreeMap::new();
        let mut at = from;
        while at < until {
            shown
                .entry(at.with_timezone(&zone).naive_local())
                .or_insert(at);
            at += MINUTE;
        }
        // A time in a DST gap happens at the end of the gap.
        let mut minutes = Vec::with_capacity(shown.len());
        let mut minute = *shown.first_key_value().unwrap().0;
        for (&local, &at) in &shown {
            while minute <= local {
                minutes.push((minute, at));
                minute += MINUTE;
            }
        }
        Self {
            from,
            until,
            extra: vec![false; minutes.len()],
            minutes,
            treated: BTreeMap::new(),
        }
    }

    /// Adds windows on dates.
    pub(crate) fn with_extra(mut self, extra: &[Extra]) -> Self {
        for (begin, &(minute, _)) in self.minutes.iter().enumerate() {
            for item in extra.iter().filter(|it| it.begins(minute)) {
                let length = (item.2.end(minute) - minute).num_minutes();
                let end = begin + usize::try_from(length).unwrap();
                let end = end.min(self.extra.len());
                self.extra[begin..end].fill(true);
            }
        }
        self
    }

    /// Makes some dates count as other weekdays.
    pub(crate) fn treating(self, treated: &BTreeMap<NaiveDate, u32>) -> Self {
        let treated = treated.clone();
        Self { treated, ..self }
    }

    fn weekday(&self, date: NaiveDate) -> u32 {
        let own = date.weekday().num_days_from_monday();
        self.treated.get(&date).copied().unwrap_or(own)
    }

    /// The instant of a local time, if it is in these days.
    fn instant(&self, local: NaiveDateTime) -> Option<DateTime<Utc>> {
        let nth = (local - self.minutes[0].0).num_minutes();
        self.minutes
            .get(usize::try_from(nth).ok()?)
            .map(|&(_, at)| at)
    }

    /// Starts and stops, for each of several sets of excluded dates.
    pub(crate) fn of_times<const N: usize>(
        &self,
        start: &[Item],
        stop: &[Item],
        excepts: &[BTreeSet<NaiveDate>; N],
    ) -> [Vec<Boundary>; N] {
        self.of_entries(&[(start, Action::Start), (stop, Action::Stop)], excepts)
    }

    /// Items and their actions, for each of several sets of excluded dates. If several local times
    /// map to one instant, the latest applies; if they are equal, a start or the larger count
    /// applies.
    pub(crate) fn of_entries<const N: usize>(
        &self,
        entries: &[(&[Item], Action)],
        excepts: &[BTreeSet<NaiveDate>; N],
    ) -> [Vec<Boundary>; N] {
        let strength = |action: Action| match action {
            Action::Stop => (0, 0),
            Action::Scale(count) => (0, count),
            Action::Start => (1, 0),
        };
        let mut happens = [const { BTreeMap::new() }; N];
        for (nth, &(minute, at)) in self.minutes.iter().enumerate() {
            let is_extra = [nth > 0 && self.extra[nth - 1], self.extra[nth]];
            let edge = match is_extra {
                [false, true] => Some(Action::Start),
                [true, false] => Some(Action::Stop),
                _ => None,
            };
            let weekday = self.weekday(minute.date());
            let matches = |(items, _): &&(&[Item], Action)| {
                items.iter().any(|it| it.matches(minute, weekday))
            };
            let actions: Vec<_> = entries.iter().filter(matches).map(|it| it.1).collect();
            for (happens, except) in happens.iter_mut().zip(excepts) {
                let is_out = except.contains(&minute.date());
                let left = actions.iter().filter(|it| !(is_out && is_up(**it)));
                let left = left.chain(&edge);
                // Minutes are in order, so the last one inserted applies.
                if let Some(winner) = left.max_by_key(|it| strength(**it)) {
                    happens.insert(at, *winner);
                }
            }
        }
        happens.map(|happens| {
            happens
                .into_iter()
                .map(|(at, action)| Boundary { at, action })
                .collect()
        })
    }

    /// Hours: marks each instant within a window, and takes the edges as boundaries. Instants near
    /// the ends are ignored, because a window might have begun before.
    pub(crate) fn of_hours(
        &self,
        windows: &[Window],
        except: &BTreeSet<NaiveDate>,
    ) -> Vec<Boundary> {
        let nth = |at: DateTime<Utc>| usize::try_from((at - self.from).num_minutes()).unwrap();
        let mut painted = vec![false; nth(self.until)];
        for (at, &(minute, begin)) in self.minutes.iter().enumerate() {
            let weekday = self.weekday(minute.date());
            if self.extra[at] {
                let end = self.instant(minute + MINUTE).unwrap_or(self.until);
                painted[nth(begin)..nth(end)].fill(true);
            }
            for window in windows.iter().filter(|it| it.begins(minute, weekday)) {
                if !except.contains(&minute.date()) {
                    let end = self.instant(window.end(minute)).unwrap_or(self.until);
                    painted[nth(begin)..nth(end)].fill(true);
                }
            }
        }
        let mut boundaries = Vec::new();
        let mut at = self.from;
        for pair in painted.windows(2) {
            at += MINUTE;
            match pair {
                [false, true] => boundaries.push(Boundary {
                    at,
                    action: Action::Start,
                }),
                [true, false] => boundaries.push(Boundary {
                    at,
                    action: Action::Stop,
                }),
                _ => {}
            }
        }
        let unknown = TimeDelta::hours(26);
        boundaries.retain(|it| self.from + unknown <= it.at && it.at < self.until - unknown);
        boundaries
    }
}

/// Whether something runs after the action.
fn is_up(action: Action) -> bool {
    !matches!(action, Action::Stop | Action::Scale(0))
}

/// Delays actions that go up by `delay`, but at least one second before the next stop. If several
/// wait for the same stop, the last applies.
pub(crate) fn moved(boundaries: &[Boundary], delay: TimeDelta) -> Vec<Boundary> {
    let mut moved = BTreeMap::new();
    for boundary in boundaries {
        let mut stops = boundaries.iter().filter(|it| !is_up(it.action));
        let next_stop = stops.find(|it| it.at > boundary.at);
        let latest = next_stop.map(|stop| stop.at - TimeDelta::seconds(1));
        let at = if is_up(boundary.action) {
            let at = boundary.at + delay;
            latest.map_or(at, |latest| at.min(latest))
        } else {
            boundary.at
        };
        moved.insert(at, boundary.action);
    }
    let boundary = |(at, action)| Boundary { at, action };
    moved.into_iter().map(boundary).collect()
}
