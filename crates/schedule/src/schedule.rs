//! A schedule: a rule, excepted dates and a zone, and the boundaries that follow from them.
//!
//! Whether dates that count as another day of the week change what a schedule does.
//!
//! Boundaries: the instants at which a schedule says start, stop or a count.

use std::fmt;

use chrono::{DateTime, NaiveDate, NaiveDateTime, TimeDelta, Utc};

use crate::{
    actions::{Action, ActionSearch, Direction, TimedAction},
    calendars::{Calendar, CalendarName},
    dates::{Dates, TreatedDates},
    excluded_dates::ExcludedDates,
    hours::Hours,
    local::{Local, day_number},
    times::Times,
    zone::Zone,
};

/// When to start and when to stop.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum ScheduleRule {
    /// Times, each with what happens at it.
    Times(Box<[TimedAction]>),
    /// Windows to run in.
    Hours(Hours),
}

impl ScheduleRule {
    /// Times to start at and times to stop at; one of them is enough.
    pub fn start_and_stop(start: Option<Times>, stop: Option<Times>) -> Self {
        let entry = |action| move |times| TimedAction { times, action };
        let start = start.map(entry(Action::Start));
        let stop = stop.map(entry(Action::Stop));
        Self::Times(start.into_iter().chain(stop).collect())
    }

    /// The only action of a schedule that has no other: only starts, or only stops.
    pub fn only_action(&self) -> Option<Action> {
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

    /// The largest count that a time sets; `None` where none sets a count.
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

/// An instant, always a whole second, at which a schedule says start, stop or a count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Boundary {
    /// When it happens; UTC.
    pub at: DateTime<Utc>,
    /// What the schedule says.
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

/// A rule in a zone, with dates on which nothing starts. It has boundaries from 1970 to 2199 and
/// none outside.
///
/// Every question takes a `delay`: how long each start of one object is moved, its share of the
/// jitter, from zero to an hour in whole seconds. A moved start never reaches the next stop; days
/// and excepted dates, and which of two at the same instant counts, are those of the unmoved
/// times.
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
    rule: ScheduleRule,
    except: ExcludedDates,
    treated: TreatedDates,
    zone: Zone,
}

/// The longest that a start is moved, in seconds.
const MAX_DELAY: i64 = 3600;

/// A boundary in seconds since 1970-01-01T00:00:00Z.
type RawBoundary = (i64, Action);

impl Schedule {
    /// The schedule of `rule` on the clocks of `zone`. Starts (or windows that begin) on the
    /// local dates of `except` are left out.
    pub fn new(rule: ScheduleRule, except: ExcludedDates, zone: Zone) -> Self {
        Self {
            rule,
            except,
            treated: TreatedDates::default(),
            zone,
        }
    }

    /// The same, where some local dates count as other days of the week: what depends on the day of
    /// the week does on them what it does on that day. Days of the month and days within the month
    /// are those of the calendar.
    #[must_use]
    pub fn with_treated_dates(self, treated: TreatedDates) -> Self {
        Self { treated, ..self }
    }

    /// The zone of its local times.
    pub fn zone(&self) -> Zone {
        self.zone
    }

    /// When it starts and stops.
    pub fn rule(&self) -> &ScheduleRule {
        &self.rule
    }

    /// The local dates on which nothing starts.
    pub fn except(&self) -> &ExcludedDates {
        &self.except
    }

    /// The local dates that count as another day of the week.
    pub fn treated(&self) -> &TreatedDates {
        &self.treated
    }

    /// The calendars whose dates it goes by.
    pub fn calendars(&self) -> impl Iterator<Item = (&CalendarName, &Calendar)> {
        self.except.calendars().chain(self.treated.calendars())
    }

    /// Whether the dates of all of them are known. Where any name is taken for a calendar
    /// ([`Calendars::or_any`](crate::Calendars::or_any)) they may not be.
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

    /// The first boundary strictly after an instant.
    pub fn next_after(&self, after: DateTime<Utc>, delay: TimeDelta) -> Option<Boundary> {
        to_boundary(self.next_jittered(clamped_second(after), delay_seconds(delay))?)
    }

    /// The first boundary strictly after an instant after which something runs, or after which
    /// nothing does.
    ///
    /// Of hundreds of starts and stops that coincide for years, none of which is a stop, it may say
    /// `None` although one comes after them.
    pub fn next_boundary(
        &self,
        direction: Direction,
        after: DateTime<Utc>,
        delay: TimeDelta,
    ) -> Option<Boundary> {
        let (after, delay) = (clamped_second(after), delay_seconds(delay));
        match &self.rule {
            ScheduleRule::Times(entries) if direction == Direction::Up => {
                let from = match self.last_stop(after - delay, after + 1) {
                    _ if delay == 0 => after,
                    stop => stop.map_or(after - delay, |(at, _)| at),
                };
                let start = self.next_start(entries, from)?;
                to_boundary(self.with_jitter(start, delay))
            }
            ScheduleRule::Times(entries) => to_boundary(self.next_stop(entries, after)?),
            // Starts and stops take turns.
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

    /// The newest boundary at or before an instant.
    pub fn latest_at(&self, at: DateTime<Utc>, delay: TimeDelta) -> Option<Boundary> {
        to_boundary(self.latest_jittered(clamped_second(at), delay_seconds(delay))?)
    }

    /// What the schedule says at an instant: what its newest boundary says. Before the first
    /// boundary, hours still say start or stop; times say nothing, which is `None`.
    pub fn action_at(&self, at: DateTime<Utc>, delay: TimeDelta) -> Option<Action> {
        let second = clamped_second(at);
        let latest = self
            .latest_jittered(second, delay_seconds(delay))
            .map(|(_, action)| action);
        latest.or_else(|| match &self.rule {
            ScheduleRule::Hours(hours) => {
                let on = hours.contains(self.zone.latest_local(second), self.dates());
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

    /// Whether it does anything else on the [treated dates](Self::with_treated_dates) in `[from, until)` than it
    /// would without them, by local time. The dates are compared one by one, so that it does not
    /// matter how often something happens on them.
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

    /// The first local time after an instant and up to another that several lists of times have, and
    /// what they say: first what wins. A clock change makes no tie.
    pub fn next_tie(
        &self,
        after: DateTime<Utc>,
        until: DateTime<Utc>,
    ) -> Option<(NaiveDateTime, Vec<Action>)> {
        let [after, to] = [after, until].map(|at| self.zone.latest_local(clamped_second(at)));
        let tie = match &self.rule {
            ScheduleRule::Times(entries) => self.search(entries).first_tie(after, to),
            ScheduleRule::Hours(_) => None,
        };
        tie.and_then(|(at, actions)| Some((at.to_naive()?, actions)))
    }

    /// The first moved boundary after a second.
    fn next_jittered(&self, after: i64, delay: i64) -> Option<RawBoundary> {
        if delay == 0 {
            return self.next(after);
        }
        // Starts that are still to come lie after this: they are moved by less than `delay` only
        // by a stop, and then that stop is to come too.
        let waiting = match self.last_stop(after - delay, after + 1) {
            Some(stop) if stop.0 > after => return Some(stop),
            stop => stop.map_or(after - delay, |(at, _)| at),
        };
        self.next(waiting)
            .map(|boundary| self.with_jitter(boundary, delay))
    }

    /// The newest moved boundary at or before a second.
    fn latest_jittered(&self, second: i64, delay: i64) -> Option<RawBoundary> {
        let latest = self.latest(second)?;
        let moved = self.with_jitter(latest, delay);
        if moved.0 <= second {
            return Some(moved);
        }
        // It is a start that waits, and so do all within `delay` but those before a stop.
        let stop = self.last_stop(second - delay, second);
        stop.or_else(|| Some(self.with_jitter(self.latest(second - delay)?, delay)))
    }

    /// The boundary with its jitter: a start is later by `delay`, but before the next stop.
    fn with_jitter(&self, (at, action): RawBoundary, delay: i64) -> RawBoundary {
        if !action.is_up() || delay == 0 {
            return (at, action);
        }
        let moved = at + delay;
        match self.first_stop(at, moved) {
            // Others may wait for the same stop: the last of them counts.
            Some((stop, _)) => {
                let last = self.latest(stop - 1).map(|(_, action)| action);
                (stop - 1, last.unwrap_or(action))
            }
            None => (moved, action),
        }
    }

    /// The first unmoved boundary after a second.
    fn next(&self, after: i64) -> Option<RawBoundary> {
        let shown = self.zone.latest_local(after);
        match &self.rule {
            ScheduleRule::Times(entries) => {
                let search = self.search(entries);
                let up = search.times(Direction::Up).next(shown);
                let down = search.times(Direction::Down).next(shown);
                let (first, direction) = match (up, down) {
                    (Some(up), down) if down.is_none_or(|down| up <= down) => (up, Direction::Up),
                    (_, down) => (down?, Direction::Down),
                };
                let at = self.zone.second_of(first);
                // A clock change may put later times at the same instant, of which the last counts.
                if self.zone.latest_local(at) == first {
                    Some((at, search.action(direction, first)?))
                } else {
                    self.latest(at)
                }
            }
            ScheduleRule::Hours(hours) => {
                let mut shown = shown.max(Local::FIRST.before());
                let on = hours.contains(shown, self.dates());
                loop {
                    let change = hours.next_change(shown, self.dates())?;
                    let at = self.zone.second_of(change);
                    shown = self.zone.latest_local(at);
                    // A window that begins and ends in a gap vanishes, and so does a break between windows.
                    if hours.contains(shown, self.dates()) != on {
                        return Some((at, if on { Action::Stop } else { Action::Start }));
                    }
                }
            }
        }
    }

    /// The newest unmoved boundary at or before a second.
    fn latest(&self, second: i64) -> Option<RawBoundary> {
        let shown = self.zone.latest_local(second);
        match &self.rule {
            ScheduleRule::Times(entries) => {
                let (local, action) = self.search(entries).latest(shown)?;
                Some((self.zone.second_of(local), action))
            }
            ScheduleRule::Hours(hours) => {
                let mut shown = shown.min(Local::LAST);
                let on = hours.contains(shown, self.dates());
                loop {
                    let change = hours.last_change(shown, self.dates())?;
                    let at = self.zone.second_of(change);
                    shown = self.zone.latest_local(at - 1);
                    if hours.contains(shown, self.dates()) != on {
                        return Some((at, if on { Action::Start } else { Action::Stop }));
                    }
                }
            }
        }
    }

    /// The first unmoved stop in `(from, to]`, which are at most an hour apart.
    fn first_stop(&self, from: i64, to: i64) -> Option<RawBoundary> {
        let mut after = from;
        loop {
            let at = match &self.rule {
                ScheduleRule::Times(entries) => {
                    let (after, to) = (self.zone.latest_local(after), self.zone.latest_local(to));
                    let stop = self.search(entries).first_stop(after, to)?;
                    self.zone.second_of(stop)
                }
                ScheduleRule::Hours(_) => self.next(after)?.0,
            };
            if at > to {
                return None;
            }
            // Windows end at every second edge, and only a clock change puts a start after a stop
            // at the same instant: this is soon over.
            if let Some(stop) = self.stop_at(at) {
                return Some(stop);
            }
            after = at;
        }
    }

    /// The last unmoved stop in `(from, to]`, which are at most an hour apart.
    fn last_stop(&self, from: i64, to: i64) -> Option<RawBoundary> {
        let mut until = to;
        loop {
            let at = match &self.rule {
                ScheduleRule::Times(entries) => {
                    let (after, to) = (self.zone.latest_local(from), self.zone.latest_local(until));
                    let stop = self.search(entries).last_stop(after, to)?;
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

    /// The first unmoved start after a second.
    fn next_start(&self, entries: &[TimedAction], after: i64) -> Option<RawBoundary> {
        let mut after = self.zone.latest_local(after);
        loop {
            let at = self
                .zone
                .second_of(self.search(entries).times(Direction::Up).next(after)?);
            // A clock change may put a later stop at the same instant.
            if let Some(start) = self
                .latest(at)
                .filter(|start| start.0 == at && start.1.is_up())
            {
                return Some(start);
            }
            after = self.zone.latest_local(at);
        }
    }

    /// The first unmoved stop after a second.
    fn next_stop(&self, entries: &[TimedAction], after: i64) -> Option<RawBoundary> {
        let mut after = self.zone.latest_local(after);
        loop {
            let at = self.zone.second_of(self.search(entries).next_stop(after)?);
            // A clock change may put a later start at the same instant.
            if let Some(stop) = self.stop_at(at) {
                return Some(stop);
            }
            after = self.zone.latest_local(at);
        }
    }

    /// The unmoved boundary at a second, if it is a stop.
    fn stop_at(&self, at: i64) -> Option<RawBoundary> {
        self.latest(at)
            .filter(|stop| stop.0 == at && !stop.1.is_up())
    }

    pub(super) fn search<'s>(&'s self, entries: &'s [TimedAction]) -> ActionSearch<'s> {
        ActionSearch {
            entries,
            dates: self.dates(),
        }
    }
}

/// The whole second of an instant, within two days of the range of schedules.
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
