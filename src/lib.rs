//! dayshift starts and stops Kubernetes workloads at the times written in their annotations.
//!
//! The path of the data is the layout of the workspace: text → [`schedule`] → job → decision → patch.
//! Each room up to [`activator`] is a crate; those before [`cluster`] know no client, no runtime and no
//! clock. What is left here is the program.
//! Each module uses only those before it in this order: [`text`] and [`names`],
//! [`schedule`], [`workload`], [`savings`], [`neighbours`] and [`events`],
//! then [`manifest`], [`plan`], [`lint`] and [`convert`] for files, then [`cluster`], [`status`],
//! [`operations`], [`controller`], [`activator`], [`server`], [`dashboard`], [`sandbox`], and last [`cli`].
//! [`clock`] alone reads the time and sleeps.

pub mod cli;
pub mod dashboard;
pub mod examples;
#[cfg(feature = "sandbox")]
pub mod sandbox;
pub mod server;
