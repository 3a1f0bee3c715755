//! All that a decision rests on, and what a decision can be.

use chrono::{DateTime, TimeDelta, Utc};

use super::{
    change::{Change, ChangeKind},
    keys::Prefix,
    memory::Memory,
    notice::Notice,
    observed::Observed,
    reading::Reading,
    state::State,
};

/// All that a decision rests on, but for the time.
#[derive(Clone, Copy, Debug)]
pub struct Situation<'a> {
    /// What the annotations ask for.
    pub reading: &'a Reading,
    /// The object as the API server showed it.
    pub observed: &'a Observed,
    /// What this process remembers of it: at first sight, just that.
    pub memory: &'a Memory,
    /// When these annotations were first seen on this object.
    pub seen: DateTime<Utc>,
    /// What was missed for longer than this is adopted instead of done.
    pub catch_up: TimeDelta,
    /// What stands before the `/` of every key.
    pub prefix: &'a Prefix,
}

/// What to do with an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decision {
    /// Nothing until `due`, the next boundary or the end of what holds, or until the object
    /// changes.
    Wait {
        /// When to decide again, if ever.
        due: Option<DateTime<Utc>>,
    },
    /// One patch, now.
    Write(Change),
    /// Something should be put right but has been too often: nothing until `due`.
    HandsOff {
        /// When to decide again, if ever.
        due: Option<DateTime<Utc>>,
        /// What to tell the user, once.
        notice: Notice,
    },
}

impl Situation<'_> {
    /// A change that leaves the count as it is, and no error.
    pub(super) fn keep(&self, kind: ChangeKind, state: State) -> Change {
        Change {
            kind,
            boundary: None,
            replicas: self.observed.replicas,
            state,
            error: None,
            lifted: Vec::new(),
            notice: None,
            corrective: false,
        }
    }

    /// The change, if it changes anything, and unless it has been made too often (rule 12).
    pub(super) fn write(&self, change: Change, due: Option<DateTime<Utc>>) -> Decision {
        let same = change.state.to_labels() == self.observed.labels
            && change.error == self.observed.error
            && change.replicas == self.observed.replicas
            && change.lifted.is_empty();
        if same {
            Decision::Wait { due }
        } else if change.corrective && self.memory.out_of_patience() {
            Decision::HandsOff {
                due,
                notice: Notice::hands_off(&self.observed.object, self.prefix),
            }
        } else {
            Decision::Write(change)
        }
    }
}
