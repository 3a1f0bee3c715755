//! `dayshift sandbox` as a new user sees it.
#![cfg(unix)]

mod overrides;
mod page;
mod requests;

use std::{
    io::{BufRead, BufReader, Read},
    process::Command,
};

use chrono::{DateTime, TimeDelta, Utc};
use dayshift::sandbox::{EventKind, Simulation, Speed};
use dayshift_cluster::clock::Clock;
use serde_json::json;

use crate::{
    of_deployments::of_deployments,
    program::{self, Ended, signal, start},
};

const FRIDAY: &str = "2026-11-20 08:00";

impl Ended {
    /// The lines about one Deployment, without their times.
    fn of(&self, object: &str) -> Vec<String> {
        let lines = self.out.lines().filter(|line| line.contains(object));
        let reported = lines.filter_map(|line| line.get(30..).filter(|_| line.contains(" 2026-")));
        reported
            .map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "))
            .collect()
    }
}

fn command(args: &[&str]) -> Command {
    let mut command = program::command();
    command.arg("sandbox").args(args);
    command
}

/// Runs the sandbox to its end with this standard input.
fn sandbox(args: &[&str], input: &str) -> Ended {
    program::run(&mut command(args), input)
}

fn deployment(name: &str, annotations: &[(&str, &str)]) -> String {
    let annotations: String = annotations
        .iter()
        .map(|(key, value)| format!("\n    dayshift/{key}: {value}"))
        .collect();
    format!(
        "apiVersion: apps/v1
kind: Deployment
metadata:
  name: {name}
  annotations:{annotations}
spec:
  replicas: 3
  selector:
    matchLabels: {{app: {name}}}
  template:
    metadata:
      labels: {{app: {name}}}
    spec:
      containers: [{{name: web, image: nginx}}]
---
"
    )
}

/// The complete output for a week with the end of daylight saving time in Europe. To update it:
/// `env -i target/debug/dayshift sandbox > tests/commands/sandbox/examples.txt`.
#[test]
fn simulates_the_examples_across_a_clock_change() {
    let ended = sandbox(&[], "");
    assert_eq!((ended.status, ended.err.as_str()), (0, ""));
    let expected = include_str!("examples.txt");
    for (line, expected) in ended.out.lines().zip(expected.lines()) {
        assert_eq!(line, expected);
    }
    assert_eq!(ended.out, expected);
    let again = sandbox(&["--speed", "1e15"], "");
    assert_eq!(again.status, 0);
    let from_the_first_line_told = |out: &str| out.lines().skip(3).collect::<Vec<_>>().join("\n");
    assert_eq!(
        from_the_first_line_told(&again.out),
        from_the_first_line_told(expected),
        "the pace changes only the duration"
    );
}

#[test]
fn reports_the_end_of_an_override() {
    let input = deployment("web", &[("hours", "\"Mon-Fri 09:00-19:00\"")]);
    let tokyo = ["--timezone", "Asia/Tokyo", "--from", FRIDAY, "-"];
    let reported = |time: &str| sandbox(&[&tokyo[..], &["--for", time]].concat(), &input);
    let adopted = "adopt default/web 3 adopted, nothing scaled; next start 09:00";
    let started = "start default/web 3 no change; next stop 19:00";
    assert_eq!(
        reported("1h").of("web"),
        [adopted],
        "09:00 is not before 09:00"
    );
    assert_eq!(reported("1h1s").of("web"), [adopted, started]);
    let day = reported("11h1s");
    assert_eq!(
        day.of("web")[2],
        "stop default/web 3 -> 0 next start Mon 09:00"
    );
    let last = "\nFri 2026-11-20 19:00:00 JST   stop ";
    day.assert_out(last);
    let cost = "default/web       1      1        11.0 of 11           33.0       33.0     0%\n";
    day.assert_out(cost);
}

/// UTC is the default, but can also be given.
#[test]
fn shows_times_in_the_given_zone() {
    let web = [("hours", "\"09:00-19:00\""), ("timezone", "Asia/Tokyo")];
    let input = deployment("web", &web);
    for (zone, expected) in [
        (None, "all times are Asia/Tokyo"),
        (Some("UTC"), "all times are UTC"),
        (Some("Europe/Berlin"), "all times are Europe/Berlin"),
    ] {
        let flag = zone.map(|it| ["--timezone", it]);
        let mut args = vec!["-", "--from", FRIDAY, "--for", "1d"];
        args.extend(flag.iter().flatten());
        let ended = sandbox(&args, &input);
        assert!(ended.out.contains(expected), "{zone:?} {}", ended.out);
    }
}

/// A label value has at most 63 characters, and the name of a Deployment at most 253.
#[test]
fn accepts_names_longer_than_a_label_value() {
    let name = "web-".repeat(40) + "web";
    let input = deployment("web", &[("stop", "\"19:00\"")]);
    let input = input.replace("  name: web\n", &format!("  name: {name}\n"));
    let ended = sandbox(&["-", "--from", FRIDAY, "--for", "1d"], &input);
    assert_eq!(ended.status, 0, "{}", ended.err);
    let reported = ended.of(&name);
    let begin = |it: &String| it.split_once(" default/web-").map(|it| it.0.to_owned());
    let reported: Option<Vec<_>> = reported.iter().map(begin).collect();
    assert_eq!(reported.unwrap(), ["adopt", "stop"]);
}

#[test]
fn reports_an_invalid_schedule_and_continues_with_the_others() {
    let input = deployment("good", &[("stop", "\"19:00\"")])
        + &deployment("bad", &[("strat", "\"09:00\""), ("stop", "\"25:00\"")]);
    let ended = sandbox(&["-", "--from", FRIDAY, "--for", "1d"], &input);
    assert_eq!(ended.status, 1);
    assert_eq!(
        ended.err.matches("= in: Deployment default/bad\n").count(),
        2
    );
    let bad = ended.of("default/bad");
    assert_eq!(bad.len(), 1, "{bad:?}");
    assert_starts_with!(bad[0], "reject default/bad 3 ");
    assert_contains!(bad[0], "did you mean `start`?");
    assert_contains!(bad[0], "25:00");
    let logged = sandbox(
        &["-", "--from", FRIDAY, "--for", "1d", "--log-level", "warn"],
        &input,
    );
    let warning = "WARN the schedule is rejected: dayshift/strat: `strat` is not an annotation";
    logged.assert_err(warning);
    assert_eq!(logged.err.matches(" WARN ").count(), 1, "{}", logged.err);
    assert_eq!(
        ended.of("default/good")[1],
        "stop default/good 3 -> 0 next stop Sat 19:00"
    );
}

#[test]
fn invalid_objects_give_status_1_with_their_position() {
    let input = deployment("good", &[("stop", "\"19:00\"")])
        + &deployment("unquoted", &[("start", "\"09:00\""), ("replicas", "5")])
        + &deployment("Loud", &[("stop", "\"19:00\"")]);
    let ended = sandbox(&["-", "--from", FRIDAY, "--for", "1d"], &input);
    assert_eq!(ended.status, 1);
    for expected_text in [
        "error[not-text]: `5` is a number in YAML, but the API server accepts only text\n",
        " --> standard input:23:24\n",
        "error[bad-object]: the API server rejects `Loud` as metadata.name: ",
        " --> standard input:37:9\n",
    ] {
        ended.assert_err(expected_text);
    }
    assert_starts_with!(ended.out, "1 workload on ");
}

#[test]
fn unreadable_files_give_3_and_invalid_objects_1() {
    let none = deployment("Loud", &[("stop", "\"19:00\"")]);
    for (args, input, status, expected_text) in [
        (&["/nowhere.yaml"][..], "", 3, "cannot read /nowhere.yaml"),
        (&["-"], &none, 1, "rejects `Loud`"),
    ] {
        let ended = sandbox(args, input);
        assert_eq!((ended.status, ended.out.as_str()), (status, ""), "{args:?}");
        assert!(ended.err.contains(expected_text), "{args:?}: {}", ended.err);
    }
}

#[test]
fn wrong_usage_exits_with_2() {
    for (args, expected_text) in [
        (&["--from", "tomorrow"][..], "'tomorrow' for '--from <T>'"),
        (&["--for", "0"], "such as 12h or 7d"),
        (&["--for", "a week"], "such as 30s, 1h30m or 72h"),
        (&["--speed", "0"], "such as 3600 or 86400, or max"),
        (&["--timezone", "Europe/Berln"], "write `Europe/Berlin`"),
        (&["--annotation-prefix", "Day/shift"], "such as dayshift"),
    ] {
        let ended = sandbox(args, "");
        assert_eq!((ended.status, ended.out.as_str()), (2, ""), "{args:?}");
        assert!(ended.err.contains(expected_text), "{args:?}: {}", ended.err);
    }
}

#[test]
fn an_export_of_a_cluster_is_adopted() {
    let list = json!({"apiVersion": "v1", "kind": "List", "items": [{
        "apiVersion": "apps/v1", "kind": "Deployment",
        "metadata": {
            "name": "web", "namespace": "team-a", "uid": "u", "resourceVersion": "7",
            "generation": 2, "creationTimestamp": "2026-01-01T00:00:00Z",
            "annotations": {"other/hours": "09:00-19:00"},
            "labels": {
                "other/state": "stopped", "other/last": "2026-11-19T19.00.00Z",
                "other/next": "2026-11-20T09.00.00Z", "other/saved-replicas": "4",
                "other/fingerprint": "v2-0000000000000000-0000000000000000",
            },
        },
        "spec": {
            "replicas": 0, "selector": {"matchLabels": {"app": "web"}},
            "template": {
                "metadata": {"labels": {"app": "web"}},
                "spec": {"containers": [{"name": "web", "image": "nginx"}]},
            },
        },
        "status": {"replicas": 0},
    }]});
    let args = ["--annotation-prefix", "other", "--from", FRIDAY];
    let ended = sandbox(
        &[&args[..], &["--for", "2h", "-"]].concat(),
        &list.to_string(),
    );
    assert_eq!((ended.status, ended.err.as_str()), (0, ""));
    assert_eq!(
        ended.of("team-a/web"),
        [
            "adopt team-a/web 0 adopted, nothing scaled; next start 09:00",
            "start team-a/web 0 -> 4 next stop 19:00",
        ]
    );
}

#[test]
fn the_examples_use_the_prefix_and_accept_several_files() {
    let ended = sandbox(&["--annotation-prefix", "other", "--for", "1d"], "");
    let action = "kubectl annotate deployment/one-start other/start- other/replicas-";
    ended.assert_out(action);

    let examples = concat!(env!("CARGO_MANIFEST_DIR"), "/examples");
    let (cron, hours) = (
        format!("{examples}/cron.yaml"),
        format!("{examples}/office-hours.yaml"),
    );
    let ended = sandbox(&[&cron, &hours, "--for", "1h"], "");
    assert_starts_with!(ended.out, "2 workloads ");
    ended.assert_out_lacks("manual ");
}

#[test]
fn counts_repeated_events() {
    let input = deployment("web", &[("start", "\"* * * * *\"")]);
    let ended = sandbox(&["-", "--from", FRIDAY, "--for", "1d"], &input);
    let reported = ended.of("default/web");
    assert_eq!(reported.len(), 3, "{reported:?}");
    assert_contains!(reported[2], "more like this are only counted");
    ended.assert_out("1439 transitions, the latest 0 ms");
}

#[test]
fn a_closed_pipe_ends_the_sandbox_without_an_error() {
    let mut child = start(&mut command(&["--for", "100d"]));
    let mut first = String::new();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    out.read_line(&mut first).unwrap();
    drop(out);
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(String::from_utf8(output.stderr).unwrap(), "");
}

#[test]
fn a_signal_ends_the_sandbox_with_a_summary() {
    for name in ["INT", "TERM"] {
        // In real time the first stop is hours away.
        let mut child = start(&mut command(&["--speed", "1"]));
        let mut out = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        while !line.contains("several-windows") {
            line.clear();
            assert_ne!(out.read_line(&mut line).unwrap(), 0);
        }
        signal(&child, name);
        let mut rest = String::new();
        out.read_to_string(&mut rest).unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(0), "SIG{name}");
        assert_contains!(rest, "Requests besides the watch: 0 lists");
    }
}

#[test]
fn the_log_shows_simulated_time() {
    let args = [
        "--from",
        "2026-11-20 08:00",
        "--for",
        "1h",
        "--log-level",
        "info",
    ];
    let ended = sandbox(&args, "");
    let line = ended
        .err
        .lines()
        .find(|line| line.contains("default/one-start from=1"))
        .unwrap();
    assert_starts_with!(line, "2026-11-20T08:01:00.000000Z  INFO start ");
}

/// Two months of list, watch, scheduler and patch need one list, and one write for each transition.
#[test]
fn months_need_one_request_for_each_transition() {
    let from: DateTime<Utc> = "2026-09-25T00:00:00Z".parse().unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .unwrap();
    let summary = runtime.block_on(async {
        let mut stage = Simulation::new(Clock::simulated(from), of_deployments());
        stage
            .load(&json!({
                "apiVersion": "apps/v1", "kind": "Deployment",
                "metadata": {"name": "web", "annotations": {
                    "dayshift/hours": "Mon-Fri 09:00-19:00",
                    "dayshift/timezone": "Europe/Berlin",
                }},
                "spec": {
                    "replicas": 2, "selector": {"matchLabels": {"app": "web"}},
                    "template": {
                        "metadata": {"labels": {"app": "web"}},
                        "spec": {"containers": [{"name": "web", "image": "nginx"}]},
                    },
                },
            }))
            .unwrap();
        let mut late = Vec::new();
        let zone = dayshift_schedule::Zone::parse("Europe/Berlin").unwrap();
        let until = from + TimeDelta::days(60);
        let tell = |reported: &dayshift::sandbox::TimelineEvent| {
            let local = reported.at.with_timezone(&zone);
            let time = local.format("%T%.3f").to_string();
            let expected = match reported.kind {
                EventKind::Start => "09:00:00.000",
                EventKind::Stop => "19:00:00.000",
                _ => return Ok(()),
            };
            late.extend(Some(time).filter(|time| time != expected));
            Ok(())
        };
        let played = stage.play(until, Vec::new(), Speed::Max, tell, std::future::pending());
        let summary = played.await.unwrap().finish().await;
        assert_eq!(late, [""; 0]);
        summary
    });
    let (_, usage) = &summary.usages[0];
    // From Friday 25 September to midnight of Tuesday 24 November there are 42 working days.
    assert_eq!((usage.starts, usage.stops), (42, 42));
    assert_eq!(summary.requests.patches, 1 + 42 + 42);
    assert_eq!((summary.requests.lists, summary.requests.gets), (0, 0));
    assert_eq!(summary.lateness, TimeDelta::zero());
}
