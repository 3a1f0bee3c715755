//! User-defined kinds that no API server accepts, or whose field stops nothing.

use std::fs;

use tempfile::TempDir;

use crate::program::dayshift_with;

/// Checks that a file with only this definition is rejected at the last occurrence of `at` in the
/// line.
pub(super) fn assert_wrong_row(line: &str, at: &str, output: &str) {
    let directory = TempDir::new().unwrap();
    let file = directory.path().join("kinds.yaml");
    fs::write(&file, line).unwrap();
    let file = file.to_str().unwrap();
    let ended = dayshift_with(&[], &["lint", "--kind-file", file], "");
    assert_eq!(ended.status, 1, "{line}: {}", ended.err);
    let column = line.rfind(at).unwrap() + 1;
    let place = format!("error: {file}:1:{column}: ");
    assert!(ended.err.starts_with(&place), "{line}: {}", ended.err);
    assert!(ended.err.contains(output), "{line}: {}", ended.err);
}

#[test]
fn reports_a_definition_that_cannot_stop_anything() {
    let thing = "resource: things.example.com, kind: Thing";
    for (row, at, output) in [
        (
            "resource: things.example.com, kind: Th ing, field: spec.off, stopped: true",
            "Th ing",
            "`Th ing` is not the name of a kind; write Widget",
        ),
        (
            "THING, annotation: bad key!, stopped: \"yes\"",
            "bad",
            "`bad key!` is not the name of an annotation; write example.com/stopped",
        ),
        (
            "THING, field: spec.pool.off, stopped: true, not-beside: spec.pool.off",
            "spec.pool.off}",
            "`spec.pool.off` is not beside the field of the switch",
        ),
        (
            "THING, field: spec.pool.off, stopped: true, not-beside: spec.pool",
            "spec.pool}",
            "`spec.pool` is not beside the field of the switch",
        ),
        (
            "resource: kafkas.kafka.strimzi.io, kind: Kafka, annotation: strimzi.io/pause-reconciliation, stopped: \"true\"",
            "{resource",
            "dayshift cannot stop a Kafka: its annotation strimzi.io/pause-reconciliation only keeps",
        ),
    ] {
        let line = format!("- {{{}}}", row.replace("THING", thing));
        assert_wrong_row(&line, at, output);
    }
}
