//! What a start waits for, and until when.

use chrono::{DateTime, TimeDelta, Utc};

use super::change::{Cause, Change, ChangeKind};
use crate::inputs::after::{After, Needed};
use crate::inputs::spec::ScheduleSpec;
use crate::observed::Observed;

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
pub struct Needs<'a> {
    after: &'a After,
    needed: &'a [Needed],
    start: DueStart,
}

/// The state of something that a start needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NeededState {
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
    Silent,
    /// It waits for the object that needs it.
    Circle,
}

/// Something that was not ready at a start, and its state then.
pub type Lack = (Needed, NeededState);

/// Whether a start waits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StartWait {
    /// It waits.
    Waits(Waiting),
    /// It does not, or no longer.
    Over {
        /// What is not ready.
        without: Vec<Lack>,
    },
}

/// A start that waits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Waiting {
    /// When the start fell due.
    pub due: DateTime<Utc>,
    /// Until when it waits at most.
    pub until: DateTime<Utc>,
    /// When to look again where nothing changes.
    pub look: DateTime<Utc>,
    /// For what.
    pub needed: Vec<Needed>,
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
    pub fn needs(&self, change: &Change, observed: &Observed) -> Option<Needs<'_>> {
        let after = self.after.as_ref()?;
        let needed = after.needed_by(&observed.object);
        if needed.is_empty() {
            return None;
        }
        let start = self.due_start(change, observed)?;
        Some(Needs {
            after,
            needed,
            start,
        })
    }
}

impl Needs<'_> {
    /// Until when the start waits at most.
    pub fn until(&self) -> DateTime<Utc> {
        let until = self.start.due.checked_add_signed(self.after.within());
        until.unwrap_or(self.start.due)
    }

    /// What has to be ready.
    pub const fn needed(&self) -> &[Needed] {
        self.needed
    }

    /// Whether the start waits at `now`, given the state of each thing that it needs.
    pub fn wait(&self, now: DateTime<Utc>, standing: impl Fn(&Needed) -> NeededState) -> StartWait {
        let until = self.until();
        let mut look: Option<DateTime<Utc>> = None;
        let mut needed = Vec::new();
        let mut without = Vec::new();
        for one in self.needed {
            let stands = standing(one);
            match self.waits_until(stands, until).filter(|end| now < *end) {
                Some(end) => {
                    look = Some(look.map_or(end, |it| it.min(end)));
                    needed.push(one.clone());
                }
                None if stands != NeededState::Ready => without.push((one.clone(), stands)),
                None => {}
            }
        }
        look.map_or(StartWait::Over { without }, |look| {
            StartWait::Waits(Waiting {
                due: self.start.due,
                until,
                look,
                needed,
            })
        })
    }

    /// Until when the start waits for something in this state.
    fn waits_until(&self, standing: NeededState, until: DateTime<Utc>) -> Option<DateTime<Utc>> {
        match standing {
            NeededState::NotReady => Some(until),
            NeededState::Stopped { until: start } if start.is_some_and(|it| it <= until) => {
                Some(until)
            }
            NeededState::Stopped { .. } if self.start.is_request => {
                let settled = self.start.due.checked_add_signed(SETTLING)?;
                Some(settled.min(until))
            }
            NeededState::Stopped { .. }
            | NeededState::Ready
            | NeededState::Missing
            | NeededState::Unwatched
            | NeededState::Silent
            | NeededState::Circle => None,
        }
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
    fn wait(stand: [NeededState; 2], is_request: bool, now: i64) -> Result<i64, usize> {
        let after = After::parse("sts/db; deploy/cache, 60s").unwrap();
        let needs = Needs {
            after: &after,
            needed: after.named(),
            start: DueStart {
                due: at(0),
                is_request,
            },
        };
        let standing = |one: &Needed| stand[usize::from(*one.name == *"cache")];
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
        use NeededState::{Circle, Missing, NotReady, Ready, Silent, Stopped, Unwatched};
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
            ([Unwatched, Silent], true, 0, Err(2)),
            ([Circle, Ready], true, 0, Err(1)),
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
