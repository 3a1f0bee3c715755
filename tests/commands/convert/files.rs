//! Files, directories and standard input.

use std::{
    ffi::OsStr,
    fs,
    os::unix::{
        ffi::OsStrExt,
        fs::{PermissionsExt, symlink},
    },
};

use super::convert;
use crate::rows::words;
use crate::{program::dayshift, terminal::words::assert_escaped};

const PEERS: &str = "tests/commands/convert/peers/downscaler.yaml";
const BEFORE: &str = include_str!("peers/downscaler.yaml");
const AFTER: &str = include_str!("peers/downscaler.expected.yaml");

fn web(annotation: &str) -> String {
    format!(
        "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: web\n  annotations:\n    {annotation}\n"
    )
}

#[test]
fn writes_the_file_to_standard_output_and_findings_to_standard_error() {
    for args in [&[PEERS][..], &["-f", PEERS], &["-"]] {
        let (status, out, err) = convert(args, BEFORE);
        assert_eq!((status, out.as_str()), (0, AFTER), "{err}");
        let place = if args == ["-"] {
            "standard input"
        } else {
            PEERS
        };
        for part in [
            "info[saved-count]: downscaler/original-replicas: the count 3 is now the label dayshift/saved-replicas\n",
            "info[whole-nights]: downscaler/downtime: ",
            "info[grace-period]: downscaler/grace-period: ",
            &format!(" --> {place}:18:36\n"),
            "18 |     downscaler/original-replicas: \"3\"\n",
            "   = in: Deployment team/web\n",
            "4 objects to convert, 0 warnings, 4 infos\n",
        ] {
            assert_contains!(err, part);
        }
    }
}

#[test]
fn a_check_changes_nothing_and_ends_with_status_1() {
    let (status, out, _) = convert(&["--check", PEERS], "");
    assert_eq!(status, 1);
    let expected = format!(
        "{PEERS}:10:1: Deployment team/web\n  - downscaler/uptime\n  - downscaler/original-replicas\n  + dayshift/hours: \"06:00-23:00\"\n  + dayshift/timezone: \"Europe/Berlin\"\n  + dayshift/saved-replicas: \"3\" (a label)\n"
    );
    assert_contains!(out, expected);
    let (status, out, err) = convert(&["--check", "-"], AFTER);
    assert_eq!((status, out.as_str()), (0, ""));
    assert_eq!(err, "0 objects to convert, 0 warnings, 0 infos\n");
}

#[test]
fn changes_a_file_whose_name_is_not_utf8() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join(OsStr::from_bytes(b"caf\xe9.yaml"));
    fs::write(&file, BEFORE).unwrap();
    let (status, _, err) = convert(&["-i", directory.path().to_str().unwrap()], "");
    assert_eq!(status, 0, "{err}");
    assert_eq!(fs::read_to_string(&file).unwrap(), AFTER);
    assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 1);
}

/// A commit of another person could otherwise change any file of the user.
#[test]
fn files_behind_links_out_of_the_directory_are_not_changed() {
    let outside = tempfile::tempdir().unwrap();
    let file = outside.path().join("a.yaml");
    fs::write(&file, BEFORE).unwrap();
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join(name);
    fs::write(path("own.yaml"), BEFORE).unwrap();
    symlink(&file, path("link.yaml")).unwrap();
    symlink(outside.path(), path("linked")).unwrap();
    let (_, _, err) = convert(&["-i", directory.path().to_str().unwrap()], "");
    assert_eq!(fs::read_to_string(&file).unwrap(), BEFORE, "{err}");
    assert!(
        err.contains("link.yaml") && err.contains("outside of the directory"),
        "{err}"
    );
    assert_eq!(
        fs::read_to_string(path("own.yaml")).unwrap(),
        AFTER,
        "{err}"
    );
    assert!(path("link.yaml").is_symlink() && path("linked").is_symlink());
    assert_eq!(fs::read_dir(outside.path()).unwrap().count(), 1);
}

#[test]
fn changes_only_files_with_something_to_convert() {
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join(name);
    fs::write(path("a.yaml"), BEFORE).unwrap();
    fs::set_permissions(path("a.yaml"), fs::Permissions::from_mode(0o640)).unwrap();
    fs::write(path("b.yaml"), web("team: a")).unwrap();
    let old = fs::metadata(path("b.yaml")).unwrap().modified().unwrap();
    let name = directory.path().to_str().unwrap();
    let (status, out, _) = convert(&["-i", name], "");
    assert_eq!((status, out.as_str()), (0, ""));
    assert_eq!(fs::read_to_string(path("a.yaml")).unwrap(), AFTER);
    let mode = fs::metadata(path("a.yaml")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o640);
    let new = fs::metadata(path("b.yaml")).unwrap().modified().unwrap();
    assert_eq!(old, new);
    assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 2);
}

#[test]
fn a_setting_without_equivalent_gives_status_1_and_stays() {
    let text = web("downscaler/uptime: Mon-Fri 08:00-20:00 Europe/Berln");
    let (status, out, err) = convert(&["-"], &text);
    assert_eq!((status, out.as_str()), (1, text.as_str()));
    let expected = "
 --> standard input:6:44
  |
6 |     downscaler/uptime: Mon-Fri 08:00-20:00 Europe/Berln
  |                                            ^^^^^^^^^^^^
";
    assert!(
        err.contains(expected) && err.contains("Europe/Berlin"),
        "{err}"
    );
}

#[test]
fn exit_status_distinguishes_a_finding_from_an_outage() {
    let bad = "{a: ";
    for (args, input, status) in [
        (&["-"][..], "", 0),
        (&["-"], bad, 3),
        (&["/nonexistent.yaml"], "", 3),
        (&[], "", 2),
        (&["-i", "-"], "", 2),
        (&["--check", "-i", "a.yaml"], "", 2),
        (&["-A", "a.yaml"], "", 2),
        (&["--default-uptime", "always"], "", 2),
        (&["--default-timezone", "Mars", "-"], "", 2),
        (&["--default-weekframe", "Mon", "-"], "", 2),
    ] {
        let (found, _, err) = convert(args, input);
        assert_eq!(found, status, "{args:?}: {err}");
    }
    let (_, out, err) = convert(&["-"], bad);
    assert_eq!(out, bad);
    assert_contains!(err, "error[syntax]");
}

/// A directory of manifests can have hundreds of equal findings. They are shown once, unless
/// `--check` lists each.
#[test]
fn a_check_lists_every_finding() {
    let several: String = ["a", "b", "c"]
        .map(|name| {
            web("downscaler/scale-children: 'true'").replace("name: web", &format!("name: {name}"))
        })
        .join("---\n");
    let (_, _, err) = convert(&["-"], &several);
    assert_eq!(err.matches("warning[no-equivalent]").count(), 1, "{err}");
    let more = "  = in: Deployment default/a\n  = and: 2 more objects; --check lists each\n\n";
    assert_contains!(err, more);
    let (_, _, err) = convert(&["--check", "-"], &several);
    assert_eq!(err.matches("warning[no-equivalent]").count(), 3, "{err}");
    for name in ["a", "b", "c"] {
        let place = format!("= in: Deployment default/{name}\n\n");
        assert!(err.contains(&place), "{name}: {err}");
    }
}

#[test]
fn converts_flags_of_other_tools_to_namespace_annotations() {
    let flags = [
        "--default-uptime",
        "Mon-Fri 07:30-20:30 CET",
        "--downtime-replicas",
        "1",
    ];
    let (status, out, _) = convert(&[&flags[..], &["-n", "team"]].concat(), "");
    assert_eq!(status, 0);
    assert_eq!(
        out,
        "kubectl annotate namespace team dayshift/hours='Mon-Fri 07:30-20:30' dayshift/timezone=CET dayshift/stop-replicas=1\n"
    );
    let namespaces = "apiVersion: v1\nkind: Namespace\nmetadata:\n  name: a\n---\napiVersion: v1\nkind: Namespace\nmetadata:\n  name: b\n  annotations:\n    downscaler/uptime: always\n---\napiVersion: v1\nkind: Namespace\nmetadata:\n  name: kube-system\n";
    let (_, out, _) = convert(&[&flags[..], &["-"]].concat(), namespaces);
    assert_eq!(
        out.matches("dayshift/hours: \"Mon-Fri 07:30-20:30\"")
            .count(),
        1,
        "{out}"
    );
    assert_eq!(
        out.matches("dayshift/hours: \"00:00-24:00\"").count(),
        1,
        "{out}"
    );
    let spans = web("downscaler/uptime: 08:00-20:00");
    let defaults = words("--default-timezone Europe/Berlin --default-weekframe Mon-Fri -");
    let (status, out, _) = convert(&defaults, &spans);
    assert_eq!(status, 0);
    assert_contains!(out, "dayshift/hours: Mon-Fri 08:00-20:00");
}

#[test]
fn converts_the_grace_period_flag_to_enforce() {
    for (text, status, enforce, output) in [
        ("900", 0, "15m", "info[grace-period]: --grace-period: "),
        ("1h30m", 0, "1h30m", "info[grace-period]: --grace-period: "),
        ("0", 0, "1s", "info[grace-period]: --grace-period: "),
        (
            "48h",
            1,
            "",
            "warning[no-equivalent]: --grace-period: `48h` is more than 24h",
        ),
        ("soon", 1, "", "warning[not-read]: --grace-period: `soon`"),
    ] {
        let (found, out, err) = convert(&["--grace-period", text, "-n", "team"], "");
        assert_eq!(found, status, "{text}: {err}");
        let command = format!("kubectl annotate namespace team dayshift/enforce={enforce}\n");
        let expected = if enforce.is_empty() { "" } else { &command };
        assert_eq!(out, expected, "{text}");
        assert!(err.contains(output), "{text}: {err}");
    }
    // A flag without an equivalent does not prevent the conversion of the others.
    let flags = words("--downtime-replicas 1 --grace-period 48h -n team");
    let (status, out, _) = convert(&flags, "");
    assert_eq!(status, 1);
    assert_eq!(
        out,
        "kubectl annotate namespace team dayshift/stop-replicas=1\n"
    );
}

/// Each setting of a Namespace has priority over the flag.
#[test]
fn a_namespace_annotation_wins_over_the_flag() {
    let namespace = |annotation: &str| {
        format!(
            "apiVersion: v1\nkind: Namespace\nmetadata:\n  name: a\n  annotations:\n    {annotation}\n"
        )
    };
    let flags = [
        "--default-uptime",
        "Mon-Fri 07:30-20:30 CET",
        "--downtime-replicas",
        "1",
        "--grace-period",
        "900",
        "-",
    ];
    let [hours, zone] = [
        "dayshift/hours: \"Mon-Fri 07:30-20:30\"",
        "dayshift/timezone: \"CET\"",
    ];
    let [count, grace] = ["dayshift/stop-replicas: \"1\"", "dayshift/enforce: \"15m\""];
    for (own, expected) in [
        (
            "downscaler/downtime: \"never\"",
            ["dayshift/hours: \"00:00-24:00\"", count, grace].as_slice(),
        ),
        (
            "downscaler/downscale-replicas: \"2\"",
            &["dayshift/stop-replicas: \"2\"", hours, zone, grace],
        ),
        (
            "downscaler/grace-period: \"1h\"",
            &["dayshift/enforce: \"1h\"", hours, zone, count],
        ),
    ] {
        let (status, out, err) = convert(&flags, &namespace(own));
        assert_eq!(status, 0, "{err}");
        let mut annotations: Vec<_> = out.lines().skip(5).map(str::trim).collect();
        annotations.sort_unstable();
        let mut expected = expected.to_vec();
        expected.sort_unstable();
        assert_eq!(annotations, expected, "{own}");
    }
}

#[test]
fn keep_leaves_annotations_of_the_other_tool() {
    let (status, out, _) = convert(&["--keep", "-"], &web("downscaler/exclude: 'true'"));
    assert_eq!(status, 0);
    assert_eq!(
        out,
        web("dayshift/exclude: 'true'\n    downscaler/exclude: 'true'")
    );
}

#[test]
fn converted_text_does_not_control_the_terminal() {
    let evil = "\u{1b}]0;x\u{7}\u{202e}";
    let name = format!(
        "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: \"{}\"\n  annotations:\n    downscaler/uptime: \"{}\"\n    \"downscaler/{}\": 'true'\n    downscaler/exclude: 'true'\n",
        "a\\e[31m", "\\e[31m\u{202e} 1 2", "\\e[1m"
    );
    for input in [name, web(&format!("downscaler/uptime: 'x {evil}'"))] {
        for args in [
            &["--check", "-"][..],
            &["-i", "/nonexistent/\u{1b}[31m.yaml"],
        ] {
            let (_, out, err) = convert(args, &input);
            assert_escaped(&out, &format!("{args:?}"));
            assert_escaped(&err, &format!("{args:?}"));
        }
    }
}

#[test]
fn the_page_explains_every_message() {
    let page = include_str!("../../../docs/guides/migrate.md");
    for topic in dayshift_manifest::convert::Topic::ALL {
        assert_contains!(page, format!("\n| `{}` | ", topic.id()), "{topic:?}");
    }
}

#[test]
fn the_help_has_an_example_of_each_use() {
    let (status, out, _) = convert(&["--help"], "");
    assert_eq!(status, 0);
    for part in [
        "dayshift convert -A",
        "dayshift convert --check",
        "dayshift convert -i",
        "| dayshift convert -",
        "--default-uptime",
        "Exit status",
    ] {
        assert_contains!(out, part);
    }
}

#[test]
fn messages_use_the_given_prefix() {
    let text =
        web("downscaler/original-replicas: \"3\"\n    downscaler/uptime: Mon-Fri 08:00-20:00 UTC");
    let prefix = ["--annotation-prefix", "ours.example.com", "-"];
    let (status, out, err) = convert(&prefix, &text);
    assert_eq!(status, 0, "{err}");
    assert_contains!(err, "the label ours.example.com/saved-replicas");
    assert!(!(out + &err).contains("dayshift/"), "{err}");
    let suppressed = web("ours.example.com/hours: 09:00-19:00\n    lint.ours.example.com/nope: x");
    let lint = ["lint", "--annotation-prefix", "ours.example.com", "-"];
    let ended = crate::program::dayshift_with(&[], &lint, &suppressed);
    assert_contains!(
        ended.out,
        "such as lint.ours.example.com/start-without-stop"
    );
}

/// A word that names neither a file nor a workload.
#[test]
fn a_missing_file_is_named() {
    let cluster = crate::fake_server::Cluster::new();
    for ran in [
        dayshift(&["convert", "nosuch"]),
        cluster.dayshift(&["convert", "nosuch"]),
    ] {
        assert_eq!(ran.status, 3, "{ran:?}");
        let said = "there is no file `nosuch`, so it was taken as the name of a workload";
        ran.assert_err(said);
    }
    // A directory of that name exists.
    let ran = dayshift(&["convert", "tests"]);
    ran.assert_err("write ./tests");
    ran.assert_err_lacks("there is no file");
    let ran = dayshift(&["convert", "nosuch.yaml"]);
    ran.assert_err("cannot read nosuch.yaml: ");
    assert_eq!(ran.status, 3);
}

/// Deployments of another tool, each with this annotation.
fn fleet(team: &str, count: usize, uptime: &str) -> String {
    let one = |number| {
        let name = format!("name: {team}-{number}");
        let annotation = format!("downscaler/uptime: {uptime:?}");
        format!("---\n{}", web(&annotation).replace("name: web", &name))
    };
    (0..count).map(one).collect()
}

#[test]
fn proposes_a_named_schedule_if_five_objects_share_one() {
    let (berlin, tokyo) = (
        "Mon-Fri 08:00-18:00 Europe/Berlin",
        "Mon-Fri 09:00-19:00 Asia/Tokyo",
    );
    let hint = "Many objects have the same schedule.";
    let (status, _, err) = convert(&["-"], &(fleet("a", 4, berlin) + &fleet("b", 4, tokyo)));
    assert_eq!(status, 0, "{err}");
    assert_lacks!(err, hint);
    let many = fleet("a", 5, berlin)
        + &fleet("b", 7, tokyo)
        + &fleet("c", 4, "Sat-Sun 10:00-12:00 Asia/Tokyo");
    let (status, out, err) = convert(&["-"], &many);
    assert_eq!(status, 0, "{err}");
    let (_, proposed) = err.split_once(hint).unwrap();
    let lines: Vec<_> = proposed
        .lines()
        .filter(|line| line.contains("schedule-"))
        .collect();
    assert_eq!(
        lines,
        [
            "  schedule-1: {hours: \"Mon-Fri 09:00-19:00\", timezone: \"Asia/Tokyo\"}  # 7 objects",
            "  schedule-2: {hours: \"Mon-Fri 08:00-18:00\", timezone: \"Europe/Berlin\"}  # 5 objects",
        ],
        "{err}"
    );
    // The proposal is a file for --schedules, and the converted objects have the same schedules with it.
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join(name).to_str().unwrap().to_owned();
    let (schedules, own, named) = (path("schedules.yaml"), path("own.yaml"), path("named.yaml"));
    fs::write(&schedules, lines.join("\n")).unwrap();
    fs::write(&own, &out).unwrap();
    let named_text = out
        .replace(
            "dayshift/hours: \"Mon-Fri 09:00-19:00\"",
            "dayshift/schedule: schedule-1",
        )
        .replace(
            "dayshift/hours: \"Mon-Fri 08:00-18:00\"",
            "dayshift/schedule: schedule-2",
        );
    fs::write(&named, named_text).unwrap();
    let plan = |file: &str| {
        let arguments = [
            "plan",
            "-f",
            file,
            "--schedules",
            &schedules,
            "-o",
            "table",
            "--from",
            "2026-11-20",
        ];
        let ran = dayshift(&arguments);
        assert_eq!(ran.status, 0, "{ran:?}");
        ran.out
    };
    assert_eq!(plan(&named), plan(&own));
}
