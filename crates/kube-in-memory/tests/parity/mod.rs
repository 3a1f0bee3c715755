//! The in-memory API gives the answers that a real server has given.
//!
//! A table of requests, in `cases/`, and what kube-apiserver has answered to each, in `recorded/`.
//! The answers are recorded and compared anew by `cargo test --test cluster api_parity` in the
//! repository of dayshift, which can start a control plane.
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

/// Where the real server's answers are.
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
    cronschedules,
    jobs,
    autoscalers,
    namespaces,
    metadata,
    custom,
);

#[test]
fn no_file_of_cases_is_left_out() {
    let files: Vec<_> = cases::all().into_iter().map(|(file, _)| file).collect();
    assert_eq!(files, FILES);
}

/// Asserts that each case of a file is answered as recorded; says of all that are not.
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

/// The clock is paused: a watch that lasts for seconds is read to its end at once.
#[tokio::main(flavor = "current_thread", start_paused = true)]
async fn answers(case: &Case) -> Vec<Value> {
    let api = Api::new(chrono::Utc::now);
    run(case, &api.client(), "parity", &Backend::Memory(&api)).await
}
