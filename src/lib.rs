//! dayshift starts and stops Kubernetes Deployments at the times written in their annotations.
//!
//! The path of the data is the layout of the crate: text → [`schedule`] → job → decision → patch.
//! Each room uses only the rooms listed above it here.

pub mod cli;
pub mod clock;
pub mod cluster;
pub mod controller;
pub mod lint;
pub mod manifest;
pub mod plan;
pub mod sandbox;
pub mod schedule;
pub mod server;
pub mod status;
pub mod text;
pub mod workload;
