//! The time of `dayshift convert` for 10,000 documents, from start to end: reading the YAML,
//! changing each document, reading the result and writing it. The goal is 2 s.
//!
//! `cargo bench --bench convert`
#![allow(clippy::unwrap_used, missing_docs)]

mod manifest;

use std::{
    fs,
    path::PathBuf,
    process::{Command, Stdio},
    sync::LazyLock,
};

use divan::Bencher;

fn main() {
    divan::main();
}

const DOCUMENTS: usize = 10_000;

/// Deployments with the annotations of another tool.
static FILE: LazyLock<PathBuf> = LazyLock::new(|| {
    let file = manifest::file("convert.yaml", DOCUMENTS, |nth| {
        let (hour, minute) = (4 + nth % 12, nth / 12 % 60);
        [
            (
                "uptime",
                format!("Mon-Fri {hour:02}:{minute:02}-20:00 Europe/Berlin"),
            ),
            ("downtime-replicas", "1".to_owned()),
            ("grace-period", "15m".to_owned()),
        ]
    });
    let text = fs::read_to_string(&file).unwrap();
    fs::write(&file, text.replace("dayshift/", "downscaler/")).unwrap();
    file
});

#[divan::bench(args = ["--annotation-prefix=dayshift", "--check"], sample_count = 5)]
fn ten_thousand_documents(bencher: Bencher<'_, '_>, flag: &str) {
    let file = &*FILE;
    bencher.bench_local(|| {
        let status = Command::new(env!("CARGO_BIN_EXE_dayshift"))
            .args(["convert", flag])
            .arg(file)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status();
        assert!(matches!(status.unwrap().code(), Some(0 | 1)));
    });
}
