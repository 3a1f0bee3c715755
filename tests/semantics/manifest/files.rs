//! Manifest files and their contents.

use dayshift_manifest::{ManifestWorkload, SourceFile};
use dayshift_workload::{KindTable, Prefix};

pub(crate) fn workloads(text: &str) -> Vec<ManifestWorkload> {
    SourceFile::new("file.yaml", text)
        .workloads(&Prefix::default(), "default", &KindTable::default())
        .unwrap_or_else(|error| panic!("{error}"))
}

pub(crate) fn refusal(text: &str) -> String {
    SourceFile::new("file.yaml", text)
        .workloads(&Prefix::default(), "default", &KindTable::default())
        .expect_err(&text.chars().take(80).collect::<String>())
        .to_string()
}

/// A Deployment with these lines as its annotations.
pub(crate) fn annotated(lines: &str) -> String {
    format!(
        "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: web\n  annotations:\n{lines}\n"
    )
}
