//! Compares the scheduler and the cron parser with other crates.
//!
//! ```text
//! cargo bench --bench scheduler                 # everything: about two minutes
//! cargo bench --bench scheduler -- texts        # only the cron expressions
//! cargo bench --bench scheduler -- 20000        # only this number of jobs
//! ```
//!
//! The first table compares how dayshift, `croner` and `cron` read cron expressions. In the
//! second, many jobs are due in the same second: it compares the in-memory scheduler of dayshift
//! with `tokio-cron-scheduler`, which uses croner. See `docs/decisions/controller/scheduler.md`.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "benchmarks can panic and print"
)]

mod burst;
mod dayshift;
mod outcome;
mod recorder;
mod texts;
mod tokio_cron_scheduler;

use std::env;

/// The numbers of jobs that are due at once, unless they are given as arguments.
const SIZES: [u32; 4] = [1_000, 10_000, 20_000, 100_000];

fn main() {
    let arguments: Vec<_> = env::args().skip(1).collect();
    let given = |word: &str| arguments.iter().any(|argument| argument == word);
    if !given("--bench") {
        println!("to measure, run: cargo bench --bench scheduler");
        return;
    }
    let sizes: Vec<u32> = arguments
        .iter()
        .filter_map(|argument| argument.parse().ok())
        .collect();
    if sizes.is_empty() {
        texts::print();
    }
    if !given("texts") {
        burst::print(if sizes.is_empty() { &SIZES } else { &sizes });
    }
}
