//! The outcomes of requests, which are label values of metrics.

use dayshift_cluster::write::PatchError;

/// How an attempt at a transition ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Outcome {
    /// The count and the state were changed.
    Done,
    /// Another client has changed the object meanwhile. It is read, and the decision is made again.
    Conflict,
    /// The object was deleted meanwhile.
    Gone,
    /// The API server rejects the patch, for example because of a missing permission, an admission
    /// policy or a size limit.
    Refused,
    /// There was no response, or the response requests a retry.
    Failed,
    /// Nothing was sent, because of `--dry-run`.
    DryRun,
}

impl Outcome {
    /// The outcome of a patch that failed with this error.
    pub(crate) const fn from_error(error: &PatchError) -> Self {
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
    /// The API server has accepted it.
    Sent,
    /// The API server has rejected it.
    Failed,
    /// It was dropped: the queue was full, or all retries failed.
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
