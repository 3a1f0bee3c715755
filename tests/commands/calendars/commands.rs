//! The output of each command for a calendar.

use super::files::{GERMANY, OFFICE, USA, dayshift, web};
use crate::rows::{rows, words};
use crate::{fake_server::Cluster, program::dayshift_with, terminal::words::assert_escaped};

#[test]
fn the_plan_names_the_holidays() {
    let args = [
        "plan",
        "-f",
        OFFICE,
        "--calendar",
        GERMANY,
        "--from",
        "2026-12-21",
        "--days",
        "14",
    ];
    let json = dayshift(&[&args[..], &["-o", "json"]].concat());
    assert_eq!(json.status, 0, "{json:?}");
    let plan = json.json();
    let workload = &plan["workloads"][0];
    let holidays = workload["holidays"].as_array().unwrap().iter();
    let holidays: Vec<_> = holidays
        .map(|it| format!("{} {} {}", it["date"], it["calendar"], it["name"]))
        .collect();
    assert_eq!(
        holidays,
        [
            r#""2026-12-25" "de" "Erster Weihnachtstag""#,
            r#""2026-12-26" "de" "Zweiter Weihnachtstag""#,
            r#""2027-01-01" "de" "Neujahr""#,
        ]
    );
    let starts = workload["boundaries"].as_array().unwrap().iter();
    let starts = starts.filter(|it| it["action"] == "start");
    let starts: Vec<_> = starts
        .map(|it| it["at"].as_str().unwrap().get(..10).unwrap())
        .collect();
    assert_eq!(
        starts,
        ["2026-12-21", "2026-12-22", "2026-12-23", "2026-12-24"]
    );

    let chart = dayshift(&[&args[..], &["-o", "chart"]].concat());
    for line in [
        "x excluded, no start: Fri 25 Dec to Sat 26 Dec, Mon 28 Dec to Fri 1 Jan",
        "  Fri 25 Dec: Erster Weihnachtstag (calendar:de)",
        "  Fri 1 Jan: Neujahr (calendar:de)",
    ] {
        assert!(
            chart.out.lines().any(|it| it == line),
            "{line}\n{}",
            chart.out
        );
    }
    let table = dayshift(&[&args[..], &["-o", "table"]].concat());
    let words = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
    let rows: Vec<_> = table.out.lines().map(words).collect();
    for [before, holiday, after] in [
        [
            "Thu 2026-12-24 18:00 CET stop ",
            "Fri 2026-12-25 no start: Erster Weihnachtstag (calendar:de)",
            "Sat 2026-12-26 no start: Zweiter Weihnachtstag (calendar:de)",
        ],
        [
            "Sat 2026-12-26 no start: Zweiter Weihnachtstag (calendar:de)",
            "Fri 2027-01-01 no start: Neujahr (calendar:de)",
            "",
        ],
    ] {
        let at = rows.iter().position(|it| it.contains(holiday));
        let at = at.unwrap_or_else(|| panic!("{holiday}\n{}", table.out));
        assert!(rows[at - 1].contains(before), "{}", table.out);
        let next = rows.get(at + 1).map_or("", |it| &**it);
        assert!(next.contains(after), "{}", table.out);
    }
    // Without calendars, the JSON output has no field for them.
    let plain = dayshift(&[
        "plan",
        "-f",
        "examples/holidays.yaml",
        "--calendar",
        GERMANY,
        "-o",
        "json",
    ]);
    plain.assert_out_lacks("holidays\": [");
}

#[test]
fn calendar_text_does_not_control_the_terminal() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("evil.ics");
    let summary = "a\u{1b}[2J\u{202e}b\\n\u{0}c";
    std::fs::write(&path, format!("BEGIN:VCALENDAR\nBEGIN:VEVENT\nDTSTART:20261225\nSUMMARY:{summary}\nEND:VEVENT\nEND:VCALENDAR")).unwrap();
    let calendar = format!("evil={}", path.display());
    let input = web(
        "web",
        &[("hours", "09:00-19:00"), ("except", "calendar:evil")],
    );
    for output in ["chart", "json", "table"] {
        let args = [
            "plan",
            "-f",
            "-",
            "--calendar",
            &calendar,
            "--from",
            "2026-12-24",
            "--days",
            "3",
            "-o",
            output,
        ];
        let ended = dayshift_with(&[], &args, &input);
        assert_eq!(ended.status, 0, "{ended:?}");
        assert_escaped(&ended.out, output);
    }
}

#[test]
fn a_calendar_without_a_file_is_an_error_that_names_the_flag() {
    let plan = dayshift(&["plan", "-f", OFFICE, "-o", "table"]);
    assert_eq!(plan.status, 1);
    for line in [
        "error[bad-except]: `de` is not a known calendar\n",
        "  = help: give its file with `--calendar de=FILE.ics`\n",
    ] {
        plan.assert_err(line);
    }
    let other = dayshift(&["plan", "-f", OFFICE, "-o", "table", "--calendar", USA]);
    other.assert_err("or name a known one: us\n");

    let lint = dayshift(&["lint", OFFICE, "--from", "2026-11-20"]);
    assert_eq!(lint.status, 1);
    for line in [
        "error[bad-except]: `de` is not a known calendar",
        "13:32",
        " ^^\n",
        "  = help: give its file with `--calendar de=FILE.ics`\n",
    ] {
        lint.assert_out(line);
    }
    let other = dayshift(&["lint", OFFICE, "--from", "2026-11-20", "--calendar", USA]);
    for line in [
        "`de` is not a known calendar\n",
        "  = help: give its file with `--calendar de=FILE.ics`, or name a known one: us\n",
    ] {
        other.assert_out(line);
    }
    let mistyped = std::fs::read_to_string(OFFICE)
        .unwrap()
        .replace("calendar:de", "calendar:uss");
    let near = dayshift_with(
        &[],
        &["lint", "-", "--from", "2026-11-20", "--calendar", USA],
        &mistyped,
    );
    let help = "  = help: write dayshift/except: \"calendar:us; 2026-12-28..2026-12-31\"\n";
    near.assert_out(help);
    let good = dayshift(&[
        "lint",
        OFFICE,
        "--from",
        "2026-11-20",
        "--calendar",
        GERMANY,
    ]);
    assert_eq!(good.status, 0, "{}", good.out);
}

#[test]
fn lint_warns_of_a_calendar_that_ends_and_of_ignored_events() {
    let input = web(
        "web",
        &[
            ("hours", "09:00-19:00"),
            ("except", "2030-01-01; calendar:us"),
        ],
    );
    let lint = |from: &str, calendar: &str| {
        dayshift_with(
            &[],
            &["lint", "-", "--from", from, "--calendar", calendar],
            &input,
        )
    };
    assert_eq!(lint("2027-10-31", USA).status, 0);
    let soon = lint("2027-11-01", USA);
    assert_eq!(soon.status, 1);
    for text in [
        "warning[calendar-ends]: the last date of the calendar `us` is 2027-12-31; after it no date is excluded",
        "7:35",
        " ^^^^^^^^^^^\n  = help: give a newer file with --calendar",
    ] {
        soon.assert_out(text);
    }
    let timed = lint("2026-11-20", "us=tests/commands/lint/dates/timed.ics");
    let warning = "warning[calendar-times]: 1 event is at a time of day in the calendar `us`: only whole days are excluded";
    timed.assert_out(warning);
}

#[test]
fn a_calendar_flag_without_name_and_file_is_wrong_usage() {
    for [given, expected] in rows(
        "
            Deutschland=x.ics => `Deutschland` is not the name of a calendar
            x.ics => write a name and a file, such as de=/etc/dayshift/de.ics
            de= => write a name and a file
        ",
    ) {
        for command in ["plan", "lint", "run", "status", "wake"] {
            let words: &[&str] = if command == "lint" { &["-"] } else { &[] };
            let ended = dayshift(&[&[command, "--calendar", given][..], words].concat());
            assert_eq!(ended.status, 2, "{command} {given}: {ended:?}");
            assert_contains!(ended.err, expected, "{command}: {given}");
        }
    }
}

#[test]
fn one_flag_gives_several_calendars_to_every_command() {
    let both = format!("{GERMANY},{USA}");
    let input = web(
        "web",
        &[
            ("hours", "09:00-19:00"),
            ("except", "calendar:de; calendar:us"),
        ],
    );
    for args in [
        &["plan", "-f", "-"][..],
        &["lint", "-", "--from", "2026-11-20"],
        &["sandbox", "--for", "1d", "-"],
    ] {
        let ended = dayshift_with(&[], &[args, &["--calendar", &both]].concat(), &input);
        assert_eq!(ended.status, 0, "{args:?}: {ended:?}");
    }
}

/// A user without the calendar files of the controller can still use `wake` and `status`.
#[test]
fn commands_to_a_cluster_do_not_need_the_files() {
    let cluster = Cluster::new();
    let annotations = [("hours", "00:00-24:00"), ("except", "calendar:de")];
    cluster.deployment("web", 3, &annotations);
    for args in [
        &["wake", "web", "--for", "2h", "--no-wait"][..],
        &["sleep", "web", "--for", "2h", "--no-wait"],
        &["pause", "web", "--no-wait"],
        &["resume", "web", "--no-wait"],
        &["status"],
    ] {
        let ran = cluster.dayshift(args);
        assert_eq!(ran.status, 0, "{args:?}: {ran:?}");
        assert_lacks!(ran.out, "is not a known calendar", "{args:?}");
    }
    // `sync` needs the files, because the state of the schedule depends on the dates.
    let sync = cluster.dayshift(&["sync", "web", "--no-wait"]);
    assert_eq!(sync.status, 1);
    sync.assert_err("give its file with `--calendar de=FILE.ics`");
    let given = cluster.dayshift(&words(
        "sync web --no-wait --calendar de=docs/samples/germany.ics",
    ));
    assert_eq!(given.status, 0, "{given:?}");
}

#[test]
fn status_does_not_guess_calendar_dates() {
    let cluster = Cluster::new();
    let annotations = [("hours", "00:00-24:00"), ("except", "calendar:de")];
    cluster.deployment("web", 0, &annotations);
    for (label, text) in [("state", "adopted"), ("last", "2026-11-20T10.00.00Z")] {
        let label = format!("dayshift/{label}");
        cluster.api.label("dev", "web", &label, Some(text)).unwrap();
    }
    let without = cluster.dayshift(&["status"]);
    without.assert_out(
        "not known here, so its count cannot be checked. Give them with --calendar NAME=FILE",
    );
    without.assert_out_lacks("the schedule specifies");
    let with = cluster.dayshift(&["status", "--calendar", "de=docs/samples/germany.ics"]);
    with.assert_out_lacks("not known here");
}
