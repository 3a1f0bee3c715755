//! Faults around dayshift, on a real control plane, and their effects.
//!
//! `cargo test --test cluster reliability` is the short form; with `RELIABILITY=full` it takes
//! minutes and prints the table of `docs/production/reliability.md`.

mod access;
mod beside;
mod busy;
mod controllers;
mod harness;
mod isolation;
mod network;
mod refused;
mod server;

pub(crate) use harness::blackhole_proxy::BlackholeProxy;
pub(crate) use harness::cases::{Case, Matrix, Plane};
pub(crate) use harness::gate::Gate;
pub(crate) use harness::profile::Profile;

/// All cases.
pub(crate) fn cases(profile: Profile) -> Vec<Case> {
    [
        server::cases(),
        network::cases(),
        access::cases(),
        controllers::cases(),
        refused::cases(),
        isolation::cases(),
        busy::cases(profile),
    ]
    .concat()
}
