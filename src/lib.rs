//! dayshift starts and stops Kubernetes Deployments at the times written in their annotations.
//!
//! The path of the data is the layout of the crate: text → [`schedule`] → job → decision → patch.
//! Each room uses only the rooms listed above it here.

/// An in-memory Kubernetes API behind the same client: for `dayshift sandbox` and the fast tests.
pub mod sandbox;
pub mod schedule;
