//! The support of the tests that run against a real API server.
//!
//! [`Assets`] finds or builds Kubernetes' own programs, [`ControlPlane`] starts them and
//! [`Namespace`] is where a test lives; [`Dayshift`] runs the real program with the shipped
//! ServiceAccount's token, and [`Audit`] says what the server was asked. All of it blocks: a test
//! reads from top to bottom.
//!
//! - `kubernetes/`: Kubernetes' own programs, and what is asked of them
//! - `timing/`: waiting in real time, on machines that may stand still
//! - `measuring/`: files that benches and the tests of costs take by their path
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
mod server_thread;
mod stories;
mod timing;

pub(crate) use blocking::block_on;
pub(crate) use child_guard::ChildGuard;
pub(crate) use dayshift::Dayshift;
pub(crate) use deployment::{DeploymentBuilder, cron_job, deployment, stateful_set};
pub(crate) use kubernetes::alerting::Alerting;
pub(crate) use kubernetes::argo_cd::ArgoCd;
pub(crate) use kubernetes::assets::{Assets, Missing};
pub(crate) use kubernetes::audit::{Audit, Mark, Request, WORKLOADS};
pub(crate) use kubernetes::control_plane::ControlPlane;
pub(crate) use kubernetes::namespace::Namespace;
pub(crate) use kubernetes::operator::Operator;
pub(crate) use kubernetes::output::Output;
pub(crate) use kubernetes::programs::{ENDS_AFTER, Parts, READY_AFTER};
pub(crate) use server_thread::ServerThread;
pub(crate) use stories::{Stage, Story, assets, is_full, nightly, stories};
pub(crate) use timing::processor_waits;
pub(crate) use timing::retry::{print_tries, retry_when_stalled, too_late, too_slow};
pub(crate) use timing::stall_detector::{self, Stall};
pub(crate) use timing::wait::{Soon, eventually, soon};
