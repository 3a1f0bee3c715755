//! A parsed schedule with its counts, durations and overrides.

use chrono::{DateTime, TimeDelta, Utc};
use dayshift_schedule::{Action, Boundary, Direction, Schedule, ScheduleRule};

use crate::{
    fingerprint::sha256_prefix,
    inputs::{after::After, overrides::Overrides},
    kinds::count::CountKind,
    replicas::{Replicas, count_after_start, count_after_stop, count_after_wake},
    state::State,
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
}

impl ScheduleSpec {
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

    /// The latest boundary of this object at or before `at`.
    pub fn latest_at(&self, object: &WorkloadRef, at: DateTime<Utc>) -> Option<Boundary> {
        self.schedule.latest_at(at, self.delay(object))
    }

    /// The first boundary of this object after `after`.
    pub fn next_after(&self, object: &WorkloadRef, after: DateTime<Utc>) -> Option<Boundary> {
        self.schedule.next_after(after, self.delay(object))
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
        if self.counts == CountKind::Exact && seen > Replicas::ZERO {
            return seen;
        }
        let known = self.known_count(seen, remembered);
        if self.keeps_zero && seen.max(known.unwrap_or_default()) == Replicas::ZERO {
            return Replicas::ZERO;
        }
        self.counts
            .capped(count_after_start(seen, known, self.replicas))
    }

    /// The action that restores an object with the count `seen`, and the new count, if more is
    /// saved and the schedule requires it to run at `at`.
    pub fn restoring_action(
        &self,
        object: &WorkloadRef,
        seen: Replicas,
        saved: Option<Replicas>,
        at: DateTime<Utc>,
    ) -> Option<(Action, Replicas)> {
        saved.filter(|saved| *saved > seen)?;
        let required = self.required_action(object, at)?;
        let count = match required {
            Action::Start => self.started(seen, saved),
            Action::Scale(count) => self.counts.least().max(Replicas::new(count)),
            Action::Stop => return None,
        };
        (count > seen).then_some((required, count))
    }

    /// The action that the schedule requires at `at`; `None` before its first boundary.
    pub fn required_action(&self, object: &WorkloadRef, at: DateTime<Utc>) -> Option<Action> {
        self.schedule.action_at(at, self.delay(object))
    }

    /// The first boundary after `after` in this direction.
    pub fn next_boundary(
        &self,
        direction: Direction,
        object: &WorkloadRef,
        after: DateTime<Utc>,
    ) -> Option<Boundary> {
        let delay = self.delay(object);
        self.schedule.next_boundary(direction, after, delay)
    }

    /// The count if a user wants the object to run now. An on/off object that was turned off stays
    /// off, and so does an object whose schedule keeps a 0.
    pub fn count_after_start(&self, seen: Replicas, state: &State) -> Replicas {
        let remembered = state.remembered();
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
