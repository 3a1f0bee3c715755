//! The API in memory should respond like a real server.
//!
//! `cases/` has a table of requests, and `recorded/` the responses of kube-apiserver. `cargo test --test
//! cluster api_parity` in the dayshift repository records them again and compares them, because it can start
//! a control plane.
mod backend;
mod cases;
mod recorded;
mod run;
mod table;

use kube_in_memory::Api;
use serde_json::Value;

use backend::Backend;
use recorded::{Recorded, compare};
use run::run;
use table::Case;

/// The directory of the recorded responses.
const RECORDED: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/parity/recorded");

/// A test for each file of cases.
macro_rules! agree {
    ($($file:ident),+ $(,)?) => {
        const FILES: &[&str] = &[$(stringify!($file)),+];
        $(#[test]
        fn $file() {
            assert_agrees(stringify!($file));
        })+
    };
}

agree!(
    objects,
    patches,
    refusals,
    lists,
    watches,
    statefulsets,
    cronjobs,
    jobs,
    autoscalers,
    namespaces,
    metadata,
    custom,
);

#[test]
fn every_file_of_cases_has_a_test() {
    let files: Vec<_> = cases::all().into_iter().map(|(file, _)| file).collect();
    assert_eq!(files, FILES);
}

/// Compares the responses to all cases of a file with the recorded ones, and reports all differences.
fn assert_agrees(file: &str) {
    let recorded = Recorded::read(file);
    let mut all = cases::all().into_iter();
    let (_, cases) = all.find(|(name, _)| *name == file).unwrap();
    let differing: Vec<_> = cases
        .iter()
        .filter_map(|case| {
            let why = compare(case, recorded.answers(case), &answers(case)).err()?;
            Some(format!("{}: {why}", case.name))
        })
        .collect();
    assert!(differing.is_empty(), "{}", differing.join("\n\n"));
}

/// The clock is paused, so a watch with a timeout ends at once.
#[tokio::main(flavor = "current_thread", start_paused = true)]
async fn answers(case: &Case) -> Vec<Value> {
    let api = Api::new(chrono::Utc::now);
    run(case, &api.client(), "parity", &Backend::Memory(&api)).await
}
