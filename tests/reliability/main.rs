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
mod busy;
mod figures;
mod firewall;
mod fleet;
mod gate;
mod isolation;
mod network;
mod probes;
mod proxy;
mod refused;
mod rows;
mod scale;
mod scalers;
mod scene;
mod server;
#[path = "../support/mod.rs"]
mod support;
mod webhook;
mod witness;

use std::process::ExitCode;
use std::sync::Arc;

use libtest_mimic::Arguments;

use rows::Stage;
use scale::Scale;
use support::print_tries;

fn main() -> ExitCode {
    let mut arguments = Arguments::from_args();
    let scale = Scale::read();
    // Rows wait most of their time. In the full form they are measured: fewer at once.
    arguments.test_threads.get_or_insert(scale.pick(16, 8));

    let stage = Arc::new(Stage::new(scale));
    let rows = [
        server::rows(),
        network::rows(),
        access::rows(),
        scalers::rows(),
        refused::rows(),
        // Last, so that they wait for nobody who could have waited for them.
        isolation::rows(),
        busy::rows(scale),
    ]
    .concat();
    let trials = rows.iter().map(|row| stage.trial(*row)).collect();
    let conclusion = libtest_mimic::run(&arguments, trials);
    print_tries();
    if std::env::var_os("RELIABILITY").is_some() {
        println!("\n{}", stage.table(&rows));
    }
    conclusion.exit_code()
}
