//! What commands do to workloads of a live cluster: the real program on the API in memory.

mod busy;
mod forbidden;
mod inherited;
mod opt_in;
pub(crate) mod overrides;
mod restore;
mod restore_jobs;
mod sync;
mod waiting;
