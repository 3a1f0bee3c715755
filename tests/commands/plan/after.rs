//! Dependencies of starts in a plan.

use serde_json::json;

use super::program::plan_of;

const FILES: &str = "\
apiVersion: v1
kind: Namespace
metadata:
  name: dev
  annotations: {dayshift/hours: 'Mon-Fri 09:00-18:00', dayshift/after: sts/db}
---
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: db, namespace: dev}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: api, namespace: dev}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: dev, annotations: {dayshift/after: 'deploy/api; sts/db, 2m'}}
";

fn monday(output: &str) -> crate::program::Ended {
    let args = [
        "-f",
        "-",
        "--from",
        "2026-11-23",
        "--days",
        "1",
        "-o",
        output,
    ];
    plan_of(&args, FILES)
}

#[test]
fn json_contains_the_dependencies_of_each_start() {
    let plan = monday("json").json();
    let of = |name: &str| {
        let workloads = plan["workloads"].as_array().unwrap();
        workloads.iter().find(|it| it["name"] == name).unwrap()
    };
    // The default of the Namespace applies to all workloads except the database itself.
    assert!(of("db").get("after").is_none());
    let api = json!({"objects": ["sts/db"], "withinSeconds": 600});
    assert_eq!(of("api")["after"], api);
    let web = json!({"objects": ["deploy/api", "sts/db"], "withinSeconds": 120});
    assert_eq!(of("web")["after"], web);
}

#[test]
fn the_table_shows_dependencies_at_each_start() {
    let table = monday("table").out;
    let lines = table.lines().map(|line| {
        let words: Vec<_> = line.split_whitespace().collect();
        words.join(" ")
    });
    let starts: Vec<_> = lines.filter(|it| it.contains("09:00")).collect();
    assert_eq!(
        starts,
        [
            "dev sts/db Mon 2026-11-23 09:00 UTC start <saved> namespace",
            "dev api Mon 2026-11-23 09:00 UTC start, after sts/db <saved> namespace",
            "dev web Mon 2026-11-23 09:00 UTC start, after deploy/api, sts/db <saved> namespace",
        ]
    );
    assert_lacks!(table, "stop, after");
}

#[test]
fn the_chart_shows_dependencies_below() {
    let chart = monday("chart").out;
    for line in [
        "The start of dev/api waits until sts/db is ready, 10 min at most.\n",
        "The start of dev/web waits until deploy/api, sts/db are ready, 2 min at most.\n",
    ] {
        assert_contains!(chart, line);
    }
}
