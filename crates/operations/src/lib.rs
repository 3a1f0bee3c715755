//! The operations of dayshift's commands and dashboards on live workloads: select them, request an override,
//! wait until a controller has acted, restore saved counts, and describe their status.
//!
//! Nothing is printed here. Results are returned or reported to the caller as values and sentences, so that
//! a terminal and a web page show the same words.
//!
//! - [`Selection`] is the set of workloads that a command writes to.
//! - [`OverrideRequest`] requests an override of workloads or of a Namespace, and waits for its effect.
//! - [`ExtraWindowRequest`] adds a running window on dates.
//! - [`ScheduleEdit`] writes another schedule on one workload.
//! - [`Restore`] restores saved counts without a controller.
//! - [`LiveSchedules`] reads the objects that hold schedules, for `dayshift convert`.
//! - [`LiveView`] has the workloads of a query, read once or followed.
//! - [`status`] describes workloads.

mod carry_out;
mod extra_window;
mod live_schedules;
mod live_view;
mod namespace_overrides;
mod override_messages;
mod overrides;
mod restore;
mod schedule_edit;
mod selection;
pub mod status;
mod suggestions;
mod until;

pub use carry_out::OverrideReport;
pub use extra_window::{ExtraWindowRequest, WindowEnd};
pub use live_schedules::LiveSchedules;
pub use live_view::{EventNeeds, Follower, LiveView, SharedView};
pub use namespace_overrides::{AnnotatedNamespace, DefaultsOwner, NamespaceError};
pub use override_messages::{
    action_text, annotations_text, failure_text, replaced_text, synced_text,
};
pub use overrides::{
    AnnotatedWorkload, ChangedSincePreview, FormerOverride, FormerOverrides, OverrideRequest,
    ReplacedOverride, RequestError, RequestOutcome, RequestedOverride, Shorten, SyncedCount,
    changed_since,
};
pub use restore::{Restore, RestoredCounts};
pub use schedule_edit::{
    EditedWorkload, ScheduleEdit, annotations_yaml, gitops_manager, kubectl_annotate,
};
pub use selection::{SelectedWorkload, Selection};
pub use suggestions::{nearest_kind, suggest_namespace, suggest_workload};
pub use until::{Until, UntilError, parse_duration, parse_length, parse_span};
