//! Text in annotations, files, names and responses never controls the terminal, the log or the
//! reader of an Event: it is escaped.

pub mod objects;
pub mod words;

use kube_in_memory::{Fault, Status};
use tempfile::TempDir;

use crate::{
    fake_server::Cluster,
    program::{Ended, wait_until},
};
use objects::{FILE, hostile_cluster, overridden};
use words::{EVIL, assert_escaped};

/// Runs a command and checks its complete output.
fn run_escaped(cluster: &Cluster, arguments: &[&str]) -> Ended {
    let ran = cluster.dayshift(arguments);
    for (stream, text) in [("stdout", &ran.out), ("stderr", &ran.err)] {
        assert_escaped(text, &format!("{stream} of {arguments:?}"));
    }
    assert!(
        !ran.out.is_empty() || !ran.err.is_empty(),
        "{arguments:?} prints nothing"
    );
    ran
}

/// A directory with a malicious file under a malicious name.
fn directory() -> (TempDir, String) {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join(format!("{}.yaml", words::name()));
    std::fs::write(&file, FILE).unwrap();
    (directory, file.to_str().unwrap().to_owned())
}

#[test]
fn files_and_their_names_are_escaped() {
    let cluster = Cluster::new();
    let (directory, file) = directory();
    let missing = format!("{file}.gone");
    let broken = format!("{file}.broken.yaml");
    std::fs::write(&broken, "a: [\u{1b}[31m\n\u{7}: {\u{202e}").unwrap();
    for format in ["chart", "table", "json"] {
        let ran = run_escaped(&cluster, &["plan", "-f", &file, "-o", format]);
        assert_eq!(ran.status, 1, "{ran:?}");
        run_escaped(&cluster, &["plan", "-f", &broken, "-o", format]);
    }
    for format in ["text", "json", "github", "sarif", "junit"] {
        let ran = run_escaped(&cluster, &["lint", &file, "-o", format]);
        assert_eq!(ran.status, 1, "{ran:?}");
        run_escaped(&cluster, &["lint", &broken, "-o", format]);
    }
    for command in [
        &["plan", "-f", &missing][..],
        &["plan", "-f", &file, "-o", "table", "--from", EVIL],
        &["lint", &missing],
        &["lint", &file, "--timezone", EVIL],
        &["lint", &file, "--annotation-prefix", EVIL],
        &["sandbox", &missing],
        &["sandbox", &file, "--for", "1d", "--speed", "max"],
        &["sandbox", &broken, "--for", "1d"],
        &["lint", directory.path().to_str().unwrap()],
    ] {
        run_escaped(&cluster, command);
    }
}

#[test]
fn arguments_are_escaped() {
    let cluster = Cluster::new();
    for arguments in [
        &[EVIL][..],
        &["plan", EVIL],
        &["plan", "-f", EVIL, "-o", EVIL],
        &["status", EVIL],
        &["status", "-n", EVIL],
        &["status", "-l", EVIL],
        &["status", "--context", EVIL],
        &["status", "--kubeconfig", EVIL],
        &["wake", EVIL, "--for", "1h"],
        &["wake", "deploy/web", "--for", EVIL],
        &["sleep", "web", "--until", EVIL],
        &["pause", &format!("{EVIL}/web")],
        &["resume", EVIL],
        &["restore", EVIL],
        &["restore", &format!("deploy/{EVIL}")],
        &["run", "--listen", EVIL],
        &["run", "--log-level", EVIL],
        &["sandbox", "--for", EVIL],
        &["completions", EVIL],
    ] {
        assert_ne!(run_escaped(&cluster, arguments).status, 0, "{arguments:?}");
    }
}

#[test]
fn kubeconfigs_are_escaped() {
    let cluster = Cluster::new();
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("config");
    let users = serde_json::json!([{"name": "me", "user": {"exec": {
        "apiVersion": EVIL, "command": "/bin/sh", "interactiveMode": "Never",
        "args": ["-c", "printf '\\033[31m\\007'; printf '\\033[31m\\007' >&2; exit 1"],
    }}}]);
    let contexts = |name: &str| serde_json::json!([{"name": name, "context": {"cluster": "here", "user": "me"}}]);
    let clusters =
        |server: &str| serde_json::json!([{"name": "here", "cluster": {"server": server}}]);
    for config in [
        serde_json::json!({"current-context": EVIL}),
        serde_json::json!({"current-context": 1, EVIL: [EVIL]}),
        serde_json::json!({"current-context": "a", "contexts": contexts("a"),
            "clusters": clusters(EVIL), "users": []}),
        serde_json::json!({"current-context": "a", "contexts": contexts("a"),
            "clusters": clusters("http://127.0.0.1:1"), "users": users}),
    ] {
        std::fs::write(&file, config.to_string()).unwrap();
        let path = file.to_str().unwrap();
        let ran = run_escaped(&cluster, &["status", "--kubeconfig", path]);
        assert_eq!(ran.status, 3, "{config}: {ran:?}");
        run_escaped(&cluster, &["plan", "-A", "--kubeconfig", path]);
    }
    std::fs::write(&file, format!("{{[{EVIL}")).unwrap();
    run_escaped(
        &cluster,
        &["status", "--kubeconfig", file.to_str().unwrap()],
    );
}

#[test]
fn annotations_of_a_cluster_are_escaped() {
    let cluster = hostile_cluster();
    for arguments in [
        &["status", "-o", "table"][..],
        &["status", "-o", "wide"],
        &["status", "-o", "json"],
        &["plan", "-A", "-o", "chart"],
        &["plan", "-A", "-o", "table"],
        &["plan", "-A", "-o", "json"],
        &["wake", "bad", "--for", "1h", "--no-wait"],
        &["sleep", "zone", "--for", "1h", "--no-wait"],
        &["pause", "--all", "--no-wait"],
        &["resume", "--all", "--dry-run"],
        &["resume", "--all"],
        &["restore", "--all"],
    ] {
        run_escaped(&cluster, arguments);
    }
    overridden(&cluster);
    run_escaped(&cluster, &["resume", "web", "--dry-run"]);
    run_escaped(&cluster, &["status"]);
}

#[test]
fn server_responses_are_escaped() {
    let cluster = hostile_cluster();
    for code in [400, 403, 409, 422, 500] {
        let status = Status {
            code,
            reason: EVIL.to_owned(),
            message: EVIL.to_owned(),
            details: None,
            continue_token: None,
        };
        let answer = Fault::Answer(status);
        cluster.api.on_request(move |_| Some(answer.clone()));
        for arguments in [
            &["status"][..],
            &["plan", "-A"],
            &["wake", "web", "--for", "1h", "--no-wait"],
            &["resume", "web"],
            &["restore", "web"],
        ] {
            assert_ne!(run_escaped(&cluster, arguments).status, 0, "{arguments:?}");
        }
    }
    let reported = cluster.api.clone();
    reported.clear_fault();
    reported.on_admission(|asked| {
        Some(Status::denied_by_policy(
            "apps",
            asked.resource,
            asked.name,
            EVIL,
            EVIL,
        ))
    });
    for arguments in [
        &["wake", "web", "--for", "1h", "--no-wait"][..],
        &["restore", "--all"],
    ] {
        run_escaped(&cluster, arguments);
    }
}

#[test]
fn logs_events_and_pages_of_a_controller_are_escaped() {
    for format in ["text", "json"] {
        let cluster = hostile_cluster();
        let controller =
            objects::LoggedController::start(&cluster, &["-vv", "--log-format", format]);
        wait_until("rejected", || cluster.annotation("bad", "error").is_some());
        cluster.api.on_admission(|asked| {
            (asked.resource == "deployments" && asked.name == "late")
                .then(|| Status::denied_by_policy("apps", asked.resource, asked.name, EVIL, EVIL))
        });
        cluster.deployment("late", 1, &[("stop", "19:00"), ("timezone", EVIL)]);
        let of_late = |event: &serde_json::Value| event["regarding"]["name"] == "late";
        wait_until("reported", || cluster.api.list("Event").iter().any(of_late));
        cluster.api.admit_all();
        let answer = Status {
            reason: EVIL.to_owned(),
            ..Status::internal(EVIL)
        };
        cluster
            .api
            .on_request(move |_| Some(Fault::Answer(answer.clone())));
        cluster.api.close_watches();
        wait_until("logged", || controller.log().contains("the watch failed"));
        wait_until("unready", || controller.get("/readyz").contains("503"));
        for page in ["/metrics", "/readyz", "/healthz", "/%1b[31m"] {
            assert_escaped(&controller.get(page).replace('\r', ""), page);
        }
        cluster.api.clear_fault();
        for event in cluster.api.list("Event") {
            let note = event["note"].as_str().unwrap();
            assert_escaped(note, "an Event");
            assert!(note.len() <= 1024, "{note}");
        }
        for name in ["bad", "zone", "typo"] {
            if let Some(error) = cluster.annotation(name, "error") {
                assert_escaped(&error, name);
            }
        }
        let log = controller.log();
        assert_contains!(log, "bad");
        for line in log.lines() {
            assert_escaped(line, &format!("a log line as {format}"));
        }
    }
}
