//! The controller's published data: metrics, readiness, and the state of each object.

mod account;
mod by_namespace;
pub(super) mod metrics;
#[cfg(test)]
mod metrics_tests;
pub(super) mod object_log;
pub(super) mod outcome;
pub(super) mod process_metrics;
pub(super) mod published;
pub(super) mod readiness;
mod savings;
#[cfg(test)]
mod savings_tests;
mod series;
pub(super) mod shapes;
pub(super) mod snapshot;
mod states;
pub(super) mod wake_log;
pub(super) mod workload_metrics;
