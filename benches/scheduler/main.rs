//! Our scheduler and our cron beside the crates that one would reach for.
//!
//! ```text
//! cargo bench --bench scheduler                 # everything: about two minutes
//! cargo bench --bench scheduler -- texts        # the cron texts alone
//! cargo bench --bench scheduler -- 20000        # so many jobs alone
//! ```
//!
//! The first table asks what a cron text means: ours, `croner` and `cron`. The second lets many
//! jobs be due in one second: our in-memory scheduler, and `tokio-cron-scheduler`, which rests on
//! croner. See `docs/decisions/controller/scheduler.md`.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a benchmark may stop where it stands, and prints"
)]

mod burst;
mod dayshift;
mod outcome;
mod recorder;
mod texts;
mod tokio_cron_scheduler;

use std::env;

/// How many jobs are due at once, unless the command says it.
const SIZES: [u32; 4] = [1_000, 10_000, 20_000, 100_000];

fn main() {
    let arguments: Vec<_> = env::args().skip(1).collect();
    let given = |word: &str| arguments.iter().any(|argument| argument == word);
    if !given("--bench") {
        println!("to measure, say: cargo bench --bench scheduler");
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
