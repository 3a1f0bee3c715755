//! Named schedules: files with `--schedules`, and live workloads without it.

use std::fs;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::fake_server::{Cluster, Controller};
use crate::program::wait_until;

const SCHEDULES: &str = "\
always: {start: \"2000-01-01 00:00\", stop: \"2099-01-01 00:00\", timezone: Asia/Tokyo}
unused: {hours: \"Mon-Fri 09:00-19:00\"}
broken: {hours: \"Mon-Fry 09:00-19:00\"}
";

/// A directory with a file of schedules and a manifest of a workload that names one.
fn files(name: &str) -> (TempDir, String, String) {
    let folder = tempfile::tempdir().unwrap();
    let [schedules, web] =
        ["schedules.yaml", "web.yaml"].map(|file| folder.path().join(file).display().to_string());
    fs::write(&schedules, SCHEDULES).unwrap();
    let text = format!(
        "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: web\n  annotations:\n    \
         dayshift/schedule: {name}\n"
    );
    fs::write(&web, text).unwrap();
    (folder, schedules, web)
}

#[test]
fn files_use_the_schedules_that_they_name() {
    let cluster = Cluster::new();
    let (_folder, schedules, web) = files("unused");
    let given = format!("--schedules={schedules}");
    let plan = ["plan", "-f", &web, "-o=json", "--from=2026-11-20", &given];
    let planned = cluster.dayshift(&plan).json();
    let boundaries = &planned["workloads"][0]["boundaries"];
    assert_eq!(
        boundaries[0]["at"], "2026-11-20T09:00:00+00:00",
        "{planned}"
    );
    let ran = cluster.dayshift(&[
        "sandbox",
        &web,
        &given,
        "--from=2026-11-20 18:00",
        "--for=2h",
    ]);
    ran.assert_out("19:00");
    // Without the file, the name is an error.
    for command in [&["plan", "-f", &web][..], &["lint", &web]] {
        let ran = cluster.dayshift(command);
        assert_eq!(ran.status, 1, "{ran:?}");
        let output = ran.out + &ran.err;
        assert_contains!(output, "there is no file of schedules");
    }
}

/// The mistake in an entry has its place in the file, and an unknown name proposes the nearest one.
#[test]
fn lint_checks_the_file_and_the_names() {
    let cluster = Cluster::new();
    for (name, expected) in [
        ("always", None),
        ("unusd", Some("write dayshift/schedule: \"unused\"")),
    ] {
        let (_folder, schedules, web) = files(name);
        let given = format!("--schedules={schedules}");
        let ran = cluster.dayshift(&["lint", &web, &given, "-o=json"]);
        let findings = ran.json()["findings"].clone();
        let mut rules = findings.as_array().unwrap().iter().map(|it| &it["rule"]);
        assert!(rules.any(|rule| *rule == "bad-hours"), "{findings}");
        let place = findings
            .as_array()
            .unwrap()
            .iter()
            .find(|it| it["rule"] == "bad-hours");
        assert_eq!(place.unwrap()["place"]["line"], 3, "{findings}");
        let unknown = findings.as_array().unwrap();
        let unknown = unknown.iter().find(|it| it["rule"] == "unknown-schedule");
        let help = unknown.map(|it| it["help"].as_str().unwrap().to_owned());
        assert_eq!(help.as_deref(), expected, "{findings}");
        assert_eq!(ran.status, 1);
    }
}

#[test]
fn default_schedule_needs_a_valid_name_and_the_file() {
    let cluster = Cluster::new();
    let (_folder, schedules, web) = files("unused");
    let given = format!("--schedules={schedules}");
    for (flags, expected) in [
        (&["--default-schedule=unused"][..], "--schedules <FILE>"),
        (
            &[&*given, "--default-schedule=A B"],
            "`A B` is not the name of a schedule",
        ),
        (
            &[
                &*given,
                "--default-schedule=unused",
                "--default-hours=09:00-19:00",
            ],
            "cannot be used with",
        ),
    ] {
        let ran = cluster.dayshift(&[&["plan", "-f", &web], flags].concat());
        assert_eq!(ran.status, 2, "{ran:?}");
        ran.assert_err(expected);
    }
}

/// The controller has the file. The commands read what it has recorded on the workloads.
#[test]
fn commands_for_live_workloads_need_no_file() {
    let cluster = Cluster::new();
    let (_folder, schedules, _) = files("always");
    for (name, schedule) in [("web", "always"), ("api", "always"), ("typo", "alwas")] {
        cluster.deployment(name, 3, &[("schedule", schedule)]);
    }
    cluster.deployment("own", 3, &[("stop", "2099-01-01 00:00")]);
    // No controller has observed them yet.
    let ran = cluster.dayshift(&["status", "-o=json"]);
    let states = ran.json()["workloads"].clone();
    assert_eq!(states.as_array().unwrap().len(), 4, "{ran:?}");
    let given = format!("--schedules={schedules}");
    let _controller = Controller::with(&cluster, &[&given]);
    cluster.wait_for_state(&["web"], "adopted");
    wait_until("rejected", || cluster.annotation("typo", "error").is_some());
    let ran = cluster.dayshift(&["status", "--schedule=always", "-o=json"]);
    let workloads = ran.json()["workloads"].clone();
    let names: Vec<_> = workloads
        .as_array()
        .unwrap()
        .iter()
        .map(|it| &it["name"])
        .collect();
    assert_eq!(names, ["api", "web"], "{ran:?}");
    assert_eq!(workloads[0]["schedule"], "always");
    assert_eq!(workloads[0]["timezone"], "Asia/Tokyo");
    assert_eq!(workloads[0]["next"], "2099-01-01T00:00:00+09:00");
    let ran = cluster.dayshift(&["status"]);
    assert!(
        ran.out.contains("SCHEDULE") && ran.out.contains("alwas"),
        "{ran:?}"
    );
    let ran = cluster.dayshift(&["status", "--schedule=night"]);
    ran.assert_err("None of 4 workloads follows the schedule night.");
    let ran = cluster.dayshift(&["wake", "web", "--for=1h"]);
    assert_eq!(ran.status, 0, "{ran:?}");
    cluster.wait_for_state(&["web"], "woken");

    let listed = |more: &[&str]| {
        let ran = cluster.dayshift(&[&["schedules", "-o=json"], more].concat());
        let rows = ran.json()["schedules"].clone();
        let row = |it: &Value| {
            json!([
                it["name"],
                it["workloads"],
                it["next"],
                it["error"].is_null()
            ])
        };
        let rows: Vec<_> = rows.as_array().unwrap().iter().map(row).collect();
        (ran.status, rows)
    };
    let always = json!(["always", 2, "2099-01-01T00:00:00+09:00", true]);
    let (status, rows) = listed(&[]);
    assert_eq!(
        (status, &rows),
        (1, &vec![json!(["alwas", 1, null, false]), always.clone()])
    );
    let (status, rows) = listed(&[&given]);
    assert_eq!(status, 1);
    assert_eq!(rows[0..2], [json!(["alwas", 1, null, false]), always]);
    assert_eq!(rows[2], json!(["broken", 0, null, false]));
    assert_eq!(
        (&rows[3][0], &rows[3][1], &rows[3][3]),
        (&json!("unused"), &json!(0), &json!(true))
    );
    let ran = cluster.dayshift(&["schedules", &given]);
    ran.assert_out("unused   Mon-Fri 09:00-19:00");
    ran.assert_err("schedule `broken`, key `hours`: `Fry` is not a day");
}

/// Users can record any values on their own workloads.
#[test]
fn values_that_are_recorded_in_one_namespace_do_not_replace_those_of_others() {
    let cluster = Cluster::new();
    for (namespace, hours) in [
        ("dev", "09:00-19:00"),
        ("ops", "09:00-19:00"),
        ("evil", "00:00-00:01; 00:02-00:03"),
    ] {
        cluster.api.namespace(namespace);
        let recorded = json!({"from": "schedule", "schedules": {"office": {"hours": hours}}});
        let object = json!({
            "apiVersion": "apps/v1", "kind": "Deployment",
            "metadata": {
                "namespace": namespace, "name": "web", "labels": {"dayshift/state": "running"},
                "annotations": {
                    "dayshift/schedule": "office", "dayshift/inherited": recorded.to_string(),
                },
            },
            "spec": {
                "selector": {"matchLabels": {"app": "web"}},
                "template": {
                    "metadata": {"labels": {"app": "web"}},
                    "spec": {"containers": [{"name": "nginx", "image": "nginx"}]},
                },
            },
        });
        cluster.api.create(object).unwrap();
    }
    let ran = cluster.dayshift(&["schedules", "-A", "-o=json"]);
    let office = &ran.json()["schedules"][0];
    assert_eq!(office["values"], json!({"hours": "09:00-19:00"}), "{ran:?}");
    assert_eq!(office["workloads"], 3);
    let ran = cluster.dayshift(&["schedules", "-n=dev", "-n=evil"]);
    assert_eq!(ran.status, 1, "{ran:?}");
    ran.assert_err("have recorded different values of `hours`");
}
