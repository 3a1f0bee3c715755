//! How scheduled workloads stand: when each starts or stops next, the active override, what
//! is wrong with it, and who else has a hand on its count.

mod live_view;
mod note;
mod reverted;
mod workload_status;

pub use live_view::LiveView;
pub use note::Note;
pub use reverted::RevertedBy;
pub use workload_status::{ScheduleStatus, WorkloadStatus};
