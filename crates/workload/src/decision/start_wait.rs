//! Start dependencies (`after`): whether a start waits, until when, and dependencies that can never become
//! ready in time.

use chrono::{DateTime, TimeDelta, Utc};
use dayshift_schedule::{Action, Direction, Zone};

use crate::{
    decision::change::{Cause, Change, ChangeKind},
    inputs::{
        after::{After, Dependency},
        overrides::Override,
        parse::ParsedInputs,
        spec::ScheduleSpec,
    },
    observed::Observed,
    replicas::Replicas,
    workload_ref::WorkloadRef,
};

/// How long a start that somebody asks for waits for something stopped: a command that wakes several
/// objects writes to one after another.
const SETTLING: TimeDelta = TimeDelta::seconds(5);

/// A start of something that is stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DueStart {
    /// When it fell due.
    pub due: DateTime<Utc>,
    /// Whether somebody asks for it, and not the clock.
    pub is_request: bool,
}

/// What has to be ready before one start.
#[derive(Clone, Copy, Debug)]
pub struct StartDependencies<'a> {
    after: &'a After,
    needed: &'a [Dependency],
    start: DueStart,
}

/// The state of something that a start needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DependencyState {
    /// It is ready, all of it.
    Ready,
    /// It is not ready, and may become so.
    NotReady,
    /// It runs nothing, and its schedule starts it then, if ever.
    Stopped {
        /// When.
        until: Option<DateTime<Utc>>,
    },
    /// It is not there, or is not seen.
    Missing,
    /// Objects of its kind are not seen.
    Unwatched,
    /// It does not say whether it is ready.
    Unreported,
    /// It waits for the object that needs it.
    Cycle,
}

/// Something that was not ready at a start, and its state then.
pub type UnreadyDependency = (Dependency, DependencyState);

/// Whether a start waits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StartWait {
    /// It waits.
    Waits(WaitingStart),
    /// It does not, or no longer.
    Over {
        /// What is not ready.
        without: Vec<UnreadyDependency>,
    },
}

/// A start that waits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WaitingStart {
    /// When the start fell due.
    pub due: DateTime<Utc>,
    /// Until when it waits at most.
    pub until: DateTime<Utc>,
    /// When to look again where nothing changes.
    pub look: DateTime<Utc>,
    /// For what.
    pub needed: Vec<Dependency>,
}

impl ScheduleSpec {
    /// The start of something that is stopped, if this change is one. A correction of somebody else's
    /// change is none, and waits for nothing.
    pub fn due_start(&self, change: &Change, observed: &Observed) -> Option<DueStart> {
        let is_start = matches!(
            change.kind,
            ChangeKind::Start | ChangeKind::Wake | ChangeKind::Scale(_)
        );
        let is_stopped = observed.replicas <= self.stop_replicas;
        if !is_start || !is_stopped || change.replicas <= observed.replicas {
            return None;
        }
        let (due, is_request) = match change.cause {
            Cause::Clock(at) => (at, false),
            Cause::Request { seen } => (seen, true),
            Cause::Correction => return None,
        };
        Some(DueStart { due, is_request })
    }

    /// What has to be ready before this change; `None` for all but a [`Self::due_start`] with `after`.
    pub fn needs(&self, change: &Change, observed: &Observed) -> Option<StartDependencies<'_>> {
        let after = self.after.as_ref()?;
        let needed = after.needed_by(&observed.object);
        if needed.is_empty() {
            return None;
        }
        let start = self.due_start(change, observed)?;
        Some(StartDependencies {
            after,
            needed,
            start,
        })
    }
}

impl StartDependencies<'_> {
    /// Until when the start waits at most.
    pub fn until(&self) -> DateTime<Utc> {
        let until = self.start.due.checked_add_signed(self.after.within());
        until.unwrap_or(self.start.due)
    }

    /// What has to be ready.
    pub const fn needed(&self) -> &[Dependency] {
        self.needed
    }

    /// Whether the start waits at `now`, given the state of each thing that it needs.
    pub fn wait(
        &self,
        now: DateTime<Utc>,
        standing: impl Fn(&Dependency) -> DependencyState,
    ) -> StartWait {
        let until = self.until();
        let mut look: Option<DateTime<Utc>> = None;
        let mut needed = Vec::new();
        let mut without = Vec::new();
        for one in self.needed {
            let stands = standing(one);
            match self.waits_until(stands, until).filter(|end| now < *end) {
                Some(end) => {
                    look = Some(look.map_or(end, |earliest| earliest.min(end)));
                    needed.push(one.clone());
                }
                None if stands != DependencyState::Ready => without.push((one.clone(), stands)),
                None => {}
            }
        }
        look.map_or(StartWait::Over { without }, |look| {
            StartWait::Waits(WaitingStart {
                due: self.start.due,
                until,
                look,
                needed,
            })
        })
    }

    /// Until when the start waits for something in this state.
    fn waits_until(
        &self,
        standing: DependencyState,
        until: DateTime<Utc>,
    ) -> Option<DateTime<Utc>> {
        match standing {
            DependencyState::NotReady => Some(until),
            DependencyState::Stopped { until: start }
                if start.is_some_and(|start| start <= until) =>
            {
                Some(until)
            }
            DependencyState::Stopped { .. } if self.start.is_request => {
                let settled = self.start.due.checked_add_signed(SETTLING)?;
                Some(settled.min(until))
            }
            DependencyState::Stopped { .. }
            | DependencyState::Ready
            | DependencyState::Missing
            | DependencyState::Unwatched
            | DependencyState::Unreported
            | DependencyState::Cycle => None,
        }
    }
}

/// How many starts are looked at.
const MAX_STARTS: usize = 14;

/// Something that a start names.
#[derive(Clone, Copy, Debug)]
pub struct DependencyWorkload<'a> {
    /// Which object.
    pub object: &'a WorkloadRef,
    /// What its annotations ask for.
    pub parsed: &'a ParsedInputs,
    /// Its count, where that is known.
    pub replicas: Option<Replicas>,
}

/// Why a start does not wait for something that it names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnsatisfiableDependency {
    /// It runs nothing, and no schedule starts it.
    Unscheduled,
    /// A pause or a sleep keeps it as it is for longer than the start waits.
    Overridden(Override),
    /// Its own schedule keeps it stopped at the start of then, for longer than the start waits.
    Stopped(DateTime<Utc>),
}

impl UnsatisfiableDependency {
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
    pub fn help(self, needed: &Dependency) -> String {
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
    pub fn unsatisfiable_dependency(
        &self,
        object: &WorkloadRef,
        needed: &DependencyWorkload<'_>,
        from: DateTime<Utc>,
    ) -> Option<UnsatisfiableDependency> {
        let within = self.after.as_ref()?.within();
        let other = match needed.parsed {
            ParsedInputs::Scheduled(spec) => spec,
            ParsedInputs::Invalid(_) => return None,
            ParsedInputs::Unscheduled => {
                let is_down = needed.replicas == Some(Replicas::ZERO);
                return is_down.then_some(UnsatisfiableDependency::Unscheduled);
            }
        };
        let start = self.next_boundary(Direction::Up, object, from)?.at;
        if let Some(over @ (Override::Pause(_) | Override::Sleep(_))) = other.overrides.at(start)
            && over.until().is_none_or(|until| until > start + within)
        {
            return Some(UnsatisfiableDependency::Overridden(over));
        }
        let mut from = from;
        for _ in 0..MAX_STARTS {
            let start = self.next_boundary(Direction::Up, object, from)?.at;
            let is_stopped = other.says(needed.object, start) == Some(Action::Stop);
            let next = other.next_boundary(Direction::Up, needed.object, start);
            if is_stopped && next.is_none_or(|next| next.at > start + within) {
                return Some(UnsatisfiableDependency::Stopped(start));
            }
            from = self.next_boundary(Direction::Down, object, start)?.at;
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(second: i64) -> DateTime<Utc> {
        DateTime::UNIX_EPOCH + TimeDelta::seconds(second)
    }

    /// Until when a start that fell due at 0 waits at `now` for two that stand so, and the number of
    /// those that are not ready where it goes.
    fn wait(stand: [DependencyState; 2], is_request: bool, now: i64) -> Result<i64, usize> {
        let after = After::parse("sts/db; deploy/cache, 60s").unwrap();
        let needs = StartDependencies {
            after: &after,
            needed: after.named(),
            start: DueStart {
                due: at(0),
                is_request,
            },
        };
        let standing = |one: &Dependency| stand[usize::from(*one.name == *"cache")];
        match needs.wait(at(now), standing) {
            StartWait::Waits(waiting) => {
                assert_eq!((waiting.due, waiting.until), (at(0), at(60)));
                Ok((waiting.look - at(0)).num_seconds())
            }
            StartWait::Over { without } => Err(without.len()),
        }
    }

    #[test]
    fn a_start_waits_for_what_may_become_ready_and_at_most_for_its_time() {
        use DependencyState::{Cycle, Missing, NotReady, Ready, Stopped, Unreported, Unwatched};
        let soon = Stopped {
            until: Some(at(60)),
        };
        let late = Stopped {
            until: Some(at(61)),
        };
        let never = Stopped { until: None };
        for (stand, is_request, now, expected) in [
            ([Ready, Ready], false, 0, Err(0)),
            ([NotReady, Ready], false, 0, Ok(60)),
            ([NotReady, NotReady], false, 59, Ok(60)),
            ([NotReady, Ready], false, 60, Err(1)),
            ([NotReady, NotReady], true, 600, Err(2)),
            ([Missing, Ready], false, 0, Err(1)),
            // A missing object does not end the wait for the other.
            ([Missing, NotReady], false, 0, Ok(60)),
            ([Unwatched, Unreported], true, 0, Err(2)),
            ([Cycle, Ready], true, 0, Err(1)),
            ([soon, Ready], false, 0, Ok(60)),
            ([late, Ready], false, 0, Err(1)),
            ([never, Ready], false, 0, Err(1)),
            // A command may be about to wake it.
            ([late, never], true, 4, Ok(5)),
            ([late, never], true, 5, Err(2)),
            ([late, NotReady], true, 4, Ok(5)),
            ([late, NotReady], true, 5, Ok(60)),
        ] {
            let found = wait(stand, is_request, now);
            assert_eq!(found, expected, "{stand:?} {is_request} {now}");
        }
    }
}
