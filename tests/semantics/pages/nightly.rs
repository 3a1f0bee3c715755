//! `docs/contributing/nightly.md` names an existing test for each nightly scenario.

use std::{fs, path::Path};

const PAGE: &str = include_str!("../../../docs/contributing/nightly.md");

#[test]
fn each_nightly_scenario_names_an_existing_test() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let rows = PAGE.lines().filter_map(|line| line.strip_prefix("| `"));
    let rows: Vec<_> = rows.filter(|row| row.contains("::")).collect();
    assert!(!rows.is_empty());
    for row in rows {
        let quoted: Vec<_> = row.split('`').collect();
        let [scenario, _, file, _, test, _] = quoted[..] else {
            panic!("not a scenario, a file and a test: {row}");
        };
        let source = fs::read_to_string(root.join(file)).unwrap();
        let test = format!("fn {test}(");
        assert!(source.contains(&test), "{scenario}: no `{test}` in {file}");
    }
}
