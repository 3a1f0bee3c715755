//! Namespaces in files, whose annotations are defaults.

use super::program::{found, lint_of, web};

/// A Namespace `default` with these annotations; the first is on line 6 of its document.
fn namespace(lines: &[&str]) -> String {
    web(lines)
        .replace("apps/v1", "v1")
        .replace("Deployment", "Namespace")
        .replace("name: web", "name: default")
}

/// The Namespace, then a Deployment whose first annotation is six lines further down.
fn both(of_namespace: &[&str], own: &[&str]) -> Vec<String> {
    found(&format!("{}---\n{}", namespace(of_namespace), web(own)))
}

const NONE: [&str; 0] = [];

#[test]
fn recognizes_a_namespace_schedule() {
    assert_eq!(found(&namespace(&["dayshift/hours: '09:00-19:00'"])), NONE);
    // Modifiers without a schedule are valid on a Namespace, because workloads can have their own
    // schedule.
    let waits = [
        "dayshift/timezone: Asia/Tokyo",
        "dayshift/jitter: 5m",
        "dayshift/pause: 'true'",
    ];
    assert_eq!(found(&namespace(&waits)), NONE);
    // An object of another API group is not a Namespace.
    let other = namespace(&["dayshift/hours: '09:00-19:00'"]).replace("v1", "v2");
    assert_eq!(found(&other), ["other-kind 6:5"]);
}

#[test]
fn finds_mistakes_on_the_namespace() {
    for (line, finding) in [
        ("dayshift/hours: '9-5'", "bad-hours 6:22"),
        ("dayshift/strat: '09:00'", "unknown-annotation 6:5"),
        ("dayshift/timezone: Asia/Tokio", "bad-timezone 6:24"),
        ("dayshift/wake-until: tonight", "bad-override 6:26"),
        ("dayshift/wake-until: '2026-11-01 10:00'", "past-until 6:27"),
        ("dayshift/pause: true", "not-text 6:21"),
        ("dayshift/stop: '19:00'", "stop-without-start 6:21"),
        (
            "downscaler/uptime: 'Mon-Fri 09:00-19:00 UTC'",
            "other-tool 6:5",
        ),
    ] {
        assert_eq!(found(&namespace(&[line])), [finding], "{line}");
        // The workload that inherits the problem does not report it again.
        let own = web(&["dayshift/stop-replicas: '1'"]);
        let hours = "dayshift/hours: '09:00-19:00'";
        let lines = if line.contains("hours") || line.contains("stop") {
            vec![line]
        } else {
            vec![line, hours]
        };
        let all = format!("{}---\n{own}", namespace(&lines));
        assert_eq!(found(&all), [finding], "{all}");
    }
    let label =
        namespace(&["a: b"]).replace("annotations:\n    a: b", "labels: {dayshift/stop: x}");
    assert_eq!(found(&label), ["schedule-as-label 5:12"]);
    let (_, out, _) = lint_of(&["-"], &namespace(&["dayshift/stop: '19:00'"]));
    assert!(
        out.contains("Namespace default")
            && out.contains("nothing starts a workload that inherits it"),
        "{out}"
    );
}

#[test]
fn checks_annotations_of_a_workload_that_inherits() {
    let hours = ["dayshift/hours: '09:00-19:00'"];
    // The modifier applies to the inherited schedule, so it has an effect.
    assert_eq!(both(&hours, &["dayshift/jitter: 5m"]), NONE);
    assert_eq!(
        both(&["a: b"], &["dayshift/jitter: 5m"]),
        ["no-effect 13:22"]
    );
    assert_eq!(both(&hours, &["dayshift/jitter: 5x"]), ["bad-jitter 13:22"]);
    assert_eq!(
        both(&["dayshift/hours: '9-5'"], &["dayshift/pause: maybe"]),
        ["bad-hours 6:22", "bad-override 13:21"]
    );
    // Each is valid, but not both together.
    let steps = ["dayshift/scale: '09:00 = 2; 19:00 = 0'"];
    assert_eq!(
        both(&steps, &["dayshift/replicas: '2'"]),
        ["scale-beside-others 13:25"]
    );
    // A suppression on the Namespace applies only to its own annotations.
    let once = [
        "dayshift/stop: '19:00'",
        "lint.dayshift/stop-without-start: by hand",
    ];
    assert_eq!(found(&namespace(&once)), NONE);
}

#[test]
fn reports_the_number_of_workloads_that_inherit() {
    let counted = format!("{}spec:\n  replicas: 3\n", web(&["a: b"]));
    let hours = namespace(&["dayshift/hours: '09:00-19:00'"]);
    assert_eq!(found(&counted), NONE);
    assert_eq!(
        found(&format!("{counted}---\n{hours}")),
        ["replicas-in-manifest 8:13"]
    );
}

/// The Namespace is valid for the other workloads in it.
#[test]
fn reports_a_count_beside_an_inherited_scale_on_the_workload() {
    let scale = ["dayshift/scale: 'Mon-Fri 08:00 = 5; 19:00 = 0'"];
    let own = ["dayshift/replicas: '2'", "dayshift/stop-replicas: '1'"];
    let text = format!("{}---\n{}", namespace(&scale), web(&own));
    let found = found(&text);
    assert_eq!(
        found,
        ["scale-beside-others 13:25", "scale-beside-others 14:30"]
    );
    let (_, help, _) = lint_of(&["-"], &text);
    assert_contains!(help, "help: remove `replicas` from the object, or");
}
