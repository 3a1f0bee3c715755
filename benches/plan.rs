//! The time of `dayshift plan` for a week of 1,000 Deployments, from start to end: reading the
//! YAML, planning and writing. The goal is 200 ms.
//!
//! `cargo bench --bench plan`
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

/// Five schedules, or a different one for each object.
static FILES: LazyLock<[PathBuf; 2]> = LazyLock::new(|| {
    [5, 1000].map(|schedules| {
        manifest::file(&format!("plan-{schedules}.yaml"), 1000, |nth| {
            let minute = nth % schedules;
            let (hour, minute) = (minute / 60, minute % 60);
            [
                ("start", format!("Mon-Fri {hour:02}:{minute:02}; Sat 20:00")),
                ("stop", "Mon-Fri 19:00; Sat 23:00".to_owned()),
                ("timezone", "Europe/Berlin".to_owned()),
            ]
        })
    })
});

#[divan::bench(args = ["chart", "table", "json"], consts = [0, 1], sample_count = 20)]
fn a_thousand_deployments<const FILE: usize>(bencher: Bencher<'_, '_>, output: &str) {
    let file = &FILES[FILE];
    bencher.bench_local(|| {
        let status = Command::new(env!("CARGO_BIN_EXE_dayshift"))
            .args(["plan", "--from", "2026-11-23", "-o", output, "-f"])
            .arg(file)
            .stdout(Stdio::null())
            .status();
        assert!(status.unwrap().success());
    });
}
