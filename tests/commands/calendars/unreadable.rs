//! An unreadable calendar rejects the schedules that use it, but no command.

use std::{fs, path::Path};

use super::files::{GERMANY, web};
use crate::rows::words;
use crate::{
    fake_server::Cluster,
    program::{dayshift_with, wait_until},
    terminal::objects::LoggedController,
};

/// A calendar with an invalid event, and the error about it.
fn bad_file(directory: &Path) -> (String, String) {
    let path = directory.join("de.ics");
    let file = "BEGIN:VCALENDAR\nBEGIN:VEVENT\nDTSTART:20261225\nEND:VEVENT\nBEGIN:VEVENT\n\
                DTSTART:2026-12-24\nUID:24@example.com\nSUMMARY:Heiligabend\nEND:VEVENT\nEND:VCALENDAR";
    fs::write(&path, file).unwrap();
    let output = format!(
        "{}: line 6, event `Heiligabend`: `2026-12-24` is not a date",
        path.display()
    );
    (format!("de={}", path.display()), output)
}

/// One Deployment that uses the calendar and one that does not.
fn two() -> String {
    let hours = ("hours", "09:00-19:00");
    web("named", &[hours, ("except", "2026-12-31; calendar:de")]) + &web("plain", &[hours])
}

#[test]
fn plan_lint_and_sandbox_reject_only_schedules_that_use_the_calendar() {
    let directory = tempfile::tempdir().unwrap();
    let (calendar, output) = bad_file(directory.path());
    let run = |args: &[&str]| {
        let args = [args, &["--calendar", &calendar]].concat();
        let ended = dayshift_with(&[], &args, &two());
        let warning = format!("warning: the calendar `de` cannot be read: {output}");
        ended.assert_err(&warning);
        ended
    };
    let plan = run(&words("plan -f - -o json --from 2026-12-24 --days 2"));
    assert_eq!(plan.status, 1, "{plan:?}");
    let json = plan.json();
    let [named, plain] = ["named", "plain"].map(|name| {
        let mut all = json["workloads"].as_array().unwrap().iter();
        all.find(|it| it["name"] == name).unwrap()
    });
    assert_eq!(plain["boundaries"].as_array().unwrap().len(), 4);
    let problem = &named["problems"][0];
    let message = problem["message"].as_str().unwrap();
    let expected = format!("`de` is a calendar that cannot be read: {output}");
    assert_starts_with!(message, expected);
    assert_eq!(
        (&problem["start"], &problem["end"]),
        (&21.into(), &23.into())
    );

    let lint = run(&["lint", "-", "--from", "2026-11-20"]);
    assert_eq!(lint.status, 1, "{lint:?}");
    for text in [
        &format!("error[bad-except]: {expected}"),
        " ^^\n",
        "  = help: correct the file, or give another with `--calendar de=FILE.ics`\n",
    ] {
        lint.assert_out(text);
    }
    assert_eq!(lint.out.matches("bad-except").count(), 1, "{}", lint.out);

    let sandbox = run(&["sandbox", "--from", "2026-12-24", "--for", "2d", "-"]);
    assert_eq!(sandbox.status, 1, "{sandbox:?}");
    sandbox.assert_out(&expected);
    let starts = |name: &str| {
        let mut lines = sandbox.out.lines();
        lines.any(|line| line.contains(name) && line.contains("  start "))
    };
    assert!(starts("/plain ") && !starts("/named "), "{}", sandbox.out);
}

#[test]
fn an_unused_invalid_calendar_does_not_stop_a_command() {
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str, bytes: &[u8]| {
        let path = directory.path().join(name);
        fs::write(&path, bytes).unwrap();
        path.display().to_string()
    };
    let utf_16: Vec<u8> = "BEGIN:VCALENDAR\r\n"
        .encode_utf16()
        .flat_map(u16::to_le_bytes)
        .collect();
    for (file, output) in [
        (
            "/nonexistent/de.ics".to_owned(),
            "No such file or directory",
        ),
        ("/dev/null".to_owned(), "it is not a regular file"),
        (
            path("empty.ics", b""),
            "is not the beginning of an iCalendar file",
        ),
        (
            path("login.ics", b"<html>"),
            "`<html>` is not the beginning of an iCalendar file",
        ),
        (
            path("wide.ics", &utf_16),
            "is not the beginning of an iCalendar file",
        ),
        (
            path("long.ics", &[b' '; (1 << 20) + 1]),
            "the file is larger than 1048576 bytes",
        ),
    ] {
        let calendar = format!("de={file}");
        let plain = web("plain", &[("hours", "09:00-19:00")]);
        for args in [
            &["plan", "-f", "-", "-o", "table"][..],
            &["lint", "-", "--from", "2026-11-20"],
            &["sandbox", "--for", "1h", "-"],
        ] {
            let args = [args, &["--calendar", &calendar]].concat();
            let ended = dayshift_with(&[], &args, &plain);
            assert_eq!(ended.status, 0, "{args:?}: {ended:?}");
            let warning = format!("warning: the calendar `de` cannot be read: {file}: ");
            assert!(ended.err.contains(&warning), "{args:?}: {ended:?}");
            assert!(ended.err.contains(output), "{args:?}: {ended:?}");
        }
    }
}

#[test]
fn run_starts_and_logs_the_error() {
    let directory = tempfile::tempdir().unwrap();
    let (calendar, output) = bad_file(directory.path());
    let cluster = Cluster::new();
    let hours = ("hours", "00:00-24:00");
    cluster.deployment("named", 2, &[hours, ("except", "calendar:de; calendar:ok")]);
    cluster.deployment("other", 2, &[hours, ("except", "calendar:ok")]);
    cluster.deployment("unknown", 2, &[hours, ("except", "calendar:xx")]);
    let ok = GERMANY.replace("de=", "ok=");
    let controller =
        LoggedController::start(&cluster, &["--calendar", &calendar, "--calendar", &ok]);
    let error = |name| cluster.annotation(name, "error");
    wait_until("rejected", || {
        error("named").is_some() && error("unknown").is_some()
    });
    let expected = format!("dayshift/except: `de` is a calendar that cannot be read: {output}");
    let found = error("named").unwrap();
    assert_starts_with!(found, expected);
    assert_contains!(error("unknown").unwrap(), "`xx` is not a known calendar");
    cluster.wait_for_state(&["other"], "adopted");
    assert_eq!(error("other"), None);
    let reported = |event: &serde_json::Value| {
        event["regarding"]["name"] == "named" && event["note"].as_str().unwrap().contains(&output)
    };
    wait_until("reported", || {
        cluster.api.list("Event").iter().any(reported)
    });
    wait_until("logged", || {
        controller
            .log()
            .contains(&format!("is rejected until it can be read: {output}"))
    });
    let metrics = controller.get("/metrics");
    for (name, is_good) in [("de", 0), ("ok", 1)] {
        let line =
            format!("dayshift_calendar_last_reload_successful{{calendar=\"{name}\"}} {is_good}\n");
        assert_contains!(metrics, line);
    }

    let status = cluster.dayshift(&["status", "--calendar", &calendar]);
    assert_eq!(status.status, 1, "{status:?}");
    status.assert_out(&output);
    let warning = format!("warning: the calendar `de` cannot be read: {output}");
    status.assert_err(&warning);
    // Commands that do not need the dates work without them.
    let pause = cluster.dayshift(&["pause", "other", "--no-wait", "--calendar", &calendar]);
    assert_eq!(pause.status, 0, "{pause:?}");
    pause.assert_err(&warning);
    let sync = cluster.dayshift(&["sync", "named", "--no-wait", "--calendar", &calendar]);
    assert_eq!(sync.status, 1, "{sync:?}");
    sync.assert_err("is a calendar that cannot be read");
}
