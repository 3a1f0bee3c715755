//! `dayshift sync`: makes an object now what its schedule says, where it is not so.

use chrono::{DateTime, TimeDelta, Utc};
use dayshift_schedule::Action;

use super::decision::change::{Change, ChangeKind};
use super::inputs::effective::Origin;
use super::inputs::overrides::Override;
use super::inputs::spec::ScheduleSpec;
use super::observed::Observed;
use super::override_command::{OverrideCommand, OverrideError};
use super::replicas::Replicas;

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

impl Sync {
    /// What makes the object what its schedule says at `now`, until the next boundary: an override
    /// until then, the end of the one that holds, or a count; `None` where it is so already.
    ///
    /// # Errors
    /// The object is paused, its Namespace holds it, its schedule says nothing yet, or a later
    /// version wrote the labels that a count would be written beside.
    pub fn of(
        spec: &ScheduleSpec,
        observed: &Observed,
        now: DateTime<Utc>,
    ) -> Result<Option<Self>, OverrideError> {
        let state = observed.state();
        let overrides = observed.overrides(spec, &state, now);
        match overrides.with_origin_at(now) {
            Some((Origin::Namespace | Origin::Scaler, _)) => {
                let namespace = observed.object.namespace.clone();
                return Err(OverrideError::HeldByNamespace(namespace));
            }
            Some((Origin::Own, Override::Pause(pause))) => {
                return Err(OverrideError::Paused(pause));
            }
            Some((Origin::Own, _)) => return Ok(Some(Self::Command(OverrideCommand::Resume))),
            None => {}
        }
        let says = spec
            .says(&observed.object, now)
            .ok_or(OverrideError::SaysNothing)?;
        let seen = observed.replicas;
        let is_so = match says {
            Action::Stop => seen <= spec.stop_replicas,
            Action::Start => spec.as_started(seen, &state) == seen,
            Action::Scale(count) => seen == spec.counts.least().max(Replicas::new(count)),
        };
        if is_so {
            return Ok(None);
        }
        let next = spec.next_after(&observed.object, now).map(|next| next.at);
        // Where there is none, what it says now is what it says when the override ends.
        let until = next.unwrap_or(now + WITHOUT_BOUNDARY);
        let over = match says {
            Action::Start => Override::Wake(until),
            Action::Stop | Action::Scale(0) => Override::Sleep(until),
            // A wake sets the largest count of the schedule, or what is there if that is more.
            Action::Scale(count)
                if spec.largest_count() == Some(Replicas::new(count).max(seen)) =>
            {
                Override::Wake(until)
            }
            Action::Scale(_) if observed.labels.are_of_a_later_version() => {
                return Err(OverrideError::LaterVersion);
            }
            Action::Scale(count) => {
                let count = spec.counts.least().max(Replicas::new(count));
                return Ok(Some(Self::Count {
                    change: Box::new(Change::requested(
                        ChangeKind::Sync,
                        observed,
                        count,
                        state,
                        now,
                    )),
                    until: next,
                }));
            }
        };
        Ok(Some(Self::Command(OverrideCommand::Begin(over))))
    }
}
