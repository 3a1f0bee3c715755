//! The commands that change live workloads, tested with the real binary and the in-memory API.

mod busy;
mod forbidden;
mod inherited;
mod opt_in;
pub(crate) mod overrides;
mod restore;
mod restore_jobs;
mod schedule;
mod sync;
mod waiting;
