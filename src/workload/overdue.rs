//! Overdue: what a controller should have done to an object by now, and has not.
//!
//! The object alone is enough to tell, so it works where no controller runs.

use chrono::{DateTime, TimeDelta, Utc};

use crate::schedule::Boundary;

use super::inputs::overrides::{Override, Overrides};
use super::inputs::parsed::ParsedInputs;
use super::inputs::spec::ScheduleSpec;
use super::observed::Observed;
use super::state::{Phase, State};

/// How long after its instant something may be undone before it is overdue: 10 s. A controller
/// acts within milliseconds; the rest is for a restart, for many boundaries at once, and for
/// clocks that differ by less than `--max-clock-skew` (30 s) but not by much.
pub const OVERDUE_GRACE: TimeDelta = TimeDelta::seconds(10);

/// Something that should have been done by now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Overdue {
    /// What should have been done.
    pub duty: Duty,
    /// Since when; `None` where nobody knows when a user asked for it.
    pub since: Option<DateTime<Utc>>,
}

/// What an object asks of a controller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Duty {
    /// A new or edited schedule is to be adopted.
    Adopt,
    /// A boundary is to be carried out.
    Boundary(Boundary),
    /// An override is to begin.
    Begin(Override),
    /// An override that is over, or was removed, is to end; the phase is that override's.
    End(Phase),
}

impl ScheduleSpec {
    /// What should have been done to the object by `now`, for longer than [`OVERDUE_GRACE`].
    ///
    /// `changed` is an instant by which the annotations were as they are, such as the last time
    /// that anybody changed the object: what they ask for is overdue from then on. Where it is
    /// unknown they count as old.
    pub fn overdue(
        &self,
        observed: &Observed,
        changed: Option<DateTime<Utc>>,
        now: DateTime<Utc>,
    ) -> Option<Overdue> {
        let state = observed.state();
        if observed.deleting || observed.labels.are_of_a_later_version() {
            return None;
        }
        let overrides = observed.overrides(self, &state, now);
        let duty = match (overrides.at(now), state.phase) {
            (Some(over), _) if !over.holds(&state) => Duty::Begin(over),
            (Some(_), _) => return None,
            (None, Some(phase)) if phase.is_override() => {
                let since = ended_by_itself(&overrides, phase, &state, now).or(changed);
                return overdue(Duty::End(phase), since, now);
            }
            (None, Some(_)) if self.is_followed(observed, &state) => {
                return self.missed(observed, &state, now);
            }
            (None, _) => Duty::Adopt,
        };
        overdue(duty, changed, now)
    }

    /// Whether the state is that of this schedule on this object.
    fn is_followed(&self, observed: &Observed, state: &State) -> bool {
        let (inputs, uid) = (&observed.inputs, &observed.object.uid);
        let fingerprint = state.fingerprint;
        // One that is missing was taken away: the rest of the state tells as much as it can.
        fingerprint.is_none_or(|it| it.is_of(inputs, uid))
    }

    /// The newest boundary that was due at the end of the grace.
    fn missed(&self, observed: &Observed, state: &State, now: DateTime<Utc>) -> Option<Overdue> {
        // Most objects are asked about long before their next boundary.
        if state.next.is_some_and(|next| next + OVERDUE_GRACE > now) {
            return None;
        }
        let boundary = self.latest_at(&observed.object, now - OVERDUE_GRACE)?;
        let is_due = state.last.is_some_and(|last| boundary.at > last)
            && state.next.is_none_or(|next| boundary.at >= next);
        is_due.then_some(Overdue {
            duty: Duty::Boundary(boundary),
            since: Some(boundary.at),
        })
    }
}

impl ParsedInputs {
    /// As [`ScheduleSpec::overdue`]; `None` where there is no schedule, or it is refused.
    pub fn overdue(
        &self,
        observed: &Observed,
        changed: Option<DateTime<Utc>>,
        now: DateTime<Utc>,
    ) -> Option<Overdue> {
        match self {
            Self::Scheduled(spec) => spec.overdue(observed, changed, now),
            Self::Unscheduled | Self::Invalid(_) => None,
        }
    }
}

fn overdue(duty: Duty, since: Option<DateTime<Utc>>, now: DateTime<Utc>) -> Option<Overdue> {
    let is_late = since.is_none_or(|since| since + OVERDUE_GRACE <= now);
    is_late.then_some(Overdue { duty, since })
}

/// When the override by which an object is held came to its end, if nobody took it away before.
fn ended_by_itself(
    overrides: &Overrides,
    phase: Phase,
    state: &State,
    now: DateTime<Utc>,
) -> Option<DateTime<Utc>> {
    let written = Override::key(phase).and_then(|key| overrides.until(key));
    written.max(state.next).filter(|end| *end <= now)
}
