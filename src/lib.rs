//! dayshift starts and stops Kubernetes workloads at the times written in their annotations.
//!
//! The workspace is layered along the path of the data: schedule → workload → decision → patch. Each crate uses
//! only those before it: `dayshift_schedule`, `dayshift_workload`, `dayshift_manifest` (files, plan, lint and
//! convert), `dayshift_cluster` (the only code that writes), `dayshift_operations` (the commands on a cluster),
//! `dayshift_controller` and `dayshift_activator`. The crates before `dayshift_cluster` depend on no client, no
//! runtime and no clock. This crate is the program: the command line, the dashboard, the probes and the sandbox.

pub mod cli;
pub mod dashboard;
pub mod examples;
#[cfg(feature = "sandbox")]
pub mod sandbox;
pub mod server;
