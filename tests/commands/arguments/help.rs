//! The properties that all commands share: help, colors, and the time zone of the output.

use crate::program::{dayshift, dayshift_with};
use crate::rows::words;

/// `-h` of the commands that are used in emergencies fits the smallest terminal.
#[test]
fn short_help_fits_a_terminal() {
    for command in ["wake", "sleep", "sync", "pause", "resume", "restore"] {
        let ended = dayshift_with(&[("DAYSHIFT_COLUMNS", "80")], &[command, "-h"], "");
        let lines: Vec<_> = ended.out.lines().collect();
        assert!(
            lines.len() <= 24,
            "{command}: {} lines\n{}",
            lines.len(),
            ended.out
        );
        let is_wide = |line: &&&str| line.chars().count() > 80;
        assert_eq!(lines.iter().find(is_wide), None, "{command}");
        let long = dayshift(&[command, "--help"]).out;
        for flag in [
            "--kubeconfig",
            "--annotation-prefix",
            "--kinds",
            "--color",
            "--context",
        ] {
            assert!(!ended.out.contains(flag), "{command} -h: {flag}");
            assert!(long.contains(flag), "{command} --help: {flag}");
        }
        assert!(long.contains("Exit status: 0 done"), "{command}: {long}");
        for flag in ["--namespace", "--all-namespaces", "--selector", "WORKLOAD"] {
            assert!(ended.out.contains(flag), "{command} -h: {flag}");
        }
    }
    // The help of `run` is complete, because it is used to write a manifest.
    assert_contains!(dayshift(&["run", "-h"]).out, "--max-in-flight");
}

/// The heading above each flag in `status -h`.
#[test]
fn flags_are_listed_under_the_expected_heading() {
    let help = dayshift(&["status", "-h"]).out;
    for (flag, expected) in [
        ("--output <", "Options:"),
        ("--sort-by <", "Options:"),
        ("--price <", "Options:"),
        ("--namespace <", "Which workloads:"),
        ("--all-namespaces ", "Which workloads:"),
        ("--selector <", "Which workloads:"),
        ("[WORKLOAD]... ", "Which workloads:"),
    ] {
        let (above, _) = help.split_once(&format!(" {flag}")).unwrap();
        let mut headings = above.lines().filter(|line| {
            let is_indented = line.starts_with(' ');
            !is_indented && line.ends_with(':')
        });
        assert_eq!(headings.next_back(), Some(expected), "{flag}: {help}");
    }
}

#[test]
fn color_flag_controls_color() {
    let plan = words("plan examples/cron.yaml -o table --from 2026-11-23");
    let escape = "\u{1b}[";
    for (variables, flag, expected) in [
        (&[][..], &[][..], false),
        (&[], &["--color", "auto"], false),
        (&[], &["--color", "always"], true),
        (&[("NO_COLOR", "1")], &["--color=always"], true),
        (&[("CLICOLOR_FORCE", "1")], &[], true),
        (&[("CLICOLOR_FORCE", "1")], &["--color", "never"], false),
        (&[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")], &[], false),
        // Only `run` has variables for its own flags.
        (&[("DAYSHIFT_COLOR", "always")], &[], false),
    ] {
        let after = dayshift_with(variables, &[&plan[..], flag].concat(), "");
        assert_eq!(after.status, 0, "{after:?}");
        assert_eq!(
            after.out.contains(escape),
            expected,
            "{variables:?} {flag:?}"
        );
        let before = dayshift_with(variables, &[flag, &plan[..]].concat(), "");
        assert_eq!(before, after, "{variables:?} {flag:?}");
    }
    let wrong = dayshift(&["plan", "--color", "sometimes", "examples/cron.yaml"]);
    assert_eq!(wrong.status, 2, "{wrong:?}");
    wrong.assert_err("[possible values: auto, always, never]");
}

#[test]
fn shows_times_in_the_zone_of_the_flag() {
    let tokyo = "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: web\n  annotations:\n    dayshift/hours: '09:00-19:00'\n    dayshift/timezone: Asia/Tokyo\n";
    for (zone, from, start) in [
        (
            &[][..],
            "2026-11-23T00:00:00+09:00",
            "Mon 2026-11-23 09:00:00 JST",
        ),
        (
            &["--timezone", "UTC"],
            "2026-11-23",
            "Tue 2026-11-24 00:00:00 UTC",
        ),
        (
            &["--timezone", "Europe/Berlin"],
            "2026-11-23",
            "Tue 2026-11-24 01:00:00 CET",
        ),
    ] {
        let sandbox = ["sandbox", "-", "--for", "30h", "--from", from];
        let ended = dayshift_with(&[], &[&sandbox[..], zone].concat(), tokyo);
        assert_eq!(ended.status, 0, "{ended:?}");
        assert!(ended.out.contains(start), "{zone:?}: {}", ended.out);
    }
}

#[test]
fn all_namespaces_wins_over_namespace_in_each_command() {
    let nowhere = ["--kubeconfig", "/nonexistent", "-n", "dev", "-A"];
    for command in [
        &["status"][..],
        &["plan"],
        &["wake", "--for", "1h"],
        &["sleep", "--for", "1h"],
        &["pause"],
        &["resume"],
        &["sync"],
        &["restore"],
        &["convert"],
        &["dashboard"],
    ] {
        let ended = dayshift(&[command, &nowhere].concat());
        assert_eq!(ended.status, 3, "{command:?}: {ended:?}");
        assert!(ended.err.contains("/nonexistent"), "{command:?}: {ended:?}");
    }
}

#[test]
fn actions_show_examples() {
    for command in ["wake", "sleep", "sync", "pause", "resume"] {
        let help = dayshift(&[command, "--help"]).out;
        let example = format!("\nExamples:\n  dayshift {command} deploy/web");
        assert_contains!(help, example);
    }
}

/// A shell can export `COLUMNS`, and a pipeline must not depend on it.
#[test]
fn columns_do_not_affect_output_in_a_pipe() {
    for args in [
        &["plan", "examples/office-hours.yaml"][..],
        &["status", "--help"],
    ] {
        let narrow = dayshift_with(&[("COLUMNS", "40")], args, "");
        let wide = dayshift_with(&[("COLUMNS", "200")], args, "");
        assert_eq!(narrow.out, wide.out, "{args:?}");
    }
}
