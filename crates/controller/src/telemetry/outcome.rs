//! Outcomes of attempts, as the metrics count them.

use dayshift_cluster::write::PatchError;

/// How an attempt at a transition ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Outcome {
    /// Count and state were changed.
    Done,
    /// Another client changed the object meanwhile: it is read and decided again.
    Conflict,
    /// The object was deleted meanwhile.
    Gone,
    /// The API server does not allow it: a missing permission, an admission policy, a size limit.
    Refused,
    /// No response, or one that asks for a retry.
    Failed,
    /// `--dry-run`: said, not done.
    DryRun,
}

impl Outcome {
    /// The outcome of a patch that was not made.
    pub(crate) const fn of(error: &PatchError) -> Self {
        match error {
            PatchError::Conflict => Self::Conflict,
            PatchError::Gone => Self::Gone,
            PatchError::Rejected(_) | PatchError::Forbidden(_) => Self::Refused,
            PatchError::Unavailable(_) => Self::Failed,
        }
    }

    pub(crate) const ALL: [Self; 6] = [
        Self::Done,
        Self::Conflict,
        Self::Gone,
        Self::Refused,
        Self::Failed,
        Self::DryRun,
    ];

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Conflict => "conflict",
            Self::Gone => "gone",
            Self::Refused => "refused",
            Self::Failed => "failed",
            Self::DryRun => "dry_run",
        }
    }
}

/// The outcome of sending an Event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EventOutcome {
    /// The API server has it.
    Sent,
    /// The API server did not take it.
    Failed,
    /// Dropped unsent, because too many were waiting.
    Dropped,
}

impl EventOutcome {
    pub(crate) const ALL: [Self; 3] = [Self::Sent, Self::Failed, Self::Dropped];

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Sent => "sent",
            Self::Failed => "failed",
            Self::Dropped => "dropped",
        }
    }
}
