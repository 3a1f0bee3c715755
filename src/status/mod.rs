//! How scheduled Deployments stand: when each starts or stops next, the active override, what
//! is wrong with it, and who else has a hand on its count.

mod owner;
mod workload_status;

pub use owner::Owner;
pub use workload_status::{ScheduleStatus, WorkloadStatus};
