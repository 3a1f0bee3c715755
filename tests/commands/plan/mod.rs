//! `dayshift plan` for the examples, files and periods.

mod after;
mod folded;
mod golden;
mod namespaces;
mod on_request;
mod overrides;
mod planner;
mod problems;
mod program;
mod stop_after;
mod summary;
mod treated;

use std::{fs, io::Read};

use chrono::{DateTime, TimeDelta, Utc};
use dayshift::examples::EXAMPLES;
use program::{plan, plan_of, web};

use crate::program::{command, start};
use crate::rows::words;

#[test]
fn json_has_the_documented_form() {
    let bad = web(&["dayshift/stop: 'Mon-Fry 19:00'"]);
    let good = fs::read_to_string("examples/fixed-counts.yaml").unwrap();
    let ended = plan_of(
        &["-f", "-", "--from", "2026-11-23", "--days", "1"],
        &format!("{good}---\n{bad}"),
    );
    assert_eq!(
        ended.out,
        r#"{
  "apiVersion": "dayshift/v1",
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
      "savedReplicaHours": 8.0,
      "savedCpuCoreHours": 0.08,
      "savedMemoryGibHours": 0.13,
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
          "message": "`Fry` is not a day; write `Mon-Fri 19:00`",
          "start": 4,
          "end": 7
        }
      ]
    }
  ],
  "unread": []
}
"#
    );
    assert_eq!(ended.status, 1);
    assert_starts_with!(ended.err, "error[bad-times]: `Fry` is not a day\n");
}

#[test]
fn every_example_has_the_documented_boundaries() {
    let week = include_str!("week.txt").lines();
    let mut week = week
        .filter(|it| !it.starts_with('#') && !it.is_empty())
        .peekable();
    let mut examples = 1;
    while let Some(name) = week.next() {
        let expected: Vec<_> = std::iter::from_fn(|| week.next_if(|it| it.starts_with("  ")))
            .map(str::trim)
            .collect();
        let ended = plan(&["-f", &format!("examples/{name}"), "--from", "2026-11-23"]);
        assert_eq!(ended.boundaries(), expected, "{name}");
        examples += 1;
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
    assert_eq!(examples, EXAMPLES.len());
}

#[test]
fn clock_changes_shift_offsets_and_skipped_times() {
    let night = "dayshift/stop: '02:30'";
    for (zone, from, expected) in [
        // Clocks are set back from 02:00 to 01:00, so the day has 25 hours.
        (
            "America/New_York",
            "2026-10-31",
            [
                "2026-10-31T02:30:00-04:00 stop 0",
                "2026-11-01T02:30:00-05:00 stop 0",
                "2026-11-02T02:30:00-05:00 stop 0",
            ],
        ),
        // Clocks change from 02:00 to 03:00, so 02:30 happens at the end of the gap.
        (
            "Europe/Berlin",
            "2027-03-27",
            [
                "2027-03-27T02:30:00+01:00 stop 0",
                "2027-03-28T03:00:00+02:00 stop 0",
                "2027-03-29T02:30:00+02:00 stop 0",
            ],
        ),
        // Clocks are set back from 03:00 to 02:00, so 02:30 happens the first time.
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
    let week = plan(&words(
        "-f examples/overnight.yaml --from 2026-10-30 --timezone America/New_York --days 4",
    ));
    assert_eq!(
        week.boundaries(),
        [
            "2026-10-30T06:00:00-04:00 stop 0",
            "2026-10-30T22:00:00-04:00 start -",
            "2026-10-31T06:00:00-04:00 stop 0",
            "2026-11-02T22:00:00-05:00 start -",
        ]
    );
    let week = plan(&words(
        "-f examples/office-hours.yaml --from 2027-03-26 --timezone Europe/Berlin --days 4",
    ));
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
fn the_period_includes_from_and_excludes_until() {
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
            "team-a/cron-job",
            "team-a/exact-counts",
            "team-a/fixed-counts",
            "team-a/holidays",
            "team-a/office-hours",
            "team-a/one-start",
            "team-a/overnight",
            "team-a/several-windows",
            "team/whole-namespace",
        ]
    );
    assert_eq!(ended.status, 0);
}

#[test]
fn excluded_dates_have_no_start() {
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
fn a_chart_shows_a_clock_change_at_midnight() {
    let lines = [
        "dayshift/hours: 06:00-18:00",
        "dayshift/timezone: Asia/Beirut",
    ];
    let args = "-o chart -f - --from 2027-03-28 --days 1".split(' ');
    let out = plan_of(&args.collect::<Vec<_>>(), &web(&lines)).out;
    assert_contains!(out, "\nSun 28*");
    assert_contains!(out, "* Sun 28 Mar: clocks go forward from 00:00 to 01:00\n");
}

/// A chart shows whole days in the zone of the schedule, and counts the savings of these days from
/// the first boundary.
#[test]
fn a_chart_counts_the_savings_of_its_days() {
    let chart = |lines: &[&str], from: &str| {
        let args = ["-o", "chart", "-f", "-", "--from", from, "--days", "1"];
        plan_of(&args, &web(lines)).out
    };
    let all_monday = "dayshift/hours: Mon 00:00-24:00";
    let (day, replicas) = ("2026-11-23", "dayshift/replicas: '3'");
    for (zone, from, expected) in [
        (
            "America/New_York",
            day,
            "24 of 24 hours running, 0 stopped (0%).\n",
        ),
        (
            "Asia/Tokyo",
            day,
            "24 of 24 hours running, 0 stopped (0%).\n",
        ),
        // From 19:00 on Sunday to 19:00 on Monday.
        (
            "America/New_York",
            "2026-11-23T00:00:00Z",
            "19 of 24 hours running, 5 stopped (21%).\n",
        ),
        // Until 19:00 on Tuesday, from the stop at midnight.
        (
            "America/New_York",
            "2026-11-24T00:00:00Z",
            "5 of 24 hours running, 19 stopped (79%): saves 57 replica-hours.\n",
        ),
    ] {
        let zone = format!("dayshift/timezone: {zone}");
        let out = chart(&[all_monday, &zone, replicas], from);
        assert!(out.contains(expected), "{zone} {from}: {out}");
    }
    // An override applies from the first midnight of the chart.
    for (zone, over, expected) in [
        (
            "Africa/Cairo",
            "dayshift/pause: 'true'",
            "0 of 24 hours running, 0 stopped (0%), 24 left as they are.\n",
        ),
        (
            "America/New_York",
            "dayshift/sleep-until: '2026-11-24 00:00'",
            "0 of 24 hours running, 24 stopped (100%): saves 72 replica-hours.\n",
        ),
    ] {
        let zone = format!("dayshift/timezone: {zone}");
        let out = chart(&[all_monday, &zone, replicas, over], day);
        assert!(out.contains(expected), "{zone}: {out}");
    }
}

#[test]
fn a_day_without_a_midnight_ends_at_the_next_midnight() {
    let lines = ["dayshift/hours: '00:30-18:00'"];
    let zone = ["--timezone", "Africa/Cairo"];
    let args = ["-f", "-", "--from", "2026-04-24", "--days", "1"];
    assert_eq!(
        plan_of(&[&zone[..], &args].concat(), &web(&lines)).boundaries(),
        [
            "2026-04-24T01:00:00+03:00 start -",
            "2026-04-24T18:00:00+03:00 stop 0"
        ]
    );
}

#[test]
fn a_closed_pipe_is_not_an_error() {
    let args = ["plan", "-f", "examples", "--days", "3000"];
    let mut child = start(command().args(args));
    let mut out = child.stdout.take().unwrap();
    out.read_exact(&mut [0; 16]).unwrap();
    drop(out);
    let output = child.wait_with_output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    assert_eq!(output.status.code(), Some(0));
}

/// Both show whole days in the zone of each schedule.
#[test]
fn a_table_and_a_chart_show_the_same_savings() {
    let web = web(&[
        "dayshift/hours: Mon-Fri 09:00-19:00",
        "dayshift/timezone: Asia/Tokyo",
    ]);
    let input = format!(
        "{web}spec: {{replicas: 2, template: {{spec: {{containers: [{{name: a, resources: {{requests: \
         {{cpu: 1}}}}}}]}}}}}}\n"
    );
    let savings = |output: &str| {
        let ended = plan_of(&["-f", "-", "-o", output], &input);
        let words: Vec<_> = ended.out.split_whitespace().collect();
        let text = words.join(" ").to_lowercase();
        let (_, rest) = text
            .split_once("saves ")
            .unwrap_or_else(|| panic!("{ended:?}"));
        rest.split(" replica-hours").next().unwrap().to_owned()
    };
    assert_eq!(savings("table"), savings("chart"));
}
