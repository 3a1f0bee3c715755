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
    keys::{Key, Prefix},
    observed::Observed,
    replicas::Replicas,
    workload_ref::WorkloadRef,
};

/// How long a requested start waits for a dependency that is stopped. A command that wakes several
/// workloads writes them one after another.
const SETTLING: TimeDelta = TimeDelta::seconds(5);

/// A start of a stopped workload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DueStart {
    /// When it was due.
    pub due: DateTime<Utc>,
    /// Whether a user requested it, rather than the clock.
    pub is_request: bool,
}

/// The dependencies of one start.
#[derive(Clone, Copy, Debug)]
pub struct StartDependencies<'a> {
    after: &'a After,
    needed: &'a [Dependency],
    start: DueStart,
}

/// The state of a dependency.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DependencyState {
    /// All of it is ready.
    Ready,
    /// It is not ready, but might become ready.
    NotReady,
    /// It is stopped. Its schedule starts it at this time, if ever.
    Stopped {
        /// The time of its next start.
        until: Option<DateTime<Utc>>,
    },
    /// It does not exist, or dayshift cannot read it.
    Missing,
    /// Objects of its kind are not watched.
    Unwatched,
    /// Its status does not report whether it is ready.
    Unreported,
    /// It waits for the object that depends on it.
    Cycle,
}

/// A dependency that was not ready at a start, and its state at that time.
pub type UnreadyDependency = (Dependency, DependencyState);

/// Whether a start waits for its dependencies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StartWait {
    /// It waits.
    Waits(WaitingStart),
    /// It does not wait, or no longer.
    Over {
        /// The dependencies that are not ready.
        without: Vec<UnreadyDependency>,
    },
}

/// A start that waits for its dependencies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WaitingStart {
    /// When the start was due.
    pub due: DateTime<Utc>,
    /// The latest time of the start.
    pub until: DateTime<Utc>,
    /// When to check again if nothing changes.
    pub look: DateTime<Utc>,
    /// The dependencies that are not ready.
    pub needed: Vec<Dependency>,
}

impl ScheduleSpec {
    /// The start of a stopped workload, if this change is one. A correction is not a start, and does not
    /// wait.
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

    /// The dependencies of this change; `None` unless it is a [`Self::due_start`] with `after`.
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
    /// The latest time of the start.
    pub fn until(&self) -> DateTime<Utc> {
        let until = self.start.due.checked_add_signed(self.after.within());
        until.unwrap_or(self.start.due)
    }

    /// The dependencies.
    pub const fn needed(&self) -> &[Dependency] {
        self.needed
    }

    /// Whether the start waits at `now`, given the state of each dependency.
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

    /// Until when the start waits for a dependency in this state.
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

/// How many starts are checked.
const MAX_STARTS: usize = 14;

/// The same for long schedules, multiplied by the number of their items: each search takes longer.
const MAX_ITEMS: usize = 1_000;

/// A dependency of a start.
#[derive(Clone, Copy, Debug)]
pub struct DependencyWorkload<'a> {
    /// The workload.
    pub object: &'a WorkloadRef,
    /// Its parsed annotations.
    pub parsed: &'a ParsedInputs,
    /// Its count, if known.
    pub replicas: Option<Replicas>,
}

/// Why a start does not wait for one of its dependencies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnsatisfiableDependency {
    /// The dependency has no replicas, and no schedule starts it.
    Unscheduled,
    /// A pause or a sleep lasts longer than the start waits.
    Overridden(Override),
    /// The dependency's own schedule keeps it stopped at the start at this time, for longer than
    /// the start waits.
    Stopped(DateTime<Utc>),
}

impl UnsatisfiableDependency {
    /// The reason as text, to follow the dependency's name. `zone` is the zone of the dependent
    /// workload.
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

    /// The fix, as an instruction.
    pub fn help(self, needed: &Dependency) -> String {
        match self {
            Self::Unscheduled => format!("give {needed} a schedule"),
            Self::Overridden(Override::Pause(_)) => format!("end the pause of {needed}"),
            Self::Overridden(_) => format!("end the sleep of {needed}"),
            Self::Stopped(_) => format!("start {needed} before, or at the same time"),
        }
    }
}

/// A dependency that a start does not wait for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IgnoredDependency {
    /// The dependency.
    pub needed: Dependency,
    /// Why; `None` if the object does not exist.
    pub why: Option<UnsatisfiableDependency>,
}

impl IgnoredDependency {
    /// For example `sts/db, which is paused without an end`.
    pub fn text(&self, zone: Zone) -> String {
        let why = self
            .why
            .map_or_else(|| "does not exist".to_owned(), |why| why.words(zone));
        format!("{}, which {why}", self.needed)
    }

    /// The fix, as an instruction.
    pub fn fix(&self, prefix: &Prefix) -> String {
        let (needed, key) = (&self.needed, prefix.annotation(Key::After));
        match self.why {
            None => format!("correct {key}"),
            Some(why) => format!("{}, or remove it from {key}", why.help(needed)),
        }
    }
}

impl ScheduleSpec {
    /// Why the next starts with this schedule do not wait for a dependency; `None` if they might.
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
        let start = self.next_boundary(Direction::Up, object, None, from)?.at;
        if let Some(over @ (Override::Pause(_) | Override::Sleep(_))) = other.overrides.at(start)
            && over.until().is_none_or(|until| until > start + within)
        {
            return Some(UnsatisfiableDependency::Overridden(over));
        }
        let mut from = from;
        let items = self.schedule.items() + other.schedule.items();
        for _ in 0..(MAX_ITEMS / items.max(1)).clamp(1, MAX_STARTS) {
            let start = self.next_boundary(Direction::Up, object, None, from)?.at;
            let is_stopped =
                other.required_action(needed.object, None, start) == Some(Action::Stop);
            let next = other.next_boundary(Direction::Up, needed.object, None, start);
            if is_stopped && next.is_none_or(|next| next.at > start + within) {
                return Some(UnsatisfiableDependency::Stopped(start));
            }
            from = self.next_boundary(Direction::Down, object, None, start)?.at;
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

    /// For a start that was due at second 0, with two dependencies in these states: the second of
    /// its next check, or the number of unready dependencies if it does not wait.
    fn wait(stand: [DependencyState; 2], is_request: bool, now: i64) -> Result<i64, usize> {
        let after =
            After::parse("sts/db; deploy/cache, 60s", &crate::KindTable::default()).unwrap();
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
    fn a_start_waits_for_dependencies_that_might_become_ready_within_its_time() {
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
            // A missing dependency does not end the wait for the other one.
            ([Missing, NotReady], false, 0, Ok(60)),
            ([Unwatched, Unreported], true, 0, Err(2)),
            ([Cycle, Ready], true, 0, Err(1)),
            ([soon, Ready], false, 0, Ok(60)),
            ([late, Ready], false, 0, Err(1)),
            ([never, Ready], false, 0, Err(1)),
            // A command might be about to wake it.
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
