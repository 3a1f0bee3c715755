//! The in-memory API gives the answers that a real server has given.
//!
//! A table of requests, in `cases/`, and what kube-apiserver has answered to each, in `recorded/`.
//! The answers are recorded and compared anew by `cargo test --test cluster api_parity` in the
//! repository of dayshift, which can start a control plane.
#![allow(
    dead_code,
    unreachable_pub,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::needless_pass_by_value,
    reason = "a test may stop where it stands; what only a real server needs is not used here"
)]

mod backend;
mod cases;
mod recorded;
mod run;
mod table;

use std::process::ExitCode;
use std::sync::Arc;

use kube_in_memory::Api;
use libtest_mimic::{Arguments, Trial};

use backend::Backend;
use recorded::{Recorded, compare};
use run::run;

/// Where the real server's answers are.
const RECORDED: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/parity/recorded");

fn main() -> ExitCode {
    let mut trials = Vec::new();
    for (file, cases) in cases::all() {
        let recorded = Arc::new(Recorded::read(file));
        for case in cases {
            let recorded = Arc::clone(&recorded);
            let name = format!("{file}: {}", case.name);
            trials.push(Trial::test(name, move || {
                let runtime = tokio::runtime::Builder::new_current_thread()
                    .enable_all()
                    .build()?;
                let answers = runtime.block_on(async {
                    let api = Api::new(chrono::Utc::now);
                    run(&case, &api.client(), "parity", &Backend::Memory(&api)).await
                });
                compare(&case, recorded.answers(&case), &answers).map_err(Into::into)
            }));
        }
    }
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}
