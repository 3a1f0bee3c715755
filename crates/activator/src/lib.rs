//! `dayshift activator`: it stands in for a Service that has no ready pod, wakes what the Service
//! selects, and hands the connection on to a pod, byte for byte.

mod backoff;
mod connection;
#[cfg(test)]
mod connection_tests;
mod desired;
mod http;
mod index;
mod limits;
mod listeners;
mod pods;
mod routes;
mod run;
mod service;
mod settings;
mod telemetry;
#[cfg(test)]
mod test_cluster;
mod wakes;
mod writes;

pub use run::run;
pub use service::ServiceName;
pub use settings::{IGNORED_AGENTS, Settings};
pub use telemetry::Telemetry;
pub use wakes::{RequestedWake, request_wakes};
