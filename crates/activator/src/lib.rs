//! `dayshift activator`: it stands in for a Service that has no ready pod, wakes what the Service
//! selects, and hands the connection on to a pod, byte for byte.

mod connections;
mod cover;
#[cfg(test)]
mod cover_tests;
#[cfg(test)]
mod due_tests;
mod index;
mod pauses;
mod routes;
mod run;
mod service;
mod settings;
mod telemetry;
#[cfg(test)]
mod test_cluster;
mod waking;
mod writes;

pub use run::run;
pub use service::ServiceName;
pub use settings::{IGNORED_AGENTS, Settings};
pub use telemetry::Telemetry;
pub use waking::simulated::{RequestedWake, request_wakes};
