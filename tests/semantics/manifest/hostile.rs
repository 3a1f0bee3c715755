//! Bounds on the cost of untrusted files.

use std::{collections::BTreeMap, time::Instant};

use dayshift_manifest::SourceFile;
use dayshift_workload::{KindTable, Prefix};

use crate::manifest::files::annotated;
use crate::rows::rows;

/// Texts that are made to be expensive.
fn hostile() -> Vec<(&'static str, String)> {
    const BIG: usize = 2 << 20;
    let many = |piece: &str| piece.repeat(BIG / piece.len());
    let laughs = |first: &str, join: &dyn Fn(usize) -> String| {
        (1..40).fold(format!("a0: &a0 {first}\n"), |text, level| {
            text + &join(level)
        })
    };
    let doubled = |level: usize| format!("a{level}: &a{level} [*a{0}, *a{0}]\n", level - 1);
    let merged = |level: usize| {
        format!(
            "a{level}: &a{level} {{<<: [*a{0}, *a{0}], k{level}: 1}}\n",
            level - 1
        )
    };
    vec![
        ("lists in lists", many("[")),
        ("maps in maps", many("{a: ")),
        ("dashes", many("- ")),
        ("questions", many("? ")),
        ("keys on keys", many("a: ")),
        (
            "deeper and deeper",
            (0..4000)
                .map(|depth| format!("{}a:\n", " ".repeat(depth)))
                .collect(),
        ),
        ("a billion laughs", laughs("[x]", &doubled)),
        ("a billion laughs, merged", laughs("{x: 1}", &merged)),
        (
            "a long text, often",
            format!(
                "a: &a {}\nb: [{}]",
                "x".repeat(BIG / 2),
                "*a,".repeat(BIG / 6)
            ),
        ),
        (
            "a chain of aliases",
            (1..90_000).fold("a0: &a0 x\n".to_owned(), |mut text, level| {
                text += &format!("a{level}: &a{level} [*a{}]\n", level - 1);
                text
            }),
        ),
        (
            "laughs in many documents",
            (laughs("[x]", &doubled).split_at(300).0.to_owned() + "\n---\n").repeat(9000),
        ),
        ("an open quote", "\"".to_owned() + &many("x ")),
        ("an open quote of lines", "\"".to_owned() + &many("x\n")),
        ("percent signs", many("%a\n")),
        ("anchors", many("&a ")),
        ("tags", many("!a ")),
        ("stars", many("*a ")),
        ("quotes", many("\"\"")),
        ("words without an end", many("word ")),
        ("colons", many(":")),
        ("commas", "[".to_owned() + &many(",")),
        ("numbers", format!("[{}]", "0,".repeat(200_000))),
        ("control characters", many("\u{1}")),
        ("a null byte", "a: \0".to_owned()),
        (
            "a text of all planes",
            "a: \"".to_owned() + &many("\u{10ffff}\u{202e}"),
        ),
        (
            "annotations",
            annotated(
                &(0..40_000)
                    .map(|at| format!("    dayshift/a{at}: x\n"))
                    .collect::<String>(),
            ),
        ),
        (
            "one annotation",
            annotated(&format!("    dayshift/start: {}", many("x"))),
        ),
    ]
}

#[test]
fn rejects_or_reads_hostile_files_quickly() {
    let mut reported = BTreeMap::new();
    for (name, text) in hostile() {
        let begun = Instant::now();
        let read = SourceFile::new("file.yaml", text).workloads(
            &Prefix::default(),
            "default",
            &KindTable::default(),
        );
        let took = begun.elapsed();
        assert!(took.as_secs() < 20, "{name} took {took:?}");
        match read {
            Ok(found) => assert_eq!(found.len(), 0, "{name}"),
            Err(error) => {
                assert!(error.to_string().len() < 400, "{name}: {error}");
                reported.insert(name, error.message);
            }
        }
    }
    for [name, expected] in rows(
        "
            lists in lists => recursion limit exceeded
            a billion laughs => the file is too large once its aliases are expanded; split it
            a chain of aliases => nested deeper than 100 levels
            annotations => these annotations are larger than 256 kB, the limit of the API server
        ",
    ) {
        assert_eq!(reported[name], expected, "{name}");
    }
}
