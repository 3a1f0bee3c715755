//! `dayshift activator`: it adds a fallback endpoint to the Services of stopped workloads, wakes the workload
//! when a connection arrives, and forwards the connection to a pod.

mod backoff;
mod connection;
#[cfg(test)]
mod connection_tests;
mod descriptors;
mod desired;
#[cfg(test)]
mod desired_tests;
mod http;
mod index;
mod limits;
mod listeners;
mod memory_budget;
mod page_template;
mod pods;
mod ports;
mod prediction;
#[doc(hidden)]
pub mod probe;
mod response;
mod routes;
mod run;
mod service;
mod settings;
mod start_times;
mod target;
mod telemetry;
#[cfg(test)]
mod test_cluster;
mod use_observer;
mod wakes;
mod writes;

pub use page_template::{MAX_TEMPLATE, PageTemplate, TemplateError};
pub use prediction::{RequestedWake, request_wakes};
pub use response::PageSettings;
pub use run::run;
pub use service::ServiceName;
pub use settings::{IGNORED_AGENTS, Settings};
pub use target::WakeLimits;
pub use telemetry::Telemetry;
