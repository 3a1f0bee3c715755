//! The alerts and metrics, evaluated by Prometheus' promtool, and the messages that Alertmanager
//! sends to a chat.
//!
//! `MONITORING=full cargo test --test cluster monitoring`: building them takes minutes, so without
//! the variable these tests do not exist.

mod chat;
mod running;
#[path = "../../../controller/sandbox.rs"]
#[allow(dead_code, reason = "the controller's own tests use all of it")]
mod sandbox;

use std::env;
use std::fmt::Write as _;
use std::io::Write as _;
use std::process::{Command, Stdio};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::e2e::test_namespace::TestNamespace;
use crate::support::{Assets, ControlPlane, Parts, Scenario, deployment, scenarios, soon};

const ALERTS: &str = "charts/dayshift/files/alerts.yaml";

pub(crate) fn scenarios() -> Vec<Scenario> {
    match env::var("MONITORING").as_deref() {
        Err(_) => Vec::new(),
        Ok("full") => scenarios![
            Parts::Server;
            alerts_fire_only_under_their_conditions,
            each_alert_fires_in_a_scenario_of_a_running_controller,
            prometheus_parses_the_metrics_of_a_stopped_workload,
            prometheus_accepts_the_dashboard_queries_and_the_documented_rule,
            chat_receives_each_stop_notice_of_its_team_once,
        ],
        Ok(other) => panic!("MONITORING={other}: write `full`, or leave it out"),
    }
}

/// The output of promtool; panics if it finds a problem.
fn promtool(arguments: &[&str], input: &str) -> String {
    let directory = Assets::prometheus().unwrap_or_else(|why| panic!("{why:?}"));
    let mut child = Command::new(directory.join("promtool"))
        .args(arguments)
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(input.as_bytes()).unwrap();
    drop(stdin);
    let output = child.wait_with_output().unwrap();
    let message = String::from_utf8_lossy(&output.stdout).into_owned();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success() && errors.is_empty(),
        "promtool {arguments:?}: {message}{errors}"
    );
    message
}

fn alerts_fire_only_under_their_conditions(_: &ControlPlane) {
    promtool(&["check", "rules", "--lint-fatal", ALERTS], "");
    let tests = "tests/cluster/e2e/monitoring/alerts.yaml";
    promtool(&["test", "rules", tests], "");
}

fn each_alert_fires_in_a_scenario_of_a_running_controller(_: &ControlPlane) {
    running::each_alert_fires_in_a_scenario_of_a_running_controller();
}

fn chat_receives_each_stop_notice_of_its_team_once(plane: &ControlPlane) {
    chat::chat_receives_each_stop_notice_of_its_team_once(plane);
}

/// Grafana replaces its variables before it sends a query.
fn prometheus_accepts_the_dashboard_queries_and_the_documented_rule(_: &ControlPlane) {
    let dashboard = std::fs::read_to_string("charts/dayshift/files/dashboard.json").unwrap();
    let dashboard: Value = serde_json::from_str(&dashboard).unwrap();
    let targets = dashboard["panels"].as_array().unwrap().iter();
    let targets = targets.flat_map(|panel| panel["targets"].as_array().unwrap());
    let rules: Vec<_> = targets
        .enumerate()
        .map(|(index, target)| {
            let expr = target["expr"].as_str().unwrap().replace("$__range", "7d");
            let expr = expr.replace("$__rate_interval", "5m");
            assert!(!expr.contains('$'), "{expr}");
            json!({"record": format!("panel:{index}"), "expr": expr})
        })
        .collect();
    assert!(rules.len() > 9);
    let rules = json!({"groups": [{"name": "dashboard", "rules": rules}]});
    promtool(&["check", "rules"], &rules.to_string());

    let page = std::fs::read_to_string("docs/reference/metrics.md").unwrap();
    let rule = page
        .split("```")
        .find_map(|it| it.strip_prefix("yaml\ngroups:"));
    promtool(&["check", "rules"], &format!("groups:{}", rule.unwrap()));
}

/// A start, a stop and a revert produce values in each metric.
fn prometheus_parses_the_metrics_of_a_stopped_workload(plane: &ControlPlane) {
    let mut team = TestNamespace::without_controller(plane, "scraped");
    let controller = team.run(&[]);
    let address = controller.address().unwrap();
    let stop = soon(6);
    let web = deployment("web").replicas(3).stop(stop.text());
    team.create(web);
    team.await_stopped("web", stop.plus(20));
    team.scale("web", 1);
    let (status, metrics) = team.newest().get("/metrics").unwrap();
    assert_eq!(status, 200, "{address}");

    // Prometheus' parser of OpenMetrics, which requires timestamps.
    let directory = TempDir::new().unwrap();
    let file = directory.path().join("metrics");
    std::fs::write(&file, with_times(&metrics)).unwrap();
    let blocks = directory.path().join("blocks");
    let paths = [&file, &blocks].map(|it| it.to_str().unwrap().to_owned());
    let read = [
        "tsdb",
        "create-blocks-from",
        "openmetrics",
        &paths[0],
        &paths[1],
    ];
    promtool(&read, "");
    let found = promtool(&["tsdb", "list", &paths[1]], "");
    let series = metrics
        .lines()
        .filter(|line| !line.starts_with('#'))
        .count();
    let numbers: Vec<&str> = found.split_whitespace().collect();
    assert!(
        numbers.contains(&series.to_string().as_str()),
        "{series}: {found}"
    );

    promtool(&["check", "metrics"], &as_text(&metrics));
    team.ends([("web", 2)]);
}

fn with_times(metrics: &str) -> String {
    let mut text = String::new();
    for line in metrics.lines() {
        let time = if line.starts_with('#') { "" } else { " 1000" };
        writeln!(text, "{line}{time}").unwrap();
    }
    text
}

/// In the older text format, the only one that `promtool check metrics` reads: it has the complete
/// name of a counter in its comments, no type `info` and no units.
fn as_text(metrics: &str) -> String {
    let mut text = String::new();
    let suffix = |name: &str| {
        let of_type = |kind: &str| metrics.contains(&format!("# TYPE {name} {kind}\n"));
        match (of_type("counter"), of_type("info")) {
            (true, _) => "_total",
            (_, true) => "_info",
            _ => "",
        }
    };
    for line in metrics.lines() {
        let words: Vec<&str> = line.splitn(4, ' ').collect();
        match words[..] {
            ["#", "UNIT", ..] | ["#", "EOF"] => {}
            ["#", keyword, name, rest] => {
                let rest = rest.replace("info", "gauge");
                writeln!(text, "# {keyword} {name}{} {rest}", suffix(name)).unwrap();
            }
            _ => writeln!(text, "{line}").unwrap(),
        }
    }
    text
}
