//! The binary as a user, a shell and a kubelet run it.
#![cfg(unix)]

use std::{net::TcpListener, time::Duration};

use crate::rows::words;
use crate::{
    bad_server::{ABSENT, ApiServer, TOKEN},
    program::{Program, dayshift},
};

const SIGTERM: (&str, i32) = ("TERM", 143);
const SIGINT: (&str, i32) = ("INT", 130);

#[test]
fn prints_version_and_help() {
    let version = dayshift(&["--version"]);
    assert_starts_with!(version.out, concat!("dayshift ", env!("CARGO_PKG_VERSION")));
    version.assert_out("(tzdata 20");
    let before_a_command = dayshift(&["--version", "status"]);
    assert_eq!(
        (before_a_command.status, before_a_command.out),
        (0, version.out)
    );

    for (args, status, expected) in [
        (&["--help"][..], 0, "Usage: dayshift <COMMAND>"),
        (&[], 2, "Usage: dayshift <COMMAND>"),
        (&["run", "--help"], 0, "Usage: dayshift run [OPTIONS]"),
        (&["run", "-h"], 0, "DAYSHIFT_MAX_IN_FLIGHT"),
    ] {
        let run = dayshift(args);
        assert_eq!(run.status, status, "{args:?}");
        let output = if status == 0 { &run.out } else { &run.err };
        assert!(output.contains(expected), "{args:?}: {run:?}");
    }
}

#[test]
fn wrong_usage_exits_with_2_and_a_correct_example() {
    for (args, expected) in [
        (&["--nope"][..], "'--nope'"),
        (&["--timezone", "Europe/Berln"], "write `Europe/Berlin`"),
        (&["--timezone", ""], "write for example `Europe/Berlin`"),
        (&["--max-in-flight", "0"], "1..=256"),
        (&["--catch-up", "3"], "such as 30s, 1h30m or 72h"),
        (&["--catch-up", "10s"], "a minute or more"),
        (&["--max-clock-skew=-1"], "such as 30s"),
        (&["--max-clock-skew", "500ms"], "or 0 to turn the check off"),
        (&["--revert-window", "2d"], "24h or less, such as 15m, or 0"),
        (&["--namespace", "Team_A"], "such as team-a"),
        (&["--namespace", "a,,b"], "such as team-a"),
        (&["--exclude-namespace", "a b"], "such as team-a"),
        (&["--selector", "team in web"], "such as"),
        (&["--annotation-prefix", "Day/shift"], "such as dayshift"),
        (&["--listen", "8080"], "such as 0.0.0.0:8080"),
        (&["--log-format", "xml"], "text, json"),
        (
            &["--log-level", "loud"],
            "error, warn, info, debug or trace",
        ),
        (&["--pod-name", "dayshift-0"], "--pod-namespace"),
    ] {
        let run = dayshift(&[&["run"], args].concat());
        assert_eq!((run.status, run.out.as_str()), (2, ""), "{args:?}: {run:?}");
        assert!(run.err.starts_with("error: "), "{args:?}: {run:?}");
        assert!(run.err.contains(expected), "{args:?}: {run:?}");
    }
}

#[test]
fn an_unusable_environment_gives_status_3() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    for (args, expected) in [
        (&["--kubeconfig", "/nowhere/config"][..], "/nowhere/config"),
        (
            &["--kubeconfig", ABSENT.path(), "--context", "other"],
            "other",
        ),
        (
            &["--kubeconfig", ABSENT.path(), "--listen", &address],
            &address,
        ),
    ] {
        let run = dayshift(&[&["run", "--listen", "127.0.0.1:0"], args].concat());
        assert_eq!((run.status, run.out.as_str()), (3, ""), "{args:?}: {run:?}");
        assert!(run.err.contains(expected), "{args:?}: {run:?}");
    }
}

#[test]
fn without_an_api_server_run_retries_until_a_signal() {
    for (signal, _) in [SIGTERM, SIGINT] {
        let mut program = Program::start(ABSENT.path(), &[]);
        assert_eq!(program.get("/healthz"), (200, "ok\n".to_owned()));
        let (status, why) = program.get("/readyz");
        assert_eq!(status, 503);
        assert_contains!(why, "the API server does not answer");
        let (_, metrics) = program.get("/metrics");
        assert_contains!(metrics, "dayshift_build_info{");

        program.signal(signal);
        assert_eq!(
            program.ends_within(Duration::from_secs(2)),
            0,
            "SIG{signal}"
        );
    }
}

#[test]
fn the_first_log_line_contains_the_settings() {
    let args = words("--timezone Asia/Tokyo -n dev,test -l team=web --dry-run");
    let program = Program::start(ABSENT.path(), &args);
    for expected in [
        concat!("INFO dayshift ", env!("CARGO_PKG_VERSION"), " begins"),
        "tzdata=\"20",
        "timezone=\"Asia/Tokyo\"",
        "namespaces=\"dev,test\"",
        "selector=\"team=web\"",
        "dry_run=true",
        "server=\"http://127.0.0.1:",
    ] {
        assert_contains!(program.first_line, expected);
    }
    assert!(
        !program.first_line.contains('\u{1b}'),
        "color without a terminal"
    );
}

#[test]
fn json_logs_are_valid_and_contain_no_secrets() {
    let mut program = Program::start(ABSENT.path(), &["--log-format", "json", "-vv"]);
    program.get("/readyz");
    program.signal("TERM");
    assert_eq!(program.ends_within(Duration::from_secs(2)), 0);
    let lines = program.lines();
    assert!(lines.len() > 1, "{lines:?}");
    for line in lines {
        let line: serde_json::Value = serde_json::from_str(&line).expect(&line);
        for key in ["timestamp", "level", "message", "target"] {
            assert!(line[key].is_string(), "no {key} in {line}");
        }
        assert_lacks!(line.to_string(), TOKEN);
    }
}

#[test]
fn a_second_signal_ends_a_command_during_a_request() {
    for (signal, status) in [SIGTERM, SIGINT] {
        let server = ApiServer::that_never_answers_a_patch();
        let mut program = Program::start(server.kubeconfig.path(), &[]);
        server.wait_for_patch();
        program.signal(signal);
        program.wait_for("received");
        assert_eq!(program.get("/healthz").0, 200);
        assert_eq!(
            program.get("/readyz"),
            (503, "not ready: dayshift is shutting down\n".into())
        );
        program.signal(signal);
        assert_eq!(
            program.ends_within(Duration::from_secs(2)),
            status,
            "SIG{signal}"
        );
    }
}

#[test]
fn live_deployments_are_planned() {
    let server = ApiServer::that_never_answers_a_patch();
    let path = server.kubeconfig.path();
    let week = ["--from", "2026-11-23", "--days", "1", "-o", "table"];
    let ended = dayshift(&[&["plan", "-A", "--kubeconfig", path][..], &week].concat());
    assert_eq!((ended.status, ended.err.as_str()), (0, ""));
    assert_eq!(
        ended.out,
        "\
NAMESPACE   NAME   TIME                       ACTION   REPLICAS
dev         web    Mon 2026-11-23 19:00 UTC   stop     0
"
    );
}

#[test]
fn reports_a_missing_kubeconfig_briefly() {
    let ran = dayshift(&["status"]);
    assert_eq!(
        (ran.status, &*ran.err),
        (
            3,
            "error: found no cluster: the kubeconfig /nonexistent/.kube/config does not exist, and this \
             is not a pod; give --kubeconfig, or set KUBECONFIG\n"
        )
    );
}
