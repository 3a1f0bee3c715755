//! All that a decision rests on, and what a decision can be.

use chrono::{DateTime, TimeDelta, Utc};

use super::{
    change::{Cause, Change, ChangeKind},
    keys::Prefix,
    memory::{Applied, Memory},
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
        /// What to tell the user, unless [`Memory::tell_hands_off`] says that it was told.
        notice: Notice,
    },
}

impl Situation<'_> {
    /// A change that leaves the count as it is, and no error.
    pub(super) fn keep(&self, kind: ChangeKind, state: State) -> Change {
        Change {
            kind,
            cause: Cause::Request { seen: self.seen },
            boundary: None,
            replicas: self.observed.replicas,
            override_began: state.override_began(),
            state,
            error: None,
            lifted: Vec::new(),
            notice: None,
        }
    }

    /// Whether the object is already what the change would make of it.
    pub(super) fn is_so(&self, change: &Change) -> bool {
        change.state.to_labels() == self.observed.labels
            && change.error == self.observed.error
            && change.override_began == self.observed.override_began
            && change.replicas == self.observed.replicas
            && change.lifted.is_empty()
    }

    /// The change, if it changes anything, and unless it has been made too often.
    ///
    /// Rule 12: a change is explained where what applies now is not what applied when something
    /// was last written here, or where the clock explains it, as by a boundary that was not
    /// considered before. Every other one puts back what somebody else has changed.
    pub(super) fn write(
        &self,
        change: Change,
        is_of_the_clock: bool,
        due: Option<DateTime<Utc>>,
    ) -> Decision {
        if self.is_so(&change) {
            return Decision::Wait { due };
        }
        if is_of_the_clock || !self.memory.knows(&Applied::by(&change)) {
            return Decision::Write(change);
        }
        if self.memory.is_at_limit() {
            return Decision::HandsOff {
                due,
                notice: Notice::hands_off(&self.observed.object, self.prefix),
            };
        }
        Decision::Write(Change {
            cause: Cause::Correction,
            ..change
        })
    }
}
