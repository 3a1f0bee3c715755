//! What goes wrong around dayshift, on a real control plane, and what becomes of it.
//!
//! `cargo test --test cluster reliability` is the short form; with `RELIABILITY=full` it takes
//! minutes and prints the table of `docs/reliability.md`.

mod access;
mod beside;
mod blackhole_proxy;
mod busy;
mod cases;
mod figures;
mod fleet;
mod gate;
mod isolation;
mod network;
mod probes;
mod profile;
mod proxy;
mod refused;
mod scalers;
mod scenario;
mod server;
mod webhook;
mod witness;

pub(crate) use cases::{Case, Matrix};
pub(crate) use profile::Profile;

/// All of them, those that want silence last: they are to wait for nobody who could have waited
/// for them.
pub(crate) fn cases(profile: Profile) -> Vec<Case> {
    [
        server::cases(),
        network::cases(),
        access::cases(),
        scalers::cases(),
        refused::cases(),
        isolation::cases(),
        busy::cases(profile),
    ]
    .concat()
}
