//! "Everything at 09:00", on a real API server: how late the patches of one boundary arrive, and
//! how fast, beside a bare client that sends the same patches with the same number in flight.
//!
//! ```text
//! cargo bench --bench boundary -- [--deployments 1000] [--bursts 2] [--json FILE]
//! ```
//!
//! It starts an API server of its own (see `tests/support`), as dayshift finds one in a cluster:
//! with RBAC and an audit log, from which all instants are taken. dayshift and the bare client
//! are ServiceAccounts, to which the server's fair queueing applies.
#![allow(
    unreachable_pub,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a benchmark may stop where it stands, and prints"
)]

mod bare;
mod burst;
mod load;
mod process;
mod report;
mod run;
#[path = "../../tests/support/mod.rs"]
mod support;

use std::{fs, path::PathBuf, process::ExitCode};

use clap::Parser;

/// Measure one boundary of many Deployments on a real API server.
#[derive(Debug, Parser)]
#[command(name = "cargo bench --bench boundary --")]
struct Options {
    /// How many Deployments have the boundary; as many have no annotation of dayshift's
    #[arg(long, default_value_t = 1000, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    deployments: u32,

    /// How many requests are in flight at once
    #[arg(long, default_value_t = 32, value_parser = clap::value_parser!(u16).range(1..=256))]
    in_flight: u16,

    /// How many boundaries: the first finds every connection closed, the others warm ones
    #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u8).range(1..=20))]
    bursts: u8,

    /// How many seconds the idle minute lasts. Less than 60 leaves the connections warm
    #[arg(long, default_value_t = 60)]
    idle: u16,

    /// Write the figures to this file as well
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,

    /// Measure this program, not the one that cargo has built for the benchmark
    #[arg(long, value_name = "PROGRAM", default_value = env!("CARGO_BIN_EXE_dayshift"))]
    program: PathBuf,

    /// Print dayshift's own log at the end
    #[arg(long)]
    log: bool,

    /// What cargo says to a benchmark, and does not to one that is run as a test
    #[arg(long, hide = true)]
    bench: bool,
}

fn main() -> ExitCode {
    let options = Options::parse();
    if !options.bench {
        eprintln!("to measure, say: cargo bench --bench boundary");
        return ExitCode::SUCCESS;
    }
    let assets = match support::Assets::find() {
        Ok(assets) => assets,
        Err(missing) => {
            eprintln!("no control plane to measure on: {missing:?}");
            return ExitCode::FAILURE;
        }
    };
    let figures = run::run(&options, &assets);
    print!("{figures}");
    if let Some(file) = &options.json {
        fs::write(file, serde_json::to_string_pretty(&figures).unwrap() + "\n").unwrap();
    }
    ExitCode::SUCCESS
}
