//! The program from outside, as a person, a shell, a build server and a kubelet drive it.
//!
//! - `arguments/`, `cli`, `completion`, `secrets`: what all commands have in common
//! - `pages`, `picture`: what README.md and docs/ show of them; `release`: what a release says of it
//! - `lint/`, `plan/`: what they say of files, with golden files of what they print
//! - `convert/`: other tools' schedules, in files and in a cluster
//! - `sandbox/`: the cluster in memory that a newcomer sees
//! - `dashboard/`: the pages that `dashboard` and `sandbox --dashboard` serve, as a browser gets them
//! - `kinds`: workloads of each kind in files
//! - `status/`, `actions/`: what they show of a cluster and do to it; `default_schedule`: files with the
//!   schedule of the scaler itself
//! - `terminal/`: nothing that somebody wrote acts on a terminal
//! - `program`: the program as a child; `fake_server`: the API in memory behind a socket;
//!   `bad_server`: one that is no good
//!
//! `UPDATE_GOLDEN=1 cargo test --test commands` writes the golden files anew; look at the changes
//! before you commit them.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod actions;
mod arguments;
mod bad_server;
mod bill;
mod calendars;
mod cli;
mod completion;
mod convert;
mod dashboard;
mod default_schedule;
mod fake_server;
mod kinds;
mod lint;
mod namespaces;
#[path = "../support/of_deployments.rs"]
mod of_deployments;
mod pages;
mod picture;
mod plan;
mod program;
mod release;
mod sandbox;
mod secrets;
#[path = "../support/server_thread.rs"]
mod server_thread;
mod status;
mod terminal;
#[path = "../support/zone_file.rs"]
mod zone_file;
mod zoneinfo;
