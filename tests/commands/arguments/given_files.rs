//! The files given to `lint`, `plan`, `sandbox` and `convert`, and the exit status of each command.

use std::{fs, path::Path};

use serde_json::json;
use tempfile::TempDir;

use crate::program::{Ended, command, dayshift, run};

const NOTHING: &str = "No workload with a schedule found.\n";

fn object(kind: &str, name: &str, rest: &str) -> String {
    let group = match kind {
        "Namespace" | "Service" => "v1",
        "HorizontalPodAutoscaler" => "autoscaling/v2",
        _ => "apps/v1",
    };
    format!("apiVersion: {group}\nkind: {kind}\nmetadata:\n  name: {name}\n{rest}")
}

fn annotated(kind: &str, name: &str, annotation: &str) -> String {
    object(kind, name, &format!("  annotations:\n    {annotation}\n"))
}

fn office() -> String {
    annotated("Deployment", "web", "dayshift/hours: 'Mon-Fri 09:00-19:00'")
}

/// A directory with these files.
fn directory(files: &[(&str, &str)]) -> TempDir {
    let directory = tempfile::tempdir().unwrap();
    for (name, text) in files {
        let path = directory.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    directory
}

fn run_in(directory: &Path, line: &str) -> Ended {
    run(command().current_dir(directory).args(line.split(' ')), "")
}

/// An error leads to the same exit status in all commands. Only in `lint` do warnings change it.
#[test]
fn lint_plan_and_sandbox_end_with_the_same_status() {
    let long = "a".repeat(70);
    let team = annotated("Namespace", "team", "dayshift/hours: '09:00-25:00'");
    let volumes = "spec:\n  persistentVolumeClaimRetentionPolicy: {whenScaled: Delete}\n";
    for (case, file, status) in [
        ("a schedule", office(), 0),
        ("nothing", String::new(), 0),
        ("a comment", "# nothing\n".to_owned(), 0),
        ("a Service", object("Service", "web", ""), 0),
        ("no schedule", object("Deployment", "web", ""), 0),
        (
            "the same object twice",
            format!("{}---\n{}", office(), office()),
            0,
        ),
        (
            "a text that a tool fills in",
            annotated("Deployment", "web", "dayshift/hours: '{{ .Values.hours }}'"),
            0,
        ),
        (
            "a long name",
            annotated("Deployment", &long, "dayshift/hours: '09:00-19:00'"),
            0,
        ),
        (
            "hours that are none",
            annotated("Deployment", "web", "dayshift/hours: '09:00-25:00'"),
            1,
        ),
        (
            "a wrong name",
            annotated("Deployment", "Web_1", "dayshift/hours: '09:00-19:00'"),
            1,
        ),
        (
            "a wrong namespace",
            object(
                "Deployment",
                "web",
                "  namespace: team.a\n  annotations:\n    dayshift/hours: '09:00-19:00'\n",
            ),
            1,
        ),
        (
            "an unknown key",
            annotated("Deployment", "web", "dayshift/strat: '09:00'"),
            1,
        ),
        (
            "a number",
            annotated("Deployment", "web", "dayshift/hours: 9"),
            1,
        ),
        (
            "a wrong count",
            format!("{}spec: {{replicas: -1}}\n", office()),
            1,
        ),
        ("no name", object("Deployment", "''", ""), 1),
        ("no YAML", "a: [\n".to_owned(), 1),
        ("a wrong Namespace", team.clone(), 1),
        (
            "what inherits from a wrong Namespace",
            format!(
                "{team}---\n{}",
                object("Deployment", "web", "  namespace: team\n")
            ),
            1,
        ),
        (
            "volumes that a stop would delete",
            annotated("StatefulSet", "db", "dayshift/hours: '09:00-19:00'") + volumes,
            1,
        ),
        ("no text", "\u{feff}\0".to_owned(), 1),
    ] {
        let directory = directory(&[("file.yaml", &file)]);
        for line in [
            "lint --fail-on error file.yaml",
            "plan file.yaml",
            "sandbox --for 1h file.yaml",
        ] {
            let ended = run_in(directory.path(), line);
            assert_eq!(ended.status, status, "{case}: {line}: {ended:?}");
        }
    }
}

#[test]
fn an_unreadable_file_gives_status_3_without_hiding_the_others() {
    let office = office();
    let directory = directory(&[("web.yaml", &office), ("empty/README", "")]);
    for (line, expected_text) in [
        ("lint web.yaml missing.yaml", "1 workload of 1 file"),
        ("plan web.yaml missing.yaml", "default/web\n"),
        ("sandbox --for 1h web.yaml missing.yaml", "1 workload"),
        ("lint web.yaml empty", "1 workload of 1 file"),
        ("plan web.yaml ./empty", "default/web\n"),
        ("sandbox --for 1h web.yaml empty", "1 workload"),
        ("convert web.yaml missing.yaml", "name: web"),
    ] {
        let ended = run_in(directory.path(), line);
        assert_eq!(ended.status, 3, "{line}: {ended:?}");
        assert!(ended.out.contains(expected_text), "{line}: {ended:?}");
        assert_eq!(ended.err.matches("error: ").count(), 1, "{line}: {ended:?}");
    }
    for line in [
        "lint x.yaml x.yaml",
        "plan x.yaml -f x.yaml",
        "sandbox x.yaml",
    ] {
        let ended = run_in(directory.path(), line);
        assert_eq!(ended.status, 3, "{line}: {ended:?}");
        assert_eq!(ended.err.matches("error: ").count(), 1, "{line}: {ended:?}");
    }
}

#[test]
fn each_command_accepts_files_as_arguments_and_flags() {
    let (office, db) = (
        office(),
        annotated("StatefulSet", "db", "dayshift/hours: '09:00-19:00'"),
    );
    let directory = directory(&[("web.yaml", &office), ("more/db.yaml", &db)]);
    for command in [
        "lint",
        "plan -o table --from 2026-11-26",
        "sandbox --for 1h --from 2026-11-26",
        "convert",
    ] {
        let words = format!("{command} web.yaml ./more");
        let expected = run_in(directory.path(), &words);
        assert_eq!(expected.status, 0, "{words}: {expected:?}");
        for given in [
            "-f web.yaml -f more",
            "web.yaml -f more",
            "./web.yaml web.yaml more/ more/db.yaml",
            "web.yaml more/../web.yaml --file=more",
        ] {
            let line = format!("{command} {given}");
            let ended = run_in(directory.path(), &line);
            let parts = |it: &Ended| {
                let lines = |text: &str| text.replace("./", "").replace("more/../", "");
                (it.status, lines(&it.out), lines(&it.err))
            };
            assert_eq!(parts(&ended), parts(&expected), "{line}");
        }
    }
}

#[test]
fn uses_the_last_definition_of_an_object_with_a_note() {
    let first = office();
    let last = annotated("Deployment", "web", "dayshift/hours: 'Mon-Fri 10:00-18:00'");
    let directory = directory(&[("a.yaml", &first), ("b.yaml", &last)]);
    let note = "note: a.yaml:1:1: default/web is given again later; the last one applies, as with kubectl apply\n";
    let from = "--from 2026-11-23";
    let plan = run_in(
        directory.path(),
        &format!("plan a.yaml b.yaml -o json --days 1 {from}"),
    );
    assert_eq!((plan.status, plan.err.as_str()), (0, note));
    let workloads = &plan.json()["workloads"];
    assert_eq!(workloads.as_array().unwrap().len(), 1, "{plan:?}");
    assert_eq!(
        workloads[0]["boundaries"][0]["at"],
        "2026-11-23T10:00:00+00:00"
    );
    let sandbox = run_in(
        directory.path(),
        &format!("sandbox a.yaml b.yaml --for 1d {from}"),
    );
    assert_eq!(sandbox.status, 0, "{sandbox:?}");
    assert_starts_with!(sandbox.err, note);
    sandbox.assert_out("10:00:00 UTC   start");
    let lint = run_in(directory.path(), "lint a.yaml b.yaml");
    assert_eq!(
        (lint.status, lint.out.as_str()),
        (0, "0 errors, 0 warnings in 1 workload of 2 files\n")
    );
    // Another kind or namespace is another object.
    let db = annotated("StatefulSet", "web", "dayshift/hours: '09:00-19:00'");
    let dev = first.replace("  name: web\n", "  name: web\n  namespace: dev\n");
    fs::write(directory.path().join("b.yaml"), format!("{db}---\n{dev}")).unwrap();
    let plan = run_in(directory.path(), "plan a.yaml b.yaml -o json");
    assert_eq!((plan.status, plan.err.as_str()), (0, ""));
    assert_eq!(plan.json()["workloads"].as_array().unwrap().len(), 3);
}

#[test]
fn files_without_a_schedule_are_reported() {
    let service = object("Service", "web", "");
    let bare = object("Deployment", "web", "");
    for (case, text) in [
        ("a Service", &*service),
        ("nothing", ""),
        ("a Deployment", &*bare),
    ] {
        for args in [&["lint", "-"][..], &["plan", "-"], &["sandbox", "-"]] {
            if case == "a Deployment" && args[0] == "sandbox" {
                continue; // these files can still be simulated
            }
            let ended = run(command().args(args), text);
            assert_eq!((ended.status, ended.err.as_str()), (0, NOTHING), "{case}");
        }
    }
    let namespace = annotated("Namespace", "team", "dayshift/hours: '09:00-19:00'");
    for text in [&office(), &namespace] {
        let ended = run(command().args(["lint", "-"]), text);
        assert_eq!((ended.status, ended.err.as_str()), (0, ""), "{text}");
    }
}

#[test]
fn each_command_reports_unrendered_files() {
    let office = office();
    let chart = "apiVersion: v2\nname: web\nversion: 0.1.0\n";
    let template = "kind: Deployment\nmetadata:\n  name: {{ .Release.Name }}\n";
    let filled_in = office.replace("'Mon-Fri 09:00-19:00'", "'{{ .Values.hours }}'");
    let named = office.replace("name: web", "name: '{{ .Release.Name }}'");
    let kustomization = "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources: [web.yaml]\ncommonAnnotations: {team: a}\n";
    let directory = directory(&[
        ("chart/Chart.yaml", chart),
        ("chart/templates/web.yaml", template),
        ("kustomize/kustomization.yaml", kustomization),
        ("filled-in.yaml", &filled_in),
        ("named.yaml", &named),
    ]);
    for given in ["./chart", "./kustomize", "filled-in.yaml"] {
        for command in ["lint", "plan", "sandbox --for 1h"] {
            let line = format!("{command} {given}");
            let ended = run_in(directory.path(), &line);
            let output = ended.out.clone() + &ended.err;
            assert_eq!(ended.status, 0, "{line}: {ended:?}");
            assert_eq!(
                output.matches("info[not-rendered]: ").count(),
                1,
                "{line}: {output}"
            );
            assert!(output.contains(" | dayshift lint -\n"), "{line}: {output}");
            assert!(!output.contains("error["), "{line}: {output}");
        }
    }
    // The name can be templated, because the schedule is complete.
    let plan = run_in(directory.path(), "plan named.yaml -o json");
    assert_eq!((plan.status, plan.err.as_str()), (0, ""));
    assert_eq!(plan.json()["workloads"].as_array().unwrap().len(), 1);
}

#[test]
fn json_reports_use_the_same_field_names() {
    let wrong = annotated("Deployment", "web", "dayshift/stop: '25:00'");
    let directory = directory(&[("web.yaml", &wrong)]);
    let unread = json!([{
        "file": "missing.yaml",
        "message": "cannot read missing.yaml: No such file or directory (os error 2)",
    }]);
    for command in ["lint", "plan"] {
        let ended = run_in(
            directory.path(),
            &format!("{command} web.yaml missing.yaml -o json"),
        );
        assert_eq!(ended.json()["unread"], unread, "{ended:?}");
        let ended = run_in(directory.path(), &format!("{command} web.yaml -o json"));
        assert_eq!(ended.json()["unread"], json!([]), "{ended:?}");
    }
    let lint = run_in(directory.path(), "lint web.yaml -o json");
    let place = json!({"file": "web.yaml", "line": 6, "column": 21, "endLine": 6, "endColumn": 26});
    assert_eq!(lint.json()["findings"][0]["place"], place);
}

#[test]
fn a_pattern_that_matches_nothing_is_wrong_usage() {
    for command in ["lint", "plan", "sandbox", "convert"] {
        let ended = dayshift(&[command, "--exclude", "[", "examples/cron.yaml"]);
        assert_eq!(ended.status, 2, "{ended:?}");
        ended.assert_err("`[` is not a pattern");
    }
}

#[test]
fn json_documents_have_an_api_version() {
    let cluster = crate::fake_server::Cluster::new();
    for args in [
        &["status", "-o", "json"][..],
        &["kinds", "-o", "json"],
        &["plan", "-o", "json"],
        &["plan", "-o", "summary-json", "-A"],
        &["lint", "examples", "-o", "json"],
    ] {
        let document = cluster.dayshift(args).json();
        assert_eq!(document["apiVersion"], "dayshift/v1", "{args:?}");
    }
}
