//! `dayshift activator` on a real API server.
//!
//! - `wakes`: its writes, and the admission policies of its manifest
//! - `kube_proxy`: connections through the real kube-proxy, in a network namespace of their own

mod clients;
pub(crate) mod kube_proxy;
mod stand_ins;
mod wakes;

pub(crate) use wakes::scenarios;
