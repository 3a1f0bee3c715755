//! Multi-line quoted YAML strings as they occur in practice, and the values that kubectl reads.
//! `tests/cluster` confirms them with kubectl.

macro_rules! manifest {
    ($annotations:literal) => {
        concat!(
            "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: web\n  annotations:\n",
            $annotations
        )
    };
}

/// Manifests, and the annotation `note` of their Deployment `web`. `None` if kubectl rejects the file.
pub(crate) const QUOTED: [(&str, Option<&str>); 14] = [
    (manifest!("    note: \"one\ntwo\"\n"), Some("one two")),
    (manifest!("    note: 'one\ntwo'\n"), Some("one two")),
    (manifest!("    note: 'one\n    two'\n"), Some("one two")),
    (
        manifest!("    note: \"one\n  two\n three\"\n"),
        Some("one two three"),
    ),
    (
        manifest!("    note: \"one\n\n\ntwo\"\n"),
        Some("one\n\ntwo"),
    ),
    (manifest!("    note: \"one \\\ntwo\"\n"), Some("one two")),
    (manifest!("    note: \"one\n\"\n"), Some("one ")),
    (manifest!("    note: \"one\n\ttwo\"\n"), Some("one two")),
    (
        manifest!("    note: 'it''s\n\"quoted\"\ntwice'\n"),
        Some("it's \"quoted\" twice"),
    ),
    (
        manifest!("    note: \"{\n\\\"a\\\": 1,\n\\\"b\\\": 2\n}\"\n"),
        Some("{ \"a\": 1, \"b\": 2 }"),
    ),
    (
        manifest!("    note: \"one\nkey: value\n- item\n# no comment\"\n"),
        Some("one key: value - item # no comment"),
    ),
    (manifest!("    note: \"one\n--- two\"\n"), None),
    (manifest!("    note: \"one\ntwo\n"), None),
    (manifest!("    note: one\ntwo\n"), None),
];
