//! Support for tests with a real API server.
//!
//! [`Assets`] locates or builds the programs of Kubernetes, [`ControlPlane`] starts them, and a test uses a
//! [`Namespace`] of its own. [`Dayshift`] runs the program with the shipped ServiceAccount, and [`Audit`]
//! reads the requests that the server received. All functions block, so that a test reads from top to bottom.
//!
//! `kubernetes/` contains the programs of Kubernetes, `timing/` waits in real time, and `measuring/` contains
//! files that benches and cost tests include by path.
#![allow(
    dead_code,
    unused_imports,
    unused_macros,
    reason = "each test binary uses its own part of it"
)]

mod blocking;
mod build;
mod child_guard;
mod dayshift;
mod definitions;
mod deployment;
mod kubernetes;
mod scenarios;
mod server_thread;
mod timing;

pub(crate) use blocking::block_on;
pub(crate) use child_guard::ChildGuard;
pub(crate) use dayshift::{Dayshift, dayshift};
pub(crate) use deployment::{DeploymentBuilder, cron_job, deployment, stateful_set};
pub(crate) use kubernetes::alerting::Alerting;
pub(crate) use kubernetes::argo_cd::ArgoCd;
pub(crate) use kubernetes::assets::{Assets, Missing};
pub(crate) use kubernetes::audit::{Audit, Mark, Request, WORKLOADS};
pub(crate) use kubernetes::control_plane::ControlPlane;
pub(crate) use kubernetes::manifests::{try_create, try_patch};
pub(crate) use kubernetes::namespace::Namespace;
pub(crate) use kubernetes::operator::Operator;
pub(crate) use kubernetes::output::Output;
pub(crate) use kubernetes::programs::{ENDS_AFTER, Parts};
pub(crate) use scenarios::{Scenario, Stage, assets, completion, is_full, nightly, scenarios};
pub(crate) use server_thread::ServerThread;
pub(crate) use timing::processor_waits;
pub(crate) use timing::retry::{print_tries, retry_when_stalled, too_late, too_slow};
pub(crate) use timing::stall_detector::{self, Stall};
pub(crate) use timing::wait::{Soon, eventually, soon, wait_until};
