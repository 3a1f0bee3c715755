//! The in-memory API beside a real server: is what is recorded still what the real one answers?
//!
//! The table of requests and the recorded answers are in `crates/kube-in-memory/tests/parity/`,
//! where the in-memory API is held to them. Here a control plane is asked the same, and both are
//! asked random patches.
//! `DAYSHIFT_RECORD=1 cargo test --test api_parity` writes down what the real server answers now.
#![allow(
    unreachable_pub,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stderr,
    clippy::needless_pass_by_value,
    reason = "a test may stop where it stands"
)]

#[path = "../../crates/kube-in-memory/tests/parity/cases/mod.rs"]
mod cases;
mod random;
mod real;
#[path = "../../crates/kube-in-memory/tests/parity/recorded.rs"]
mod recorded;
#[path = "../../crates/kube-in-memory/tests/parity/run.rs"]
mod run;
#[path = "../support/mod.rs"]
mod support;
#[path = "../../crates/kube-in-memory/tests/parity/table.rs"]
mod table;

use std::process::ExitCode;
use std::sync::Arc;

use libtest_mimic::{Arguments, Trial};

use support::{Stage, print_tries};

/// Where the real server's answers are.
const RECORDED: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/crates/kube-in-memory/tests/parity/recorded"
);

fn main() -> ExitCode {
    // One after the other: a compaction on the real server is felt by all.
    let arguments = Arguments {
        test_threads: Some(1),
        ..Arguments::from_args()
    };
    let stage = Arc::new(Stage::default());
    let stories = [real::stories(), random::stories()].concat();
    let trials: Vec<Trial> = stories
        .into_iter()
        .map(|story| stage.trial(story))
        .collect();
    let conclusion = libtest_mimic::run(&arguments, trials);
    print_tries();
    conclusion.exit_code()
}
