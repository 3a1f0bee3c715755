//! `docs/reference/events.md` lists each reason of an Event in the right table.

use std::collections::BTreeMap;

use dayshift_workload::events::EventReason;

const PAGE: &str = include_str!("../../../docs/reference/events.md");
const SOURCE: &str = include_str!("../../../crates/workload/src/events/event.rs");

/// The names of the variants, as they are written.
fn variants() -> Vec<&'static str> {
    let (_, rest) = SOURCE.split_once("pub enum EventReason {\n").unwrap();
    let (variants, _) = rest.split_once("\n    }\n").unwrap();
    let lines = variants.lines().map(str::trim);
    lines
        .filter(|line| !line.starts_with("///"))
        .map(|line| line.strip_suffix(',').unwrap())
        .collect()
}

/// The configuration of an exporter on `docs/guides/notifications.md` selects Events by their
/// reasons.
#[test]
fn the_exporter_configuration_uses_existing_reasons() {
    let page = include_str!("../../../docs/guides/notifications.md");
    let lines = page
        .lines()
        .filter_map(|it| it.trim().strip_prefix("reason: \"^("));
    let texts: Vec<_> = lines.map(|it| it.strip_suffix(")$\"").unwrap()).collect();
    assert_eq!(texts.len(), 2);
    let all = EventReason::ALL.map(|it| it.to_string());
    for text in texts {
        let unknown: Vec<_> = text
            .split('|')
            .filter(|it| !all.contains(&(*it).to_owned()))
            .collect();
        assert_eq!(unknown, [""; 0]);
        assert_contains!(text, "StopsSoon");
    }
}

#[test]
fn each_reason_is_on_the_page_and_no_other() {
    let (normal, warnings) = PAGE.split_once("\n## Warnings\n").unwrap();
    let mut documented = BTreeMap::new();
    for (table, is_warning) in [(normal, false), (warnings, true)] {
        for row in table.lines().filter_map(|line| line.strip_prefix("| `")) {
            let (reason, _) = row.split_once('`').unwrap();
            assert_eq!(documented.insert(reason.to_owned(), is_warning), None);
        }
    }
    let there: BTreeMap<_, _> = EventReason::ALL
        .iter()
        .map(|reason| (reason.to_string(), reason.is_warning()))
        .collect();
    assert_eq!(documented, there);
    let mut all: Vec<_> = there.keys().map(String::as_str).collect();
    let mut variants = variants();
    all.sort_unstable();
    variants.sort_unstable();
    assert_eq!(all, variants, "EventReason::ALL has each variant");
}
