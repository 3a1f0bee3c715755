//! `dayshift plan`: the real program over the examples and over what people get wrong.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::{
    fs,
    io::{Read, Write},
    process::{Command, Stdio},
};

use chrono::{DateTime, TimeDelta, Utc};
use dayshift::{
    manifest::EXAMPLES,
    plan::{Period, Planner},
    schedule::Zone,
    workload::{Inputs, Key, ObjectRef, Prefix, Reading, read},
};
use proptest::prelude::*;
use serde_json::{Value, json};

/// What came of a run.
#[derive(Debug)]
struct Ended {
    status: i32,
    out: String,
    err: String,
}

impl Ended {
    fn json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// The boundaries of the only workload, a line each: when, what, and the count or `-`.
    fn boundaries(&self) -> Vec<String> {
        let plan = self.json();
        let workloads = plan["workloads"].as_array().unwrap();
        assert_eq!((self.status, workloads.len()), (0, 1), "{self:?}");
        let line = |it: &Value| {
            let count = it["replicas"].as_u64();
            let count = count.map_or_else(|| "-".to_owned(), |it| it.to_string());
            format!(
                "{} {} {count}",
                it["at"].as_str().unwrap(),
                it["action"].as_str().unwrap()
            )
        };
        workloads[0]["boundaries"]
            .as_array()
            .unwrap()
            .iter()
            .map(line)
            .collect()
    }
}

fn program() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_dayshift"));
    command
        .env_clear()
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .arg("plan");
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

/// Runs `dayshift plan` with these arguments and this standard input.
fn plan_of(args: &[&str], input: &str) -> Ended {
    let mut child = program().args(args).spawn().unwrap();
    child
        .stdin
        .take()
        .unwrap()
        .write_all(input.as_bytes())
        .unwrap();
    let output = child.wait_with_output().unwrap();
    Ended {
        status: output.status.code().unwrap(),
        out: String::from_utf8(output.stdout).unwrap(),
        err: String::from_utf8(output.stderr).unwrap(),
    }
}

fn plan(args: &[&str]) -> Ended {
    plan_of(args, "")
}

/// A Deployment `web` with these lines as its annotations.
fn web(lines: &[&str]) -> String {
    format!(
        "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: web\n  annotations:\n    {}\n",
        lines.join("\n    ")
    )
}

/// The annotation, the first and the last byte of every problem of the only workload.
fn problems(input: &str) -> Vec<(String, u64, u64, String)> {
    let ended = plan_of(&["-f", "-"], input);
    assert_eq!(ended.status, 1, "{ended:?}");
    let plan = ended.json();
    assert_eq!(plan["workloads"][0]["boundaries"], json!([]));
    let problems = plan["workloads"][0]["problems"].as_array().unwrap();
    let problem = |it: &Value| {
        (
            it["annotation"].as_str().unwrap().to_owned(),
            it["start"].as_u64().unwrap(),
            it["end"].as_u64().unwrap(),
            it["message"].as_str().unwrap().to_owned(),
        )
    };
    problems.iter().map(problem).collect()
}

#[test]
fn the_json_is_what_other_programs_rely_on() {
    let bad = web(&["dayshift/stop: 'Mon-Fry 19:00'"]);
    let good = fs::read_to_string("examples/fixed-counts.yaml").unwrap();
    let ended = plan_of(
        &["-f", "-", "--from", "2026-11-23", "--days", "1"],
        &format!("{good}---\n{bad}"),
    );
    assert_eq!(
        ended.out,
        r#"{
  "workloads": [
    {
      "kind": "Deployment",
      "namespace": "default",
      "name": "fixed-counts",
      "timezone": "Europe/London",
      "boundaries": [
        {
          "at": "2026-11-23T07:00:00+00:00",
          "action": "start",
          "replicas": 5
        },
        {
          "at": "2026-11-23T22:00:00+00:00",
          "action": "stop",
          "replicas": 1
        }
      ],
      "problems": []
    },
    {
      "kind": "Deployment",
      "namespace": "default",
      "name": "web",
      "timezone": "UTC",
      "boundaries": [],
      "problems": [
        {
          "annotation": "dayshift/stop",
          "message": "`Fry` is no day; write Mon, Tue, Wed, Thu, Fri, Sat or Sun, a range such as Mon-Fri, weekdays, weekends or daily",
          "start": 4,
          "end": 7
        }
      ]
    }
  ]
}
"#
    );
    assert_eq!((ended.status, ended.err.as_str()), (1, ""));
}

/// What each example does in the week from Monday 2026-11-23, 00:00 UTC.
const WEEK: [(&str, &[&str]); 6] = [
    (
        "office-hours.yaml",
        &[
            "2026-11-23T09:00:00+01:00 start -",
            "2026-11-23T19:00:00+01:00 stop 0",
            "2026-11-24T09:00:00+01:00 start -",
            "2026-11-24T19:00:00+01:00 stop 0",
            "2026-11-25T09:00:00+01:00 start -",
            "2026-11-25T19:00:00+01:00 stop 0",
            "2026-11-26T09:00:00+01:00 start -",
            "2026-11-26T19:00:00+01:00 stop 0",
            "2026-11-27T09:00:00+01:00 start -",
            "2026-11-27T19:00:00+01:00 stop 0",
        ],
    ),
    (
        "overnight.yaml",
        &[
            "2026-11-23T22:00:00-05:00 start -",
            "2026-11-24T06:00:00-05:00 stop 0",
            "2026-11-24T22:00:00-05:00 start -",
            "2026-11-25T06:00:00-05:00 stop 0",
            "2026-11-25T22:00:00-05:00 start -",
            "2026-11-26T06:00:00-05:00 stop 0",
            "2026-11-26T22:00:00-05:00 start -",
            "2026-11-27T06:00:00-05:00 stop 0",
            "2026-11-27T22:00:00-05:00 start -",
            "2026-11-28T06:00:00-05:00 stop 0",
        ],
    ),
    // Monday's start in Tokyo was before midnight in UTC, and the next one is still in the week.
    (
        "cron.yaml",
        &[
            "2026-11-23T20:00:00+09:00 stop 0",
            "2026-11-24T07:30:00+09:00 start -",
            "2026-11-24T20:00:00+09:00 stop 0",
            "2026-11-25T07:30:00+09:00 start -",
            "2026-11-25T20:00:00+09:00 stop 0",
            "2026-11-26T07:30:00+09:00 start -",
            "2026-11-26T20:00:00+09:00 stop 0",
            "2026-11-27T07:30:00+09:00 start -",
            "2026-11-27T20:00:00+09:00 stop 0",
            "2026-11-30T07:30:00+09:00 start -",
        ],
    ),
    (
        "several-windows.yaml",
        &[
            "2026-11-23T08:00:00+01:00 start -",
            "2026-11-23T12:00:00+01:00 stop 0",
            "2026-11-23T13:30:00+01:00 start -",
            "2026-11-23T18:00:00+01:00 stop 0",
            "2026-11-24T08:00:00+01:00 start -",
            "2026-11-24T12:00:00+01:00 stop 0",
            "2026-11-24T13:30:00+01:00 start -",
            "2026-11-24T18:00:00+01:00 stop 0",
            "2026-11-25T08:00:00+01:00 start -",
            "2026-11-25T12:00:00+01:00 stop 0",
            "2026-11-25T13:30:00+01:00 start -",
            "2026-11-25T18:00:00+01:00 stop 0",
            "2026-11-26T08:00:00+01:00 start -",
            "2026-11-26T12:00:00+01:00 stop 0",
            "2026-11-26T13:30:00+01:00 start -",
            "2026-11-26T18:00:00+01:00 stop 0",
            "2026-11-27T08:00:00+01:00 start -",
            "2026-11-27T12:00:00+01:00 stop 0",
            "2026-11-27T13:30:00+01:00 start -",
            "2026-11-27T18:00:00+01:00 stop 0",
            "2026-11-28T09:00:00+01:00 start -",
            "2026-11-28T12:00:00+01:00 stop 0",
        ],
    ),
    (
        "fixed-counts.yaml",
        &[
            "2026-11-23T07:00:00+00:00 start 5",
            "2026-11-23T22:00:00+00:00 stop 1",
            "2026-11-24T07:00:00+00:00 start 5",
            "2026-11-24T22:00:00+00:00 stop 1",
            "2026-11-25T07:00:00+00:00 start 5",
            "2026-11-25T22:00:00+00:00 stop 1",
            "2026-11-26T07:00:00+00:00 start 5",
            "2026-11-26T22:00:00+00:00 stop 1",
            "2026-11-27T07:00:00+00:00 start 5",
            "2026-11-27T22:00:00+00:00 stop 1",
            "2026-11-28T07:00:00+00:00 start 5",
            "2026-11-28T22:00:00+00:00 stop 1",
            "2026-11-29T07:00:00+00:00 start 5",
            "2026-11-29T22:00:00+00:00 stop 1",
        ],
    ),
    // The first 8 bytes of the SHA-256 of `default/holidays`, modulo 901, are 877 seconds.
    // Thanksgiving and the day after have no start.
    (
        "holidays.yaml",
        &[
            "2026-11-23T08:14:37-06:00 start -",
            "2026-11-23T18:00:00-06:00 stop 0",
            "2026-11-24T08:14:37-06:00 start -",
            "2026-11-24T18:00:00-06:00 stop 0",
            "2026-11-25T08:14:37-06:00 start -",
            "2026-11-25T18:00:00-06:00 stop 0",
            "2026-11-26T18:00:00-06:00 stop 0",
            "2026-11-27T18:00:00-06:00 stop 0",
        ],
    ),
];

#[test]
fn every_example_does_in_a_week_what_it_says() {
    for (name, expected) in WEEK {
        let ended = plan(&["-f", &format!("examples/{name}"), "--from", "2026-11-23"]);
        assert_eq!(ended.boundaries(), expected, "{name}");
    }
    let minutes = plan(&[
        "-f",
        "examples/one-start.yaml",
        "--from",
        "2026-11-23 09:00",
        "--until",
        "2026-11-23 09:02",
    ]);
    assert_eq!(
        minutes.boundaries(),
        [
            "2026-11-23T09:00:00+00:00 start 2",
            "2026-11-23T09:01:00+00:00 start 2"
        ]
    );
    assert_eq!(WEEK.len() + 1, EXAMPLES.len());
}

#[test]
fn clocks_that_change_change_the_offset_and_move_what_they_skip() {
    let night = "dayshift/stop: '02:30'";
    for (zone, from, expected) in [
        // Clocks go back from 02:00 to 01:00: the day has 25 hours.
        (
            "America/New_York",
            "2026-10-31",
            [
                "2026-10-31T02:30:00-04:00 stop 0",
                "2026-11-01T02:30:00-05:00 stop 0",
                "2026-11-02T02:30:00-05:00 stop 0",
            ],
        ),
        // Clocks go from 02:00 to 03:00, so 02:30 happens at the end of the gap.
        (
            "Europe/Berlin",
            "2027-03-27",
            [
                "2027-03-27T02:30:00+01:00 stop 0",
                "2027-03-28T03:00:00+02:00 stop 0",
                "2027-03-29T02:30:00+02:00 stop 0",
            ],
        ),
        // Clocks go back from 03:00 to 02:00, so 02:30 happens the first time.
        (
            "Europe/Berlin",
            "2026-10-24",
            [
                "2026-10-24T02:30:00+02:00 stop 0",
                "2026-10-25T02:30:00+02:00 stop 0",
                "2026-10-26T02:30:00+01:00 stop 0",
            ],
        ),
    ] {
        let args = ["-f", "-", "--from", from, "--days", "3", "--timezone", zone];
        assert_eq!(
            plan_of(&args, &web(&[night])).boundaries(),
            expected,
            "{zone}"
        );
    }
    let week = plan(&[
        "-f",
        "examples/overnight.yaml",
        "--from",
        "2026-10-30",
        "--timezone",
        "America/New_York",
        "--days",
        "4",
    ]);
    assert_eq!(
        week.boundaries(),
        [
            "2026-10-30T06:00:00-04:00 stop 0",
            "2026-10-30T22:00:00-04:00 start -",
            "2026-10-31T06:00:00-04:00 stop 0",
            "2026-11-02T22:00:00-05:00 start -",
        ]
    );
    let week = plan(&[
        "-f",
        "examples/office-hours.yaml",
        "--from",
        "2027-03-26",
        "--timezone",
        "Europe/Berlin",
        "--days",
        "4",
    ]);
    assert_eq!(
        week.boundaries(),
        [
            "2027-03-26T09:00:00+01:00 start -",
            "2027-03-26T19:00:00+01:00 stop 0",
            "2027-03-29T09:00:00+02:00 start -",
            "2027-03-29T19:00:00+02:00 stop 0",
        ]
    );
}

#[test]
fn the_time_shown_begins_with_from_and_ends_before_until() {
    let input = web(&["dayshift/start: '09:00'", "dayshift/timezone: 'Asia/Tokyo'"]);
    for (from, until, expected) in [
        ("2026-11-23T09:00:00+09:00", "2026-11-24T09:00:00+09:00", 1),
        ("2026-11-23T09:00:00+09:00", "2026-11-24T09:00:01+09:00", 2),
        ("2026-11-23T09:00:01+09:00", "2026-11-24T09:00:00+09:00", 0),
        ("2026-11-23 00:00", "2026-11-24 00:00", 1),
        ("2026-11-23", "2026-11-24", 1),
    ] {
        let ended = plan_of(&["-f", "-", "--from", from, "--until", until], &input);
        assert_eq!(ended.boundaries().len(), expected, "{from} to {until}");
    }
    let today = plan_of(&["-f", "-"], &input).boundaries();
    assert_eq!(today.len(), 7);
    let first: DateTime<Utc> = today[0].split(' ').next().unwrap().parse().unwrap();
    assert!((first - Utc::now()).abs() <= TimeDelta::days(1), "{first}");
}

#[test]
fn files_lists_folders_and_standard_input_are_read() {
    let json = r#"{"apiVersion": "v1", "kind": "List", "items": [
        {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "web"}},
        {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "a", "namespace": "dev",
            "annotations": {"dayshift/start": "09:00"}}, "spec": {"replicas": 2}},
        {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "unscheduled"}},
        {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "b",
            "annotations": {"dayshift\/stop": "09:00 "}}}]}"#;
    let ended = plan_of(
        &[
            "-f",
            "examples/cron.yaml",
            "-f",
            "-",
            "-f",
            "examples",
            "-n",
            "team-a",
        ],
        json,
    );
    let plan = ended.json();
    let names: Vec<_> = plan["workloads"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| {
            format!(
                "{}/{}",
                it["namespace"].as_str().unwrap(),
                it["name"].as_str().unwrap()
            )
        })
        .collect();
    assert_eq!(
        names,
        [
            "team-a/cron",
            "dev/a",
            "team-a/b",
            "team-a/cron",
            "team-a/fixed-counts",
            "team-a/holidays",
            "team-a/office-hours",
            "team-a/one-start",
            "team-a/overnight",
            "team-a/several-windows",
        ]
    );
    assert_eq!(ended.status, 0);
}

#[test]
fn problems_are_told_with_the_bytes_at_fault() {
    for (line, annotation, fault, says) in [
        (
            "dayshift/start: 'Mon-Fry 09:00'",
            "dayshift/start",
            4..7,
            "`Fry` is no day",
        ),
        (
            "dayshift/start: '09:00; 25:00'",
            "dayshift/start",
            7..12,
            "`25:00` is not in a day",
        ),
        (
            "dayshift/start: '0 9 * * 9'",
            "dayshift/start",
            8..9,
            "`9` is no day of week",
        ),
        // The wide blank is 3 bytes long, and so is each letter.
        (
            "dayshift/start: \"09:00;\u{3000}月曜 10:00\"",
            "dayshift/start",
            9..15,
            "`月曜` is no day",
        ),
        (
            "dayshift/start: \"09:00;\\u3000月曜 10:00\"",
            "dayshift/start",
            9..15,
            "`月曜` is no day",
        ),
        (
            "dayshift/hours: 'Mon 09:00-09:00'",
            "dayshift/hours",
            4..15,
            "`09:00-09:00` begins and ends",
        ),
        (
            "dayshift/strat: '09:00'",
            "dayshift/strat",
            0..5,
            "did you mean `start`?",
        ),
        (
            "dayshift/stop:",
            "dayshift/stop",
            0..0,
            "nothing is written here",
        ),
    ] {
        let found = problems(&web(&[line]));
        assert_eq!(found.len(), 1, "{line}: {found:?}");
        let (name, start, end, message) = &found[0];
        assert_eq!(
            (name.as_str(), *start..*end),
            (annotation, fault),
            "{line}: {message}"
        );
        assert!(message.contains(says), "{line}: {message}");
    }
}

#[test]
fn all_problems_of_an_object_are_told_and_other_objects_go_on() {
    let bad = web(&[
        "dayshift/start: 'x'",
        "dayshift/timezone: 'Asia/Tokio'",
        "dayshift/replicas: 2",
    ]);
    let good = web(&["dayshift/start: '09:00'"]);
    let ended = plan_of(&["-f", "-", "--days", "1"], &format!("{bad}---\n{good}"));
    let plan = ended.json();
    assert_eq!(ended.status, 1);
    let names = plan["workloads"][0]["problems"].as_array().unwrap().iter();
    let names: Vec<_> = names.map(|it| it["annotation"].as_str().unwrap()).collect();
    assert_eq!(
        names,
        ["dayshift/replicas", "dayshift/timezone", "dayshift/start"]
    );
    assert_eq!(plan["workloads"][0]["timezone"], "Asia/Tokio");
    assert_eq!(
        plan["workloads"][1]["boundaries"].as_array().unwrap().len(),
        1
    );
}

#[test]
fn values_that_are_not_quoted_are_problems() {
    for (line, message) in [
        (
            "dayshift/replicas: 2",
            "`2` is a number to YAML, and the API server takes only text; write \"2\"",
        ),
        (
            "dayshift/pause: true",
            "`true` is true or false to YAML, and the API server takes only text; write \"true\"",
        ),
        (
            "dayshift/jitter: {m: 5}",
            "is a map, and the API server takes only text; write one in quotes",
        ),
    ] {
        let found = problems(&web(&["dayshift/start: '09:00'", line]));
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!(found[0].3, message);
    }
    // A number is a problem even where there is no schedule beside it.
    assert_eq!(problems(&web(&["dayshift/start: 9"])).len(), 1);
}

#[test]
fn dates_that_are_excepted_have_no_start() {
    let lines = [
        "dayshift/start: 'daily 09:00'",
        "dayshift/except: '2026-11-24..2026-11-25'",
    ];
    let ended = plan_of(
        &["-f", "-", "--from", "2026-11-23", "--days", "4"],
        &web(&lines),
    );
    assert_eq!(
        ended.boundaries(),
        [
            "2026-11-23T09:00:00+00:00 start -",
            "2026-11-26T09:00:00+00:00 start -"
        ]
    );
}

#[test]
fn what_cannot_be_read_is_told_by_file_line_and_column() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("web.yaml");
    fs::write(&path, "kind: Deployment\nmetadata: {name: web\nspec: {}").unwrap();
    let path = path.to_str().unwrap();
    let ended = plan(&["-f", path, "-f", "examples", "-f", "none.yaml"]);
    assert_eq!((ended.status, ended.out.as_str()), (3, ""));
    let mut lines = ended.err.lines();
    let first = lines.next().unwrap();
    assert!(
        first.starts_with(&format!("error: {path}:3:5: ")),
        "{first}"
    );
    assert!(
        lines
            .next()
            .unwrap()
            .starts_with("error: cannot read none.yaml: ")
    );
    assert_eq!(lines.next(), None);

    let ended = plan_of(&["-f", "-"], "a: [");
    assert!(
        ended.err.starts_with("error: standard input:1:4: "),
        "{ended:?}"
    );
    assert_eq!(ended.status, 3);
}

#[test]
fn wrong_usage_is_told_with_what_would_be_right() {
    for (args, says) in [
        (&[][..], "--file <FILE>"),
        (
            &["-f", "examples", "-o", "chart"],
            "[possible values: json]",
        ),
        (
            &["-f", "examples", "--from", "tomorrow"],
            "'--from <T>': `tomorrow` is no moment; write local time such as",
        ),
        (
            &["-f", "examples", "--until", "2026-02-30"],
            "'--until <T>': `2026-02-30` is a date that does not exist",
        ),
        (
            &[
                "-f",
                "examples",
                "--from",
                "2026-11-24",
                "--until",
                "2026-11-23",
            ],
            "is not after the beginning",
        ),
        (
            &["-f", "examples", "--days", "2", "--until", "2026-11-23"],
            "cannot be used with",
        ),
        (&["-f", "examples", "--days", "0"], "0 is not in 1..=36600"),
        (
            &["-f", "examples", "--timezone", "Asia/Tokio"],
            "did you mean `Asia/Tokyo`?",
        ),
        (
            &["-f", "examples", "--annotation-prefix", "A/b"],
            "is no prefix of a Kubernetes key",
        ),
        (&["-f", "examples", "-n", "a,b"], "such as team-a"),
    ] {
        let ended = plan(args);
        assert_eq!((ended.status, ended.out.as_str()), (2, ""), "{args:?}");
        assert!(ended.err.contains(says), "{args:?}: {}", ended.err);
    }
}

#[test]
fn a_reader_that_leaves_is_no_error() {
    let args = ["-f", "examples", "--days", "3000"];
    let mut child = program().args(args).spawn().unwrap();
    let mut out = child.stdout.take().unwrap();
    out.read_exact(&mut [0; 16]).unwrap();
    drop(out);
    let output = child.wait_with_output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    assert_eq!(output.status.code(), Some(0));
}

proptest! {
    /// The plan is what the scaler would do: boundary after boundary, as it asks for the next.
    #[test]
    fn the_plan_is_what_the_scaler_does(
        rule in prop::sample::select(vec![
            (Key::Hours, "Mon-Fri 09:00-19:00; Sat 10:00-14:00"), (Key::Hours, "22:00-06:00"),
            (Key::Start, "0,30 2 * * *"), (Key::Stop, "weekends 02:30,03:00"), (Key::Start, "@hourly"),
        ]),
        more in prop::sample::select(vec![
            (Key::Jitter, "1h"), (Key::Except, "2026-10-25..2026-11-01"), (Key::StopReplicas, "2"), (Key::Replicas, "7"),
        ]),
        zone in prop::sample::select(vec!["UTC", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe"]),
        from in 1_790_000_000_i64..1_830_000_000,
        length in 1_i64..20 * 86_400,
    ) {
        let from = DateTime::from_timestamp(from, 0).unwrap();
        let until = from + TimeDelta::seconds(length);
        let zone = Zone::parse(zone).unwrap();
        let inputs = Inputs::default().with(rule.0, rule.1).with(more.0, more.1);
        let object = ObjectRef { namespace: "dev".into(), name: "web".into(), uid: "".into() };
        let Reading::Scheduled(timetable) = read(&inputs, zone) else { panic!("{inputs:?}") };

        let next = |after| timetable.next_after(&object, after).filter(|it| it.at < until);
        let expected: Vec<_> = std::iter::successors(next(from - TimeDelta::seconds(1)), |it| next(it.at))
            .map(|it| (it.at, it.action))
            .collect();
        let period = Period::new(from, until).unwrap();
        let planner = Planner { period, default_zone: zone, prefix: Prefix::default() };
        let plan = planner.plan(&object, &inputs, &[]).unwrap();
        let planned: Vec<_> = plan.boundaries().map(|it| (it.at.to_utc(), it.action)).collect();
        prop_assert_eq!(planned, expected);
    }
}
