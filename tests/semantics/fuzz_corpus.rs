//! Runs the fuzz targets on every stored input, so that each past finding is checked on each run
//! without the fuzzer (`fuzz/README.md`).
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::needless_pass_by_value,
    reason = "a test may stop where it stands, and the checks are the fuzzer's"
)]

#[path = "../../fuzz/src/lib.rs"]
mod fuzz;

use std::{fs, path::Path};

use fuzz::targets;

/// Checks every file of a target's corpus. A missing or empty corpus is a failure.
fn replay(target: &str, check: impl Fn(&[u8])) {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus");
    let mut inputs: Vec<_> = fs::read_dir(corpus.join(target))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    inputs.sort();
    assert!(!inputs.is_empty(), "{target} has no corpus");
    for input in inputs {
        println!("{}", input.display()); // shown if it fails
        check(&fs::read(&input).unwrap());
    }
}

#[test]
fn activator_head() {
    replay("activator_head", targets::activator_head);
}

#[test]
fn annotations() {
    replay("annotations", targets::annotations);
}

#[test]
fn calendar() {
    replay("calendar", targets::calendar);
}

/// `tests/cost_budgets` measures the costs.
#[test]
fn costs() {
    replay("costs", |bytes| targets::costs(bytes, || 0));
}

#[test]
fn hours() {
    replay("hours", targets::hours);
}

#[test]
fn manifest() {
    replay("manifest", targets::manifest);
}

#[test]
fn moments() {
    replay("moments", targets::moments);
}

#[test]
fn schedules() {
    replay("schedules", targets::schedules);
}

#[test]
fn slices() {
    replay("slices", targets::slices);
}

#[test]
fn state() {
    replay("state", targets::state);
}

#[test]
fn times() {
    replay("times", targets::times);
}
