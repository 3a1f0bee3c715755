//! `dayshift sync`: makes an object now what its schedule says, where it is not so.

use chrono::{DateTime, TimeDelta, Utc};

use crate::schedule::{Action, Boundary, ScheduleRule};

use super::decision::counts;
use super::inputs::effective::Origin;
use super::inputs::overrides::Override;
use super::inputs::parsed::ScheduleSpec;
use super::observed::Observed;
use super::override_command::{OverrideCommand, OverrideError};
use super::replicas::Replicas;
use super::state::State;
use super::workload_ref::WorkloadRef;

/// How many boundaries are looked at for the next one of a kind: more than a year of two a day.
/// Beyond that a schedule that is very one-sided counts as having one.
const MOST_BOUNDARIES: usize = 1000;

/// How long an override lasts where no boundary is to come.
const WITHOUT_BOUNDARY: TimeDelta = TimeDelta::hours(1);

impl ScheduleSpec {
    /// What makes the object what its schedule says at `now`, until the next boundary: an override
    /// until then, or the end of the one that holds; `None` where it is so already.
    ///
    /// # Errors
    /// The object is paused, its schedule says nothing yet, or no override sets the count that the
    /// schedule says.
    pub fn sync(
        &self,
        observed: &Observed,
        now: DateTime<Utc>,
    ) -> Result<Option<OverrideCommand>, OverrideError> {
        let state = observed.state();
        let overrides = observed.overrides(self, &state, now);
        match overrides.with_origin_at(now) {
            Some((Origin::Namespace | Origin::Scaler, _)) => {
                let namespace = observed.object.namespace.clone();
                return Err(OverrideError::HeldByNamespace(namespace));
            }
            Some((Origin::Own, Override::Pause(pause))) => {
                return Err(OverrideError::Paused(pause));
            }
            Some((Origin::Own, _)) => return Ok(Some(OverrideCommand::Resume)),
            None => {}
        }
        let says = self
            .says(&observed.object, now)
            .ok_or(OverrideError::SaysNothing)?;
        let seen = observed.replicas;
        let is_so = match says {
            Action::Stop => seen <= self.stop_replicas,
            Action::Start => self.as_started(seen, &state) == seen,
            Action::Scale(count) => seen == self.counts.least().max(Replicas::new(count)),
        };
        if is_so {
            return Ok(None);
        }
        let next = self.next_after(&observed.object, now);
        // Where there is none, what it says now is what it says when the override ends.
        let until = next.map_or(now + WITHOUT_BOUNDARY, |next| next.at);
        Ok(Some(OverrideCommand::Begin(match says {
            Action::Start => Override::Wake(until),
            Action::Stop | Action::Scale(0) => Override::Sleep(until),
            // A wake sets the largest count of the schedule, or what is there if that is more.
            Action::Scale(count)
                if self.largest_count() == Some(Replicas::new(count).max(seen)) =>
            {
                Override::Wake(until)
            }
            Action::Scale(count) => return Err(OverrideError::ExactCount(count)),
        })))
    }

    /// What the schedule says at `now` where the object is plainly not so: some run that should be
    /// stopped, none runs that should, or the count is not the one that `scale` sets.
    pub fn contradicts(&self, observed: &Observed, now: DateTime<Utc>) -> Option<Action> {
        self.says(&observed.object, now).filter(|says| match says {
            // Where nothing ever starts, people start it by hand, and it is meant to run then.
            Action::Stop => observed.replicas > self.stop_replicas && self.may(true),
            Action::Start => {
                let (seen, state) = (observed.replicas, observed.state());
                seen == Replicas::ZERO
                    && self.replicas != Some(Replicas::ZERO)
                    && self.as_started(seen, &state) > seen
            }
            Action::Scale(count) => {
                observed.replicas != self.counts.least().max(Replicas::new(*count))
            }
        })
    }

    /// The first boundary after `after` after which something runs, or after which nothing does.
    pub fn next_that(
        &self,
        brings_up: bool,
        object: &WorkloadRef,
        after: DateTime<Utc>,
    ) -> Option<Boundary> {
        if !self.may(brings_up) {
            return None;
        }
        let following = |boundary: &Boundary| self.next_after(object, boundary.at);
        std::iter::successors(self.next_after(object, after), following)
            .take(MOST_BOUNDARIES)
            .find(|boundary| boundary.action.brings_up() == brings_up)
    }

    /// The count that somebody who wants it running now would have; what a switch keeps off
    /// stays off.
    fn as_started(&self, seen: Replicas, state: &State) -> Replicas {
        let known = self.known_count(seen, state.remembered());
        if self.counts.is_switch() {
            counts::started(seen, known, self.replicas)
        } else {
            counts::woken(seen, known, self.replicas)
        }
    }

    /// Whether the schedule has times that bring something up, or down.
    fn may(&self, brings_up: bool) -> bool {
        match self.schedule.rule() {
            ScheduleRule::Times(entries) => {
                let mut entries = entries.iter();
                entries.any(|it| it.action.brings_up() == brings_up)
            }
            ScheduleRule::Hours(_) => true,
        }
    }
}
