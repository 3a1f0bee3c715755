//! The examples of each rule in `docs/reference/lint.md` give the documented results.

use dayshift_manifest::lint::LintRule;

use super::program::{found_with, web};

const PAGE: &str = include_str!("../../../docs/reference/lint.md");

/// The calendars in the examples.
const CALENDARS: [&str; 6] = [
    "--calendar",
    "de=docs/samples/germany.ics",
    "--calendar",
    "ended=tests/commands/lint/dates/ended.ics",
    "--calendar",
    "timed=tests/commands/lint/dates/timed.ics",
];

/// The rules and their sections.
fn sections() -> Vec<(&'static str, &'static str)> {
    let (_, rules) = PAGE.split_once("\n# Rules\n").unwrap();
    let sections = rules.split("\n## ").skip(1);
    sections
        .map(|section| section.split_once('\n').unwrap())
        .collect()
}

/// The objects of an example, which can be complete or only annotations.
fn example(section: &str, title: &str) -> String {
    let opening = format!("\n{title}:\n\n```yaml\n");
    let (_, rest) = section.split_once(&opening).unwrap();
    let (lines, _) = rest.split_once("\n```").unwrap();
    if lines.contains("kind: ") || lines.starts_with("annotations:") {
        format!("{lines}\n")
    } else {
        web(&lines.lines().collect::<Vec<_>>())
    }
}

#[test]
fn each_rule_has_its_section_in_order() {
    let documented: Vec<_> = sections().into_iter().map(|(id, _)| id).collect();
    let rules: Vec<_> = LintRule::ALL.iter().map(|rule| rule.id()).collect();
    assert_eq!(documented, rules);
}

/// The table at the start of the section. Each row links to the section of its rule.
#[test]
fn table_lists_all_rules() {
    let rows = LintRule::ALL.iter().map(|rule| {
        let (severity, summary) = (rule.severity(), rule.summary());
        format!("| [`{rule}`](#{rule}) | {severity} | {summary} |\n")
    });
    let table =
        "| Rule | Severity | Finds |\n|---|---|---|\n".to_owned() + &rows.collect::<String>();
    let (_, rules) = PAGE.split_once("\n# Rules\n\n").unwrap();
    assert!(
        rules.starts_with(&table),
        "write in docs/reference/lint.md:\n{table}"
    );
}

#[test]
fn each_section_names_its_severity() {
    for (id, section) in sections() {
        let severity = LintRule::from_id(id).unwrap().severity().to_string();
        let output = section.trim_start().split('.').next().unwrap();
        assert_eq!(output.to_lowercase(), severity, "{id}");
    }
}

#[test]
fn each_invalid_example_violates_one_rule_and_each_valid_one_none() {
    let mut wrong = Vec::new();
    for (id, section) in sections() {
        let found = |title| -> Vec<String> {
            let findings = found_with(&CALENDARS, &example(section, title)).into_iter();
            findings
                .map(|it| it.split(' ').next().unwrap().to_owned())
                .collect()
        };
        let (bad, good) = (found("Wrong"), found("Right"));
        if bad != [id] || !good.is_empty() {
            wrong.push(format!("{id}: {bad:?}, {good:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
