//! What one patch makes of an object, and why.

use std::fmt;

use crate::schedule::Boundary;

use super::{notice::Notice, replicas::Replicas, state::State};

/// What one patch makes of an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// Why it is made.
    pub kind: ChangeKind,
    /// The boundary that it carries out; none but for a start or stop.
    pub boundary: Option<Boundary>,
    /// The count afterwards.
    pub replicas: Replicas,
    /// The state labels afterwards.
    pub state: State,
    /// The error annotation afterwards.
    pub error: Option<Box<str>>,
    /// What to tell the user once it is made.
    pub notice: Option<Notice>,
    /// Whether it puts back what somebody else took away (rule 12 counts these).
    pub corrective: bool,
}

/// Why a change is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ChangeKind {
    /// A start is due.
    Start,
    /// A stop is due.
    Stop,
    /// The schedule is taken up without scaling.
    Adopt(Adoption),
    /// The schedule is refused.
    Refuse,
    /// A refused schedule was put right again.
    Resume,
    /// The same schedule has another next boundary: the default zone or the zone data changed.
    Reschedule,
    /// State that vanished or went backwards is written again.
    Heal,
    /// The schedule is gone.
    Remove,
}

impl ChangeKind {
    /// Whether the change carries out a boundary, which goes before everything else.
    pub const fn is_transition(self) -> bool {
        matches!(self, Self::Start | Self::Stop)
    }
}

impl fmt::Display for ChangeKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Start => "start",
            Self::Stop => "stop",
            Self::Adopt(_) => "adopt",
            Self::Refuse => "refuse",
            Self::Resume => "resume",
            Self::Reschedule => "reschedule",
            Self::Heal => "heal",
            Self::Remove => "remove",
        })
    }
}

/// Why a schedule is taken up without scaling.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Adoption {
    /// No state was there.
    New,
    /// The state belongs to another text or another object.
    Changed,
    /// What is due was missed for too long.
    Missed,
    /// The state is from more than an hour ahead of a good clock.
    FromFuture,
}
