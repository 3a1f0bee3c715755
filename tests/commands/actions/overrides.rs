//! `dayshift wake`, `sleep`, `pause` and `resume`.

use chrono::{DateTime, TimeDelta, Utc};
use serde_json::Value;

use crate::rows::{rows, words};
use crate::{
    fake_server::{Cluster, Controller},
    pseudo_terminal::OnTerminal,
};

const OFFICE: &[(&str, &str)] = &[("hours", "Mon-Fri 09:00-19:00"), ("timezone", "Asia/Tokyo")];

fn until(cluster: &Cluster, name: &str, key: &str) -> DateTime<Utc> {
    cluster.annotation(name, key).unwrap().parse().unwrap()
}

#[test]
fn reports_success_after_the_controller_has_acted() {
    let cluster = Cluster::new();
    cluster.deployment("web", 0, OFFICE);
    let _controller = Controller::on(&cluster);
    for [command, reported, state] in rows(
        "
            wake deploy/web --until 2099-12-24T18:00+09:00 => awake until Thu 2099-12-24 18:00 JST, 0 -> 1 => woken
            wake deploy/web --until 2099-12-24T20:00+09:00 => awake until Thu 2099-12-24 20:00 JST, replicas 1; it was awake until Thu 2099-12-24 18:00 JST => woken
            sleep deploy/web --until 2099-12-24T20:00+09:00 => asleep until Thu 2099-12-24 20:00 JST, 1 -> 0; it was awake until Thu 2099-12-24 20:00 JST => slept
            pause deploy/web => paused, replicas 0; it was asleep until Thu 2099-12-24 20:00 JST; dayshift changes nothing until `dayshift resume deploy/web -n dev` => paused
        "
    ) {
        let ran = cluster.dayshift(&words(command));
        assert_eq!(
            (ran.status, ran.out, ran.err.as_str()),
            (0, format!("deployment.apps/web {reported}\n"), ""),
            "{command}"
        );
        assert_eq!(cluster.label("web", "state").as_deref(), Some(state));
        if let Some(until) = cluster.annotation("web", "wake-until") {
            let next = cluster.label("web", "next").unwrap();
            let hour = &until[11..13].parse::<u32>().unwrap() - 9;
            assert_eq!(next, format!("2099-12-24T{hour:02}.00.00Z"), "{command}");
        }
    }
    let resumed = cluster.dayshift(&["resume", "deploy/web"]);
    assert_eq!(resumed.status, 0, "{resumed:?}");
    assert_ne!(cluster.label("web", "state").as_deref(), Some("paused"));
}

#[test]
fn a_sleep_that_no_request_ends_is_written_and_reported() {
    let cluster = Cluster::new();
    cluster.deployment("web", 3, &[OFFICE, &[("wake-on-request", "2h")]].concat());
    let _controller = Controller::on(&cluster);
    let until = "2099-12-24T18:00:00+09:00";
    let closed = format!("{until}; no-request-wake");
    let note = "requests do not wake it until Thu 2099-12-24 18:00 JST";
    let asleep = "deployment.apps/web asleep until Thu 2099-12-24 18:00 JST";
    for (flags, text, reported, is_closed) in [
        (
            &["--no-request-wake"][..],
            &*closed,
            format!("{asleep}, and requests do not wake it, 3 -> 0\n"),
            true,
        ),
        // The same command again changes nothing, and one without the flag permits requests.
        (
            &["--no-request-wake"],
            &*closed,
            "deployment.apps/web unchanged\n".to_owned(),
            true,
        ),
        (&[], until, format!("{asleep}, replicas 0\n"), false),
    ] {
        let sleep = ["sleep", "deploy/web", "--until", until];
        let ran = cluster.dayshift(&[&sleep[..], flags].concat());
        assert_eq!((ran.status, &*ran.err), (0, ""), "{ran:?}");
        assert_eq!(
            cluster.annotation("web", "sleep-until").as_deref(),
            Some(text),
            "{ran:?}"
        );
        assert_eq!(cluster.label("web", "state").as_deref(), Some("slept"));
        assert_eq!(ran.out, reported);
        let status = cluster.dayshift(&["status"]);
        assert_eq!(status.out.contains(note), is_closed, "{status:?}");
        assert_eq!(status.status, 0, "{status:?}");
    }
    // A wake of a user ends it.
    let ran = cluster.dayshift(&["wake", "deploy/web", "--for", "2h"]);
    assert_eq!(ran.status, 0, "{ran:?}");
    assert_eq!(cluster.annotation("web", "sleep-until"), None);
    // For a whole namespace, the annotation is on the Namespace.
    let ran = cluster.dayshift(&["resume", "deploy/web"]);
    assert_eq!(ran.status, 0, "{ran:?}");
    let ran = cluster.dayshift(&[
        "sleep",
        "ns/dev",
        "--until",
        until,
        "--no-request-wake",
        "--dry-run",
    ]);
    ran.assert_out("dayshift/sleep-until=2099-12-24T");
    ran.assert_out("; no-request-wake");
}

/// A manual change lasts during an override, even if the end of the override is changed.
#[test]
fn a_manual_change_within_an_override_is_reported() {
    let cluster = Cluster::new();
    cluster.deployment("web", 3, OFFICE);
    let _controller = Controller::on(&cluster);
    let sleep = |until: &str| cluster.dayshift(&["sleep", "deploy/web", "--until", until]);
    let slept = sleep("2099-12-24T18:00+09:00");
    assert_ends_with!(slept.out, " JST, 3 -> 0\n");
    cluster.api.scale("dev", "web", 2).unwrap();
    let ran = sleep("2099-12-24T20:00+09:00");
    let held = "replicas 2; it was asleep until Thu 2099-12-24 18:00 JST; a manual change keeps it there: after `dayshift resume deploy/web -n dev` a sleep stops it\n";
    assert_ends_with!(ran.out, held);
}

/// The text between `until` and the zone depends on the time of day.
fn without_the_time(line: &str) -> String {
    let mut parts = line.split("until ");
    let first = parts.next().unwrap().to_owned();
    parts.fold(first, |line, part| {
        let rest = match part.split_once(" JST") {
            Some((_, rest)) => format!("… JST{rest}"),
            None => part.to_owned(),
        };
        format!("{line}until {rest}")
    })
}

#[test]
fn the_readme_shows_the_real_output() {
    let readme = include_str!("../../../README.md");
    let from = readme.find("$ dayshift wake").unwrap();
    let shown = readme[from..].split("```").next().unwrap();
    let cluster = Cluster::new();
    // This schedule does not start the workload at any time of the test.
    cluster.deployment("web", 0, &[OFFICE[1], ("start", "2098-01-01 09:00")]);
    let saved = Some("3");
    let api = &cluster.api;
    api.label("dev", "web", "dayshift/saved-replicas", saved)
        .unwrap();
    let _controller = Controller::on(&cluster);
    let mut lines = shown.lines();
    let mut tried = 0;
    while let (Some(command), Some(output)) = (lines.next(), lines.next()) {
        let words = command.strip_prefix("$ dayshift ").unwrap().split(' ');
        let ran = cluster.dayshift(&words.collect::<Vec<_>>());
        assert_eq!((ran.status, ran.err.as_str()), (0, ""), "{command}");
        // The next boundary and the advice depend on the time of day.
        let before = |line: &str| line.split("; next").next().unwrap().to_owned();
        let ran = ran.out.replace("; the schedule specifies", "; next");
        assert_eq!(
            before(&without_the_time(ran.trim_end())),
            before(&without_the_time(output))
        );
        tried += 1;
    }
    assert_eq!(tried, 4);
}

#[test]
fn a_length_counts_from_now_and_a_sleep_replaces_a_wake() {
    let cluster = Cluster::new();
    cluster.deployment("web", 3, OFFICE);
    let before = Utc::now();
    for command in ["wake", "sleep"] {
        let ran = cluster.dayshift(&[command, "web", "--for", "2h", "--no-wait"]);
        assert_eq!((ran.status, ran.err.as_str()), (0, ""));
        let key = format!("{command}-until");
        let length = until(&cluster, "web", &key) - before;
        assert!(length > TimeDelta::minutes(119) && length < TimeDelta::minutes(121));
        assert!(ran.out.contains(&format!("annotated dayshift/{key}=")) || command == "sleep");
    }
    assert_eq!(cluster.annotation("web", "wake-until"), None);
}

#[test]
fn reports_a_missing_controller_and_keeps_the_annotation() {
    let cluster = Cluster::new();
    cluster.deployment("web", 3, OFFICE);
    let ran = cluster.dayshift(&["pause", "web", "--timeout", "1s"]);
    assert_eq!(
        ran.err,
        "error: deployment.apps/web: annotated, but no controller has acted within 1 s; none ever \
            has; perhaps no `dayshift run` runs in this cluster; it will be paused when one acts\n"
    );
    assert_eq!((ran.status, ran.out.as_str()), (1, ""));
    assert_eq!(cluster.annotation("web", "pause").unwrap(), "true");
}

#[test]
fn reports_an_obstacle_and_changes_the_others() {
    let cluster = Cluster::new();
    cluster.deployment("free", 3, &[]);
    cluster.deployment("off", 3, &[OFFICE, &[("pause", "true")]].concat());
    cluster.deployment("wrong", 3, &[("hours", "9-5")]);
    cluster.deployment("web", 3, OFFICE);
    let names = ["free", "off", "wrong", "gone", "web"];
    let ran = cluster.dayshift(&[&["sleep"], &names[..], &["--for", "1h", "--no-wait"]].concat());
    assert_eq!(ran.status, 3);
    for part in [
        "deployment.apps/gone is not in namespace dev",
        "deployment.apps/free: not put to sleep: it has no schedule",
        "deployment.apps/off: not put to sleep: it is paused",
        "deployment.apps/wrong: not put to sleep: its schedule is rejected",
    ] {
        ran.assert_err(part);
    }
    assert_eq!(ran.err.lines().count(), 4, "{}", ran.err);
    assert_starts_with!(ran.out, "deployment.apps/web annotated");
    assert!(cluster.annotation("web", "sleep-until").is_some());
    for name in ["free", "off", "wrong"] {
        assert_eq!(cluster.annotation(name, "sleep-until"), None, "{name}");
    }
}

#[test]
fn all_selects_every_object_with_a_schedule() {
    let cluster = Cluster::new();
    cluster.deployment("api", 3, OFFICE);
    cluster.deployment("free", 3, &[]);
    cluster.deployment("web", 3, OFFICE);
    let ran = cluster.dayshift(&["pause", "--all", "--no-wait"]);
    assert_eq!(
        ran.out,
        "deployment.apps/api annotated dayshift/pause=true\n\
         deployment.apps/web annotated dayshift/pause=true\n"
    );
    assert_eq!((ran.status, ran.err.as_str()), (0, ""));

    let again = cluster.dayshift(&["pause", "--all", "--no-wait", "-n", "prod"]);
    assert_eq!(
        (again.status, &*again.err),
        (3, "error: namespace prod does not exist\n")
    );
    cluster.api.namespace("prod");
    for (choice, expected) in [
        (
            &["--all"][..],
            "no workload has a schedule in namespace prod",
        ),
        (
            &["-l", "app=x"],
            "no scheduled workload in namespace prod matches app=x",
        ),
        (
            &["deploy", "--all"],
            "no Deployment has a schedule in namespace prod",
        ),
    ] {
        let ran = cluster.dayshift(&[&["pause", "-n", "prod"], choice].concat());
        assert_eq!((ran.status, ran.err), (1, format!("error: {expected}\n")));
    }
}

#[test]
fn resume_removes_all_overrides() {
    let cluster = Cluster::new();
    let pause = ("pause", "true");
    cluster.deployment("web", 3, &[OFFICE, &[pause]].concat());
    let planned = cluster.dayshift(&["resume", "web", "--dry-run"]);
    assert_eq!(
        planned.out,
        "deployment.apps/web annotated dayshift/pause- (dry run)\n"
    );
    assert!(cluster.annotation("web", "pause").is_some());
    let done = cluster.dayshift(&["resume", "web"]);
    assert_starts_with!(done.out, "deployment.apps/web resumed, replicas 3; ");
    assert_eq!(cluster.annotation("web", "pause"), None);
    let again = cluster.dayshift(&["resume", "web"]);
    assert_eq!(
        (again.status, again.out.as_str()),
        (0, "deployment.apps/web unchanged\n")
    );
}

#[test]
fn wrong_usage_exits_with_2_and_writes_nothing() {
    let cluster = Cluster::new();
    cluster.deployment("web", 3, OFFICE);
    for [line, expected] in rows(
        "
            wake web => --for 2h
            wake web --for 2h --until 22:00 => cannot be used with
            wake web --until tonight => write `22:00`
            wake web --for -1h => write a time such as
            wake dev/web -n prod --for 1h => nor the namespace `prod`
            wake balls/web -n prod --for 1h => `balls` is neither a kind
            wake svc/web --for 1h => not of a kind that dayshift scales
            sleep --for 2h => name the workloads
            pause web --all => or --all
            pause ds/web => not of a kind that dayshift scales
            resume web -A => -n NAME
        ",
    ) {
        let ran = cluster.dayshift(&words(line));
        assert_eq!(ran.status, 2, "{line}: {ran:?}");
        assert!(ran.err.contains(expected), "{line}: {ran:?}");
    }
    let past = cluster.dayshift(&["wake", "web", "--until", "2020-01-01 00:00"]);
    assert_eq!(past.status, 1);
    past.assert_err("is in the past");
}

/// A schedule that is running until 2098.
pub(super) const RUNNING: &[(&str, &str)] =
    &[("start", "2020-01-01 00:00"), ("stop", "2098-01-01 00:00")];

#[test]
fn an_invalid_override_can_be_replaced() {
    let cluster = Cluster::new();
    cluster.deployment("web", 3, &[RUNNING, &[("wake-until", "tonight")]].concat());
    let ran = cluster.dayshift(&["wake", "dev/web", "--for", "2h", "--no-wait"]);
    assert_eq!((ran.status, &*ran.err), (0, ""), "{ran:?}");
}

/// `kubectl rollout undo` restored the annotations of an old override while no controller was running.
#[test]
fn a_new_override_acts_despite_an_undo() {
    let cluster = Cluster::new();
    let until = "2099-12-24T18:00:00+09:00";
    for (command, key) in [("sleep", "sleep-until"), ("wake", "wake-until")] {
        let brought_back = [
            OFFICE,
            &[(key, until), ("override-began", "2026-01-01T00:00:00Z")],
        ];
        cluster.deployment(command, 3, &brought_back.concat());
        let ran = cluster.dayshift(&[command, command, "--until", until, "--no-wait"]);
        assert_eq!((ran.status, ran.err.as_str()), (0, ""), "{command}");
        assert_eq!(
            cluster.annotation(command, "override-began"),
            None,
            "{command}"
        );
        assert_eq!(cluster.annotation(command, key).as_deref(), Some(until));
    }
    cluster.deployment(
        "pause",
        3,
        &[OFFICE, &[("override-began", "2026-01-01T00:00:00Z")]].concat(),
    );
    cluster.dayshift(&["pause", "pause", "--no-wait"]);
    assert_eq!(cluster.annotation("pause", "override-began"), None);

    let _controller = Controller::on(&cluster);
    let ran = cluster.dayshift(&["sleep", "sleep", "--until", until]);
    assert_eq!(ran.status, 0, "{ran:?}");
    assert_eq!(cluster.label("sleep", "state").as_deref(), Some("slept"));
}

/// The last writer of a metadata field in `managedFields`.
fn writer_of<'a>(object: &'a Value, members: &str, key: &str) -> &'a str {
    let entries = object["metadata"]["managedFields"].as_array().unwrap();
    let field = format!("/fieldsV1/f:metadata/f:{members}/f:dayshift~1{key}");
    let owners = entries.iter().filter(|it| it.pointer(&field).is_some());
    let owners: Vec<_> = owners.map(|it| it["manager"].as_str().unwrap()).collect();
    assert_eq!(owners.len(), 1, "{members} {key}: {owners:?}");
    owners[0]
}

#[test]
fn managed_fields_distinguish_a_command_from_the_controller() {
    let cluster = Cluster::new();
    cluster.deployment("web", 0, OFFICE);
    let _controller = Controller::on(&cluster);
    let ran = cluster.dayshift(&["wake", "deploy/web", "--until", "2099-12-24T18:00+09:00"]);
    assert_eq!(ran.status, 0, "{ran:?}");
    let web = cluster.api.get("Deployment", "dev", "web").unwrap();
    assert_eq!(writer_of(&web, "annotations", "wake-until"), "dayshift-cli");
    assert_eq!(writer_of(&web, "labels", "state"), "dayshift");
}

/// A colleague must not end a wake of another user early by accident.
#[test]
fn a_shorter_override_needs_the_shorten_flag() {
    let cluster = Cluster::new();
    let awake = [
        OFFICE,
        &[
            ("wake-until", "2099-12-24T05:16:00+09:00"),
            ("override-by", "jane"),
            ("reason", "load test"),
        ],
    ]
    .concat();
    cluster.deployment("web", 3, &awake);
    let wake = |flags: &[&str]| {
        let command = ["wake", "deploy/web", "--no-wait"];
        cluster.dayshift(&[&command[..], flags].concat())
    };
    let active = "awake until Thu 2099-12-24 05:16 JST by jane (load test)";
    let ran = wake(&["--for=30m"]);
    let error = format!("it is {active}; --shorten ends it earlier");
    ran.assert_err(&error);
    assert_eq!(ran.status, 1);
    let until = cluster.annotation("web", "wake-until");
    assert_eq!(until.as_deref(), Some("2099-12-24T05:16:00+09:00"));

    let ran = wake(&["--until=2099-12-24T06:00+09:00"]);
    assert_eq!(ran.status, 0, "{ran:?}");
    let ran = wake(&["--for=30m", "--shorten"]);
    assert_eq!(ran.status, 0, "{ran:?}");
    let until = cluster.annotation("web", "wake-until").unwrap();
    assert!(
        !until.starts_with("2099") && until.ends_with(":00+09:00"),
        "{until}"
    );

    // The same for a pause without an end, and for a Namespace.
    cluster.deployment("off", 3, &[OFFICE, &[("pause", "true")]].concat());
    let ran = cluster.dayshift(&["pause", "off", "--for=1h", "--no-wait"]);
    ran.assert_err("it is paused; --shorten");
}

/// A later version can give its labels another meaning.
#[test]
fn commands_leave_the_state_of_a_later_version_unchanged() {
    let cluster = Cluster::new();
    cluster.deployment("web", 3, OFFICE);
    let api = &cluster.api;
    let fingerprint = Some("v9-0123456789abcdef");
    api.label("dev", "web", "dayshift/fingerprint", fingerprint)
        .unwrap();
    for command in [
        &["wake", "web", "--for=1h"][..],
        &["resume", "web"],
        &["sync", "web"],
    ] {
        let ran = cluster.dayshift(command);
        let error = "its state was written by a later version of dayshift";
        assert!(ran.err.contains(error), "{command:?}: {}", ran.err);
        assert_eq!(ran.status, 1);
    }
}

/// Windows that are over are dropped, and all others are kept.
#[test]
fn wake_from_a_time_adds_a_window_to_extra() {
    let cluster = Cluster::new();
    let known = [
        OFFICE,
        &[("extra", "2020-01-04 09:00-18:00; 2099-12-06 20:00-23:00")],
    ]
    .concat();
    cluster.deployment("web", 0, &known);
    let args = [
        "wake",
        "deploy/web",
        "--from=2099-12-05 09:00",
        "--until=18:00",
    ];
    let text = "2099-12-06 20:00-23:00; 2099-12-05 09:00-18:00";
    let runs = "deployment.apps/web runs from Sat 2099-12-05 09:00 JST to Sat 2099-12-05 18:00 JST";
    let planned = cluster.dayshift(&[&args[..], &["--dry-run"]].concat());
    assert_eq!(
        planned.out,
        format!("{runs}: annotated dayshift/extra={text} (dry run)\n"),
        "{planned:?}"
    );
    assert_ne!(cluster.annotation("web", "extra").as_deref(), Some(text));
    let written = cluster.dayshift(&args);
    assert_eq!(
        written.out,
        format!("{runs}: annotated dayshift/extra={text}\n"),
        "{written:?}"
    );
    assert_eq!(cluster.annotation("web", "extra").as_deref(), Some(text));
    let again = cluster.dayshift(&args);
    assert_eq!(again.out, format!("{runs} already\n"), "{again:?}");

    // Exact counts cannot have windows, and a window needs an end.
    cluster.deployment("scaled", 1, &[("scale", "Mon 08:00 = 5; 19:00 = 0")]);
    let ran = cluster.dayshift(&["wake", "scaled", "--from=Sat 09:00", "--for=9h"]);
    assert_eq!(ran.status, 1, "{ran:?}");
    ran.assert_err("`extra`");
    assert!(cluster.annotation("scaled", "extra").is_none());
    let ran = cluster.dayshift(&["wake", "web", "--from=Sat 09:00"]);
    assert_eq!(ran.status, 2, "{ran:?}");
    ran.assert_err("set an end");
}

#[test]
fn wake_from_a_time_adds_a_window_to_a_namespace() {
    let cluster = Cluster::new();
    cluster.deployment("web", 0, OFFICE);
    let args = ["wake", "ns/dev", "--from=2099-12-05 22:00", "--for=4h"];
    let ran = cluster.dayshift(&args);
    assert_eq!(ran.status, 0, "{ran:?}");
    let namespace = cluster.api.get("Namespace", "", "dev").unwrap();
    assert_eq!(
        namespace["metadata"]["annotations"]["dayshift/extra"],
        "2099-12-05 22:00-02:00"
    );
}

/// Without a terminal no user can answer, so a script needs no `--yes`, and can give it.
#[test]
fn an_override_of_all_namespaces_accepts_yes() {
    for flags in [&[][..], &["--yes"], &["-y"]] {
        let cluster = Cluster::new();
        cluster.deployment("web", 2, &[("hours", "Mon-Fri 09:00-19:00")]);
        let sleep = ["sleep", "--all", "-A", "--for", "1h", "--no-wait"];
        let ran = cluster.dayshift(&[&sleep[..], flags].concat());
        assert_eq!(ran.status, 0, "{ran:?}");
        ran.assert_err_lacks("[y/N]");
        assert!(
            cluster.annotation("web", "sleep-until").is_some(),
            "{flags:?}"
        );
    }
}

/// The question names the command, and only `y` or `yes` confirms it.
#[test]
fn a_terminal_asks_before_an_override_of_all_namespaces() {
    const QUESTION: &str = "all scheduled workloads in all namespaces? [y/N]";
    let confirmed: &[&str] = &["--yes"];
    let dry: &[&str] = &["--dry-run"];
    for (command, key) in [
        (&["sleep", "--for", "1h"][..], "sleep-until"),
        (&["wake", "--for", "1h"], "wake-until"),
        (&["pause"], "pause"),
    ] {
        for (flags, answer, is_written) in [
            (&[][..], Some("n"), false),
            (&[], Some(""), false),
            (&[], Some("yes"), true),
            (confirmed, None, true),
            (dry, None, false),
        ] {
            let cluster = Cluster::new();
            cluster.deployment("web", 2, &[("hours", "Mon-Fri 09:00-19:00")]);
            let all = ["--all", "-A", "--no-wait"];
            let mut ran = OnTerminal::start(&cluster, "xterm", &[command, &all, flags].concat());
            if let Some(answer) = answer {
                ran.wait_for(&format!("{} {QUESTION}", command[0]));
                ran.answer(answer);
            }
            let ran = ran.end();
            let case = format!("{command:?} {flags:?} {answer:?}: {ran:?}");
            assert_eq!(ran.err.contains(QUESTION), answer.is_some(), "{case}");
            assert_eq!(
                cluster.annotation("web", key).is_some(),
                is_written,
                "{case}"
            );
            let is_declined = answer.is_some() && !is_written;
            assert_eq!(
                ran.err.contains("nothing was changed"),
                is_declined,
                "{case}"
            );
            assert_eq!(ran.status, if is_declined { 2 } else { 0 }, "{case}");
        }
    }
}
