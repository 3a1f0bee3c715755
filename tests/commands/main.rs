//! The binary as a user, a shell, a build server and a kubelet run it.
//!
//! - `arguments/`, `cli`, `completion`, `secrets`: properties of all commands
//! - `pages`, `picture`: the examples in README.md and docs/; `release`: the release files
//! - `lint/`, `plan/`: the commands for files, with golden files of their output
//! - `convert/`: schedules of other tools, in files and in a cluster
//! - `sandbox/`: the cluster in memory, as a new user sees it
//! - `dashboard/`: the pages of `dashboard` and `sandbox --dashboard`, as a browser receives them
//! - `kinds/`: workloads of each kind
//! - `status/`, `actions/`: the commands for a cluster; `default_schedule`: files with the default
//!   schedule of the controller
//! - `named_schedules`: the file of `--schedules`; `team_defaults`: `--team-defaults` and `--team`
//! - `terminal/`: user input never controls the terminal
//! - `program`: runs the binary; `pseudo_terminal`: its terminal; `fake_server`: the in-memory API on a socket; `bad_server`: a
//!   broken API server
//!
//! `UPDATE_GOLDEN=1 cargo test --test commands` updates the golden files; review the changes before
//! you commit them.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[macro_use]
#[path = "../support/text_asserts.rs"]
mod text_asserts;

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
mod named_schedules;
mod namespaces;
#[path = "../support/of_deployments.rs"]
mod of_deployments;
mod pages;
mod picture;
mod plan;
mod program;
mod pseudo_terminal;
mod release;
#[path = "../support/rows.rs"]
mod rows;
mod sandbox;
mod schemas;
mod secrets;
#[path = "../support/server_thread.rs"]
mod server_thread;
mod status;
mod team_defaults;
mod terminal;
#[path = "../support/zone_file.rs"]
mod zone_file;
mod zoneinfo;
