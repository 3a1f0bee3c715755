//! Requests during the simulation.

use super::{FRIDAY, deployment, sandbox};
use crate::program::Ended;

const HOURS: (&str, &str) = ("hours", "09:00-19:00");

/// `web` depends on `db`, and both have `wake-on-request`; `plain` has neither.
fn files() -> String {
    let wake = |lasts| ("wake-on-request", lasts);
    [
        deployment("web", &[HOURS, wake("2h"), ("after", "deploy/db, 1s")]),
        deployment("db", &[HOURS, wake("1h")]),
        deployment("plain", &[HOURS]),
    ]
    .concat()
}

fn with(requests: &[&str]) -> Ended {
    let mut args = vec!["--from", FRIDAY, "--for", "1d", "-"];
    for request in requests {
        args.extend(["--request", request]);
    }
    sandbox(&args, &files())
}

#[test]
fn a_request_wakes_a_stopped_workload_and_its_dependency() {
    let ended = with(&["deploy/web@Fri 22:00"]);
    assert_eq!((ended.status, &*ended.err), (0, ""));
    // Workloads never become ready in a simulation, so `web` waits for `db` as long as it
    // specifies.
    for (name, at) in [("web", "22:00:01"), ("db", "22:00:00")] {
        let reported = |at: &str, word: &str| {
            let mut lines = ended.out.lines();
            lines.any(|it| it.contains(at) && it.contains(name) && it.contains(word))
        };
        assert!(
            reported(" 22:00:00", "wakes it until Sat 00:00"),
            "{name}: {}",
            ended.out
        );
        assert!(
            reported(at, "running until Sat 00:00"),
            "{name}: {}",
            ended.out
        );
    }
    let plain = ended.of("default/plain");
    assert!(!plain.iter().any(|it| it.contains("wake")), "{plain:?}");
}

#[test]
fn a_request_prolongs_a_wake_that_is_in_use() {
    let files = deployment("web", &[HOURS, ("wake-on-request", "30m; while-used")]);
    let requests = [
        "deploy/web@Fri 22:00",
        "deploy/web@Fri 22:04",
        "deploy/web@Fri 22:20",
    ];
    let mut args = vec!["--from", FRIDAY, "--for", "1d", "-"];
    for request in requests {
        args.extend(["--request", request]);
    }
    let ended = sandbox(&args, &files);
    let has = |at: &str, words: &str| {
        let mut lines = ended.out.lines();
        lines.any(|it| it.contains(at) && it.contains("default/web") && it.contains(words))
    };
    assert!(has(" 22:00:00", "wakes it until 22:35"), "{}", ended.out);
    assert!(has(" 22:04:00", "wakes nothing: it runs"), "{}", ended.out);
    assert!(has(" 22:20:00", "until 22:55"), "{}", ended.out);
    assert!(has(" 22:55:00", "stop"), "{}", ended.out);
}

#[test]
fn reports_why_a_request_wakes_nothing() {
    let ended = with(&["deploy/web@12:00", "default/deploy/plain@Fri 22:00"]);
    for reported in [
        "wakes nothing: it runs, or starts already",
        "wakes nothing: it has no schedule, or does not ask for it by wake-on-request",
    ] {
        ended.assert_out(reported);
    }
    assert_eq!(ended.status, 0);
}

#[test]
fn a_request_without_a_workload_is_wrong_usage() {
    for (request, why) in [
        ("deploy/wbe@22:00", "no such workload is simulated"),
        ("deploy/web", "write for example `deploy/web@Sat 22:00`"),
        ("web@22:00", "write for example `deploy/web@Sat 22:00`"),
        ("deploy/web@25:00", "25:00"),
        (
            "deploy/web@2020-01-01 22:00",
            "before the simulation begins",
        ),
    ] {
        let ended = with(&[request]);
        assert_eq!((ended.status, &*ended.out), (2, ""), "{request}");
        assert!(ended.err.contains(why), "{request}: {}", ended.err);
    }
}
