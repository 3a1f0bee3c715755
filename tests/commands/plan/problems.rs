//! Invalid schedules, files and command lines.

use std::fs;

use serde_json::{Value, json};

use super::program::{plan, plan_of, web};
use crate::fake_server::{Cluster, refusal};
use crate::rows::{rows, words};

/// The annotation, and the first and last byte of each problem of the only workload.
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
fn reports_problems_with_their_byte_range() {
    for [line, annotation, fault, expected_text] in rows(
        r#"
            dayshift/start: 'Mon-Fry 09:00' => dayshift/start => 4..7 => `Fry` is not a day
            dayshift/start: '09:00; 25:00' => dayshift/start => 7..12 => `25:00` is out of range
            dayshift/start: '0 9 * * 9' => dayshift/start => 8..9 => `9` is not a day of the week
            # The wide space and each letter have 3 bytes.
            dayshift/start: "09:00;　月曜 10:00" => dayshift/start => 9..15 => `月曜` is not a day
            dayshift/start: "09:00;\u3000月曜 10:00" => dayshift/start => 9..15 => `月曜` is not a day
            dayshift/hours: 'Mon 09:00-09:00' => dayshift/hours => 4..15 => `09:00-09:00` begins and ends
            dayshift/strat: '09:00' => dayshift/strat => 0..5 => did you mean `start`?
            dayshift/stop: => dayshift/stop => 0..0 => the value is empty
        "#,
    ) {
        let found = problems(&web(&[line]));
        assert_eq!(found.len(), 1, "{line}: {found:?}");
        let (name, start, end, message) = &found[0];
        assert_eq!(
            (name.as_str(), format!("{start}..{end}")),
            (annotation, fault.to_owned()),
            "{line}: {message}"
        );
        assert!(message.contains(expected_text), "{line}: {message}");
    }
}

#[test]
fn reports_all_problems_of_an_object_and_plans_the_others() {
    let bad = web(&[
        "dayshift/start: 'x'",
        "dayshift/timezone: 'Asia/Tokio'",
        "dayshift/replicas: 2",
    ]);
    let good = web(&["dayshift/start: '09:00'"]).replace("name: web", "name: api");
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
fn reports_unquoted_values() {
    for [line, message] in rows(
        r#"
            dayshift/replicas: 2 => `2` is a number in YAML, but the API server accepts only text; write "2"
            dayshift/pause: true => `true` is true or false in YAML, but the API server accepts only text; write "true"
            dayshift/jitter: {m: 5} => is a map, but the API server accepts only text; write text in quotes
        "#,
    ) {
        let found = problems(&web(&["dayshift/start: '09:00'", line]));
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!(found[0].3, message);
    }
    // A number is a problem even without another schedule annotation.
    assert_eq!(problems(&web(&["dayshift/start: 9"])).len(), 1);
}

#[test]
fn syntax_errors_have_file_line_and_column() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("web.yaml");
    fs::write(&path, "kind: Deployment\nmetadata: {name: web\nspec: {}").unwrap();
    let path = path.to_str().unwrap();
    let good = "examples/cron.yaml";
    let ended = plan(&["-f", path, "-f", good, "-f", "none.yaml", "-o", "table"]);
    assert_eq!(ended.status, 3);
    assert!(
        ended.out.contains("cron"),
        "the others are planned: {ended:?}"
    );
    let (none, syntax) = ended.err.split_once('\n').unwrap();
    assert_starts_with!(none, "error: cannot read none.yaml: ");
    assert_starts_with!(syntax, "error[syntax]: ");
    let place = format!("\n --> {path}:3:5\n");
    assert_contains!(syntax, place);

    let ended = plan_of(&["-f", "-"], "a: [");
    ended.assert_err("\n --> standard input:1:4\n");
    assert_eq!(ended.status, 1);
}

#[test]
fn wrong_usage_shows_a_correct_example() {
    for [args, expected_text] in rows("
            -f examples -o picture => [possible values: chart, table, summary, summary-json, json, ics]
            -f examples deploy/web => give either files or live workloads
            -f examples -A => give either files or live
            -f examples -l a=b => give either files or live
            ds/web => is not of a kind that dayshift scales
            -f examples --from tomorrow => '--from <T>': `tomorrow` is not a date and time; write local time such as
            -f examples --until 2026-02-30 => '--until <T>': `2026-02-30` is a date that does not exist
            -f examples --from 2026-11-24 --until 2026-11-23 => is not after the beginning
            -f examples --days 2 --until 2026-11-23 => cannot be used with
            -f examples --days 0 => 0 is not in 1..=36600
            -f examples --timezone Asia/Tokio => is not a time zone; write `Asia/Tokyo`
            -f examples --annotation-prefix A/b => is not a prefix of Kubernetes keys
            -f examples -n A => such as team-a
            -f examples -n a,b => give one -n: it is the namespace
        ") {
        let ended = plan(&words(args));
        assert_eq!((ended.status, ended.out.as_str()), (2, ""), "{args:?}");
        assert!(ended.err.contains(expected_text), "{args:?}: {}", ended.err);
    }
}

#[test]
fn plans_the_other_kinds_beside_an_unreadable_one() {
    let cluster = Cluster::new();
    cluster.deployment("web", 1, &[("hours", "Mon-Fri 09:00-19:00")]);
    cluster.refuse(&["list"], "cronjobs");
    let ran = cluster.dayshift(&["plan", "-o", "json", "--from=2026-11-23"]);
    let expected = format!(
        "error: CronJobs are left out: not allowed to list CronJobs in namespace dev: {}; allow list and \
         watch of cronjobs.batch, or leave them out with --kinds deployments,statefulsets\n",
        refusal("list", "cronjobs")
    );
    assert_eq!((ran.status, ran.err), (3, expected));
    let plan: Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!(plan["workloads"][0]["name"], "web", "{plan}");
    assert_eq!(
        plan["workloads"][0]["boundaries"].as_array().unwrap().len(),
        10
    );
}

#[test]
fn without_a_cluster_live_deployments_cannot_be_planned() {
    for args in [&[][..], &["deploy/web", "-n", "dev"], &["-A"]] {
        let ended = plan(args);
        assert_eq!((ended.status, ended.out.as_str()), (3, ""), "{args:?}");
        assert!(ended.err.starts_with("error: "), "{args:?}: {}", ended.err);
    }
}

#[test]
fn a_missing_schedule_is_reported() {
    for output in ["chart", "table", "json"] {
        let input = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\n";
        let ended = plan_of(&["-f", "-", "-o", output], input);
        assert_eq!(ended.err, "No workload with a schedule found.\n");
        assert_eq!(ended.status, 0);
    }
}

#[test]
fn volumes_that_a_stop_would_delete_are_a_problem() {
    let policy = "spec:\n  persistentVolumeClaimRetentionPolicy: {whenScaled: Delete}\n";
    let set = web(&["dayshift/hours: '09:00-19:00'"]).replace("Deployment", "StatefulSet");
    let found = problems(&(set.clone() + policy));
    let [(annotation, 0, 0, message)] = &found[..] else {
        panic!("{found:?}");
    };
    assert_eq!(annotation, "dayshift/allow-volume-deletion");
    assert_contains!(message, "whenScaled is Delete");
    let retained = set + &policy.replace("Delete", "Retain");
    assert_eq!(plan_of(&["-f", "-"], &retained).status, 0);
}

/// A live workload without a count is not planned, and the problem is reported.
#[test]
fn a_live_object_without_a_count_is_a_problem() {
    let cluster = Cluster::new();
    let (group, version) = ("toys.example.com", "v1");
    cluster.api.serve_custom(group, version, "kites", "Kite");
    let kite = json!({
        "apiVersion": "toys.example.com/v1", "kind": "Kite",
        "metadata": {
            "name": "red", "namespace": "dev",
            "annotations": {"dayshift/hours": "Mon-Fri 09:00-19:00"},
        },
        "spec": {"replicas": "many"},
    });
    cluster.api.create(kite).unwrap();
    let of = |command| {
        let kinds = ["-o", "json", "--kinds", "kites.toys.example.com"];
        let ended = cluster.dayshift(&[&[command], &kinds[..]].concat());
        assert_eq!(ended.status, 1, "{command}: {ended:?}");
        ended
    };
    let (plan, status) = (of("plan"), of("status"));
    let text = "`\"many\"` is not a count; write a number, such as 3";
    assert_eq!(
        plan.err,
        "error[bad-count]: spec.replicas: `\"many\"` is not a count\n  \
         = help: write a number, such as 3\n  = in: Kite dev/red\n\n"
    );
    let [planned, shown] = [plan.json(), status.json()].map(|it| it["workloads"][0].clone());
    assert_eq!(planned["boundaries"], json!([]));
    for problem in [&planned["problems"][0], &shown["problems"][0]] {
        assert_eq!(problem["annotation"], "spec.replicas");
        assert_eq!(problem["message"], text);
    }
}
