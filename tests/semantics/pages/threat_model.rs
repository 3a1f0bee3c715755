//! `docs/production/threat-model.md` names an existing test for each thing that an actor cannot do.

use std::{fs, path::Path};

const PAGE: &str = include_str!("../../../docs/production/threat-model.md");

/// The tests that a text links to, as [`name`](file), each with its file.
fn tests(text: &str) -> Vec<(&str, &str)> {
    let links = text.split("[`").skip(1);
    links
        .filter_map(|rest| {
            let (name, rest) = rest.split_once("`](")?;
            let (file, _) = rest.split_once(')')?;
            file.ends_with(".rs").then_some((name, file))
        })
        .collect()
}

/// Why the page is wrong.
fn fault(page: &str, source: impl Fn(&str) -> String) -> Option<String> {
    for (name, file) in tests(page) {
        let text = source(file);
        let Some((before, _)) = text.split_once(&format!("fn {name}(")) else {
            return Some(format!("no `{name}` in {file}"));
        };
        let is_scenario = before.contains(&format!(" {name},")) || text.contains("scenarios![");
        let before = before.trim_end().trim_end_matches("async").trim_end();
        if !is_scenario && !before.ends_with(']') {
            return Some(format!("`{name}` in {file} is no test"));
        }
    }
    let mut columns = 0;
    let mut is_claim = false;
    for line in page.lines() {
        if !line.starts_with('|') {
            is_claim = false;
        } else if line.contains("they can ") || line.contains("they cannot") {
            (is_claim, columns) = (true, line.matches('|').count());
        } else if is_claim && !line.starts_with("|---") {
            let cells: Vec<_> = line.split('|').collect();
            if cells.len() != columns + 1 || tests(cells[columns - 1]).is_empty() {
                return Some(format!("no test: {line}"));
            }
        }
    }
    None
}

#[test]
fn each_claim_of_the_threat_model_names_an_existing_test() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/production");
    let source = |file: &str| fs::read_to_string(directory.join(file)).unwrap();
    assert!(tests(PAGE).len() > 30);
    assert_eq!(fault(PAGE, source), None);
}

#[test]
fn finds_a_claim_without_a_test() {
    let source = |_: &str| "#[test]\nfn holds() {}\nfn helper() {}".to_owned();
    let page = |cell: &str| format!("| they cannot | test |\n|---|---|\n| harm | {cell} |\n");
    for (cell, expected) in [
        ("[`holds`](../a.rs)", None),
        ("`holds`", Some("no test: | harm | `holds` |")),
        ("[`other`](../a.rs)", Some("no `other` in ../a.rs")),
        (
            "[`helper`](../a.rs)",
            Some("`helper` in ../a.rs is no test"),
        ),
    ] {
        assert_eq!(fault(&page(cell), source).as_deref(), expected, "{cell}");
    }
}
