//! How long `dayshift plan` takes for a week of 1,000 Deployments, from its start to its end:
//! reading the YAML, planning and writing. The aim is 200 ms.
//!
//! `cargo bench --bench plan`
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

/// As many schedules as there are objects, or five; each object with a pod template.
static FILES: LazyLock<[PathBuf; 2]> = LazyLock::new(|| {
    [5, 1000].map(|schedules| {
        let mut text = String::new();
        for nth in 0..1000 {
            let minute = nth % schedules;
            write!(
                text,
                r#"---
apiVersion: apps/v1
kind: Deployment
metadata:
  name: app-{nth}
  annotations:
    dayshift/hours: "Mon-Fri {:02}:{:02}-19:00; Sat 20:00-23:00"
    dayshift/timezone: "Europe/Berlin"
spec:
  replicas: 3
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
                minute / 60,
                minute % 60
            )
            .unwrap();
        }
        let path =
            PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("plan-{schedules}.yaml"));
        fs::write(&path, text).unwrap();
        path
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
