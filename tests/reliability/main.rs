//! What goes wrong around dayshift, on a real control plane, and what becomes of it.
//!
//! `cargo test --test reliability` is the short form; `RELIABILITY=full cargo test --test
//! reliability` takes minutes and prints the table of `docs/reliability.md`.
#![allow(
    unreachable_pub,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a test may stop where it stands"
)]

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
#[path = "../support/mod.rs"]
mod support;
mod webhook;
mod witness;

use std::process::ExitCode;
use std::sync::Arc;

use libtest_mimic::Arguments;

use cases::Stage;
use profile::Profile;
use support::print_tries;

fn main() -> ExitCode {
    let mut arguments = Arguments::from_args();
    let profile = Profile::read();
    // Cases wait most of their time. In the full form they are measured: fewer at once.
    arguments.test_threads.get_or_insert(profile.pick(16, 8));

    let stage = Arc::new(Stage::new(profile));
    let cases = [
        server::cases(),
        network::cases(),
        access::cases(),
        scalers::cases(),
        refused::cases(),
        // Last, so that they wait for nobody who could have waited for them.
        isolation::cases(),
        busy::cases(profile),
    ]
    .concat();
    let trials = cases.iter().map(|case| stage.trial(*case)).collect();
    let conclusion = libtest_mimic::run(&arguments, trials);
    print_tries();
    if std::env::var_os("RELIABILITY").is_some() {
        println!("\n{}", stage.table(&cases));
    }
    conclusion.exit_code()
}
