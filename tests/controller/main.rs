//! The real controller against the cluster in memory, on paused time: scenarios from a user's point
//! of view.
//!
//! 2026-11-20 is a Friday.
//!
//! - `faults/`: API requests that fail, hang or are denied, and which workloads that affects
//! - `cluster/`: requests to the API without a controller: finding, the first list, tokens
//! - `bill/`: savings compared with an oracle
//! - `converted`: workloads that another tool stopped and saved
//! - `named_schedules`: a file of schedules that changes
//! - `metrics/`: a scenario for each row of the metrics page
//! - `starts/`: readiness, dependencies and slots of starts
//! - `jobs/`: the Jobs of CronJobs with `stop-jobs`
//! - `dashboard`: the pages of a running controller and their users
//! - `server`: probes and metrics
//! - `sandbox`: the cluster, the controller and the manifests for the other modules
#![allow(clippy::unwrap_used, clippy::panic)]

mod bill;
mod calendars;
mod cluster;
mod converted;
mod dashboard;
mod faults;
mod fights;
mod guard;
mod hostile;
mod jobs;
mod kinds;
mod metrics;
mod named_schedules;
mod namespaces;
mod notices;
mod objects;
mod opt_in_kinds;
mod overrides;
mod restored;
mod reverts;
mod sandbox;
mod scope;
mod server;
mod snapshot;
mod starts;
mod stop_after;
mod time;
mod volumes;
#[path = "../support/zone_file.rs"]
mod zone_file;
mod zones;
