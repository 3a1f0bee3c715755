//! dayshift starts and stops Kubernetes workloads at the times written in their annotations.
//!
//! The path of the data is the layout of the workspace: text → [`schedule`] → job → decision → patch.
//! [`text`] and [`schedule`] are crates of their own, which know no Kubernetes, no runtime and no clock.
//! Each module uses only those before it in this order: [`text`] and [`names`],
//! [`schedule`], [`workload`], [`savings`], [`neighbours`] and [`events`],
//! then [`manifest`], [`plan`], [`lint`] and [`convert`] for files, then [`cluster`], [`status`],
//! [`operations`], [`controller`], [`server`], [`dashboard`], [`sandbox`], and last [`cli`].
//! [`clock`] alone reads the time and sleeps.

pub use dayshift_schedule as schedule;
pub use dayshift_text as text;

pub mod cli;
pub mod clock;
pub mod cluster;
pub mod controller;
pub mod convert;
pub mod dashboard;
mod delays;
pub mod events;
pub mod lint;
pub mod manifest;
pub mod names;
pub mod neighbours;
pub mod operations;
pub mod plan;
pub mod sandbox;
pub mod savings;
pub mod server;
pub mod status;
pub mod workload;
