//! One table of requests, asked of the in-memory API and of a real server.
//!
//! The real server is the judge. Its answers stand in `recorded/`: wherever the tests run, the
//! in-memory API has to give the same, and where there is a control plane, so has the real one.
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

mod cases;
mod random;
mod real;
mod recorded;
mod run;
#[path = "../support/mod.rs"]
mod support;
mod table;

use std::process::ExitCode;
use std::sync::Arc;

use dayshift::sandbox::Api;
use libtest_mimic::{Arguments, Trial};

use recorded::{Recorded, compare};
use run::{Backend, run};
use support::{Stage, print_tries};

fn main() -> ExitCode {
    // One after the other: a compaction on the real server is felt by all.
    let arguments = Arguments {
        test_threads: Some(1),
        ..Arguments::from_args()
    };
    let mut trials = Vec::new();
    for (file, cases) in cases::all() {
        let recorded = Arc::new(Recorded::read(file));
        for case in cases {
            let recorded = Arc::clone(&recorded);
            trials.push(Trial::test(
                format!("in_memory::{file}: {}", case.name),
                move || {
                    let runtime = tokio::runtime::Builder::new_current_thread()
                        .enable_all()
                        .build()?;
                    let answers = runtime.block_on(async {
                        let api = Api::new(chrono::Utc::now);
                        run(&case, &api.client(), "parity", &Backend::Memory(&api)).await
                    });
                    compare(&case, recorded.answers(&case), &answers).map_err(Into::into)
                },
            ));
        }
    }
    let stage = Arc::new(Stage::default());
    let stories = [real::stories(), random::stories()].concat();
    trials.extend(stories.into_iter().map(|story| stage.trial(story)));
    let conclusion = libtest_mimic::run(&arguments, trials);
    print_tries();
    conclusion.exit_code()
}
