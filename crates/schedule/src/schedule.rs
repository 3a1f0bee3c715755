//! A schedule: a rule, excepted dates and a zone, and the boundaries that follow from them.

use chrono::{DateTime, NaiveDateTime, TimeDelta, Utc};

use super::boundary::{Action, Boundary};
use super::calendar::{Calendar, CalendarName};
use super::days::dates::Dates;
use super::days::treated::TreatedDates;
use super::entry::{Entry, ScheduleRule};
use super::entry_search::EntrySearch;
use super::except::ExceptedDates;
use super::zone::local::Local;
use super::zone::time_zone::Zone;

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
/// use dayshift_schedule::{Action, ExceptedDates, Hours, ScheduleRule, Schedule, Zone};
///
/// let hours = Hours::parse("Mon-Fri 09:00-19:00").unwrap();
/// let tokyo = Zone::parse("Asia/Tokyo").unwrap();
/// let schedule = Schedule::new(ScheduleRule::Hours(hours), ExceptedDates::default(), tokyo);
///
/// let friday_evening = "2026-11-20T20:00:00+09:00".parse().unwrap();
/// let next = schedule.next_after(friday_evening, TimeDelta::zero()).unwrap();
/// assert_eq!(next.action, Action::Start);
/// assert_eq!(next.at.to_rfc3339(), "2026-11-23T00:00:00+00:00");
/// assert_eq!(schedule.says(friday_evening, TimeDelta::zero()), Some(Action::Stop));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Schedule {
    rule: ScheduleRule,
    except: ExceptedDates,
    treated: TreatedDates,
    zone: Zone,
}

/// The longest that a start is moved, in seconds.
const MAX_DELAY: i64 = 3600;

/// A boundary in seconds since 1970-01-01T00:00:00Z.
type At = (i64, Action);

impl Schedule {
    /// The schedule of `rule` on the clocks of `zone`. Starts (or windows that begin) on the
    /// local dates of `except` are left out.
    pub fn new(rule: ScheduleRule, except: ExceptedDates, zone: Zone) -> Self {
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
    pub fn treating(self, treated: TreatedDates) -> Self {
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
    pub fn except(&self) -> &ExceptedDates {
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
    /// ([`Calendars::or_any`](super::Calendars::or_any)) they may not be.
    pub fn knows_its_calendars(&self) -> bool {
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
        boundary(self.next_moved(second_of(after), seconds(delay))?)
    }

    /// The first boundary strictly after an instant after which something runs, or after which
    /// nothing does.
    ///
    /// Of hundreds of starts and stops that coincide for years, none of which is a stop, it may say
    /// `None` although one comes after them.
    pub fn next_that(
        &self,
        brings_up: bool,
        after: DateTime<Utc>,
        delay: TimeDelta,
    ) -> Option<Boundary> {
        let (after, delay) = (second_of(after), seconds(delay));
        match &self.rule {
            ScheduleRule::Times(entries) if brings_up => {
                let from = match self.last_stop(after - delay, after + 1) {
                    _ if delay == 0 => after,
                    stop => stop.map_or(after - delay, |(at, _)| at),
                };
                let start = self.next_start(entries, from)?;
                boundary(self.moved(start, delay))
            }
            ScheduleRule::Times(entries) => boundary(self.next_stop(entries, after)?),
            // Starts and stops take turns.
            ScheduleRule::Hours(_) => {
                let next = self.next_moved(after, delay)?;
                let other = || self.next_moved(next.0, delay);
                let is_it = next.1.brings_up() == brings_up;
                boundary(if is_it { next } else { other()? })
            }
        }
    }

    /// The newest boundary at or before an instant.
    pub fn latest_at(&self, at: DateTime<Utc>, delay: TimeDelta) -> Option<Boundary> {
        boundary(self.latest_moved(second_of(at), seconds(delay))?)
    }

    /// What the schedule says at an instant: what its newest boundary says. Before the first
    /// boundary, hours still say start or stop; times say nothing, which is `None`.
    pub fn says(&self, at: DateTime<Utc>, delay: TimeDelta) -> Option<Action> {
        let second = second_of(at);
        let latest = self
            .latest_moved(second, seconds(delay))
            .map(|(_, action)| action);
        latest.or_else(|| match &self.rule {
            ScheduleRule::Hours(hours) => {
                let on = hours.cover(self.zone.shown_by(second), self.dates());
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
        let delay = seconds(delay);
        let next = move |after| self.next_moved(after, delay);
        std::iter::successors(next(second_of(from) - whole), move |&(at, _)| next(at))
            .filter_map(boundary)
            .take_while(move |boundary| boundary.at < until)
    }

    /// The first local time after an instant and up to another that several lists of times have, and
    /// what they say: first what wins. A clock change makes no tie.
    pub fn next_tie(
        &self,
        after: DateTime<Utc>,
        until: DateTime<Utc>,
    ) -> Option<(NaiveDateTime, Vec<Action>)> {
        let [after, to] = [after, until].map(|at| self.zone.shown_by(second_of(at)));
        let tie = match &self.rule {
            ScheduleRule::Times(entries) => self.search(entries).first_tie(after, to),
            ScheduleRule::Hours(_) => None,
        };
        tie.and_then(|(at, actions)| Some((at.to_naive()?, actions)))
    }

    /// The first moved boundary after a second.
    fn next_moved(&self, after: i64, delay: i64) -> Option<At> {
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
            .map(|boundary| self.moved(boundary, delay))
    }

    /// The newest moved boundary at or before a second.
    fn latest_moved(&self, second: i64, delay: i64) -> Option<At> {
        let latest = self.latest(second)?;
        let moved = self.moved(latest, delay);
        if moved.0 <= second {
            return Some(moved);
        }
        // It is a start that waits, and so do all within `delay` but those before a stop.
        let stop = self.last_stop(second - delay, second);
        stop.or_else(|| Some(self.moved(self.latest(second - delay)?, delay)))
    }

    /// The boundary with its jitter: a start is later by `delay`, but before the next stop.
    fn moved(&self, (at, action): At, delay: i64) -> At {
        if !action.brings_up() || delay == 0 {
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
    fn next(&self, after: i64) -> Option<At> {
        let shown = self.zone.shown_by(after);
        match &self.rule {
            ScheduleRule::Times(entries) => {
                let search = self.search(entries);
                let up = search.times(true).next(shown);
                let down = search.times(false).next(shown);
                let (first, brings_up) = match (up, down) {
                    (Some(up), down) if down.is_none_or(|down| up <= down) => (up, true),
                    (_, down) => (down?, false),
                };
                let at = self.zone.second_of(first);
                // A clock change may put later times at the same instant, of which the last counts.
                if self.zone.shown_by(at) == first {
                    Some((at, search.action(brings_up, first)?))
                } else {
                    self.latest(at)
                }
            }
            ScheduleRule::Hours(hours) => {
                let mut shown = shown.max(Local::FIRST.before());
                let on = hours.cover(shown, self.dates());
                loop {
                    let change = hours.next_change(shown, self.dates())?;
                    let at = self.zone.second_of(change);
                    shown = self.zone.shown_by(at);
                    // A window that begins and ends in a gap vanishes, and so does a break between windows.
                    if hours.cover(shown, self.dates()) != on {
                        return Some((at, if on { Action::Stop } else { Action::Start }));
                    }
                }
            }
        }
    }

    /// The newest unmoved boundary at or before a second.
    fn latest(&self, second: i64) -> Option<At> {
        let shown = self.zone.shown_by(second);
        match &self.rule {
            ScheduleRule::Times(entries) => {
                let (local, action) = self.search(entries).latest(shown)?;
                Some((self.zone.second_of(local), action))
            }
            ScheduleRule::Hours(hours) => {
                let mut shown = shown.min(Local::LAST);
                let on = hours.cover(shown, self.dates());
                loop {
                    let change = hours.last_change(shown, self.dates())?;
                    let at = self.zone.second_of(change);
                    shown = self.zone.shown_by(at - 1);
                    if hours.cover(shown, self.dates()) != on {
                        return Some((at, if on { Action::Start } else { Action::Stop }));
                    }
                }
            }
        }
    }

    /// The first unmoved stop in `(from, to]`, which are at most an hour apart.
    fn first_stop(&self, from: i64, to: i64) -> Option<At> {
        let mut after = from;
        loop {
            let at = match &self.rule {
                ScheduleRule::Times(entries) => {
                    let (after, to) = (self.zone.shown_by(after), self.zone.shown_by(to));
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
    fn last_stop(&self, from: i64, to: i64) -> Option<At> {
        let mut until = to;
        loop {
            let at = match &self.rule {
                ScheduleRule::Times(entries) => {
                    let (after, to) = (self.zone.shown_by(from), self.zone.shown_by(until));
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
    fn next_start(&self, entries: &[Entry], after: i64) -> Option<At> {
        let mut after = self.zone.shown_by(after);
        loop {
            let at = self
                .zone
                .second_of(self.search(entries).times(true).next(after)?);
            // A clock change may put a later stop at the same instant.
            if let Some(start) = self.latest(at).filter(|it| it.0 == at && it.1.brings_up()) {
                return Some(start);
            }
            after = self.zone.shown_by(at);
        }
    }

    /// The first unmoved stop after a second.
    fn next_stop(&self, entries: &[Entry], after: i64) -> Option<At> {
        let mut after = self.zone.shown_by(after);
        loop {
            let at = self.zone.second_of(self.search(entries).next_stop(after)?);
            // A clock change may put a later start at the same instant.
            if let Some(stop) = self.stop_at(at) {
                return Some(stop);
            }
            after = self.zone.shown_by(at);
        }
    }

    /// The unmoved boundary at a second, if it is a stop.
    fn stop_at(&self, at: i64) -> Option<At> {
        self.latest(at).filter(|it| it.0 == at && !it.1.brings_up())
    }

    pub(super) fn search<'s>(&'s self, entries: &'s [Entry]) -> EntrySearch<'s> {
        EntrySearch {
            entries,
            dates: self.dates(),
        }
    }
}

/// The whole second of an instant, within two days of the range of schedules.
fn second_of(at: DateTime<Utc>) -> i64 {
    const MARGIN: i64 = 2 * 86_400;
    at.timestamp()
        .clamp(Local::FIRST.0 - MARGIN, Local::LAST.0 + MARGIN)
}

fn seconds(delay: TimeDelta) -> i64 {
    delay.num_seconds().clamp(0, MAX_DELAY)
}

fn boundary((second, action): At) -> Option<Boundary> {
    DateTime::from_timestamp(second, 0).map(|at| Boundary { at, action })
}
