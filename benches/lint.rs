//! The time of `dayshift lint` for 10,000 documents, from start to end: reading the YAML,
//! evaluating a year of each schedule and writing. The goal is 2 s.
//!
//! `cargo bench --bench lint`
#![allow(clippy::unwrap_used, missing_docs)]

mod manifest;

use std::{
    path::PathBuf,
    process::{Command, Stdio},
    sync::LazyLock,
};

use divan::Bencher;

fn main() {
    divan::main();
}

const DOCUMENTS: usize = 10_000;

/// Five schedules, or a different one for each object.
static FILES: LazyLock<[PathBuf; 2]> = LazyLock::new(|| {
    [5, DOCUMENTS].map(|schedules| {
        manifest::file(&format!("lint-{schedules}.yaml"), DOCUMENTS, |nth| {
            let (second, minute) = (nth % schedules % 60, nth % schedules / 60);
            let (hour, minute) = (4 + minute / 60, minute % 60);
            [
                ("start", format!("Mon-Fri {hour:02}:{minute:02}; Sat 10:00")),
                ("stop", format!("Mon-Fri 19:{second:02}; Sat 14:30")),
                ("timezone", "Europe/Berlin".to_owned()),
            ]
        })
    })
});

#[divan::bench(args = ["text", "json"], consts = [0, 1], sample_count = 5)]
fn ten_thousand_documents<const FILE: usize>(bencher: Bencher<'_, '_>, output: &str) {
    let file = &FILES[FILE];
    bencher.bench_local(|| {
        let status = Command::new(env!("CARGO_BIN_EXE_dayshift"))
            .args(["lint", "--from", "2026-11-23", "-o", output])
            .arg(file)
            .stdout(Stdio::null())
            .status();
        assert!(status.unwrap().success());
    });
}
