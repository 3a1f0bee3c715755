//! The status of scheduled workloads: the next start or stop, the active override, problems, and the other
//! controllers that set the count.

mod conditions;
mod dependencies;
pub(crate) mod unreadable;
mod workload;

pub use dayshift_workload::time_format::{
    date_and_time, distance, duration, short_time, span, time_of_day,
};
pub use dependencies::{DependencyChecks, DependencyLookup, ignored_dependencies};
pub use unreadable::Unreadable;
pub use workload::{
    RevertedBy, ScheduleStatus, StatusContext, WorkloadStatus, owners, scheduled_owner,
};
