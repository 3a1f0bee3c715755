//! `dayshift sync`: makes an object now what its schedule says, where it is not so.

use chrono::{DateTime, TimeDelta, Utc};

use crate::schedule::{Action, Boundary, ScheduleRule};

use super::decision::change::{Cause, Change, ChangeKind};
use super::decision::counts;
use super::inputs::effective::Origin;
use super::inputs::overrides::Override;
use super::inputs::spec::ScheduleSpec;
use super::observed::Observed;
use super::override_command::{OverrideCommand, OverrideError};
use super::replicas::Replicas;
use super::state::State;
use super::workload_ref::WorkloadRef;

/// How long an override lasts where no boundary is to come.
const WITHOUT_BOUNDARY: TimeDelta = TimeDelta::hours(1);

/// What makes an object what its schedule says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Sync {
    /// A command that a controller obeys.
    Command(OverrideCommand),
    /// A count that no override sets. Like one that somebody sets, it holds until the next boundary.
    Count {
        /// What to write.
        change: Box<Change>,
        /// The next boundary, if there is one.
        until: Option<DateTime<Utc>>,
    },
}

impl ScheduleSpec {
    /// What makes the object what its schedule says at `now`, until the next boundary: an override
    /// until then, the end of the one that holds, or a count; `None` where it is so already.
    ///
    /// # Errors
    /// The object is paused, its Namespace holds it, its schedule says nothing yet, or a later
    /// version wrote the labels that a count would be written beside.
    pub fn sync(
        &self,
        observed: &Observed,
        now: DateTime<Utc>,
    ) -> Result<Option<Sync>, OverrideError> {
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
            Some((Origin::Own, _)) => return Ok(Some(Sync::Command(OverrideCommand::Resume))),
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
        let next = self.next_after(&observed.object, now).map(|next| next.at);
        // Where there is none, what it says now is what it says when the override ends.
        let until = next.unwrap_or(now + WITHOUT_BOUNDARY);
        let over = match says {
            Action::Start => Override::Wake(until),
            Action::Stop | Action::Scale(0) => Override::Sleep(until),
            // A wake sets the largest count of the schedule, or what is there if that is more.
            Action::Scale(count)
                if self.largest_count() == Some(Replicas::new(count).max(seen)) =>
            {
                Override::Wake(until)
            }
            Action::Scale(_) if observed.labels.are_of_a_later_version() => {
                return Err(OverrideError::LaterVersion);
            }
            Action::Scale(count) => {
                let count = self.counts.least().max(Replicas::new(count));
                return Ok(Some(Sync::Count {
                    change: Box::new(set_now(observed, state, count, now)),
                    until: next,
                }));
            }
        };
        Ok(Some(Sync::Command(OverrideCommand::Begin(over))))
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
        let delay = self.delay(object);
        self.schedule.next_that(brings_up, after, delay)
    }

    /// The count that somebody who wants it running now would have; what a switch keeps off stays
    /// off, and so does a 0 that the schedule is no wish against.
    fn as_started(&self, seen: Replicas, state: &State) -> Replicas {
        let remembered = state.remembered();
        if self.counts.is_switch() || self.keeps_zero {
            self.started(seen, remembered)
        } else {
            counts::woken(seen, remembered, self.replicas)
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

/// A count that a person sets now. State stays: nothing takes a manual change back.
fn set_now(observed: &Observed, state: State, count: Replicas, now: DateTime<Utc>) -> Change {
    Change {
        kind: ChangeKind::Sync,
        cause: Cause::Request { seen: now },
        boundary: None,
        replicas: count,
        state,
        error: observed.error.clone(),
        override_began: observed.override_began.clone(),
        inherited: observed.inherited.clone(),
        calendars: 0,
        expired: Vec::new(),
        note: None,
    }
}
