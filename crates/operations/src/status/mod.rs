//! The status of scheduled workloads: the next start or stop, the active override, problems, and the other
//! controllers that set the count.

mod dependencies;
mod live_view;
mod note;
mod note_text;
pub(crate) mod time_format;
pub(crate) mod unreadable;
mod workload;

pub use dependencies::{DependencyLookup, IgnoredDependency, KnownWorkloads, ignored_dependencies};
pub use live_view::{
    HPA_REFRESH, KindWatches, LiveView, NAMESPACE_REFRESH, PROBE, ViewEvent, clock_ahead,
};
pub use note::Note;
pub use note_text::NoteText;
pub use time_format::{date_and_time, distance, duration, short_time, span, time_of_day};
pub use unreadable::Unreadable;
pub use workload::{
    RevertedBy, ScheduleStatus, StatusContext, WorkloadStatus, owners, wakes_on_request,
};
