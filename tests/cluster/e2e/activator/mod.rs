//! `dayshift activator` on a real API server.
//!
//! - `isolation`: users of one namespace against another
//! - `wakes`: its writes, and the admission policies of its manifest
//! - `kube_proxy`: connections through the real kube-proxy, in a network namespace of their own

mod clients;
mod isolation;
pub(crate) mod kube_proxy;
pub(super) mod stand_ins;
mod wakes;

use crate::support::Scenario;

pub(crate) fn scenarios() -> Vec<Scenario> {
    [wakes::scenarios(), isolation::scenarios()].concat()
}
