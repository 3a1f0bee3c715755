//! The timer of `stop-after`: from which start it counts, and when a start restarts it.
//!
//! The label `started` has that start, and the revision of the pod template at that time. It is written
//! together with the other labels, so a transition and its timer change together. A running object
//! without the label was started by a user; one with another revision was deployed again. So everything
//! follows from the object, and a restarted controller decides the same.

use chrono::{DateTime, TimeDelta, Utc};
use dayshift_schedule::Since;

use crate::{
    decision::change::Adoption,
    inputs::{overrides::Override, spec::ScheduleSpec},
    observed::Observed,
    state::{Phase, Revision, Started, State, whole_second},
};

/// The minimum time between the start in the label and a restart of the timer, or half of `stop-after`
/// if that is shorter. It bounds the writes if another controller deploys or scales an object all the
/// time.
const RESTART_INTERVAL: TimeDelta = TimeDelta::minutes(5);

/// The timer of an object with a state of its current schedule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Timer {
    /// The start that the label should have.
    pub(crate) started: Option<Started>,
    /// When a later start can be written, if there was one.
    pub(crate) restarts_at: Option<DateTime<Utc>>,
}

impl Timer {
    pub(crate) fn evaluate(
        spec: &ScheduleSpec,
        state: &State,
        observed: &Observed,
        active: Option<Override>,
        now: DateTime<Utc>,
    ) -> Self {
        let keep = |started| Self {
            started,
            restarts_at: None,
        };
        let Some(stop_after) = spec.stop_after else {
            return keep(None);
        };
        let known = state.started.filter(|started| started.is_possible_at(now));
        let is_held = match active {
            Some(Override::Pause(_) | Override::Sleep(_)) => true,
            Some(Override::Wake(_)) => false,
            None => matches!(state.phase, Some(Phase::Paused | Phase::Slept)),
        };
        if is_held {
            return keep(known);
        }
        let is_running = observed.replicas > spec.stop_replicas;
        let is_woken = state.phase == Some(Phase::Woken);
        let has_stopped = spec.timed_stop(known) <= state.last;
        let Some(known) = known else {
            let at = spec.timer_began(whole_second(now), observed.created);
            return keep(is_running.then_some(Started {
                at,
                revision: observed.revision,
            }));
        };
        let wanted = match (is_running, has_stopped) {
            (false, true) => return keep(Some(known)),
            (true, true) if is_woken => return keep(Some(known)),
            (true, true) => Some(Started {
                at: spec.timer_began(whole_second(now), observed.created),
                revision: observed.revision,
            }),
            (false, false) => None,
            (true, false) => {
                Some(known.with_revision(observed.revision, stop_after.since, whole_second(now)))
            }
        };
        let interval = RESTART_INTERVAL.min(stop_after.duration / 2);
        match known.at.checked_add_signed(interval) {
            Some(restarts_at) if wanted != Some(known) && restarts_at > now => Self {
                started: Some(known),
                restarts_at: Some(restarts_at),
            },
            _ => keep(wanted),
        }
    }
}

impl Started {
    /// The start of a running object whose template has this revision at `now`. Another revision is a
    /// later start.
    fn with_revision(self, seen: Option<Revision>, since: Since, now: DateTime<Utc>) -> Self {
        let is_deployed = self.revision.is_some() && seen.is_some() && seen != self.revision;
        let at = match since {
            Since::Start if is_deployed => now,
            Since::Start | Since::Creation => self.at,
        };
        let revision = match since {
            Since::Creation => self.revision,
            Since::Start => seen.or(self.revision),
        };
        Self { at, revision }
    }
}

/// Finds the start from which the timer counts after a change of an object.
#[derive(Clone, Copy)]
pub(crate) struct Starts<'a> {
    pub(crate) spec: &'a ScheduleSpec,
    /// The state before the change.
    pub(crate) state: &'a State,
    pub(crate) observed: &'a Observed,
    /// The start that the label should have before the change.
    pub(crate) timer: Option<Started>,
    pub(crate) now: DateTime<Utc>,
}

impl Starts<'_> {
    /// The start after dayshift has started the object at `at`.
    pub(crate) fn started_at(self, at: DateTime<Utc>) -> Option<Started> {
        self.spec.stop_after?;
        Some(Started {
            at: self.spec.timer_began(at, self.observed.created),
            revision: self.observed.revision,
        })
    }

    /// The start after a boundary at `at` has started the object. The end of a wake is not a start. If the boundary
    /// was missed for so long that the timer would stop the object at once, it counts from now.
    pub(crate) fn after_boundary(self, at: DateTime<Utc>) -> Option<Started> {
        let is_later = |started: &Started| self.spec.timed_stop(Some(*started)) > Some(self.now);
        let is_woken = self.state.phase == Some(Phase::Woken);
        let woken = self.timer.filter(|_| is_woken);
        woken
            .filter(is_later)
            .or_else(|| self.started_at(at).filter(is_later))
            .or_else(|| self.started_at(whole_second(self.now)))
    }

    /// The start after a wake begins at `at`. It never moves the stop of `since creation`.
    pub(crate) fn after_wake(self, at: DateTime<Utc>) -> Option<Started> {
        match (self.spec.stop_after?.since, self.known()) {
            (Since::Start, _) => self.started_at(at),
            (Since::Creation, Some(known)) => Some(known),
            (Since::Creation, None) => Some(Started {
                at: self.observed.created,
                revision: None,
            }),
        }
    }

    /// The start after an adoption. The schedule is followed from `last` on. The timer never stops the
    /// object at once: if the last known start is too long ago, it counts from `last`. After the end of an
    /// override, a running object without the label was started by a user, who was seen only now.
    pub(crate) fn after_adoption(
        self,
        why: Adoption,
        active: Option<Override>,
        last: DateTime<Utc>,
    ) -> Option<Started> {
        let stop_after = self.spec.stop_after?;
        let known = self.known();
        if matches!(active, Some(Override::Sleep(_) | Override::Pause(_))) {
            return known;
        }
        if self.observed.replicas <= self.spec.stop_replicas {
            return self.expired(last);
        }
        let by_user = self.timer.filter(|_| why == Adoption::Over);
        let started = known.or(by_user).or_else(|| {
            let is_start = self.state.phase.is_some_and(Phase::follows_a_start);
            let by_dayshift = self.state.last.filter(|_| is_start && self.is_own());
            let created = whole_second(self.observed.created);
            let at = by_dayshift.map_or(created, |at| at.max(created)).min(last);
            self.started_at(at)
        });
        let started = started.map(|started| {
            let at = self.spec.timer_began(started.at, self.observed.created);
            let started = Started { at, ..started };
            let now = whole_second(self.now);
            started.with_revision(self.observed.revision, stop_after.since, now)
        });
        let is_later = self.spec.timed_stop(started) > Some(last);
        started
            .filter(|_| is_later)
            .or_else(|| self.started_at(last))
    }

    /// The start in the labels if the timer has stopped the object by `at`.
    pub(crate) fn expired(self, at: DateTime<Utc>) -> Option<Started> {
        let known = self.known();
        known.filter(|_| self.spec.timed_stop(known).is_some_and(|stop| stop <= at))
    }

    /// The start in the labels, if they belong to this object.
    pub(crate) fn known(self) -> Option<Started> {
        self.spec.stop_after?;
        let known = self.state.started.filter(|_| self.is_own());
        known.filter(|started| started.is_possible_at(self.now))
    }

    fn is_own(self) -> bool {
        let fingerprint = self.state.fingerprint;
        fingerprint.is_some_and(|fingerprint| fingerprint.belongs_to(&self.observed.object.uid))
    }
}
