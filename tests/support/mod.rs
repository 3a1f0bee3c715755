//! The support of the tests that run against a real API server.
//!
//! [`Assets`] finds or builds Kubernetes' own programs, [`ControlPlane`] starts them and
//! [`Namespace`] is where a test lives; [`Dayshift`] runs the real program with the shipped
//! ServiceAccount's token, and [`Audit`] says what the server was asked. All of it blocks: a test
//! reads from top to bottom.
#![allow(
    dead_code,
    unused_imports,
    unused_macros,
    reason = "each test binary uses its own part of it"
)]

mod assets;
mod audit;
mod blocking;
mod build;
mod child_guard;
mod compaction;
mod control_plane;
mod dayshift;
mod deployment;
mod kubeconfig;
mod namespace;
mod programs;
mod pulse;
mod retry;
mod stories;
mod token;
mod wait;

pub(crate) use assets::{Assets, Missing};
pub(crate) use audit::{Audit, Mark, Request};
pub(crate) use blocking::block_on;
pub(crate) use child_guard::ChildGuard;
pub(crate) use control_plane::{ControlPlane, Output};
pub(crate) use dayshift::Dayshift;
pub(crate) use deployment::{DeploymentBuilder, deployment, stateful_set};
pub(crate) use namespace::Namespace;
pub(crate) use programs::Parts;
pub(crate) use retry::{print_tries, retry_when_stalled, too_late, too_slow};
pub(crate) use stories::{Stage, Story, assets, stories};
pub(crate) use wait::{Soon, eventually, soon};
