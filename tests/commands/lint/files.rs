//! Files and directories that are skipped or unreadable.

use std::{
    fs,
    os::unix::{fs::PermissionsExt, process::CommandExt},
    process::Command,
};

use serde_json::Value;

use super::program::{lint_of, web};
use crate::program::{PATH, command_of, run};

#[test]
fn names_the_command_for_files_that_it_cannot_check() {
    let directory = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| {
        let path = directory.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    write("my chart/Chart.yaml", "name: web\n");
    write("my chart/templates/web.yaml", "{{ if }}");
    write("base/kustomization.yaml", "resources: [web.yaml]\n");
    write(
        "team/kustomization.yaml",
        "commonAnnotations: {dayshift/hours: 09:00-19:00}\n",
    );
    let path = directory.path().to_str().unwrap();
    let (status, out, err) = lint_of(&[path], "");
    assert_eq!((status, err.as_str()), (0, ""), "{out}");
    for expected_text in [
        format!("helm template '{path}/my chart' | dayshift lint -"),
        format!("kubectl kustomize {path}/team | dayshift lint -"),
        "0 errors, 0 warnings, 2 infos in 0 workloads of 3 files".to_owned(),
    ] {
        assert_contains!(out, expected_text);
    }
    let template = format!("{path}/my chart/templates/web.yaml");
    let (status, out, _) = lint_of(&[&template], "");
    assert_eq!(status, 1);
    assert_contains!(out, "helm template CHART | dayshift lint -");
}

/// Runs a command on a directory with unreadable parts. Root can read everything, so another user
/// runs it then.
#[test]
fn an_unreadable_file_does_not_stop_lint() {
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join(name);
    let bad = web(&["dayshift/stop: '25:00'"]);
    let spec = "spec: {selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {containers: [{name: a, image: a}]}}}\n";
    fs::write(path("a.yaml"), &bad).unwrap();
    let good = web(&["dayshift/hours: '09:00-19:00'"]) + spec;
    fs::write(path("z.yaml"), good.replace("name: web", "name: good")).unwrap();
    fs::write(path("latin.yaml"), b"caf\xe9").unwrap();
    fs::File::create(path("large.yaml"))
        .unwrap()
        .set_len(33 << 20)
        .unwrap();
    fs::create_dir(path("closed")).unwrap();
    fs::set_permissions(path("closed"), fs::Permissions::from_mode(0o0)).unwrap();
    fs::set_permissions(directory.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let binary = path("dayshift");
    // A child that another thread starts could inherit an open descriptor of the copy, which then
    // could not be executed ("Text file busy").
    let copied = Command::new("cp").arg(PATH).arg(&binary).status();
    assert!(copied.unwrap().success());
    let name = directory.path().to_str().unwrap();
    for (args, expected_text) in [
        (&["lint", name][..], "bad-times"),
        (&["lint", "-o", "sarif", name], "toolExecutionNotifications"),
        (&["lint", "-o", "junit", name], "errors=\"3\""),
        (&["plan", "-o", "table", "-f", name], "good"),
        (&["sandbox", "--for", "2d", name], "stop"),
    ] {
        let mut program = command_of(&binary);
        program.args(args).current_dir(directory.path());
        if rustix::process::geteuid().is_root() {
            program.uid(65_534);
        }
        let ended = run(&mut program, "");
        let (out, err) = (&ended.out, &ended.err);
        assert_eq!(ended.status, 3, "{args:?}: {out}{err}");
        assert!(out.contains(expected_text), "{args:?}: {out}{err}");
        for file in ["latin.yaml", "large.yaml", "closed"] {
            assert!(err.contains(file), "{args:?}: {err}");
        }
        if args.contains(&"sarif") {
            let log = ended.json();
            let invocation = &log["runs"][0]["invocations"][0];
            assert_eq!(invocation["executionSuccessful"], false);
            let reported = invocation["toolExecutionNotifications"].as_array().unwrap();
            let uri = |it: &Value| {
                let artifact = &it["locations"][0]["physicalLocation"]["artifactLocation"];
                artifact["uri"].as_str().unwrap().to_owned()
            };
            let uris: Vec<_> = reported.iter().map(uri).collect();
            let expected = ["closed", "large.yaml", "latin.yaml"];
            assert_eq!(uris, expected.map(|it| format!("file://{name}/{it}")));
        }
    }
    fs::set_permissions(path("closed"), fs::Permissions::from_mode(0o755)).unwrap();
}

/// Earlier versions ignored a pattern that matches nothing.
#[test]
fn an_invalid_pattern_is_wrong_usage() {
    for (args, status) in [
        (&["--exclude", "["][..], 2),
        (&["--exclude", ""], 2),
        (&["--exclude", "[ab].yaml"], 0),
        (&["--disable", "replicas-in-manifest,other-tool"], 0),
        (&["--disable", "replicas-in-manifest,nope"], 2),
    ] {
        let (found, _, err) = lint_of(
            &[args, &["-"]].concat(),
            &web(&["dayshift/hours: 09:00-19:00"]),
        );
        assert_eq!(found, status, "{args:?} {err}");
    }
    let one = web(&["dayshift/hours: 09:00-19:00"]) + "spec: {replicas: 2}\n";
    let (_, out, _) = lint_of(&["--disable", "other-tool,replicas-in-manifest", "-"], &one);
    assert_starts_with!(out, "0 errors, 0 warnings in 1 workload");
}

#[test]
fn reports_a_kind_without_a_version() {
    let text = web(&["dayshift/hours: 09:00-19:00"]).replace("apiVersion: apps/v1\n", "");
    let (_, out, _) = lint_of(&["-"], &text);
    assert_contains!(out, "this Deployment has no apiVersion");
}

/// Terraform files can contain manifests, which lint does not read.
#[test]
fn terraform_files_are_reported_as_not_read() {
    let folder = tempfile::TempDir::new().unwrap();
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
    write("web.yaml", &web(&["dayshift/hours: Mon-Fri 09:00-19:00"]));
    for name in ["main.tf", "dev.tfvars", "notes.txt"] {
        write(name, "");
    }
    let directory = folder.path().to_str().unwrap();
    let (status, out, err) = lint_of(&[directory], "");
    let said = out + &err;
    for name in ["main.tf", "dev.tfvars"] {
        let path = folder.path().join(name);
        let line = format!(
            "{} is not read: dayshift reads YAML and JSON",
            path.display()
        );
        assert_contains!(said, line);
    }
    assert_lacks!(said, "notes.txt");
    let ran = crate::program::dayshift(&["plan", "-f", directory]);
    let planned = ran.out + &ran.err;
    let line = format!("{directory}/main.tf is not read: dayshift reads YAML and JSON");
    assert!(planned.contains(&line) && ran.status == 0, "{planned}");
    assert_eq!(status, 0, "{said}");
}
