//! The cost of the controller with up to 100,000 Deployments in an in-memory cluster. No other
//! program should run at the same time.
//!
//! ```text
//! cargo bench --bench scale                     # 1,000, 10,000 and 100,000 Deployments;
//!                                               # up to 10,000 also with all kinds, and with
//!                                               # a Namespace schedule
//! cargo bench --bench scale -- 20000            # this many; more than 10,000 only as Deployments
//! ```
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    dead_code, // shared with tests/cost_budgets
    reason = "benchmarks can panic and print"
)]

#[path = "../../tests/support/measuring/alloc_accounting.rs"]
mod alloc_accounting;
mod cluster;
mod figures;

use std::{alloc::System, env};

use stats_alloc::{INSTRUMENTED_SYSTEM, StatsAlloc};

use cluster::Workloads;
use figures::Figures;

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

const SIZES: [u32; 3] = [1_000, 10_000, 100_000];

/// Share of scheduled Deployments: one in 20 in the first cluster, all in the second.
const SHARES: [u32; 2] = [20, 1];

fn main() {
    let arguments: Vec<_> = env::args().skip(1).collect();
    if !arguments.iter().any(|argument| argument == "--bench") {
        println!("to measure, run: cargo bench --bench scale");
        return;
    }
    let given: Vec<u32> = arguments
        .iter()
        .filter_map(|argument| argument.parse().ok())
        .collect();
    let sizes = if given.is_empty() { &SIZES[..] } else { &given };
    let own = SHARES.map(|share| Workloads::Deployments { share });
    let others = [Workloads::OfAllKinds, Workloads::Inheriting];
    let mut runs: Vec<Figures> = Vec::new();
    for workloads in own.into_iter().chain(others) {
        let is_own = matches!(workloads, Workloads::Deployments { .. });
        for count in sizes.iter().filter(|count| is_own || **count <= 10_000) {
            let run = cluster::run(*count, workloads);
            println!("{}", serde_json::to_string(&run).unwrap());
            runs.push(run);
        }
    }
    figures::print(&runs);
    println!("{}", serde_json::to_string(&runs).unwrap());
}
