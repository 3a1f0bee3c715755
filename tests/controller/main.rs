//! The real controller against the cluster in memory, on paused time: what a user lives through.
//!
//! 2026-11-20 is a Friday.
//!
//! - `faults/`: what the API refuses, loses or keeps waiting, and whom that concerns
//! - `cluster/`: the ways to the API alone: finding, the first list, tokens
//! - `bill/`: what is saved, beside an oracle
//! - `converted`: what another tool has stopped and saved
//! - `metrics/`: what each row of the metrics page has
//! - `starts/`: whether what was started becomes ready
//! - `jobs/`: what becomes of the Jobs of CronJobs that ask for it
//! - `dashboard`: the pages of a running controller, and who looks at them
//! - `server`: probes and metrics
//! - `sandbox`: the cluster, the scaler and the manifests that the others are written with
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
mod time;
mod volumes;
#[path = "../support/zone_file.rs"]
mod zone_file;
mod zones;
