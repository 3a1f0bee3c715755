//! `dayshift lint` as a user and a build server run it.

mod cron_jobs;
mod docs;
mod either_day;
mod files;
mod golden;
mod help;
mod loose;
mod namespaces;
mod needed;
mod other_commands;
mod other_controllers;
mod program;
mod rules;
mod volumes;
mod year;

use serde_json::Value;

use crate::terminal::words::assert_escaped;
use program::{found, lint_of, web};

#[test]
fn only_a_reason_suppresses_a_warning() {
    let stop = "dayshift/stop: '19:00'";
    let suppression =
        |reason: &str| web(&[stop, &format!("lint.dayshift/stop-without-start: {reason}")]);
    assert_eq!(
        found(&suppression("'once a day, by hand'")),
        Vec::<String>::new()
    );
    assert_eq!(
        found(&suppression("''")),
        ["stop-without-start 6:21", "bad-suppression 7:5"]
    );
    let error = web(&["dayshift/stop: '25:00'", "lint.dayshift/bad-times: please"]);
    assert_eq!(found(&error), ["bad-times 6:21", "bad-suppression 7:5"]);
}

#[test]
fn shows_decoded_text_with_its_own_caret() {
    let (status, out, _) = lint_of(
        &["-"],
        &web(&[
            "dayshift/start: \"M\\u006fn-Fry 09:00\"",
            "dayshift/stop: '19:00'",
        ]),
    );
    assert_eq!(status, 1);
    let expected = "
 --> standard input:6:21
  |
6 |     dayshift/start: \"M\\u006fn-Fry 09:00\"
  |                     ^^^^^^^^^^^^^^^^^^^^
  = text: Mon-Fry 09:00
              ^^^
";
    assert_contains!(out, expected);
    assert_ends_with!(out, "\n1 error, 0 warnings in 1 workload of 1 file\n");
}

#[test]
fn folds_equal_infos_with_their_number() {
    let with_replicas = |name: &str, count: u32, zone: &str| {
        let web = web(&["dayshift/hours: '09:00-19:00'", zone]).replace("name: web", name);
        format!("{web}spec:\n  replicas: {count}\n")
    };
    let good = "dayshift/timezone: Asia/Tokyo";
    let bad = "dayshift/timezone: Asia/Tokio";
    let files = [
        with_replicas("name: a", 2, good),
        with_replicas("name: b", 3, bad),
        with_replicas("name: c", 3, bad),
        with_replicas("name: d", 4, good),
    ];
    let input = files.join("---\n");
    let (status, out, _) = lint_of(&["-"], &input);
    assert_eq!(status, 1);
    assert_eq!(
        out.matches("info[replicas-in-manifest]").count(),
        1,
        "{out}"
    );
    let one = "  = in: Deployment default/a\n  = and: 3 more objects; --output json lists each\n\n";
    assert_contains!(out, one);
    // Each error is shown.
    assert_eq!(out.matches("error[bad-timezone]").count(), 2, "{out}");
    assert_ends_with!(
        out,
        "\n2 errors, 0 warnings, 4 infos in 4 workloads of 1 file\n"
    );

    for (format, name) in [
        ("json", "replicas-in-manifest"),
        ("github", "replicas-in-manifest"),
    ] {
        let (_, out, _) = lint_of(&["-o", format, "-"], &input);
        assert!(out.matches(name).count() >= 4, "{format}: {out}");
    }
    let (_, out, _) = lint_of(&["-"], &files[..2].join("---\n"));
    assert_contains!(out, "= and: 1 more object; ");
}

#[test]
fn the_examples_are_clean() {
    let shown = ["--min-severity", "warning", "examples"];
    let (status, out, err) = lint_of(&shown, "");
    assert_eq!((status, err.as_str()), (0, ""), "{out}");
    assert_eq!(
        out,
        "0 errors, 0 warnings (2 suppressed) in 10 workloads of 10 files\n"
    );
}

#[test]
fn exit_status_distinguishes_a_finding_from_an_outage() {
    let bad = web(&["dayshift/stop: '25:00'"]);
    for (args, input, status) in [
        (&["-"][..], web(&["team/a: b"]), 0),
        (&["-f", "-"], bad.clone(), 1),
        (&[], bad.clone(), 2),
        (&["-", "--from", "soon"], bad.clone(), 2),
        (&["-", "/nonexistent.yaml"], bad, 3),
    ] {
        assert_eq!(lint_of(args, &input).0, status, "{args:?}");
    }
}

#[test]
fn malicious_text_never_controls_the_terminal() {
    let hostile = web(&[
        "dayshift/start: \"\\e[31m\u{202e}%0A::error::x\\n<&\"",
        "dayshift/stop: '19:00'",
    ]);
    for format in ["text", "github", "junit"] {
        let (status, out, _) = lint_of(&["-o", format, "-"], &hostile);
        assert_eq!(status, 1, "{format}");
        assert_escaped(&out, format);
        assert!(
            !out.lines().skip(1).any(|line| line.starts_with("::")),
            "{format}: {out}"
        );
    }
}

#[test]
fn sarif_contains_rules_and_positions_in_code_points() {
    let (_, out, _) = lint_of(
        &["-o", "sarif", "-"],
        &web(&["{é: 日本, dayshift/stop: 'Mon-Fry 9:00'}"]),
    );
    let log: Value = serde_json::from_str(&out).unwrap();
    let run = &log["runs"][0];
    assert_eq!(
        (&log["version"], &run["columnKind"]),
        (&"2.1.0".into(), &"unicodeCodePoints".into())
    );
    let result = &run["results"][0];
    let index = usize::try_from(result["ruleIndex"].as_u64().unwrap()).unwrap();
    assert_eq!(
        run["tool"]["driver"]["rules"][index]["id"],
        result["ruleId"]
    );
    let place = &result["locations"][0]["physicalLocation"];
    let expected = serde_json::json!({"description": {"text": "standard input"}});
    assert_eq!(place["artifactLocation"], expected);
    assert_eq!(
        place["region"],
        serde_json::json!({"startLine": 6, "startColumn": 33, "endLine": 6, "endColumn": 36})
    );
}

#[test]
fn checks_a_large_file_quickly() {
    let bad = "{apiVersion: apps/v1, kind: Deployment, metadata: {}}\n---\n".repeat(40_000);
    let begun = std::time::Instant::now();
    let (status, out, _) = lint_of(&["-"], &bad);
    assert_eq!(status, 1);
    assert_ends_with!(out, "40000 errors, 0 warnings in 0 workloads of 1 file\n");
    assert!(begun.elapsed().as_secs() < 30, "{:?}", begun.elapsed());
}

/// A shortened line has a mark, and a complete line has none.
#[test]
fn marks_only_shortened_lines() {
    for (behind, is_cut) in [
        (80, false),
        (87, false),
        (90, false),
        (91, true),
        (300, true),
    ] {
        // After the fault: ` 09:00" # ` and a comment.
        let comment = "x".repeat(behind - 10);
        let text = web(&[&format!("dayshift/start: \"Mon-Fry 09:00\" # {comment}")]);
        let (_, out, _) = lint_of(&["-"], &text);
        let line = out.lines().find(|it| it.starts_with("6 |")).unwrap();
        assert_eq!(line.ends_with("..."), is_cut, "{behind}: {line}");
        assert!(is_cut || line.ends_with(&comment), "{behind}: {line}");
    }
}
