//! What the commands do to live workloads: find them, annotate them, wait until a controller has
//! acted, and restore them without one.
//!
//! Nothing here is shown to anyone: what happens to each object is reported to the caller, and
//! where several show it, in words.

mod live_schedules;
mod namespace_override;
mod override_request;
mod override_words;
mod previewed;
mod report;
mod restore;
mod resumed_jobs;
mod retry;
mod selection;
mod until;
mod wait;

pub use live_schedules::{LiveName, LiveQuery, LiveSchedules};
pub use namespace_override::{AnnotatedNamespace, NamespaceError};
pub use override_request::{
    Annotated, OverrideRequest, RequestError, RequestOutcome, RequestedOverride, Scaled,
};
pub use override_words::{action_of, annotations, failed, scaled};
pub use previewed::{Changed, changed_since};
pub use report::Said;
pub use restore::{Restore, RestoreError, RestoredCounts};
pub use selection::Selection;
pub use until::{Until, UntilError, parse_duration, parse_length, parse_span};
