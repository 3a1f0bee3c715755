//! What a start does not wait for though it names it, as far as schedules tell.

use chrono::{DateTime, Utc};
use dayshift_schedule::{Action, Zone};

use crate::inputs::after::Needed;
use crate::inputs::overrides::Override;
use crate::inputs::parsed::ParsedInputs;
use crate::inputs::spec::ScheduleSpec;
use crate::replicas::Replicas;
use crate::workload_ref::WorkloadRef;

/// How many starts are looked at.
const MAX_STARTS: usize = 14;

/// Something that a start names.
#[derive(Clone, Copy, Debug)]
pub struct NeededWorkload<'a> {
    /// Which object.
    pub object: &'a WorkloadRef,
    /// What its annotations ask for.
    pub parsed: &'a ParsedInputs,
    /// Its count, where that is known.
    pub replicas: Option<Replicas>,
}

/// Why a start does not wait for something that it names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VainWait {
    /// It runs nothing, and no schedule starts it.
    Unscheduled,
    /// A pause or a sleep keeps it as it is for longer than the start waits.
    Overridden(Override),
    /// Its own schedule keeps it stopped at the start of then, for longer than the start waits.
    Stopped(DateTime<Utc>),
}

impl VainWait {
    /// What is the case, after the name of what is named. `zone` is that of the object that names it.
    pub fn words(self, zone: Zone) -> String {
        match self {
            Self::Unscheduled => "has no replicas, and no schedule starts it".to_owned(),
            Self::Overridden(Override::Pause(pause)) if pause.until().is_none() => {
                "is paused without an end".to_owned()
            }
            Self::Overridden(Override::Sleep(_)) => {
                "is put to sleep for longer than the start waits".to_owned()
            }
            Self::Overridden(_) => "is paused for longer than the start waits".to_owned(),
            Self::Stopped(at) => format!(
                "is stopped by its own schedule at the start of {}",
                at.with_timezone(&zone).format("%a %Y-%m-%d %H:%M %Z")
            ),
        }
    }

    /// What lets the start wait for `needed`.
    pub fn help(self, needed: &Needed) -> String {
        match self {
            Self::Unscheduled => format!("give {needed} a schedule"),
            Self::Overridden(Override::Pause(_)) => format!("end the pause of {needed}"),
            Self::Overridden(_) => format!("end the sleep of {needed}"),
            Self::Stopped(_) => format!("start {needed} before, or at the same time"),
        }
    }
}

impl ScheduleSpec {
    /// Why the next starts of an object with this schedule do not wait for something that they name;
    /// `None` where they may.
    pub fn waits_in_vain(
        &self,
        object: &WorkloadRef,
        needed: &NeededWorkload<'_>,
        from: DateTime<Utc>,
    ) -> Option<VainWait> {
        let within = self.after.as_ref()?.within();
        let other = match needed.parsed {
            ParsedInputs::Scheduled(spec) => spec,
            ParsedInputs::Invalid(_) => return None,
            ParsedInputs::Unscheduled => {
                let is_down = needed.replicas == Some(Replicas::ZERO);
                return is_down.then_some(VainWait::Unscheduled);
            }
        };
        let start = self.next_that(true, object, from)?.at;
        if let Some(over @ (Override::Pause(_) | Override::Sleep(_))) = other.overrides.at(start)
            && over.until().is_none_or(|until| until > start + within)
        {
            return Some(VainWait::Overridden(over));
        }
        let mut from = from;
        for _ in 0..MAX_STARTS {
            let start = self.next_that(true, object, from)?.at;
            let is_stopped = other.says(needed.object, start) == Some(Action::Stop);
            let next = other.next_that(true, needed.object, start);
            if is_stopped && next.is_none_or(|next| next.at > start + within) {
                return Some(VainWait::Stopped(start));
            }
            from = self.next_that(false, object, start)?.at;
        }
        None
    }
}
