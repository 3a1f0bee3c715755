//! dayshift starts and stops Kubernetes workloads at the times written in their annotations.
//!
//! The path of the data is the layout of the crate: text → [`schedule`] → job → decision → patch.
//! Each module uses only those before it in this order: [`text`] and [`names`],
//! [`schedule`], [`workload`], [`savings`], [`neighbours`] and [`events`],
//! then [`manifest`], [`plan`], [`lint`] and [`convert`] for files, then [`cluster`], [`status`],
//! [`operations`], [`controller`], [`server`], [`dashboard`], [`sandbox`], and last [`cli`].
//! [`clock`] alone reads the time and sleeps.

pub mod cli;
pub mod clock;
pub mod cluster;
pub mod controller;
pub mod convert;
pub mod dashboard;
pub mod events;
pub mod lint;
pub mod manifest;
pub mod names;
pub mod neighbours;
pub mod operations;
pub mod plan;
pub mod sandbox;
pub mod savings;
pub mod schedule;
pub mod server;
pub mod status;
pub mod text;
pub mod workload;
