//! How long `dayshift lint` takes for 10,000 documents, from its start to its end: reading the YAML,
//! looking at a year of each schedule and writing. The aim is 2 s.
//!
//! `cargo bench --bench lint`
#![allow(clippy::unwrap_used, missing_docs)]

use std::{
    fmt::Write as _,
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

/// Five schedules, or as many as there are objects; each object with a pod template.
static FILES: LazyLock<[PathBuf; 2]> = LazyLock::new(|| {
    [5, DOCUMENTS].map(|schedules| {
        let mut text = String::new();
        for nth in 0..DOCUMENTS {
            let (second, minute) = (nth % schedules % 60, nth % schedules / 60);
            write!(
                text,
                r#"---
apiVersion: apps/v1
kind: Deployment
metadata:
  name: app-{nth}
  annotations:
    dayshift/start: "Mon-Fri {:02}:{:02}; Sat 10:00"
    dayshift/stop: "Mon-Fri 19:{second:02}; Sat 14:30"
    dayshift/timezone: "Europe/Berlin"
spec:
  selector:
    matchLabels:
      app: app-{nth}
  template:
    metadata:
      labels:
        app: app-{nth}
    spec:
      containers:
        - name: nginx
          image: nginx:1.29
          resources:
            requests:
              cpu: 10m
              memory: 16Mi
"#,
                4 + minute / 60,
                minute % 60
            )
            .unwrap();
        }
        let path =
            PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("lint-{schedules}.yaml"));
        fs::write(&path, text).unwrap();
        path
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
