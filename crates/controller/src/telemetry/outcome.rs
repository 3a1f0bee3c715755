//! The outcomes of requests, which are label values of metrics.

use dayshift_cluster::write::PatchError;
use dayshift_text::named_enum;

named_enum! {
    /// How an attempt at a transition ended.
    pub enum Outcome {
        /// The count and the state were changed.
        Done = "done",
        /// Another client has changed the object meanwhile. It is read, and the decision is made again.
        Conflict = "conflict",
        /// The object was deleted meanwhile.
        Gone = "gone",
        /// The API server rejects the patch, for example because of a missing permission, an admission
        /// policy or a size limit.
        Refused = "refused",
        /// There was no response, or the response requests a retry.
        Failed = "failed",
        /// Nothing was sent, because of `--dry-run`.
        DryRun = "dry_run",
    }
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
}

named_enum! {
    /// The outcome of sending an Event.
    pub enum EventOutcome {
        /// The API server has accepted it.
        Sent = "sent",
        /// The API server has rejected it.
        Failed = "failed",
        /// It was dropped: the queue was full, or all retries failed.
        Dropped = "dropped",
    }
}
