//! Namespace defaults in files.

use serde_json::json;

use super::program::{plan_of, web};
use crate::program::Ended;
use crate::rows::words;

/// A Namespace with these annotations.
fn namespace(name: &str, lines: &[&str]) -> String {
    let annotations = lines.join("\n    ");
    format!(
        "apiVersion: v1\nkind: Namespace\nmetadata:\n  name: {name}\n  annotations:\n    {annotations}\n"
    )
}

/// A Deployment without dayshift annotations.
fn plain(name: &str) -> String {
    format!("apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: {name}\n")
}

fn day(output: &str, documents: &[String]) -> Ended {
    let args = words("-f - -n team --from 2026-11-23 --days 1");
    let args = [&args[..], &["-o", output]].concat();
    plan_of(&args, &documents.join("---\n"))
}

#[test]
fn a_workload_inherits_from_a_namespace_in_the_same_files() {
    let own = web(&["dayshift/stop: '20:00'"]);
    let excluded = web(&["dayshift/exclude: 'true'"]).replace("name: web", "name: db");
    let elsewhere = plain("other").replace("  name:", "  namespace: other\n  name:");
    let team = namespace(
        "team",
        &[
            "dayshift/hours: '09:00-19:00'",
            "dayshift/timezone: Asia/Tokyo",
        ],
    );
    let files = [plain("api"), own, excluded, elsewhere, team];
    let ended = day("json", &files);
    let plan = ended.json();
    let workloads = plan["workloads"].as_array().unwrap().iter();
    let rows: Vec<_> = workloads
        .map(|it| {
            let first = &it["boundaries"][0];
            format!(
                "{} {} {} {} {}",
                it["name"], it["from"], it["timezone"], first["at"], first["action"]
            )
        })
        .collect();
    let expected = [
        r#""api" "namespace" "Asia/Tokyo" "2026-11-23T09:00:00+09:00" "start""#,
        r#""web" null "Asia/Tokyo" "2026-11-23T20:00:00+09:00" "stop""#,
    ];
    assert_eq!(
        (ended.status, rows),
        (0, expected.map(str::to_owned).to_vec())
    );

    let table = day("table", &files).out;
    assert_eq!(
        table,
        "\
NAMESPACE   NAME   TIME                       ACTION   REPLICAS   FROM
team        api    Mon 2026-11-23 09:00 JST   start    <saved>    namespace
team        api    Mon 2026-11-23 19:00 JST   stop     0          namespace
team        web    Mon 2026-11-23 20:00 JST   stop     0          object
"
    );
    let chart = day("chart", &files).out;
    assert_eq!(
        chart
            .matches("The schedule comes from the Namespace.")
            .count(),
        1,
        "{chart}"
    );
}

#[test]
fn accepts_lists_of_namespaces_and_uses_the_last_definition() {
    let hours = |name: &str, hours: &str| {
        format!("{{metadata: {{name: {name}, annotations: {{dayshift/hours: '{hours}'}}}}}}")
    };
    let list = format!(
        "apiVersion: v1\nkind: NamespaceList\nitems: [{}, {}]\n",
        hours("team", "09:00-10:00"),
        hours("team", "11:00-12:00")
    );
    let ended = day("table", &[plain("api"), list]);
    ended.assert_out("11:00 UTC   start");
    ended.assert_out_lacks("09:00");
}

#[test]
fn reports_an_invalid_namespace_once() {
    let bad = namespace("team", &["dayshift/hours: '9-5'", "dayshift/pause: true"]);
    let files = [plain("api"), plain("web"), bad];
    let ended = day("table", &files);
    assert_eq!(ended.status, 1);
    for expected_text in [
        "error[not-text]: `true` is true or false",
        "error[bad-hours]: `9` is",
    ] {
        assert_eq!(ended.err.matches(expected_text).count(), 1, "{ended:?}");
    }
    assert_eq!(
        ended.err.matches("= in: Namespace team\n").count(),
        2,
        "{ended:?}"
    );

    let chart = day("chart", &files).out;
    let expected_text = "Invalid schedule; left unchanged:\nteam/api, team/web\n";
    assert_eq!(chart, expected_text);
    let plan = day("json", &files).json();
    let problem = &plan["workloads"][0]["problems"][1];
    assert_eq!(
        (&problem["from"], &problem["start"], &problem["end"]),
        (&"namespace".into(), &0.into(), &1.into()),
        "{plan}"
    );
}

#[test]
fn draws_an_override_of_the_namespace() {
    let team = namespace(
        "team",
        &[
            "dayshift/hours: '09:00-19:00'",
            "dayshift/sleep-until: '2026-11-23 12:00'",
        ],
    );
    let chart = day("chart", &[plain("api"), team]).out;
    let chart = chart.replace("\n  ", " ");
    assert_contains!(chart, ", by its Namespace; boundaries in brackets");
}

/// The schedule of a Namespace keeps a 0 in a manifest, unless the Namespace has `replicas`.
#[test]
fn a_start_keeps_a_0_in_the_manifest() {
    let web = |name: &str, count: u32, annotations: &str| {
        format!(
            "{{apiVersion: apps/v1, kind: Deployment, metadata: {{name: {name}, namespace: team, annotations: {{{annotations}}}}}, spec: {{replicas: {count}}}}}\n"
        )
    };
    let files = [
        web("down", 0, ""),
        web("exact", 0, "dayshift/replicas: '2'"),
        web("own", 0, "dayshift/hours: '09:00-19:00'"),
        web("up", 3, ""),
        web("woken", 0, "dayshift/wake-until: '2026-11-23 12:00'"),
        namespace("team", &["dayshift/hours: '09:00-19:00'"]),
    ];
    let plan = day("json", &files).json();
    let starts = |name: &str| {
        let all = plan["workloads"].as_array().unwrap();
        let it = all.iter().find(|it| it["name"] == name).unwrap();
        let boundaries = it["boundaries"].as_array().unwrap();
        let start = boundaries
            .iter()
            .find(|it| it["action"] == "start" && it["applied"] != false);
        start.unwrap()["replicas"].clone()
    };
    for (name, count) in [
        ("down", json!(0)),
        ("exact", json!(2)),
        ("own", json!(null)),
        ("up", json!(null)),
    ] {
        assert_eq!(starts(name), count, "{name}: {plan}");
    }
    let down = plan["workloads"]
        .as_array()
        .unwrap()
        .iter()
        .find(|it| it["name"] == "down");
    assert_eq!(down.unwrap()["savedReplicaHours"], 0.0, "{plan}");
}
