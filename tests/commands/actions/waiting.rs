//! Waiting for a controller to act.

use std::{sync::mpsc, thread, time::Duration};

use kube_in_memory::{Fault, Status};
use serde_json::json;

use super::overrides::RUNNING;
use crate::{
    fake_server::{Cluster, Controller},
    pseudo_terminal::OnTerminal,
};

#[test]
fn does_not_report_a_controller_that_acted_before_as_missing() {
    let cluster = Cluster::new();
    cluster.deployment("web", 3, RUNNING);
    for (label, text) in [("state", "running"), ("last", "2026-11-20T09.00.00Z")] {
        let label = format!("dayshift/{label}");
        cluster.api.label("dev", "web", &label, Some(text)).unwrap();
    }
    let ran = cluster.dayshift(&["pause", "web", "--timeout", "1s"]);
    ran.assert_err(
        "it might have stopped since, a start might wait for others (--max-starting), or the \
                API server might reject its patch (kubectl events --for deploy/web -n dev)",
    );
    ran.assert_err_lacks("`dayshift run` is running");
}

#[test]
fn a_missing_watch_permission_is_not_reported_as_a_missing_controller() {
    let cluster = Cluster::new();
    cluster.deployment("web", 3, RUNNING);
    cluster.api.on_request(|line| {
        let watches = matches!(line.verb, "watch" | "list");
        watches.then(|| Fault::Answer(Status::new(403, "Forbidden", "no")))
    });
    let ran = cluster.dayshift(&["pause", "web"]);
    assert_eq!(ran.status, 3);
    assert_starts_with!(
        ran.err,
        "error: annotated, but the command cannot see whether a controller acts: not allowed to"
    );
    assert_eq!(ran.err.lines().count(), 1, "{ran:?}");
}

/// The workload is deleted before the watch begins.
#[test]
fn a_deletion_ends_the_wait() {
    // A watch does not report workloads that were deleted before it began.
    for is_before_the_watch in [false, true] {
        let cluster = Cluster::new();
        cluster.deployment("web", 3, RUNNING);
        let api = cluster.api.clone();
        cluster.api.on_request(move |line| {
            if line.verb == "watch" {
                let api = api.clone();
                let deleted = thread::spawn(move || api.delete("dev", "web"));
                if is_before_the_watch {
                    deleted.join().unwrap().unwrap();
                }
            }
            None
        });
        let ran = cluster.dayshift(&["pause", "web", "--timeout", "1h"]);
        assert_eq!(
            (ran.status, &*ran.err),
            (1, "error: deployment.apps/web: annotated, then deleted\n")
        );
    }
}

/// An error from before the request is not the result of the request.
#[test]
fn does_not_report_an_earlier_error_as_the_result() {
    let cluster = Cluster::new();
    let wrong = [
        ("wake-until", "tonight"),
        ("error", "dayshift/wake-until: `tonight`"),
    ];
    cluster.deployment("web", 3, &[RUNNING, &wrong].concat());
    let ran = cluster.dayshift(&["wake", "web", "--for", "1h", "--timeout", "1s"]);
    let still =
        "; its schedule was rejected before: dayshift/wake-until: `tonight`; it will be awake";
    assert!(ran.status == 1 && ran.err.contains(still), "{ran:?}");
    let (expected, waits) = mpsc::channel();
    cluster.api.on_request(move |line| {
        if line.verb == "watch" {
            let _ = expected.send(());
        }
        None
    });
    let ran = thread::scope(|scope| {
        let ran = scope.spawn(|| cluster.dayshift(&["wake", "web", "--for", "2h"]));
        waits.recv().unwrap();
        let _controller = Controller::on(&cluster);
        ran.join().unwrap()
    });
    assert_eq!((ran.status, &*ran.err), (0, ""), "{ran:?}");
    ran.assert_out("awake until");
}

/// Annotates `web` as soon as the command watches it.
fn annotate_once_watched(cluster: &Cluster, key: &'static str, text: &'static str) {
    let api = cluster.api.clone();
    cluster.api.on_request(move |line| {
        if line.verb == "watch" {
            let other = api.clone();
            let written = thread::spawn(move || other.annotate("dev", "web", key, Some(text)));
            written.join().unwrap().unwrap();
        }
        None
    });
}

/// If two clients change the same workload, for example two commands, the later change applies.
#[test]
fn reports_a_later_request_by_another_user() {
    let cluster = Cluster::new();
    cluster.deployment("web", 3, RUNNING);
    annotate_once_watched(&cluster, "dayshift/wake-until", "2099-12-24T18:00:00Z");
    let ran = cluster.dayshift(&["wake", "web", "--for", "2h", "--timeout", "1s"]);
    let changed = "error: deployment.apps/web: annotated, but another client has changed that since: \
                   dayshift/wake-until is 2099-12-24T18:00:00Z\n";
    assert_eq!((ran.status, &*ran.err), (1, changed));
}

/// A controller might know fewer calendars than the command.
#[test]
fn a_rejected_schedule_ends_the_wait() {
    let cluster = Cluster::new();
    cluster.deployment("web", 3, RUNNING);
    let why = "dayshift/except: no calendar `de`";
    annotate_once_watched(&cluster, "dayshift/error", why);
    let ran = cluster.dayshift(&["wake", "web", "--for", "2h", "--timeout", "1h"]);
    let refused = "error: deployment.apps/web: its schedule is rejected: \
                   dayshift/except: no calendar `de`\n";
    assert_eq!((ran.status, &*ran.err), (1, refused));
}

/// If the start waits for a dependency, a controller is running, so the command must not report it as
/// missing.
#[test]
fn reports_the_dependencies_of_a_waiting_start() {
    let cluster = Cluster::new();
    cluster.deployment("db", 3, &[]);
    cluster.deployment("web", 0, &[RUNNING, &[("after", "deploy/db, 1h")]].concat());
    let _controller = Controller::on(&cluster);
    cluster.dayshift(&["pause", "web", "--timeout", "20s"]);
    cluster.dayshift(&["resume", "web", "--timeout", "20s"]);
    for (wait, status) in [(&[][..], 0), (&["--wait=ready"], 1), (&["--wait"], 1)] {
        let wake = ["wake", "web", "--for", "2h", "--timeout", "1s"];
        let ran = cluster.dayshift(&[&wake, wait].concat());
        let output = if status == 0 { &ran.out } else { &ran.err };
        let waits = "deployment.apps/web: annotated; its start waits for deploy/db until ";
        assert!(ran.status == status && output.contains(waits), "{ran:?}");
        ran.assert_err_lacks("no controller has acted");
    }
}

#[test]
fn wait_ready_waits_until_all_replicas_are_ready() {
    let cluster = Cluster::new();
    cluster.deployment("web", 0, RUNNING);
    let _controller = Controller::on(&cluster);
    let wake = |timeout: &str| {
        let wake = [
            "wake",
            "web",
            "--for",
            "2h",
            "--wait=ready",
            "--timeout",
            timeout,
        ];
        cluster.dayshift(&wake)
    };
    let ran = wake("1s");
    let why = ", but it is not ready after 1 s. To see more, run `kubectl describe deployment/web -n dev`\n";
    assert!(ran.status == 1 && ran.err.ends_with(why), "{ran:?}");
    let ran = thread::scope(|scope| {
        let ran = scope.spawn(|| wake("1h"));
        for ready in [0, 1] {
            thread::sleep(Duration::from_millis(300));
            assert!(!ran.is_finished());
            let status = json!({"observedGeneration": 1_000, "readyReplicas": ready});
            let set = cluster.api.set_status("Deployment", "dev", "web", status);
            set.unwrap();
        }
        ran.join().unwrap()
    });
    assert_eq!((ran.status, &*ran.err), (0, ""), "{ran:?}");
    ran.assert_out("awake until");
}

/// Ends a command if its result never comes.
const TIMEOUT: &[&str] = &["--timeout", "30s"];

/// The progress is one line, which is replaced and finally erased.
#[test]
fn shows_the_progress_of_a_wait_on_a_terminal() {
    const ERASED: &str = "\r\u{1b}[K";
    for command in [
        &["pause", "web", "db"][..],
        &["sleep", "--all", "--for", "2h"],
        &["wake", "ns/dev", "--for", "2h"],
    ] {
        let cluster = Cluster::new();
        for name in ["web", "db"] {
            cluster.deployment(name, 3, RUNNING);
        }
        let mut ran = OnTerminal::start(&cluster, "xterm", &[command, TIMEOUT].concat());
        ran.wait_for("waiting for 2 of 2 workloads");
        let _controller = Controller::on(&cluster);
        ran.wait_for("waiting for 1 of 2 workloads");
        let ran = ran.end();
        assert_eq!(ran.status, 0, "{ran:?}");
        assert!(
            !ran.out.is_empty() && !ran.out.contains("waiting"),
            "{ran:?}"
        );
        let (_, left) = ran.err.rsplit_once(ERASED).unwrap();
        assert_eq!(left, "", "{ran:?}");
        for line in ran.err.split(ERASED) {
            assert!(line.len() < 80 && !line.contains('\n'), "{ran:?}");
        }
    }
}

#[test]
fn shows_the_progress_until_all_replicas_are_ready() {
    let cluster = Cluster::new();
    cluster.deployment("web", 0, RUNNING);
    let _controller = Controller::on(&cluster);
    let wake = [&["wake", "web", "--for", "2h", "--wait"][..], TIMEOUT].concat();
    let mut ran = OnTerminal::start(&cluster, "xterm", &wake);
    ran.wait_for("waiting for 1 of 1 workload");
    cluster.wait_for_state(&["web"], "woken");
    assert!(!ran.has_ended(), "it is not ready");
    let status = json!({"observedGeneration": 1_000, "readyReplicas": 1});
    let set = cluster.api.set_status("Deployment", "dev", "web", status);
    set.unwrap();
    let ran = ran.end();
    assert_eq!(ran.status, 0, "{ran:?}");
    assert_ends_with!(ran.err, "\r\u{1b}[K");
}

/// A terminal that cannot erase a line shows only results and errors.
#[test]
fn shows_no_progress_on_a_terminal_without_escape_sequences() {
    let cluster = Cluster::new();
    cluster.deployment("web", 3, RUNNING);
    let (expected, waits) = mpsc::channel();
    cluster.api.on_request(move |line| {
        if line.verb == "watch" {
            let _ = expected.send(());
        }
        None
    });
    let ran = OnTerminal::start(&cluster, "dumb", &[&["pause", "web"][..], TIMEOUT].concat());
    waits.recv().unwrap();
    let _controller = Controller::on(&cluster);
    let ran = ran.end();
    assert_eq!((ran.status, &*ran.err), (0, ""), "{ran:?}");
}
