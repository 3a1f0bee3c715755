//! "Everything at 09:00" on a real API server: the lateness and rate of the patches of one boundary, compared
//! with a baseline client that sends the same patches with the same number in flight. Also: single transitions
//! at a steady rate, many namespaces with a Role each, starts with dependencies, the number in flight over
//! HTTP/2 and HTTP/1.1, and methods to list.
//!
//! ```text
//! cargo bench --bench boundary -- [--deployments 100,1000,10000] [--json FILE]
//! ```
//!
//! It starts its own API servers (see `tests/support`), configured as in a cluster: with RBAC and an audit log,
//! from which all times are read. dayshift and the baseline client are ServiceAccounts, to which the server's
//! fair queueing applies. No other program should use the processors meanwhile.
#![allow(
    unreachable_pub,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "benchmarks can panic and print"
)]

mod baseline;
mod burst;
mod concurrency;
#[path = "../../tests/support/measuring/large.rs"]
mod large;
mod listing;
mod load;
mod namespaces;
mod process;
mod report;
mod run;
mod steady;
#[path = "../../tests/support/mod.rs"]
mod support;
mod waits;

use std::{fs, path::PathBuf, process::ExitCode};

use clap::Parser;

use listing::Way;
use load::Fleet;
use report::Report;

/// Measure the boundaries of many Deployments on a real API server.
#[derive(Debug, Parser)]
#[command(name = "cargo bench --bench boundary --")]
struct Options {
    #[arg(long, value_name = "N,…", value_delimiter = ',', default_values_t = [100, 1000, 10_000])]
    deployments: Vec<u32>,

    /// The number of StatefulSets that have the boundary too, with each number of Deployments
    #[arg(long, value_name = "N", default_value_t = 0)]
    stateful_sets: u32,

    /// The number of CronJobs that have the boundary too
    #[arg(long, value_name = "N", default_value_t = 0)]
    cron_jobs: u32,

    /// The number of requests in flight
    #[arg(long, default_value_t = 32, value_parser = clap::value_parser!(u16).range(1..=256))]
    in_flight: u16,

    /// The number of boundaries. At the first, every connection is closed; at the others, all are open
    #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u8).range(1..=20))]
    bursts: u8,

    /// The length of the idle minute in seconds. With less than 60, the connections stay open
    #[arg(long, default_value_t = 60)]
    idle: u16,

    /// The number of seconds with a single boundary in each, and then with ten in each. 0 skips this part
    #[arg(long, value_name = "SECONDS", default_value_t = 100)]
    steady: u16,

    /// Numbers of namespaces that have a Role and a watch of each kind; one run for each. 0 skips them
    #[arg(long, value_name = "N,…", value_delimiter = ',', default_values_t = [300])]
    namespaces: Vec<u16>,

    /// Numbers of concurrent requests to compare, over HTTP/2 and HTTP/1.1. 0 skips this part
    #[arg(long, value_name = "N,…", value_delimiter = ',', default_values_t = [1, 8, 16, 32, 64, 128])]
    flights: Vec<u16>,

    /// The number of starts that wait for dependencies, in chains and in a star, compared with as
    /// many without dependencies. 0 skips them
    #[arg(long, value_name = "N,…", value_delimiter = ',', default_values_t = [1000])]
    waits: Vec<u16>,

    /// Also write the measurements to this file, as JSON
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,

    /// Measure this program, not the one that cargo has built for the benchmark
    #[arg(long, value_name = "PROGRAM", default_value = env!("CARGO_BIN_EXE_dayshift"))]
    program: PathBuf,

    /// Remove the admission policy of dayshift's ServiceAccount, to measure its cost. Otherwise it also
    /// applies to the baseline client
    #[arg(long)]
    no_policy: bool,

    /// Print dayshift's own log at the end
    #[arg(long)]
    log: bool,

    /// cargo passes this argument to benchmarks, but not to tests
    #[arg(long, hide = true)]
    bench: bool,

    /// List once with this method and exit, for [`listing::all`]
    #[arg(long, hide = true, requires = "kubeconfig")]
    list: Option<Way>,

    #[arg(long, hide = true)]
    kubeconfig: Option<PathBuf>,
}

/// The number of Deployments for which the numbers in flight are compared.
const FLIGHT_DEPLOYMENTS: usize = 2000;

fn main() -> ExitCode {
    let options = Options::parse();
    if !options.bench {
        eprintln!("to measure, run: cargo bench --bench boundary");
        return ExitCode::SUCCESS;
    }
    if let (Some(way), Some(kubeconfig)) = (options.list, &options.kubeconfig) {
        listing::one(way, kubeconfig);
        return ExitCode::SUCCESS;
    }
    let assets = match support::Assets::find() {
        Ok(assets) => assets,
        Err(missing) => {
            eprintln!("no control plane to measure on: {missing:?}");
            return ExitCode::FAILURE;
        }
    };
    let report = measure(&options, &assets);
    if let Some(file) = &options.json {
        fs::write(file, serde_json::to_string_pretty(&report).unwrap() + "\n").unwrap();
    }
    ExitCode::SUCCESS
}

/// Runs all parts, and prints each when it is complete.
fn measure(options: &Options, assets: &support::Assets) -> Report {
    let mut report = Report::default();
    for number in options.deployments.iter().filter(|number| **number > 0) {
        let fleet = Fleet {
            deployments: *number as usize,
            stateful_sets: options.stateful_sets as usize,
            cron_jobs: options.cron_jobs as usize,
        };
        let figures = run::run(options, assets, fleet);
        println!("{figures}");
        report.boundaries.push(figures);
    }
    if options.steady > 0 {
        for each_second in [1, 10] {
            let steady = steady::run(assets, &options.program, each_second, options.steady.into());
            println!("{steady}");
            report.steady.push(steady);
        }
    }
    for number in options.namespaces.iter().filter(|number| **number > 0) {
        let figures = namespaces::run(assets, &options.program, usize::from(*number));
        println!("{figures}");
        report.namespaces.push(figures);
    }
    for number in options.waits.iter().filter(|number| **number > 0) {
        for figures in waits::run(assets, &options.program, usize::from(*number)) {
            println!("{figures}");
            report.waits.push(figures);
        }
    }
    let flights = options.flights.iter().filter(|number| **number > 0);
    let flights: Vec<usize> = flights.map(|number| usize::from(*number)).collect();
    if !flights.is_empty() {
        for flight in concurrency::run(assets, FLIGHT_DEPLOYMENTS, &flights) {
            println!("{flight}");
            report.flights.push(flight);
        }
    }
    report
}
