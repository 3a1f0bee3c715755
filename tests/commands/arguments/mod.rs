//! Flags, variables and arguments as users write them.

mod cli;
mod flags;
mod given_files;
mod help;

use crate::program::dayshift_with;
use crate::rows::{rows, words};

fn run(variables: &[(&str, &str)], line: &str) -> (i32, String, String) {
    let args = words(line);
    let ended = dayshift_with(variables, &args, "");
    (ended.status, ended.out, ended.err)
}

#[test]
fn only_run_has_variables_for_its_own_flags() {
    // Each of these variables would cause an error or other output if it were used.
    let plan = "plan -f examples/cron.yaml --from 2026-11-23 --days 2 -o table";
    let until = "plan -f examples/cron.yaml --from 2026-11-23 --until 2026-11-25 -o table";
    let lint = "lint examples/cron.yaml";
    let (_, expected, _) = run(&[], plan);
    for (variable, line) in [
        (("DAYSHIFT_PLAN_UNTIL", "2026-11-24"), plan),
        (("DAYSHIFT_PLAN_DAYS", "3"), until),
        (("DAYSHIFT_PLAN_SELECTOR", "team=web"), plan),
        (("DAYSHIFT_PLAN_OUTPUT", "picture"), plan),
        (("DAYSHIFT_PLAN_NAMESPACE", "team-a"), plan),
        (("DAYSHIFT_NAMESPACE", "team-a"), plan),
        (("DAYSHIFT_SELECTOR", "team=web"), plan),
        (("DAYSHIFT_DEFAULT_HOURS", "09:00-19:00"), plan),
        (("DAYSHIFT_KINDS", "cronjobs"), plan),
        (("DAYSHIFT_PRICE", "cpu=1"), plan),
        (("DAYSHIFT_CALENDAR", "de=/nonexistent"), plan),
        (("DAYSHIFT_LINT_OUTPUT", "picture"), lint),
        (("DAYSHIFT_OUTPUT", "picture"), lint),
        (("DAYSHIFT_NAMESPACE", "team-a,team-b"), lint),
        (("DAYSHIFT_LOG_LEVEL", "loud"), "sandbox --for 1h"),
        (
            ("DAYSHIFT_CONVERT_SELECTOR", "team=web"),
            "convert ./examples",
        ),
        (
            ("DAYSHIFT_CONVERT_IN_PLACE", "true"),
            "convert --check ./examples",
        ),
    ] {
        let (status, out, err) = run(&[variable], line);
        let expected_err = if line.starts_with("convert") {
            "0 objects to convert, 0 warnings, 0 infos\n"
        } else {
            ""
        };
        assert_eq!(
            (status, err.as_str()),
            (0, expected_err),
            "{variable:?} {line}"
        );
        if line.starts_with("plan") {
            assert_eq!(out, expected, "{variable:?}");
        }
    }
}

#[test]
fn connection_and_schedule_variables_apply_to_every_command() {
    for (variable, line, expected_text) in [
        (
            ("DAYSHIFT_TIMEZONE", "Asia/Tokyo"),
            "plan -f examples/one-start.yaml --days 1 -o json",
            "Asia/Tokyo",
        ),
        (
            ("DAYSHIFT_ANNOTATION_PREFIX", "other"),
            "lint examples",
            "0 errors",
        ),
        (
            ("DAYSHIFT_KUBECONFIG", "/nowhere/config"),
            "status",
            "/nowhere/config",
        ),
        (
            ("DAYSHIFT_KUBECONFIG", "/nowhere/config"),
            "wake web --for 1h",
            "/nowhere/config",
        ),
        (("DAYSHIFT_AS_GROUP", "developers"), "status", "--as <USER>"),
    ] {
        let (_, out, err) = run(&[variable], line);
        assert!((out + &err).contains(expected_text), "{variable:?} {line}");
    }
}

#[test]
fn names_the_variable_with_an_invalid_value() {
    let absent = ("KUBECONFIG", "/nonexistent");
    for (variable, line, named) in [
        (
            ("DAYSHIFT_TIMEZONE", "Europe/Berln"),
            "plan -f examples",
            "'DAYSHIFT_TIMEZONE'",
        ),
        (
            ("DAYSHIFT_TIMEZONE", "Europe/Berln"),
            "status",
            "'DAYSHIFT_TIMEZONE'",
        ),
        (
            ("DAYSHIFT_ANNOTATION_PREFIX", "Day/shift"),
            "lint examples",
            "'DAYSHIFT_ANNOTATION_PREFIX'",
        ),
        (
            ("DAYSHIFT_MAX_IN_FLIGHT", "0"),
            "run",
            "'DAYSHIFT_MAX_IN_FLIGHT'",
        ),
        (
            ("DAYSHIFT_LOG_FORMAT", "xml"),
            "run",
            "'DAYSHIFT_LOG_FORMAT'",
        ),
        (("DAYSHIFT_DRY_RUN", "perhaps"), "run", "'DAYSHIFT_DRY_RUN'"),
        (
            ("DAYSHIFT_DEFAULT_HOURS", "9-19"),
            "run --namespace=dev",
            "'DAYSHIFT_DEFAULT_HOURS'",
        ),
        (
            ("DAYSHIFT_ZONEINFO", "/nowhere"),
            "plan -f examples",
            "DAYSHIFT_ZONEINFO",
        ),
    ] {
        let (status, out, err) = run(&[variable, absent], line);
        assert_eq!(
            (status, out.as_str()),
            (2, ""),
            "{variable:?} {line}: {err}"
        );
        assert!(err.contains(named), "{variable:?} {line}: {err}");
        assert!(
            !err.replace("'--help'", "").contains("--"),
            "{variable:?} {line} blames a flag: {err}"
        );
    }
    // If both are wrong, the error is about the flag.
    let wrong = [("DAYSHIFT_TIMEZONE", "Nowhere")];
    let (_, _, err) = run(&wrong, "plan -f examples --timezone Europe/Berln");
    assert!(
        err.contains("'--timezone <ZONE>'") && err.contains("Berln"),
        "{err}"
    );
    let (_, _, err) = run(&wrong, "plan -f examples --days x --timezone UTC");
    assert_contains!(err, "'--days <N>'");
}

#[test]
fn a_flag_of_run_wins_over_variables_of_conflicting_flags() {
    // The command fails only later, because of the missing kubeconfig.
    for (variable, line) in [
        (("DAYSHIFT_NAMESPACE", "a"), "run -A"),
        (("DAYSHIFT_ALL_NAMESPACES", "true"), "run -n a"),
        (
            ("DAYSHIFT_DEFAULT_HOURS", "09:00-19:00"),
            "run -n a --default-stop 20:00",
        ),
        (
            ("DAYSHIFT_DEFAULT_STOP", "20:00"),
            "run -n a --default-hours 09:00-19:00",
        ),
    ] {
        let listen = ("DAYSHIFT_LISTEN", "127.0.0.1:0");
        let (status, _, err) = run(&[variable, listen, ("KUBECONFIG", "/nonexistent")], line);
        assert_eq!(status, 3, "{variable:?} {line}: {err}");
    }
}

#[test]
fn accepts_flags_before_the_subcommand() {
    for (line, status, expected_text) in [
        ("help", 0, "Usage: dayshift"),
        ("help plan", 0, "Usage: dayshift plan"),
        ("-n team-a plan -f examples/cron.yaml -o table", 0, "team-a"),
        (
            "--timezone Asia/Tokyo plan -f examples/one-start.yaml",
            0,
            "Asia/Tokyo",
        ),
        ("plan examples/cron.yaml -o table", 0, "default "),
        ("plan ./examples -o table", 0, "default "),
        ("plan web.yaml", 3, "cannot read web.yaml"),
        (
            "plan examples/cron.yaml deploy/web",
            2,
            "either files or live workloads",
        ),
        ("plan examples/cron.yaml -A", 2, "either files or live"),
        ("-n team-a", 2, "Usage: dayshift"),
    ] {
        let (ended, out, err) = run(&[], line);
        assert_eq!(ended, status, "{line}: {err}");
        assert!((out + &err).contains(expected_text), "{line}");
    }
}

#[test]
fn a_default_schedule_must_be_valid_and_limited() {
    for [line, part] in rows(
        "
            run --default-hours 09:00-19:00 => limit them with --namespace or --namespace-selector
            run --namespace=dev --default-hours 9-19 => '--default-hours <HOURS>': `9` is not
            run --namespace=dev --default-hours 09:00-19:00 --default-stop 20:00 => cannot be used with
        "
    ) {
        let (status, _, err) = run(&[], line);
        assert_eq!(status, 2, "{line}: {err}");
        assert!(err.contains(part), "{line}: {err}");
    }
}
