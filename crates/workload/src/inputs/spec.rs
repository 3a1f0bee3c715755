//! A schedule, and all that belongs to it on an object.

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

/// A schedule with the counts, the jitter and the overrides that belong to it. Shared by equal
/// inputs.
#[derive(Clone, Debug)]
pub struct ScheduleSpec {
    /// When it starts and stops.
    pub schedule: Schedule,
    /// The exact count after a start, if given.
    pub replicas: Option<Replicas>,
    /// The count after a stop.
    pub stop_replicas: Replicas,
    /// Whether a start leaves a 0 for which nothing is saved ([`Inputs::keeps_zero`](crate::Inputs::keeps_zero)).
    pub keeps_zero: bool,
    /// How long starts are spread over, in whole seconds.
    pub jitter: TimeDelta,
    /// What has to be ready before a start.
    pub after: Option<After>,
    /// How long before a stop people are told of it, in whole seconds, if given.
    pub notice: Option<TimeDelta>,
    /// How long a start may take before somebody is told, in whole seconds, if given.
    pub ready_within: Option<TimeDelta>,
    /// Its overrides.
    pub overrides: Overrides,
    /// What the count of the object means.
    pub counts: CountKind,
}

impl ScheduleSpec {
    /// How much later than written this object starts: a whole number of seconds from 0 to the
    /// jitter, which depends on namespace and name alone.
    pub fn delay(&self, object: &WorkloadRef) -> TimeDelta {
        let spread = self.jitter.num_seconds().unsigned_abs();
        if spread == 0 {
            return TimeDelta::zero();
        }
        let hash = sha256_prefix(&format!("{}/{}", object.namespace, object.name));
        TimeDelta::seconds(i64::try_from(hash % (spread + 1)).unwrap_or_default())
    }

    /// The newest boundary of this object at or before `at`.
    pub fn latest_at(&self, object: &WorkloadRef, at: DateTime<Utc>) -> Option<Boundary> {
        self.schedule.latest_at(at, self.delay(object))
    }

    /// The first boundary of this object after `after`.
    pub fn next_after(&self, object: &WorkloadRef, after: DateTime<Utc>) -> Option<Boundary> {
        self.schedule.next_after(after, self.delay(object))
    }

    /// Whether it goes by the dates of calendars.
    pub(crate) fn names_calendars(&self) -> bool {
        self.schedule.calendars().next().is_some()
    }

    /// The largest count that `scale` sets; `None` without it.
    pub fn largest_count(&self) -> Option<Replicas> {
        self.schedule.rule().largest_count().map(Replicas::new)
    }

    /// What is known of the count of an object that has this one now: what is remembered of it, or a
    /// 0 that is somebody's wish, as it is wherever a switch is off.
    pub fn known_count(&self, seen: Replicas, remembered: Option<Replicas>) -> Option<Replicas> {
        let is_wish = self.counts.keeps_zero() && seen == Replicas::ZERO;
        remembered.or(is_wish.then_some(Replicas::ZERO))
    }

    /// The count and the saved count after a stop of an object that has `seen` now.
    pub(crate) fn stopped(
        &self,
        seen: Replicas,
        remembered: Option<Replicas>,
    ) -> (Replicas, Option<Replicas>) {
        let known = self.known_count(seen, remembered);
        // Of an exact count the newest is the one that comes back.
        let is_newest = self.counts == CountKind::Exact && seen > Replicas::ZERO;
        count_after_stop(seen, known.filter(|_| !is_newest), self.stop_replicas)
    }

    /// The count after `wake-until` begins on an object that has `seen` now, where no `scale` says
    /// it.
    pub(crate) fn woken(&self, seen: Replicas, remembered: Option<Replicas>) -> Replicas {
        if self.counts == CountKind::Exact {
            return self.started(seen, remembered);
        }
        let known = self.known_count(seen, remembered);
        count_after_wake(seen, known, self.replicas)
    }

    /// The count after a start of an object that has `seen` now.
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

    /// The action, and the count that it sets, by which an object comes back that has `seen` now:
    /// more is saved, and the schedule says running at `at`.
    pub fn restoring_action(
        &self,
        object: &WorkloadRef,
        seen: Replicas,
        saved: Option<Replicas>,
        at: DateTime<Utc>,
    ) -> Option<(Action, Replicas)> {
        saved.filter(|saved| *saved > seen)?;
        let says = self.says(object, at)?;
        let count = match says {
            Action::Start => self.started(seen, saved),
            Action::Scale(count) => self.counts.least().max(Replicas::new(count)),
            Action::Stop => return None,
        };
        (count > seen).then_some((says, count))
    }

    /// Whether the schedule says running or stopped at `at`; `None` before its first boundary.
    pub fn says(&self, object: &WorkloadRef, at: DateTime<Utc>) -> Option<Action> {
        self.schedule.action_at(at, self.delay(object))
    }

    /// The first boundary after `after` after which something runs, or after which nothing does.
    pub fn next_boundary(
        &self,
        direction: Direction,
        object: &WorkloadRef,
        after: DateTime<Utc>,
    ) -> Option<Boundary> {
        let delay = self.delay(object);
        self.schedule.next_boundary(direction, after, delay)
    }

    /// The count that somebody who wants it running now would have; what a switch keeps off stays
    /// off, and so does a 0 that the schedule is no wish against.
    pub fn count_after_start(&self, seen: Replicas, state: &State) -> Replicas {
        let remembered = state.remembered();
        if self.counts.keeps_zero() || self.keeps_zero {
            self.started(seen, remembered)
        } else {
            count_after_wake(seen, remembered, self.replicas)
        }
    }

    /// Whether the schedule has times that bring something up, or down.
    pub(crate) fn may(&self, brings_up: bool) -> bool {
        match self.schedule.rule() {
            ScheduleRule::Times(entries) => {
                let mut entries = entries.iter();
                entries.any(|entry| entry.action.is_up() == brings_up)
            }
            ScheduleRule::Hours(_) => true,
        }
    }
}
