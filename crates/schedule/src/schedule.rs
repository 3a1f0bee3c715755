//! Schedules: a rule in a time zone with excluded and treated dates, and its boundaries.
//!
//! Searches go from day to day, and use a bit mask for each month to skip days without a time. So the
//! cost hardly depends on the number of boundaries that coincide or are excluded. Searches use whole
//! seconds of UTC, and map them to local time with the rules for clock changes in `crate::zone`.

use std::{collections::HashSet, fmt, hash::Hash, sync::Arc};

use chrono::{DateTime, NaiveDate, NaiveDateTime, TimeDelta, Utc};

use crate::{
    actions::{Action, ActionSearch, Direction, TimedAction},
    calendars::{Calendar, CalendarName},
    dates::{Dates, ExcludedDates, TreatedDates},
    extra::{ExtraWindows, Running},
    hours::Hours,
    local::{Local, day_number},
    month::Toward,
    times::Times,
    zone::Zone,
};

/// When to start and stop.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum ScheduleRule {
    /// Times with their actions.
    Times(Box<[TimedAction]>),
    /// Windows in which to run.
    Hours(Hours),
}

impl ScheduleRule {
    /// Starts and stops at times. One of the lists can be missing.
    pub fn start_and_stop(start: Option<Times>, stop: Option<Times>) -> Self {
        let entry = |action| move |times| TimedAction { times, action };
        let start = start.map(entry(Action::Start));
        let stop = stop.map(entry(Action::Stop));
        Self::Times(start.into_iter().chain(stop).collect())
    }

    /// `Start` or `Stop` if the schedule has no other action.
    fn only_action(&self) -> Option<Action> {
        let Self::Times(entries) = self else {
            return None;
        };
        match &**entries {
            [entry] if entry.action == Action::Start || entry.action == Action::Stop => {
                Some(entry.action)
            }
            _ => None,
        }
    }

    /// The largest count that a `scale` rule sets.
    pub fn largest_count(&self) -> Option<u32> {
        let Self::Times(entries) = self else {
            return None;
        };
        entries
            .iter()
            .filter_map(|entry| entry.action.count())
            .max()
    }
}

/// A time at which a schedule starts, stops or rescales a workload.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Boundary {
    /// In UTC, always a whole second.
    pub at: DateTime<Utc>,
    /// The action at that time.
    pub action: Action,
}

impl fmt::Display for Boundary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} at {}",
            self.action,
            self.at.format("%Y-%m-%dT%H:%M:%SZ")
        )
    }
}

/// A rule in a time zone, with excluded and treated dates. Its boundaries are in the years 1970 to
/// 2199.
///
/// Each query takes a `delay`, the share of the jitter for one workload: starts are delayed by it,
/// from zero to an hour in whole seconds. A delayed start stays before the next stop. Excluded
/// dates, and precedence when actions coincide, depend on the times without delay.
///
/// ```
/// use chrono::TimeDelta;
/// use dayshift_schedule::{Action, ExcludedDates, Hours, ScheduleRule, Schedule, Zone};
///
/// let hours = Hours::parse("Mon-Fri 09:00-19:00").unwrap();
/// let tokyo = Zone::parse("Asia/Tokyo").unwrap();
/// let schedule = Schedule::new(ScheduleRule::Hours(hours), ExcludedDates::default(), tokyo);
///
/// let friday_evening = "2026-11-20T20:00:00+09:00".parse().unwrap();
/// let next = schedule.next_after(friday_evening, TimeDelta::zero()).unwrap();
/// assert_eq!(next.action, Action::Start);
/// assert_eq!(next.at.to_rfc3339(), "2026-11-23T00:00:00+00:00");
/// assert_eq!(schedule.action_at(friday_evening, TimeDelta::zero()), Some(Action::Stop));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Schedule {
    rule: Arc<ScheduleRule>,
    except: Arc<ExcludedDates>,
    treated: Arc<TreatedDates>,
    extra: Arc<ExtraWindows>,
    zone: Zone,
}

/// The parts of schedules. Schedules that differ in other parts, or in the zone, can share them.
#[derive(Debug, Default)]
pub struct ScheduleParts {
    rules: Shared<ScheduleRule>,
    except: Shared<ExcludedDates>,
    treated: Shared<TreatedDates>,
    extra: Shared<ExtraWindows>,
}

impl ScheduleParts {
    /// Forgets the parts that no schedule has.
    pub fn remove_unused(&mut self) {
        self.rules.remove_unused();
        self.except.remove_unused();
        self.treated.remove_unused();
        self.extra.remove_unused();
    }
}

/// The maximum delay of a start, in seconds.
const MAX_DELAY: i64 = 3600;

/// A boundary in seconds since 1970-01-01T00:00:00Z.
type RawBoundary = (i64, Action);

impl Schedule {
    /// Creates a schedule in local time of `zone`. On the dates in `except`, there are no starts, and no
    /// windows begin.
    pub fn new(rule: impl Into<Arc<ScheduleRule>>, except: ExcludedDates, zone: Zone) -> Self {
        Self {
            rule: rule.into(),
            except: except.into(),
            treated: Arc::default(),
            extra: Arc::default(),
            zone,
        }
    }

    /// Shares its parts with the schedules that have equal ones.
    pub fn share(&mut self, parts: &mut ScheduleParts) {
        parts.rules.share(&mut self.rule);
        parts.except.share(&mut self.except);
        parts.treated.share(&mut self.treated);
        parts.extra.share(&mut self.extra);
    }

    /// Makes some local dates count as other weekdays. This affects weekdays in the rule, but neither
    /// days of the month in cron expressions nor days such as `first Mon`.
    #[must_use]
    pub fn with_treated_dates(self, treated: TreatedDates) -> Self {
        let treated = treated.into();
        Self { treated, ..self }
    }

    /// Adds windows on local dates. They are united with the windows of an hours schedule. In a
    /// schedule with starts and stops, each window adds a start and a stop. Excluded and treated dates
    /// do not affect them.
    #[must_use]
    pub fn with_extra(self, extra: ExtraWindows) -> Self {
        let extra = extra.into();
        Self { extra, ..self }
    }

    /// The additional windows.
    pub fn extra(&self) -> &ExtraWindows {
        &self.extra
    }

    /// `Start` or `Stop` if the schedule has no other action.
    pub fn only_action(&self) -> Option<Action> {
        self.rule.only_action().filter(|_| self.extra.is_empty())
    }

    /// The zone of the local times.
    pub fn zone(&self) -> Zone {
        self.zone
    }

    /// When to start and stop.
    pub fn rule(&self) -> &ScheduleRule {
        &self.rule
    }

    /// The approximate number of parts that a search must check. The time of a search grows with it.
    pub fn items(&self) -> usize {
        match self.rule() {
            ScheduleRule::Times(entries) => entries.iter().map(|entry| entry.times.items()).sum(),
            ScheduleRule::Hours(hours) => hours.items(),
        }
    }

    /// The excluded dates.
    pub fn except(&self) -> &ExcludedDates {
        &self.except
    }

    /// The dates that count as another weekday.
    pub fn treated(&self) -> &TreatedDates {
        &self.treated
    }

    /// The calendars that the excluded and treated dates name.
    pub fn calendars(&self) -> impl Iterator<Item = (&CalendarName, &Calendar)> {
        self.except.calendars().chain(self.treated.calendars())
    }

    /// Whether the dates of all its calendars are known. They might not be if [any name is
    /// accepted](crate::Calendars::accepting_any).
    pub fn has_all_calendars(&self) -> bool {
        let mut all = self.calendars();
        all.all(|(_, calendar)| calendar.last().is_some())
    }

    pub(super) fn dates(&self) -> Dates<'_> {
        Dates {
            except: &self.except,
            treated: &self.treated,
        }
    }

    /// The first boundary strictly after `after`.
    pub fn next_after(&self, after: DateTime<Utc>, delay: TimeDelta) -> Option<Boundary> {
        to_boundary(self.next_jittered(clamped_second(after), delay_seconds(delay))?)
    }

    /// The first boundary in a direction strictly after `after`.
    ///
    /// If hundreds of starts and stops coincide for years, the result might be `None` although
    /// there is a boundary after them.
    pub fn next_boundary(
        &self,
        direction: Direction,
        after: DateTime<Utc>,
        delay: TimeDelta,
    ) -> Option<Boundary> {
        let (after, delay) = (clamped_second(after), delay_seconds(delay));
        match &*self.rule {
            ScheduleRule::Times(entries) if direction == Direction::Up => {
                let from = match self.last_stop(after - delay, after + 1) {
                    _ if delay == 0 => after,
                    stop => stop.map_or(after - delay, |(at, _)| at),
                };
                let start = self.next_start(entries, from)?;
                to_boundary(self.with_jitter(start, delay))
            }
            ScheduleRule::Times(entries) => to_boundary(self.next_stop(entries, after)?),
            // Starts and stops alternate.
            ScheduleRule::Hours(_) => {
                let next = self.next_jittered(after, delay)?;
                let other = || self.next_jittered(next.0, delay);
                to_boundary(if next.1.direction() == direction {
                    next
                } else {
                    other()?
                })
            }
        }
    }

    /// The last boundary at or before `at`.
    pub fn latest_at(&self, at: DateTime<Utc>, delay: TimeDelta) -> Option<Boundary> {
        to_boundary(self.latest_jittered(clamped_second(at), delay_seconds(delay))?)
    }

    /// The action of the last boundary at or before `at`. Before the first boundary, hours still
    /// determine an action, and times do not (`None`).
    pub fn action_at(&self, at: DateTime<Utc>, delay: TimeDelta) -> Option<Action> {
        let second = clamped_second(at);
        let latest = self
            .latest_jittered(second, delay_seconds(delay))
            .map(|(_, action)| action);
        latest.or_else(|| match &*self.rule {
            ScheduleRule::Hours(hours) => {
                let on = self.running(hours).contains(self.zone.latest_local(second));
                Some(if on { Action::Start } else { Action::Stop })
            }
            ScheduleRule::Times(_) => None,
        })
    }

    /// The boundaries in `[from, until)`, in order.
    pub fn boundaries(
        &self,
        from: DateTime<Utc>,
        until: DateTime<Utc>,
        delay: TimeDelta,
    ) -> impl Iterator<Item = Boundary> + '_ {
        let whole = i64::from(from.timestamp_subsec_nanos() == 0);
        let delay = delay_seconds(delay);
        let next = move |after| self.next_jittered(after, delay);
        std::iter::successors(next(clamped_second(from) - whole), move |&(at, _)| next(at))
            .filter_map(to_boundary)
            .take_while(move |boundary| boundary.at < until)
    }

    /// Whether the [treated dates](Self::with_treated_dates) in `[from, until)` change any local
    /// time. Dates are compared one by one, so the cost does not depend on how often something
    /// happens on them.
    pub fn is_affected_by_treated_dates(&self, from: NaiveDate, until: NaiveDate) -> bool {
        let dates = self.dates();
        let untreated = TreatedDates::default();
        let others = Dates {
            treated: &untreated,
            ..dates
        };
        let (from, until) = (day_number(from), day_number(until));
        let spans = self.treated().iter().flat_map(|(_, days)| days.iter());
        let mut days = spans.flat_map(|(first, last)| first.max(from)..=last.min(until - 1));
        days.any(|day| match self.rule() {
            ScheduleRule::Times(entries) => !self.search(entries).is_same_on(day, others),
            ScheduleRule::Hours(hours) => !hours.is_same_on(day, dates, others),
        })
    }

    /// The first local time in `(after, until]` at which several lists of times coincide, and
    /// their actions in descending order of precedence. Clock changes are ignored.
    pub fn next_tie(
        &self,
        after: DateTime<Utc>,
        until: DateTime<Utc>,
    ) -> Option<(NaiveDateTime, Vec<Action>)> {
        let [after, to] = [after, until].map(|at| self.zone.latest_local(clamped_second(at)));
        let tie = match &*self.rule {
            ScheduleRule::Times(entries) => self.search(entries).first_tie(after, to),
            ScheduleRule::Hours(_) => None,
        };
        tie.and_then(|(at, actions)| Some((at.to_naive()?, actions)))
    }

    /// The first boundary after a second, with delay.
    fn next_jittered(&self, after: i64, delay: i64) -> Option<RawBoundary> {
        if delay == 0 {
            return self.next(after);
        }
        // A start is still pending if its time without delay is later than `waiting`. A stop at
        // `after + 1` is the next boundary, because a start that it cuts short is not after `after`.
        let waiting = match self.last_stop(after - delay, after + 1) {
            Some(stop) if stop.0 > after => return Some(stop),
            stop => stop.map_or(after - delay, |(at, _)| at),
        };
        self.next(waiting)
            .map(|boundary| self.with_jitter(boundary, delay))
    }

    /// The last boundary at or before a second, with delay.
    fn latest_jittered(&self, second: i64, delay: i64) -> Option<RawBoundary> {
        let latest = self.latest(second)?;
        let moved = self.with_jitter(latest, delay);
        if moved.0 <= second {
            return Some(moved);
        }
        // The latest boundary is a start that is still delayed, and so are all starts in the last
        // `delay` seconds, except those before a stop. So the last boundary is that stop. If there is
        // none, it is the one before these seconds.
        let stop = self.last_stop(second - delay, second);
        stop.or_else(|| Some(self.with_jitter(self.latest(second - delay)?, delay)))
    }

    /// Delays a start, at most until one second before the next stop.
    fn with_jitter(&self, (at, action): RawBoundary, delay: i64) -> RawBoundary {
        if !action.is_up() || delay == 0 {
            return (at, action);
        }
        let moved = at + delay;
        match self.first_stop(at, moved) {
            // Several starts might be delayed until the same stop. The last of them applies.
            Some((stop, _)) => {
                let last = self.latest(stop - 1).map(|(_, action)| action);
                (stop - 1, last.unwrap_or(action))
            }
            None => (moved, action),
        }
    }

    /// The first boundary after a second, without delay.
    fn next(&self, after: i64) -> Option<RawBoundary> {
        let shown = self.zone.latest_local(after);
        match &*self.rule {
            ScheduleRule::Times(entries) => {
                let (first, action) = self.search(entries).nearest(shown.after(), Toward::Later)?;
                let at = self.zone.second_of(first);
                // A clock change can move later times to the same instant. The last of them
                // applies.
                if self.zone.latest_local(at) == first {
                    Some((at, action))
                } else {
                    self.latest(at)
                }
            }
            ScheduleRule::Hours(hours) => {
                let mut shown = shown.max(Local::FIRST.before());
                let running = self.running(hours);
                let on = running.contains(shown);
                loop {
                    let change = running.next_change(shown)?;
                    let at = self.zone.second_of(change);
                    shown = self.zone.latest_local(at);
                    // If a window begins and ends in the same DST gap, it disappears, and so does
                    // a pause between windows.
                    if running.contains(shown) != on {
                        return Some((at, if on { Action::Stop } else { Action::Start }));
                    }
                }
            }
        }
    }

    /// The last boundary at or before a second, without delay.
    fn latest(&self, second: i64) -> Option<RawBoundary> {
        let shown = self.zone.latest_local(second);
        match &*self.rule {
            ScheduleRule::Times(entries) => {
                let (local, action) = self.search(entries).nearest(shown, Toward::Earlier)?;
                Some((self.zone.second_of(local), action))
            }
            ScheduleRule::Hours(hours) => {
                let mut shown = shown.min(Local::LAST);
                let running = self.running(hours);
                let on = running.contains(shown);
                loop {
                    let change = running.last_change(shown)?;
                    let at = self.zone.second_of(change);
                    shown = self.zone.latest_local(at - 1);
                    if running.contains(shown) != on {
                        return Some((at, if on { Action::Start } else { Action::Stop }));
                    }
                }
            }
        }
    }

    /// The first stop in `(from, to]` without delay. The range should be at most an hour.
    fn first_stop(&self, from: i64, to: i64) -> Option<RawBoundary> {
        let mut after = from;
        loop {
            let at = match &*self.rule {
                ScheduleRule::Times(entries) => {
                    let (after, to) = (self.zone.latest_local(after), self.zone.latest_local(to));
                    let stop = self.search(entries).stops_between(after, to).next()?;
                    self.zone.second_of(stop)
                }
                ScheduleRule::Hours(_) => self.next(after)?.0,
            };
            if at > to {
                return None;
            }
            // Few iterations are needed: the boundaries of hours alternate between start and stop, and
            // only a clock change can move a start to the time of a stop.
            if let Some(stop) = self.stop_at(at) {
                return Some(stop);
            }
            after = at;
        }
    }

    /// The last stop in `(from, to]` without delay. The range should be at most an hour.
    fn last_stop(&self, from: i64, to: i64) -> Option<RawBoundary> {
        let mut until = to;
        loop {
            let at = match &*self.rule {
                ScheduleRule::Times(entries) => {
                    let (after, to) = (self.zone.latest_local(from), self.zone.latest_local(until));
                    let stop = self.search(entries).stops_between(after, to).last()?;
                    self.zone.second_of(stop)
                }
                ScheduleRule::Hours(_) => self.latest(until)?.0,
            };
            if at <= from {
                return None;
            }
            if let Some(stop) = self.stop_at(at) {
                return Some(stop);
            }
            until = at - 1;
        }
    }

    /// The first start after a second, without delay.
    fn next_start(&self, entries: &[TimedAction], after: i64) -> Option<RawBoundary> {
        let mut after = self.zone.latest_local(after);
        loop {
            let search = self.search(entries);
            let start = search.nearest_going(Direction::Up, after.after(), Toward::Later)?;
            let at = self.zone.second_of(start);
            // A clock change can move a later stop to the same instant.
            if let Some(start) = self
                .latest(at)
                .filter(|start| start.0 == at && start.1.is_up())
            {
                return Some(start);
            }
            after = self.zone.latest_local(at);
        }
    }

    /// The first stop after a second, without delay.
    fn next_stop(&self, entries: &[TimedAction], after: i64) -> Option<RawBoundary> {
        let mut after = self.zone.latest_local(after);
        loop {
            let at = self.zone.second_of(self.search(entries).next_stop(after)?);
            // A clock change can move a later start to the same instant.
            if let Some(stop) = self.stop_at(at) {
                return Some(stop);
            }
            after = self.zone.latest_local(at);
        }
    }

    /// The boundary at a second, if it is a stop.
    fn stop_at(&self, at: i64) -> Option<RawBoundary> {
        self.latest(at)
            .filter(|stop| stop.0 == at && !stop.1.is_up())
    }

    pub(super) fn search<'s>(&'s self, entries: &'s [TimedAction]) -> ActionSearch<'s> {
        ActionSearch {
            entries,
            dates: self.dates(),
            extra: &self.extra,
        }
    }

    fn running<'s>(&'s self, hours: &'s Hours) -> Running<'s> {
        Running {
            hours,
            extra: &self.extra,
            dates: self.dates(),
        }
    }
}

/// The whole second of an instant, clamped to the years of schedules and two days around them.
fn clamped_second(at: DateTime<Utc>) -> i64 {
    const MARGIN: i64 = 2 * 86_400;
    at.timestamp()
        .clamp(Local::FIRST.0 - MARGIN, Local::LAST.0 + MARGIN)
}

fn delay_seconds(delay: TimeDelta) -> i64 {
    delay.num_seconds().clamp(0, MAX_DELAY)
}

fn to_boundary((second, action): RawBoundary) -> Option<Boundary> {
    DateTime::from_timestamp(second, 0).map(|at| Boundary { at, action })
}

/// Values that are in use, of which equal ones are stored once.
#[derive(Debug)]
pub struct Shared<T: ?Sized>(HashSet<Arc<T>>);

impl<T: ?Sized> Default for Shared<T> {
    fn default() -> Self {
        Self(HashSet::new())
    }
}

impl<T: Eq + Hash + ?Sized> Shared<T> {
    /// Replaces a value with the equal one that is stored, or stores it.
    pub fn share(&mut self, value: &mut Arc<T>) {
        match self.0.get(&*value) {
            Some(known) => *value = Arc::clone(known),
            None => drop(self.0.insert(Arc::clone(value))),
        }
    }

    /// Forgets the values that are not used elsewhere.
    pub fn remove_unused(&mut self) {
        self.0.retain(|value| Arc::strong_count(value) > 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_values_are_stored_once_until_none_is_used() {
        let mut shared = Shared::default();
        let [mut one, mut other] = [(); 2].map(|()| Arc::new(vec![1, 2]));
        shared.share(&mut one);
        shared.share(&mut other);
        assert!(Arc::ptr_eq(&one, &other));
        shared.remove_unused();
        assert_eq!(Arc::strong_count(&one), 3);
        let weak = Arc::downgrade(&one);
        drop((one, other));
        shared.remove_unused();
        assert_eq!(weak.strong_count(), 0);
    }
}
