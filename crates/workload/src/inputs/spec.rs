//! A parsed schedule with its counts, durations and overrides.

use chrono::{DateTime, TimeDelta, Utc};
use dayshift_schedule::{
    Action, Boundary, Direction, Schedule, ScheduleParts, ScheduleRule, Shared, Since, StopAfter,
};

use crate::{
    inputs::{
        after::{After, Dependency},
        overrides::Overrides,
    },
    kinds::CountKind,
    replicas::{Replicas, count_after_start, count_after_stop, count_after_wake},
    state::{Started, State, sha256_prefix},
    workload_ref::WorkloadRef,
};

/// A parsed schedule with its counts, durations and overrides. Objects with equal inputs share it.
#[derive(Clone, Debug)]
pub struct ScheduleSpec {
    /// The times of starts and stops.
    pub schedule: Schedule,
    /// The exact count after a start, if given.
    pub replicas: Option<Replicas>,
    /// The count after a stop.
    pub stop_replicas: Replicas,
    /// Whether a start keeps a count of 0 if nothing is saved
    /// ([`Inputs::keeps_zero`](crate::Inputs::keeps_zero)).
    pub keeps_zero: bool,
    /// The duration over which starts are spread, in whole seconds.
    pub jitter: TimeDelta,
    /// How long the object runs after a start before it is stopped, if given.
    pub stop_after: Option<StopAfter>,
    /// The dependencies of a start.
    pub after: Option<After>,
    /// How long before a stop a notice is sent, in whole seconds, if given.
    pub notice: Option<TimeDelta>,
    /// How long a start can take before a warning is sent, in whole seconds, if given.
    pub ready_within: Option<TimeDelta>,
    /// The overrides.
    pub overrides: Overrides,
    /// The meaning of the object's count.
    pub counts: CountKind,
    /// The last start of the object, in the plan of one live object; otherwise `None`.
    pub planned_start: Option<Started>,
}

/// The parts of specs. Specs that differ in other parts can share them: each object can have a `jitter`
/// of its own, and inherit long hours that many others inherit too.
#[derive(Debug, Default)]
pub struct SpecParts {
    schedule: ScheduleParts,
    dependencies: Shared<[Dependency]>,
}

impl SpecParts {
    /// Forgets the parts that no spec has.
    pub fn remove_unused(&mut self) {
        self.schedule.remove_unused();
        self.dependencies.remove_unused();
    }
}

impl ScheduleSpec {
    /// Shares its parts with the specs that have equal ones.
    #[must_use]
    pub fn sharing(mut self, parts: &mut SpecParts) -> Self {
        self.schedule.share(&mut parts.schedule);
        if let Some(after) = &mut self.after {
            after.share(&mut parts.dependencies);
        }
        self
    }

    /// The delay of this object's starts: a whole number of seconds from 0 to the jitter, which
    /// depends only on namespace and name.
    pub fn delay(&self, object: &WorkloadRef) -> TimeDelta {
        let spread = self.jitter.num_seconds().unsigned_abs();
        if spread == 0 {
            return TimeDelta::zero();
        }
        let hash = sha256_prefix(&format!("{}/{}", object.namespace, object.name));
        TimeDelta::seconds(i64::try_from(hash % (spread + 1)).unwrap_or_default())
    }

    /// When the timer of `stop-after` stops an object with this last start.
    pub fn timed_stop(&self, started: Option<Started>) -> Option<DateTime<Utc>> {
        let stop_after = self.stop_after?;
        started?.at.checked_add_signed(stop_after.duration)
    }

    /// The time from which the timer counts after a start at `at` of an object that was created at
    /// `created`.
    pub(crate) fn timer_began(&self, at: DateTime<Utc>, created: DateTime<Utc>) -> DateTime<Utc> {
        let from_creation = self
            .stop_after
            .filter(|after| after.since == Since::Creation);
        let stop = from_creation.and_then(|after| created.checked_add_signed(after.duration));
        match stop {
            Some(stop) if stop > at => created,
            _ => at,
        }
    }

    /// The latest boundary of this object at or before `at`, of its schedule or of its timer.
    pub fn latest_at(
        &self,
        object: &WorkloadRef,
        started: Option<Started>,
        at: DateTime<Utc>,
    ) -> Option<Boundary> {
        let scheduled = self.schedule.latest_at(at, self.delay(object));
        let timed = self.timed_stop(started).filter(|stop| *stop <= at);
        // At the same time, the schedule decides: a start restarts the timer.
        let timed = timed.filter(|stop| scheduled.is_none_or(|scheduled| *stop > scheduled.at));
        timed.map(stop_at).or(scheduled)
    }

    /// The first boundary of this object after `after`, of its schedule or of its timer.
    pub fn next_after(
        &self,
        object: &WorkloadRef,
        started: Option<Started>,
        after: DateTime<Utc>,
    ) -> Option<Boundary> {
        let scheduled = self.schedule.next_after(after, self.delay(object));
        let timed = self.timed_stop(started).filter(|stop| *stop > after);
        let timed = timed.filter(|stop| scheduled.is_none_or(|scheduled| *stop < scheduled.at));
        timed.map(stop_at).or(scheduled)
    }

    /// Whether it uses calendars.
    pub(crate) fn names_calendars(&self) -> bool {
        self.schedule.calendars().next().is_some()
    }

    /// The largest count of `scale`; `None` without it.
    pub fn largest_count(&self) -> Option<Replicas> {
        self.schedule.rule().largest_count().map(Replicas::new)
    }

    /// The remembered count. If none is remembered, an observed 0 is known if only a user can have set it
    /// on this kind ([`CountKind::keeps_zero`]).
    pub fn known_count(&self, seen: Replicas, remembered: Option<Replicas>) -> Option<Replicas> {
        let is_wish = self.counts.keeps_zero() && seen == Replicas::ZERO;
        remembered.or(is_wish.then_some(Replicas::ZERO))
    }

    /// The count and the saved count after a stop of an object with the count `seen`.
    pub(crate) fn stopped(
        &self,
        seen: Replicas,
        remembered: Option<Replicas>,
    ) -> (Replicas, Option<Replicas>) {
        let known = self.known_count(seen, remembered);
        // For an exact count, the next start restores the last observed one.
        let is_newest = self.counts == CountKind::Exact && seen > Replicas::ZERO;
        count_after_stop(seen, known.filter(|_| !is_newest), self.stop_replicas)
    }

    /// The count when `wake-until` begins on an object with the count `seen`, unless `scale` sets
    /// it.
    pub(crate) fn woken(&self, seen: Replicas, remembered: Option<Replicas>) -> Replicas {
        if self.counts == CountKind::Exact {
            return self.started(seen, remembered);
        }
        let known = self.known_count(seen, remembered);
        count_after_wake(seen, known, self.replicas)
    }

    /// The count after a start of an object with the count `seen`.
    pub fn started(&self, seen: Replicas, remembered: Option<Replicas>) -> Replicas {
        self.started_with(self.replicas, seen, remembered)
    }

    /// [`Self::started`] without an exact count after a start.
    pub fn restored(&self, seen: Replicas, remembered: Option<Replicas>) -> Replicas {
        self.started_with(None, seen, remembered)
    }

    fn started_with(
        &self,
        exact: Option<Replicas>,
        seen: Replicas,
        remembered: Option<Replicas>,
    ) -> Replicas {
        if self.counts == CountKind::Exact && seen > Replicas::ZERO {
            return seen;
        }
        let known = self.known_count(seen, remembered);
        if self.keeps_zero && seen.max(known.unwrap_or_default()) == Replicas::ZERO {
            return Replicas::ZERO;
        }
        self.counts.capped(count_after_start(seen, known, exact))
    }

    /// The action that restores an object with the count `seen`, and the new count, if more is
    /// saved and the schedule requires it to run at `at`.
    pub fn restoring_action(
        &self,
        object: &WorkloadRef,
        seen: Replicas,
        state: &State,
        at: DateTime<Utc>,
    ) -> Option<(Action, Replicas)> {
        let saved = state.saved;
        saved.filter(|saved| *saved > seen)?;
        let required = self.required_action(object, state.started, at)?;
        let count = match required {
            Action::Start => self.started(seen, saved),
            Action::Scale(count) => self.counts.least().max(Replicas::new(count)),
            Action::Stop => return None,
        };
        (count > seen).then_some((required, count))
    }

    /// The action that the schedule and the timer require at `at`; `None` before their first boundary.
    pub fn required_action(
        &self,
        object: &WorkloadRef,
        started: Option<Started>,
        at: DateTime<Utc>,
    ) -> Option<Action> {
        let delay = self.delay(object);
        let timed = self.timed_stop(started).filter(|stop| *stop <= at);
        let is_timed = timed.is_some_and(|stop| {
            let scheduled = self.schedule.latest_at(at, delay);
            scheduled.is_none_or(|scheduled| stop > scheduled.at)
        });
        if is_timed {
            return Some(Action::Stop);
        }
        self.schedule.action_at(at, delay)
    }

    /// The first boundary after `after` in this direction, of its schedule or of its timer.
    pub fn next_boundary(
        &self,
        direction: Direction,
        object: &WorkloadRef,
        started: Option<Started>,
        after: DateTime<Utc>,
    ) -> Option<Boundary> {
        let delay = self.delay(object);
        let scheduled = self.schedule.next_boundary(direction, after, delay);
        if direction == Direction::Up {
            return scheduled;
        }
        let timed = self.next_timed_stop(started, after, delay);
        let timed = timed.filter(|stop| scheduled.is_none_or(|scheduled| *stop < scheduled.at));
        timed.map(stop_at).or(scheduled)
    }

    /// The first stop by the timer after `after`. A start by the schedule before that restarts it.
    fn next_timed_stop(
        &self,
        started: Option<Started>,
        after: DateTime<Utc>,
        delay: TimeDelta,
    ) -> Option<DateTime<Utc>> {
        let StopAfter { duration, since } = self.stop_after?;
        let timed = self.timed_stop(started).filter(|stop| *stop > after);
        if since == Since::Creation && timed.is_some() {
            return timed;
        }
        let start = self.schedule.next_boundary(Direction::Up, after, delay);
        let restart = start.filter(|start| timed.is_none_or(|stop| start.at <= stop));
        match restart {
            Some(start) => start.at.checked_add_signed(duration),
            None => timed,
        }
    }

    /// The boundaries of a plan in `[from, until)`, in order: those of the schedule, and the stop by the
    /// timer after each start. Starts are delayed by `delay`.
    pub fn boundaries(
        &self,
        from: DateTime<Utc>,
        until: DateTime<Utc>,
        delay: TimeDelta,
    ) -> impl Iterator<Item = Boundary> + '_ {
        let before = from - TimeDelta::nanoseconds(1);
        let mut timed = self.pending_stop(before, delay);
        timed = timed.filter(|stop| *stop >= from);
        let mut scheduled = self.schedule.boundaries(from, until, delay).peekable();
        std::iter::from_fn(move || {
            let next = scheduled.peek().map(|next| next.at);
            let is_next = |stop: &DateTime<Utc>| *stop < next.unwrap_or(until);
            if let Some(stop) = timed.filter(is_next) {
                timed = None;
                return Some(stop_at(stop));
            }
            let boundary = scheduled.next()?;
            timed = self.stop_after.and_then(|after| match after.since {
                Since::Creation if timed.is_some() => timed,
                _ if !boundary.action.is_up() => None,
                _ => boundary.at.checked_add_signed(after.duration),
            });
            Some(boundary)
        })
    }

    /// The action that a plan requires at `at`; `None` before the first boundary.
    pub fn planned_action(&self, at: DateTime<Utc>, delay: TimeDelta) -> Option<Action> {
        match self.pending_stop(at, delay) {
            Some(stop) if stop <= at => Some(Action::Stop),
            _ => self.schedule.action_at(at, delay),
        }
    }

    /// The stop by the timer that follows the last start at or before `at`. It can be before `at`.
    fn pending_stop(&self, at: DateTime<Utc>, delay: TimeDelta) -> Option<DateTime<Utc>> {
        let StopAfter { duration, since } = self.stop_after?;
        let known = self.planned_start;
        let timed = self.timed_stop(known);
        let scheduled = self.schedule.latest_at(at, delay);
        match scheduled.filter(|latest| known.is_none_or(|known| latest.at > known.at)) {
            None => timed,
            Some(latest) if since == Since::Creation && timed > Some(latest.at) => timed,
            Some(latest) if latest.action.is_up() => latest.at.checked_add_signed(duration),
            Some(_) => None,
        }
    }

    /// `Start` or `Stop` if the schedule has no other action, and no timer.
    pub fn only_action(&self) -> Option<Action> {
        let only = self.schedule.only_action();
        only.filter(|_| self.stop_after.is_none())
    }

    /// Whether the schedule has boundaries of its own, so that not only `stop-after` is set.
    pub(crate) fn has_times(&self) -> bool {
        self.has_boundaries(Direction::Up) || self.has_boundaries(Direction::Down)
    }

    /// The count if a user wants the object to run now. An on/off object that was turned off stays
    /// off, and so does an object whose schedule keeps a 0.
    pub fn count_after_start(&self, seen: Replicas, remembered: Option<Replicas>) -> Replicas {
        if self.counts.keeps_zero() || self.keeps_zero {
            self.started(seen, remembered)
        } else {
            count_after_wake(seen, remembered, self.replicas)
        }
    }

    /// Whether the schedule has boundaries in this direction.
    pub(crate) fn has_boundaries(&self, direction: Direction) -> bool {
        match self.schedule.rule() {
            ScheduleRule::Times(entries) => {
                let mut entries = entries.iter();
                let is_extra = !self.schedule.extra().is_empty();
                is_extra || entries.any(|entry| entry.action.direction() == direction)
            }
            ScheduleRule::Hours(_) => true,
        }
    }
}

/// A stop by the timer.
const fn stop_at(at: DateTime<Utc>) -> Boundary {
    Boundary {
        at,
        action: Action::Stop,
    }
}
