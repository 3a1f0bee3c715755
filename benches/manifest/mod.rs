//! Files of many Deployments.

use std::{fmt::Write as _, fs, path::PathBuf};

/// A file with this many Deployments with these annotations and a pod template each.
pub(crate) fn file(
    name: &str,
    deployments: usize,
    annotations: impl Fn(usize) -> [(&'static str, String); 3],
) -> PathBuf {
    let mut text = String::new();
    for nth in 0..deployments {
        let annotations =
            annotations(nth).map(|(key, text)| format!("    dayshift/{key}: \"{text}\"\n"));
        write!(
            text,
            r"---
apiVersion: apps/v1
kind: Deployment
metadata:
  name: app-{nth}
  annotations:
{}spec:
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
",
            annotations.concat()
        )
        .unwrap();
    }
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::write(&path, text).unwrap();
    path
}
