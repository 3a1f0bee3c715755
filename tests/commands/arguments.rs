//! Flags, variables and words, as people write them.

use crate::program::dayshift_with;

fn run(variables: &[(&str, &str)], line: &str) -> (i32, String, String) {
    let args: Vec<_> = line.split(' ').collect();
    let ended = dayshift_with(variables, &args, "");
    (ended.status, ended.out, ended.err)
}

#[test]
fn a_variable_for_one_command_breaks_no_other() {
    let plan = "plan -f examples/cron.yaml";
    let lint = "lint examples/cron.yaml";
    for (variable, line) in [
        (("DAYSHIFT_OUTPUT", "chart"), lint),
        (("DAYSHIFT_PLAN_OUTPUT", "chart"), lint),
        (("DAYSHIFT_NAMESPACE", "team-a,team-b"), lint),
        (("DAYSHIFT_NAMESPACE", "team-a,team-b"), plan),
        (("DAYSHIFT_SELECTOR", "team=web"), plan),
        (("DAYSHIFT_LOG_LEVEL", "loud"), "sandbox --for 1h"),
        // A flag wins over the variables of those that exclude it.
        (
            ("DAYSHIFT_PLAN_DAYS", "3"),
            "plan -f examples/cron.yaml --until 2100-01-01 -o table",
        ),
        (("DAYSHIFT_PLAN_SELECTOR", "team=web"), plan),
        (
            ("DAYSHIFT_PLAN_DEFAULT_HOURS", "09:00-19:00"),
            "plan -f examples/cron.yaml --default-stop 20:00",
        ),
        (
            ("DAYSHIFT_PLAN_DEFAULT_STOP", "20:00"),
            "plan -f examples/cron.yaml --default-hours 09:00-19:00",
        ),
    ] {
        let (status, _, err) = run(&[variable], line);
        assert_eq!((status, err.as_str()), (0, ""), "{variable:?} {line}");
    }
}

#[test]
fn what_is_written_wins_over_the_variable_that_contradicts_it() {
    // It goes as far as the cluster that is not there.
    for (variable, line, status) in [
        (("DAYSHIFT_STATUS_NAMESPACE", "dev"), "status ns/team", 3),
        (("DAYSHIFT_STATUS_NAMESPACE", "dev"), "status ns team", 3),
        (("DAYSHIFT_STATUS_NAMESPACE", "dev"), "status team/web", 3),
        (("DAYSHIFT_PLAN_FILE", "examples"), "plan deploy/web", 3),
        (("DAYSHIFT_PLAN_FILE", "examples"), "plan -A", 3),
        (("DAYSHIFT_PLAN_FILE", "examples"), "plan -l team=web", 3),
        (
            ("DAYSHIFT_CONVERT_SELECTOR", "team=web"),
            "convert ./examples",
            0,
        ),
        (
            ("DAYSHIFT_CONVERT_IN_PLACE", "true"),
            "convert --check ./examples",
            0,
        ),
    ] {
        let (ended, _, err) = run(&[variable, ("KUBECONFIG", "/nonexistent")], line);
        assert_eq!(ended, status, "{variable:?} {line}: {err}");
    }
    // What does not contradict it counts.
    let (_, _, err) = run(&[("DAYSHIFT_STATUS_NAMESPACE", "Dev")], "status deploy/web");
    assert!(err.contains("'Dev'"), "{err}");
}

#[test]
fn a_variable_counts_in_its_command() {
    for (variable, line, says) in [
        (
            ("DAYSHIFT_PLAN_OUTPUT", "table"),
            "plan -f examples/cron.yaml",
            "NAMESPACE",
        ),
        (
            ("DAYSHIFT_PLAN_NAMESPACE", "team-a"),
            "plan -f examples/cron.yaml -o table",
            "team-a",
        ),
        (
            ("DAYSHIFT_LINT_OUTPUT", "json"),
            "lint examples/cron.yaml",
            "\"findings\"",
        ),
        (
            ("DAYSHIFT_TIMEZONE", "Asia/Tokyo"),
            "plan -f examples/one-start.yaml",
            "Asia/Tokyo",
        ),
        (
            ("DAYSHIFT_ANNOTATION_PREFIX", "other"),
            "lint examples",
            "0 errors",
        ),
    ] {
        let (status, out, err) = run(&[variable], line);
        assert_eq!((status, err.as_str()), (0, ""), "{variable:?} {line}");
        assert!(out.contains(says), "{variable:?}: {out}");
    }
    let (status, _, err) = run(&[("DAYSHIFT_PLAN_OUTPUT", "picture")], "plan -f examples");
    assert_eq!(status, 2);
    assert!(err.contains("picture"), "{err}");
}

#[test]
fn words_in_another_order_do_what_is_meant_or_say_what_to_write() {
    for (line, status, says) in [
        ("help", 0, "Usage: dayshift"),
        ("help plan", 0, "Usage: dayshift plan"),
        ("-n team-a plan -f examples/cron.yaml -o table", 0, "team-a"),
        (
            "--timezone Asia/Tokyo plan -f examples/one-start.yaml",
            0,
            "Asia/Tokyo",
        ),
        ("plan web.yaml", 2, "write `dayshift plan -f web.yaml`"),
        (
            "plan ./manifests",
            2,
            "write `dayshift plan -f ./manifests`",
        ),
        ("plan -", 2, "write `dayshift plan -f -`"),
        ("-n team-a", 2, "Usage: dayshift"),
    ] {
        let (ended, out, err) = run(&[], line);
        assert_eq!(ended, status, "{line}: {err}");
        assert!((out + &err).contains(says), "{line}");
    }
}

#[test]
fn a_default_schedule_says_where_it_holds_and_is_right() {
    for (line, part) in [
        (
            "run --default-hours 09:00-19:00",
            "say where with --namespace or --namespace-selector",
        ),
        (
            "run --namespace=dev --default-hours 9-19",
            "--default-hours: ",
        ),
        (
            "run --namespace=dev --default-hours 09:00-19:00 --default-stop 20:00",
            "cannot be used with",
        ),
    ] {
        let (status, _, err) = run(&[], line);
        assert_eq!(status, 2, "{line}: {err}");
        assert!(err.contains(part), "{line}: {err}");
    }
}
