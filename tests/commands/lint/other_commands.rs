//! All commands that read a file report its errors with the same texts.

use serde_json::json;

use crate::{fake_server::Cluster, program::dayshift_with};

/// The invalid lines below the annotations of a Deployment, and the error.
const WRONG: [(&str, &str); 10] = [
    ("    dayshift/start: 'Mon-Fry 09:00'\n", "bad-times"),
    ("    dayshift/hours: \"9\\u002d17\"\n", "bad-hours"),
    ("    dayshift/strat: '09:00'\n", "unknown-annotation"),
    ("    dayshift/pause: true\n", "not-text"),
    (
        "    dayshift/stop: '9:00'\n    dayshift/stop: '19:00'\n",
        "duplicate-annotation",
    ),
    (
        "    dayshift/hours: '09:00-19:00'\n    dayshift/stop: '19:00'\n",
        "hours-beside-times",
    ),
    (
        "    dayshift/hours: '09:00-19:00'\n    dayshift/except: 'calendar:de'\n",
        "bad-except",
    ),
    (
        "    dayshift/hours: '09:00-19:00'\n  labels:\n    dayshift/timezone: UTC\n",
        "schedule-as-label",
    ),
    (
        "    dayshift/hours: '09:00-19:00'\n  namespace: [a]\n",
        "bad-object",
    ),
    ("    dayshift/hours: '09:00-19:00'\n  labels: [\n", "syntax"),
];

#[test]
fn plan_and_sandbox_report_the_same_errors_as_lint() {
    for (lines, rule) in WRONG {
        let file = format!(
            "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: web\n  annotations:\n{lines}"
        );
        let run = |args: &[&str]| dayshift_with(&[], args, &file);
        let lint = run(&["lint", "-", "--min-severity", "error"]);
        let (said, _) = lint.out.rsplit_once("\n\n").unwrap();
        let heading = format!("error[{rule}]: ");
        assert!(said.starts_with(&heading), "{rule}: {said}");
        assert!(said.contains("\n --> standard input:"), "{rule}: {said}");
        assert!(said.contains(" ^"), "{rule}: {said}");
        for command in [
            &["plan", "-o", "json", "-f", "-"][..],
            &["plan", "-o", "table", "-f", "-"],
            &["plan", "-o", "chart", "-f", "-"],
            &["sandbox", "--for", "1d", "-"],
        ] {
            let ended = run(command);
            assert!(ended.err.contains(said), "{command:?}: {said}\n{ended:?}");
            assert_eq!(
                ended.err.matches("error").count(),
                said.matches("error").count(),
                "{command:?}: the error is reported once: {ended:?}"
            );
            assert_eq!(ended.status, lint.status, "{command:?}: {ended:?}");
        }
    }
}

#[test]
fn help_repeats_neither_the_mistake_nor_the_message() {
    for (lines, rule) in WRONG {
        let file = format!(
            "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: web\n  annotations:\n{lines}"
        );
        let lint = dayshift_with(&[], &["lint", "-", "-o", "json"], &file);
        let finding = &lint.json()["findings"][0];
        let text = |field: &str| finding[field].as_str().unwrap().to_owned();
        let (message, help) = (text("message"), text("help"));
        assert!(!message.contains("; write"), "{rule}: {message}");
        assert!(!message.contains(&help), "{rule}: {message}: {help}");
        let quoted = finding["annotation"]["text"].as_str().unwrap_or("never");
        let proposed = help.starts_with("write dayshift/");
        let is_mistake = help.contains(&format!("\"{quoted}\"")) && rule != "not-text";
        assert!(!(proposed && is_mistake), "{rule}: {help}");
    }
}

/// A live object has no file, so the text of the annotation is shown.
#[test]
fn plan_reports_the_errors_of_a_live_object_as_lint_does() {
    let cluster = Cluster::new();
    cluster.deployment("bad", 1, &[("start", "Mon-Fry 09:00")]);
    cluster.deployment("good", 1, &[("hours", "Mon-Fri 09:00-19:00")]);
    for output in ["table", "chart", "json"] {
        let ran = cluster.dayshift(&["plan", "-o", output, "--from=2026-11-23"]);
        assert_eq!(ran.status, 1, "{ran:?}");
        assert_eq!(
            ran.err,
            "error[bad-times]: `Fry` is not a day
  = text: Mon-Fry 09:00
              ^^^
  = help: write dayshift/start: \"Mon-Fri 09:00\"
  = in: Deployment dev/bad

"
        );
    }
}

#[test]
fn a_live_namespace_problem_is_reported_once() {
    let cluster = Cluster::new();
    let change = json!({"metadata": {"annotations": {"dayshift/hours": "9-17h"}}});
    cluster.api.merge("Namespace", "", "dev", &change).unwrap();
    for name in ["one", "two", "three"] {
        cluster.deployment(name, 1, &[]);
    }
    let ran = cluster.dayshift(&["plan", "-o", "chart", "--from=2026-11-23"]);
    assert_eq!(ran.status, 1, "{ran:?}");
    assert_eq!(ran.err.matches("error[bad-hours]").count(), 1, "{ran:?}");
    assert_ends_with!(ran.err, "  = in: Namespace dev\n\n");
    let left = "Invalid schedule; left unchanged:\ndev/one, dev/three, dev/two\n";
    assert_eq!(ran.out, left);
}
