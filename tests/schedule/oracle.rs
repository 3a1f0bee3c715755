//! What the rules say, worked out the long way: every minute of a stretch of days is looked at,
//! with no code of the library.

use std::collections::{BTreeMap, BTreeSet};

use chrono::{DateTime, NaiveDate, NaiveDateTime, TimeDelta, Utc};
use chrono_tz::Tz;
use dayshift::schedule::{Action, Boundary};

use crate::texts::{Item, Window};

/// What the clocks of a zone showed, by watching them for some days.
pub(crate) struct Clocks {
    /// Each minute from the first to the last that was shown, those in a gap too, and when it
    /// happens.
    minutes: BTreeMap<NaiveDateTime, DateTime<Utc>>,
}

const MINUTE: TimeDelta = TimeDelta::minutes(1);

impl Clocks {
    pub(crate) fn watched(zone: Tz, from: DateTime<Utc>, until: DateTime<Utc>) -> Self {
        // A time that is shown twice happens the first time.
        let mut shown = BTreeMap::new();
        let mut at = from;
        while at < until {
            shown
                .entry(at.with_timezone(&zone).naive_local())
                .or_insert(at);
            at += MINUTE;
        }
        // One that is never shown happens at the end of the gap that it is in.
        let mut minutes = BTreeMap::new();
        let mut last: Option<NaiveDateTime> = None;
        for (&local, &at) in &shown {
            let mut skipped = last.map_or(local, |last| last + MINUTE);
            while skipped <= local {
                minutes.insert(skipped, at);
                skipped += MINUTE;
            }
            last = Some(local);
        }
        Self { minutes }
    }

    /// Starts and stops, without the starts on each of several sets of dates: at one instant the
    /// latest local time counts, and of two equal ones the start.
    pub(crate) fn of_times<const N: usize>(
        &self,
        start: &[Item],
        stop: &[Item],
        excepts: &[BTreeSet<NaiveDate>; N],
    ) -> [Vec<Boundary>; N] {
        let mut happens = [const { BTreeMap::new() }; N];
        for (&minute, &at) in &self.minutes {
            let stops = stop.iter().any(|item| item.holds(minute));
            let starts = start.iter().any(|item| item.holds(minute));
            if !stops && !starts {
                continue;
            }
            for (happens, except) in happens.iter_mut().zip(excepts) {
                // Minutes come in order, so that what is entered last counts.
                if stops {
                    happens.insert(at, Action::Stop);
                }
                if starts && !except.contains(&minute.date()) {
                    happens.insert(at, Action::Start);
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

    /// Hours: every instant that is in some window is painted, and the edges of the paint are the
    /// boundaries. What is near the ends of the watch is left out: a window may have begun before.
    pub(crate) fn of_hours(
        &self,
        windows: &[Window],
        except: &BTreeSet<NaiveDate>,
    ) -> Vec<Boundary> {
        let first = *self.minutes.first_key_value().unwrap().1;
        let last = *self.minutes.last_key_value().unwrap().1;
        let mut painted = BTreeSet::new();
        for (&minute, &begin) in &self.minutes {
            for window in windows.iter().filter(|window| window.begins(minute)) {
                if except.contains(&minute.date()) {
                    continue;
                }
                let end = self
                    .minutes
                    .get(&window.end(minute))
                    .copied()
                    .unwrap_or(last);
                let mut at = begin;
                while at < end {
                    painted.insert(at);
                    at += MINUTE;
                }
            }
        }
        let mut boundaries = BTreeSet::new();
        for &at in &painted {
            if !painted.contains(&(at - MINUTE)) {
                boundaries.insert(Boundary {
                    at,
                    action: Action::Start,
                });
            }
            if !painted.contains(&(at + MINUTE)) {
                boundaries.insert(Boundary {
                    at: at + MINUTE,
                    action: Action::Stop,
                });
            }
        }
        let known = first + TimeDelta::hours(26)..last - TimeDelta::hours(26);
        boundaries
            .into_iter()
            .filter(|it| known.contains(&it.at))
            .collect()
    }
}

/// The same with each start later by `delay`, but a second or more before the next stop.
pub(crate) fn moved(boundaries: &[Boundary], delay: TimeDelta) -> Vec<Boundary> {
    let moved: BTreeSet<_> = boundaries
        .iter()
        .map(|&boundary| {
            let mut stops = boundaries.iter().filter(|it| it.action == Action::Stop);
            let next_stop = stops.find(|it| it.at > boundary.at);
            match boundary.action {
                Action::Stop => boundary,
                Action::Start => {
                    let latest = next_stop.map(|stop| stop.at - TimeDelta::seconds(1));
                    let at = boundary.at + delay;
                    Boundary {
                        at: latest.map_or(at, |latest| at.min(latest)),
                        ..boundary
                    }
                }
            }
        })
        .collect();
    moved.into_iter().collect()
}
